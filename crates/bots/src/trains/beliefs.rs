//! Beliefs about opponents: their kind, their cards and their destinations, inferred from public
//! actions.
//!
//! Guesses follow each opponent through the game: players of a certain kind with certain cards and
//! destinations. A guess that would have acted otherwise than the opponent did loses weight, and
//! likely guesses replace unlikely ones (a particle filter). A kind whose guesses predict badly
//! becomes improbable.
//!
//! Guesses of players that join their destinations begin with destinations that explain what the
//! opponent acquired later: random ones hardly ever do.

use super::aims::Aims;
use super::graph::{Goal, Graph};
use super::rollout::{COLORS, Choice, FREE, Few, HAND, Kind, Rollout, Seated, Workspace};
use crate::SplitMix64;
use agon_games::trains::{Deed, KEEP_LEN, OFFER_LEN, RAILS, View};

/// How many guesses are made about an opponent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    /// The guesses of each kind, times its factor.
    pub(super) guesses: usize,
    /// The pairs of destinations that are compared.
    pub(super) pairs: usize,
}

/// The kinds of players, and their chances before anything is known.
const PRIORS: [(Kind, f64); 6] = [
    (Kind::First { hold: 0 }, 0.2),
    (Kind::First { hold: 5 }, 0.05),
    (Kind::First { hold: 10 }, 0.2),
    (Kind::Greedy, 0.25),
    (Kind::Planner, 0.15),
    (Kind::Any, 0.15),
];

/// How many times [`Effort::guesses`] are made of a kind: more of those that matter most, and of
/// those that are quickly compared with what the player did.
fn guess_factor(kind: Kind) -> usize {
    match kind {
        Kind::First { .. } => GUESSES_MOST,
        Kind::Greedy => 4,
        Kind::Any => 2,
        Kind::Planner | Kind::Builder => 1,
    }
}

const GUESSES_MOST: usize = 8;

/// A kind that falls below this chance is dropped.
const CHANCE_MIN: f64 = 1e-4;

/// How often a player acts otherwise than the model of its kind.
const ERROR: f64 = 0.03;
const ERROR_GREEDY: f64 = 0.1;
const ERROR_PLANNER: f64 = 0.25;

/// How often a [`Kind::Any`] asks for cards although it can pay for a connection.
const ANY_DRAWS: f64 = 0.3;

/// The likelihood of an action that no guess of a kind could take.
const IMPOSSIBLE: f64 = 1e-4;

/// The guesses of one kind, all with the same weight.
#[derive(Clone, Debug)]
struct Pool {
    chance: f64,
    guesses: Vec<Seated>,
}

/// By seat: the guesses about the player, one pool for each kind. The own seat and removed players
/// have none.
#[derive(Clone, Debug, Default)]
pub(super) struct Beliefs(Vec<Vec<Pool>>);

impl Beliefs {
    /// The beliefs of `seat`, whose own view this is.
    pub(super) fn new(
        graph: &Graph,
        view: &View,
        seat: usize,
        effort: Effort,
        mut random: SplitMix64,
    ) -> Beliefs {
        let mut aims = Aims::new(graph, view, seat, effort.pairs, &mut random);
        let mut beliefs = Beliefs(Vec::new());
        for (other, player) in view.players.iter().enumerate() {
            let mut pools = Vec::new();
            if other != seat && !player.out {
                let most = effort.guesses * GUESSES_MOST;
                let (pairs, likelihood) = aims.explained(view, other, most, &mut random);
                for (kind, prior) in PRIORS {
                    let joins = matches!(kind, Kind::Greedy | Kind::Planner);
                    let chance = if joins { prior * likelihood } else { prior };
                    let pairs = &pairs[..effort.guesses * guess_factor(kind)];
                    let guesses =
                        pairs.iter().map(|pair| Seated::guess(kind, &aims, *pair, &mut random));
                    pools.push(Pool { chance, guesses: guesses.collect() });
                }
            }
            beliefs.0.push(pools);
        }
        beliefs.replay(view, Replay::new(graph, view.players.len(), random));
        beliefs
    }

    /// Follows the opponents through the game so far.
    fn replay(&mut self, view: &View, mut replay: Replay<'_>) {
        for action in &view.history {
            let seat = action.seat.index();
            replay.game.turn = seat;
            match action.did {
                Deed::Drew(count) => {
                    replay.game.deck = if count == 0 { 0 } else { u16::MAX };
                    replay.observe(&mut self.0[seat], Choice::Draw);
                    guesses(&mut self.0[seat]).for_each(|guess| guess.draw(u16::from(count)));
                }
                Deed::Acquired(connection) => {
                    let Some(at) = view.map.find(&connection) else { continue };
                    replay.observe(&mut self.0[seat], Choice::Acquire(at as u16));
                    replay.game.owner[at] = seat as u8;
                    for guess in self.0.iter_mut().flat_map(|pools| guesses(pools)) {
                        guess.stale |= guess.wanted.as_slice().contains(&(at as u16));
                    }
                    guesses(&mut self.0[seat]).for_each(|guess| guess.pay(replay.graph, at));
                }
                Deed::Removed => {
                    let owners = replay.game.owner.iter_mut();
                    owners
                        .filter(|owner| usize::from(**owner) == seat)
                        .for_each(|owner| *owner = FREE);
                    self.0
                        .iter_mut()
                        .flat_map(|pools| guesses(pools))
                        .for_each(|guess| guess.stale = true);
                }
                Deed::Picked => {}
            }
        }
    }

    /// A player that `seat` may be; `None` for the own seat and removed players.
    pub(super) fn sample(&self, seat: usize, random: &mut SplitMix64) -> Option<&Seated> {
        let mut luck = share(random);
        let pools = self.0.get(seat)?;
        let drawn = pools.iter().find(|pool| {
            luck -= pool.chance;
            luck < 0.0
        });
        drawn.or(pools.last()).map(|pool| random.pick(&pool.guesses))
    }
}

fn guesses(pools: &mut [Pool]) -> impl Iterator<Item = &mut Seated> {
    pools.iter_mut().flat_map(|pool| &mut pool.guesses)
}

/// A number from 0 to 1.
fn share(random: &mut SplitMix64) -> f64 {
    random.below(1 << 32) as f64 / (1u64 << 32) as f64
}

/// A game that is followed from its beginning.
struct Replay<'a> {
    graph: &'a Graph,
    /// The connections that are held so far. Guesses take the seat to act in turn.
    game: Rollout,
    random: SplitMix64,
    work: Workspace,
}

impl<'a> Replay<'a> {
    fn new(graph: &'a Graph, seats: usize, random: SplitMix64) -> Replay<'a> {
        let nobody = Seated::new(RAILS, Few::default(), true);
        let game = Rollout::new(graph, vec![nobody; seats], u16::MAX, 0);
        Replay { graph, game, random, work: Workspace::default() }
    }

    /// Weighs the guesses about the player to act by what it did.
    fn observe(&mut self, pools: &mut Vec<Pool>, choice: Choice) {
        pools.iter_mut().for_each(|pool| pool.chance *= self.weigh(&mut pool.guesses, choice));
        let sum: f64 = pools.iter().map(|pool| pool.chance).sum();
        pools.iter_mut().for_each(|pool| pool.chance /= sum);
        pools.retain(|pool| pool.chance > CHANCE_MIN);
    }

    /// Replaces unlikely guesses, and returns the mean likelihood of the choice.
    fn weigh(&mut self, guesses: &mut Vec<Seated>, choice: Choice) -> f64 {
        let turn = self.game.turn;
        let mut weights = Vec::with_capacity(guesses.len());
        for guess in guesses.iter_mut() {
            std::mem::swap(guess, &mut self.game.seats[turn]);
            weights.push(self.likelihood(choice));
            std::mem::swap(guess, &mut self.game.seats[turn]);
        }
        let mean = weights.iter().sum::<f64>() / weights.len() as f64;
        match choice {
            Choice::Acquire(at) if mean == 0.0 => {
                let random = &mut self.random;
                guesses.iter_mut().for_each(|guess| guess.make_payable(self.graph, at, random));
                return IMPOSSIBLE;
            }
            _ if weights.iter().all(|weight| *weight == weights[0]) => {}
            _ => *guesses = self.resampled(guesses, &weights, mean),
        }
        mean
    }

    /// How likely the player to act makes a choice.
    fn likelihood(&mut self, choice: Choice) -> f64 {
        if let Choice::Acquire(at) = choice
            && !self.game.is_payable(self.graph, usize::from(at))
        {
            return 0.0;
        }
        let payable = self.game.payable(self.graph).count() as f64;
        if payable == 0.0 {
            return 1.0;
        }
        let error = match (self.game.seats[self.game.turn].kind, choice) {
            (Kind::Any, Choice::Draw) => return ANY_DRAWS,
            (Kind::Any, Choice::Acquire(_)) => return (1.0 - ANY_DRAWS) / payable,
            (Kind::Planner | Kind::Builder, _) => ERROR_PLANNER,
            (Kind::Greedy, _) => ERROR_GREEDY,
            (Kind::First { .. }, _) => ERROR,
        };
        match self.game.choose(self.graph, &mut self.work, &mut self.random) == choice {
            true => 1.0 - error,
            false => error / payable,
        }
    }

    /// As many guesses as there are, each as often as its weight says.
    fn resampled(&mut self, guesses: &[Seated], weights: &[f64], mean: f64) -> Vec<Seated> {
        let mut open = share(&mut self.random);
        let mut next = Vec::with_capacity(guesses.len() + 1);
        for (guess, weight) in guesses.iter().zip(weights) {
            open += weight / mean;
            while open >= 1.0 {
                open -= 1.0;
                next.push(Seated { luck: self.random.fork(), ..guess.clone() });
            }
        }
        if next.is_empty() { guesses.to_vec() } else { next }
    }
}

impl Seated {
    /// A player of a kind at the beginning. `wanted` are destinations of a player that wants to
    /// join them. The players of the rules keep the first or the last destinations.
    fn guess(
        kind: Kind,
        aims: &Aims<'_>,
        wanted: [Goal; KEEP_LEN],
        random: &mut SplitMix64,
    ) -> Seated {
        let mut guess = Seated::new(RAILS, Few::default(), true);
        guess.luck = random.fork();
        guess.draw(HAND);
        let offer = aims.offer(random);
        let (first, last) = ([offer[0], offer[1]], [offer[OFFER_LEN - 2], offer[OFFER_LEN - 1]]);
        let goals = match kind {
            Kind::First { hold: 0 } => last,
            Kind::First { .. } => first,
            Kind::Any => *random.pick(&[first, last]),
            Kind::Greedy | Kind::Planner | Kind::Builder => wanted,
        };
        guess.kind = kind;
        guess.goals = goals.map(Some);
        guess
    }

    /// Takes a connection, and its cards from the hand.
    fn pay(&mut self, graph: &Graph, at: usize) {
        let held = &mut self.hand[usize::from(graph.color[at])];
        *held = held.saturating_sub(graph.length[at]);
        self.rails = self.rails.saturating_sub(graph.length[at]);
        self.own.push(at as u16);
        self.paths = None;
        self.stale = true;
    }

    /// Exchanges cards until the player can pay for a connection.
    fn make_payable(&mut self, graph: &Graph, at: u16, random: &mut SplitMix64) {
        let color = usize::from(graph.color[usize::from(at)]);
        while self.hand[color] < graph.length[usize::from(at)] {
            let first = random.index(COLORS);
            let mut others = (first..first + COLORS).map(|other| other % COLORS);
            if let Some(other) = others.find(|other| *other != color && self.hand[*other] > 0) {
                self.hand[other] -= 1;
            }
            self.hand[color] += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{BuyNow, Greedy, HoldTen};
    use super::*;
    use crate::house::{Ask, Bot};
    use agon_games::trains::{Config, Trains};
    use agon_games::{Game, Seat, Seed, Viewer};

    const EFFORT: Effort = Effort { guesses: 48, pairs: 2_000 };

    /// How many of 100 samples have the kind of each player, and hold as many cards as it.
    fn recognised(board: u64, steps: usize) -> Vec<usize> {
        let kinds = [Kind::Greedy, Kind::First { hold: 10 }, Kind::First { hold: 0 }];
        let mut players: [Box<dyn Bot<Trains>>; 3] =
            [Box::new(Greedy), Box::new(HoldTen), Box::new(BuyNow)];
        let mut game = Trains::new(&Config::default(), 6, &Seed::from_number(board)).unwrap();
        for step in 0..steps {
            let seat = game.awaiting().first().unwrap();
            let (question, view) = (game.question(seat).unwrap(), game.view(Viewer::Seat(seat)));
            let key = step.to_string();
            let ask = Ask { player: "", key: &key, seat, question: &question, view: &view };
            game.apply(seat, &players[seat.index() % 3].answer(&ask)).unwrap();
        }
        let view = game.view(Viewer::Seat(Seat(0)));
        let graph = Graph::new(&view.map);
        let beliefs = Beliefs::new(&graph, &view, 0, EFFORT, SplitMix64::new(board));
        let mut random = SplitMix64::new(1);
        let mut matches = |seat: usize| {
            let samples = (0..100).map(|_| beliefs.sample(seat, &mut random).unwrap());
            let held = |guess: &&Seated| guess.cards() == view.players[seat].cards;
            samples.filter(held).filter(|guess| guess.kind == kinds[seat % 3]).count()
        };
        (1..6).map(&mut matches).collect()
    }

    #[test]
    fn house_players_are_recognised_by_their_actions() {
        let all: Vec<usize> = (0..8).flat_map(|board| recognised(board, 90)).collect();
        let likely = all.iter().filter(|matches| **matches > 50).count();
        assert!(likely * 10 >= all.len() * 9, "{all:?}");
    }

    #[test]
    fn actions_that_no_model_explains_leave_guesses_that_hold_as_many_cards() {
        for board in 0..8 {
            let mut game = Trains::new(&Config::default(), 4, &Seed::from_number(board)).unwrap();
            let mut random = SplitMix64::new(board);
            while let Some(seat) = game.awaiting().first() {
                let answer = game.playout_answer(seat, random.next_word());
                game.apply(seat, &answer).unwrap();
            }
            let view = game.view(Viewer::Seat(Seat(0)));
            let graph = Graph::new(&view.map);
            let beliefs = Beliefs::new(&graph, &view, 0, EFFORT, random.fork());
            for seat in 1..4 {
                let guess = beliefs.sample(seat, &mut random).unwrap();
                assert_eq!(guess.cards(), view.players[seat].cards);
                assert_eq!(guess.rails, view.players[seat].rails);
            }
        }
    }
}
