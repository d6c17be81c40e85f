//! Which destinations a player may want, inferred from the connections it acquired.
//!
//! A player that joins its destinations on shortest ways acquires nothing else until they are
//! joined. So every acquisition says much about the destinations, whatever cards the player holds.
//! The pairs that such a player may keep are drawn once, and each is weighed by how well it
//! explains the acquisitions of one opponent.

use super::graph::{Goal, Graph};
use super::rollout::{FREE, Few, Rollout, Seated, Workspace};
use crate::SplitMix64;
use agon_games::trains::{Deed, KEEP_LEN, OFFER_LEN, RAILS, View};

/// How often a player that still wants connections acquires another one.
const ASTRAY: f64 = 0.02;

/// Two destinations, as their numbers in the list of the map.
type Pair = [usize; KEEP_LEN];

/// A shortest way to one destination, compared with an acquisition.
#[derive(Clone, Copy, Debug)]
struct Hint {
    /// How many connections the way lacks; 0 if the player cannot join the destination.
    lacks: u8,
    /// True if the acquired connection is one of them.
    acquired: bool,
}

/// One acquisition of a player, with the game before it.
struct Moment {
    owner: Vec<u8>,
    rails: u8,
    at: u16,
}

/// The pairs of destinations that players who keep the cheapest ones of an offer may have.
pub(super) struct Aims<'a> {
    graph: &'a Graph,
    all: &'a [Goal],
    /// The own destinations: nobody else has them.
    kept: [Option<Goal>; KEEP_LEN],
    /// By destination, the segments of its shortest way on an empty map, once computed.
    lengths: Vec<Option<u32>>,
    pairs: Vec<Pair>,
    /// A game with one player, for planning.
    game: Rollout,
    work: Workspace,
}

impl<'a> Aims<'a> {
    /// The aims that opponents of `seat` may have, by `count` offers.
    pub(super) fn new(
        graph: &'a Graph,
        view: &'a View,
        seat: usize,
        count: usize,
        random: &mut SplitMix64,
    ) -> Aims<'a> {
        let kept = view.players[seat].destinations;
        let goal = |pair| Graph::goal(&view.map, &pair);
        let player = Seated::new(RAILS, Few::default(), true);
        let all = view.map.destinations();
        let mut aims = Aims {
            graph,
            all,
            kept: kept.map_or([None; KEEP_LEN], |kept| kept.map(goal)),
            lengths: vec![None; all.len()],
            pairs: Vec::with_capacity(count),
            game: Rollout::new(graph, vec![player], 0, 0),
            work: Workspace::default(),
        };
        for _ in 0..count {
            let pair = aims.cheapest(random);
            aims.pairs.push(pair);
        }
        aims
    }

    /// Five destinations in order; hardly ever an own one.
    pub(super) fn offer(&self, random: &mut SplitMix64) -> [Goal; OFFER_LEN] {
        self.offered(random).map(|at| self.all[at])
    }

    fn offered(&self, random: &mut SplitMix64) -> [usize; OFFER_LEN] {
        let mut offer = [(); OFFER_LEN].map(|()| {
            let [one, other] = [(); 2].map(|()| random.index(self.all.len()));
            if self.kept.contains(&Some(self.all[one])) { other } else { one }
        });
        offer.sort_unstable();
        offer
    }

    /// The two destinations of an offer that are nearest on an empty map, in order.
    fn cheapest(&mut self, random: &mut SplitMix64) -> Pair {
        let offer = self.offered(random);
        let mut by_length = offer.map(|at| (self.length(at), at));
        by_length.sort_unstable();
        let mut kept = [by_length[0].1, by_length[1].1];
        kept.sort_unstable();
        kept
    }

    fn length(&mut self, at: usize) -> u32 {
        let (game, all, work) = (&self.game, self.all, &mut self.work);
        *self.lengths[at]
            .get_or_insert_with(|| game.shortest(self.graph, all[at], work).unwrap_or(u32::MAX))
    }

    /// Pairs of destinations of a player, each as often as it explains what the player acquired,
    /// and how well all pairs explain that on average.
    pub(super) fn explained(
        &mut self,
        view: &View,
        player: usize,
        count: usize,
        random: &mut SplitMix64,
    ) -> (Vec<[Goal; KEEP_LEN]>, f64) {
        let moments = moments(view, player, self.game.owner.len());
        let mut hints: Vec<Option<Vec<Hint>>> = vec![None; self.all.len()];
        let mut weights = Vec::with_capacity(self.pairs.len());
        let mut sum = 0.0;
        for pair in std::mem::take(&mut self.pairs) {
            for at in pair {
                if hints[at].is_none() {
                    hints[at] = Some(self.hints(at, &moments));
                }
            }
            let [one, other] = pair.map(|at| hints[at].as_deref().unwrap_or_default());
            sum += likelihood(one, other);
            weights.push(sum);
            self.pairs.push(pair);
        }
        let mut draw = || {
            let share = random.below(1 << 32) as f64 / (1u64 << 32) as f64;
            let at = weights.partition_point(|weight| *weight <= share * sum);
            self.pairs[at.min(weights.len() - 1)].map(|at| self.all[at])
        };
        ((0..count).map(|_| draw()).collect(), sum / weights.len() as f64)
    }

    /// Compares the shortest way to one destination with each acquisition of a player.
    fn hints(&mut self, goal: usize, moments: &[Moment]) -> Vec<Hint> {
        let mut hints = Vec::with_capacity(moments.len());
        for moment in moments {
            let before = std::mem::replace(&mut self.game.owner, moment.owner.clone());
            let work = &mut self.work;
            let segments = self.game.shortest(self.graph, self.all[goal], work);
            self.game.owner = before;
            let can = segments.is_some_and(|segments| segments <= u32::from(moment.rails));
            let way = if can { &work.one[..] } else { &[] };
            hints.push(Hint { lacks: way.len() as u8, acquired: way.contains(&moment.at) });
        }
        hints
    }
}

/// How well two destinations explain the acquisitions of a player. A player that wants none in
/// particular may acquire any.
fn likelihood(one: &[Hint], other: &[Hint]) -> f64 {
    let each = one.iter().zip(other).map(|(one, other)| match one.lacks + other.lacks {
        1.. if one.acquired || other.acquired => 1.0,
        1.. => ASTRAY,
        0 => 1.0,
    });
    each.product()
}

/// The acquisitions of a player, which has seat 0 in them.
fn moments(view: &View, player: usize, connections: usize) -> Vec<Moment> {
    let mut owner = vec![FREE; connections];
    let mut rails = RAILS;
    let mut moments = Vec::new();
    for action in &view.history {
        let seat = action.seat.index();
        let own = if seat == player { 0 } else { seat as u8 + 1 };
        match action.did {
            Deed::Acquired(connection) => {
                let Some(at) = view.map.find(&connection) else { continue };
                if seat == player {
                    moments.push(Moment { owner: owner.clone(), rails, at: at as u16 });
                    rails = rails.saturating_sub(connection.length.segments());
                }
                owner[at] = own;
            }
            Deed::Removed => {
                owner.iter_mut().filter(|owner| **owner == own).for_each(|owner| *owner = FREE);
            }
            Deed::Drew(_) | Deed::Picked => {}
        }
    }
    moments
}

#[cfg(test)]
mod tests {
    use super::super::Greedy;
    use super::*;
    use crate::house::{Ask, Bot};
    use agon_games::trains::{Config, Trains};
    use agon_games::{Game, Seed, Viewer};

    /// How many of the destinations of five greedy players are guessed right, of 1,000, after some
    /// steps of the game.
    fn right(board: u64, steps: usize) -> usize {
        let mut game = Trains::new(&Config::default(), 6, &Seed::from_number(board)).unwrap();
        for _ in 0..steps {
            let seat = game.awaiting().first().unwrap();
            let (question, view) = (game.question(seat).unwrap(), game.view(Viewer::Seat(seat)));
            let ask = Ask { player: "", key: "", seat, question: &question, view: &view };
            game.apply(seat, &Greedy.answer(&ask)).unwrap();
        }
        let view = game.view(Viewer::Full);
        let graph = Graph::new(&view.map);
        let mut random = SplitMix64::new(board);
        let mut aims = Aims::new(&graph, &view, 0, 2_000, &mut random);
        let mut count = 0;
        for (seat, player) in view.players.iter().enumerate().skip(1) {
            let kept = player.destinations.unwrap().map(|pair| Graph::goal(&view.map, &pair));
            for pair in aims.explained(&view, seat, 100, &mut random).0 {
                count += pair.iter().filter(|goal| kept.contains(&Some(**goal))).count();
            }
        }
        count
    }

    #[test]
    fn acquisitions_reveal_the_destinations_of_players_that_join_them() {
        let all = |steps| (0..8).map(|board| right(board, steps)).sum::<usize>();
        let (before, after) = (all(6), all(80));
        assert!(before > 0 && after > 5 * before, "{before} and {after} of 8,000");
    }
}
