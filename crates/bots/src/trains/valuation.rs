//! Values the choices of one seat by rollouts.
//!
//! The choices are compared under the same luck, and those that fall behind are dropped early. The
//! number of rollouts is fixed, so that the same request gets the same answer; the clock is a
//! second bound for slow machines.

use super::graph::{Goal, Graph};
use super::habits::{HAND, Habits};
use super::rollout::{Choice, Few, Kind, Rollout, SEATS_MAX, Seated, Workspace};
use crate::SplitMix64;
use agon_games::Seat;
use agon_games::trains::{Answer, KEEP_LEN, OFFER_LEN, Pair, Question, RAILS, View};
use std::time::Instant;

/// The rollouts of each choice before the first ones are dropped.
const ROLLOUTS_EACH: u32 = 24;

/// The last two choices are compared in blocks of this many rollouts, until their difference is
/// this many standard errors.
const BLOCK: u32 = 100;
const SURE: f64 = 4.0;

/// How many pairs of destinations are guessed for each opponent: on most maps, and on those with
/// more cities than [`CITIES_MANY`], where each guess takes long.
const GUESSES: usize = 12;
const GUESSES_FEW: usize = 2;
const CITIES_MANY: usize = 60;

/// How many offers are tried for one guess.
const OFFERS: usize = 3;

/// The weight of a point of lead beside a win: enough to prefer safe wins and narrow losses.
const POINT: f64 = 0.004;

/// A lead beyond this counts no more.
const LEAD_MAX: i32 = 50;

/// How much a valuation may compute.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) rollouts: u32,
    pub(super) until: Option<Instant>,
}

/// One choice with the results of its rollouts.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) answer: Answer,
    goals: [Option<Goal>; KEEP_LEN],
    /// The choices of this turn; `None` while destinations are picked.
    choice: Option<Choice>,
    sum: f64,
    count: u32,
}

impl Candidate {
    fn mean(&self) -> f64 {
        self.sum / f64::from(self.count.max(1))
    }

    /// Whether the candidate is this answer. Destinations may be given back in any order.
    pub(super) fn is(&self, answer: &Answer) -> bool {
        match (&self.answer, answer) {
            (Answer::Return(own), Answer::Return(other)) => {
                own.len() == other.len() && own.iter().all(|pair| other.contains(pair))
            }
            (own, other) => own == other,
        }
    }
}

/// The mean difference of two choices, and its standard error.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Difference {
    pub(super) mean: f64,
    pub(super) error: f64,
}

/// Pairs of results under the same luck.
#[derive(Clone, Copy, Debug, Default)]
struct Pairs {
    count: u32,
    sum: f64,
    squares: f64,
}

impl Pairs {
    fn add(&mut self, difference: f64) {
        self.count += 1;
        self.sum += difference;
        self.squares += difference * difference;
    }

    fn difference(&self) -> Difference {
        let count = f64::from(self.count.max(2));
        let mean = self.sum / count;
        let variance = (self.squares / count - mean * mean).max(0.0);
        Difference { mean, error: (variance / (count - 1.0)).sqrt() }
    }
}

/// The valuation of the choices of one seat.
pub(super) struct Valuation<'a> {
    view: &'a View,
    seat: usize,
    /// The game as far as it is public, with the own hand, and the number of cards by seat.
    known: Rollout,
    cards: Vec<u32>,
    graph: Graph,
    habits: Vec<Habits>,
    /// By seat: goals that the player may have. Empty until the first rollout.
    rivals_goals: Vec<Vec<[Goal; KEEP_LEN]>>,
    random: SplitMix64,
    work: Workspace,
}

impl<'a> Valuation<'a> {
    /// A valuation for `seat`, whose own view this is.
    pub(super) fn new(view: &'a View, seat: Seat, random: SplitMix64) -> Valuation<'a> {
        let graph = Graph::new(&view.map);
        let (known, cards) = known(view, &graph, seat.index());
        Valuation {
            view,
            seat: seat.index(),
            known,
            cards,
            habits: Habits::of_all(&graph, view),
            graph,
            rivals_goals: vec![Vec::new(); view.players.len()],
            random,
            work: Workspace::default(),
        }
    }

    /// The legal answers to a question that is not a mere notification.
    pub(super) fn candidates(&self, question: &Question) -> Vec<Candidate> {
        match question {
            Question::Setup { .. } | Question::More { .. } => Vec::new(),
            Question::Pick { destinations } => self.picks(destinations),
            Question::Play {} => self.turns(),
        }
    }

    fn picks(&self, offered: &[Pair; OFFER_LEN]) -> Vec<Candidate> {
        let goals = offered.each_ref().map(|pair| Graph::goal(&self.view.map, pair));
        let mut candidates = Vec::new();
        for one in 0..OFFER_LEN {
            for other in one + 1..OFFER_LEN {
                let back = (0..OFFER_LEN).filter(|at| *at != one && *at != other);
                let answer = Answer::Return(back.map(|at| offered[at]).collect());
                let goals = [goals[one], goals[other]];
                candidates.push(Candidate { answer, goals, choice: None, sum: 0.0, count: 0 });
            }
        }
        candidates
    }

    fn turns(&self) -> Vec<Candidate> {
        let kept = self.view.players[self.seat].destinations;
        let goal = |pair: Pair| Graph::goal(&self.view.map, &pair);
        let goals = kept.map_or([None; KEEP_LEN], |kept| kept.map(goal));
        let acquire = self.known.payable(&self.graph).map(Choice::Acquire);
        let candidate = |choice: Choice| {
            let answer = match choice {
                Choice::Draw => Answer::MoreCards,
                Choice::Acquire(at) => {
                    Answer::Acquire(self.view.map.connections()[usize::from(at)])
                }
            };
            Candidate { answer, goals, choice: Some(choice), sum: 0.0, count: 0 }
        };
        std::iter::once(Choice::Draw).chain(acquire).map(candidate).collect()
    }

    /// The index of the candidate that a planner chooses.
    pub(super) fn planned(&mut self, candidates: &[Candidate]) -> usize {
        let mut game = self.known.clone();
        game.turn = self.seat;
        let mut plan = |goals| {
            game.seats[self.seat].goals = goals;
            game.plan(&self.graph, &mut self.work)
        };
        if candidates.iter().all(|candidate| candidate.choice.is_none()) {
            let costs: Vec<(usize, u32)> =
                candidates.iter().map(|candidate| plan(candidate.goals)).collect();
            return (0..costs.len()).min_by_key(|at| costs[*at]).unwrap_or(0);
        }
        plan(candidates[0].goals);
        let choice = game.choose(&self.graph, &mut self.work, &mut self.random);
        let same = |candidate: &Candidate| candidate.choice == Some(choice);
        candidates.iter().position(same).unwrap_or(0)
    }

    /// The index of the best candidate. The worse half is dropped again and again, so that close
    /// candidates get most of the rollouts. Without time for a single rollout, a planner chooses.
    pub(super) fn best(&mut self, candidates: &mut [Candidate], limits: Limits) -> usize {
        let mut alive: Vec<usize> = (0..candidates.len()).collect();
        if alive.len() < 2 {
            return 0;
        }
        self.guess_goals();
        let mut left = limits.rollouts;
        let mut each = ROLLOUTS_EACH;
        let mut pairs = Pairs::default();
        while left > 0 {
            for _ in 0..each {
                if limits.until.is_some_and(|until| Instant::now() >= until) {
                    left = 0;
                    break;
                }
                let luck = self.random.next_word();
                let mut values = [0.0; 2];
                for (at, alive) in alive.iter().enumerate() {
                    let value = self.value(&candidates[*alive], luck);
                    candidates[*alive].sum += value;
                    candidates[*alive].count += 1;
                    values[at.min(1)] = value;
                }
                if alive.len() == 2 {
                    pairs.add(values[0] - values[1]);
                }
                left = left.saturating_sub(alive.len() as u32);
            }
            let Difference { mean, error } = pairs.difference();
            if alive.len() == 2 && pairs.count >= BLOCK && mean.abs() > SURE * error {
                break;
            }
            let two = alive.len() == 2;
            let mean = |at: &usize| candidates[*at].mean();
            if !two {
                alive.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
                alive.truncate(alive.len().div_ceil(2).max(2));
            }
            each = if alive.len() == 2 { BLOCK } else { each * 2 };
        }
        if candidates.iter().all(|candidate| candidate.count == 0) {
            return self.planned(candidates);
        }
        let mean = |at: &&usize| candidates[**at].mean();
        *alive.iter().max_by(|a, b| mean(a).total_cmp(&mean(b))).expect("there are two")
    }

    /// How much more lead one candidate gains than another, by new rollouts.
    pub(super) fn lead_difference(
        &mut self,
        one: &Candidate,
        other: &Candidate,
        rollouts: u32,
    ) -> Difference {
        let mut pairs = Pairs::default();
        for _ in 0..rollouts.max(2) {
            let luck = self.random.next_word();
            let [one, other] = [one, other].map(|candidate| {
                let game = self.rollout(candidate, luck);
                lead(&game.points(&self.graph), &game, self.seat)
            });
            pairs.add(f64::from(one - other));
        }
        pairs.difference()
    }

    /// A seat's share of the win after one rollout, and a little for its lead.
    fn value(&mut self, candidate: &Candidate, luck: u64) -> f64 {
        let game = self.rollout(candidate, luck);
        let points = game.points(&self.graph);
        let lead = lead(&points, &game, self.seat);
        let win = match lead {
            1.. => 1.0,
            0 => 1.0 / first_places(&points, &game) as f64,
            _ => 0.0,
        };
        win + POINT * f64::from(lead.clamp(-LEAD_MAX, LEAD_MAX))
    }

    fn rollout(&mut self, candidate: &Candidate, luck: u64) -> Rollout {
        let mut random = SplitMix64::new(luck);
        let mut game = self.assumed(candidate.goals, &mut random);
        if let Some(choice) = candidate.choice {
            game.act(&self.graph, choice, &mut random);
        }
        game.finish(&self.graph, &mut self.work, &mut random);
        game
    }

    /// The game as it stands, with everything hidden drawn at random.
    fn assumed(&self, goals: [Option<Goal>; KEEP_LEN], random: &mut SplitMix64) -> Rollout {
        let all = self.view.map.destinations();
        let mut game = self.known.clone();
        for (at, seated) in game.seats.iter_mut().enumerate() {
            if at == self.seat {
                seated.goals = goals;
                continue;
            }
            seated.kind = self.habits[at].sample(random);
            for _ in 0..self.cards[at] {
                seated.hand[random.index(seated.hand.len())] += 1;
            }
            let guesses = &self.rivals_goals[at];
            seated.goals = match seated.kind {
                Kind::Planner if !guesses.is_empty() => random.pick(guesses).map(Some),
                _ => std::array::from_fn(|_| Some(all[random.index(all.len())])),
            };
        }
        game
    }

    /// Fills the lists of goals that every other player may have: as a planner it kept the cheapest
    /// two of five, and of several such offers the one that fits its connections best.
    fn guess_goals(&mut self) {
        let guesses = if self.graph.steps.len() <= CITIES_MANY { GUESSES } else { GUESSES_FEW };
        let mut random = self.random.fork();
        let kept: Vec<[Goal; KEEP_LEN]> =
            (0..guesses * OFFERS).map(|_| self.kept_of_offer(&mut random)).collect();
        let mut game = self.known.clone();
        for seat in 0..game.seats.len() {
            self.rivals_goals[seat].clear();
            if seat == self.seat || !game.seats[seat].remains {
                continue;
            }
            game.turn = seat;
            for _ in 0..guesses {
                let tried = [(); OFFERS].map(|()| {
                    let kept = *random.pick(&kept);
                    game.seats[seat].goals = kept.map(Some);
                    (game.plan(&self.graph, &mut self.work), kept)
                });
                let best = tried.into_iter().min().expect("some offers");
                self.rivals_goals[seat].push(best.1);
            }
        }
    }

    /// The two goals of a random offer that are cheapest on an empty map.
    fn kept_of_offer(&mut self, random: &mut SplitMix64) -> [Goal; KEEP_LEN] {
        let all = self.view.map.destinations();
        let player = Seated::new(RAILS, Few::default(), true);
        let mut empty = Rollout::new(&self.graph, vec![player], 0, 0);
        let mut by_cost = [(); OFFER_LEN].map(|()| {
            let goal = all[random.index(all.len())];
            empty.seats[0].goals = [Some(goal), None];
            (empty.plan(&self.graph, &mut self.work), goal)
        });
        by_cost.sort_unstable();
        [by_cost[0].1, by_cost[1].1]
    }
}

/// The public part of a game with the own hand of `seat`, and how many cards every player holds.
fn known(view: &View, graph: &Graph, seat: usize) -> (Rollout, Vec<u32>) {
    // While destinations are picked, later seats have not been dealt their cards.
    let picking = view.players[seat].destinations.is_none();
    let mut deck = u16::from(view.deck);
    let (mut seats, mut cards) = (Vec::new(), Vec::new());
    for player in &view.players {
        let own = player.acquired.iter().filter_map(|held| view.map.find(held));
        let own: Few = own.map(|at| at as u16).collect();
        let mut seated = Seated::new(player.rails, own, !player.out);
        seated.hand = player.hand.unwrap_or_default().counts();
        let dealt = !picking || player.rails > 0 || player.out;
        if !dealt {
            seated.rails = RAILS;
            deck = deck.saturating_sub(HAND as u16);
        }
        cards.push(if dealt { player.cards } else { HAND });
        seats.push(seated);
    }
    let first = seats.iter().position(|seat| seat.remains).unwrap_or(0);
    let mut game = Rollout::new(graph, seats, deck, if picking { first } else { seat });
    if let Some(last) = &view.last_turns {
        let mut set = [false; SEATS_MAX];
        last.iter().for_each(|seat| set[seat.index()] = true);
        game.last_turns = Some(set);
    }
    (game, cards)
}

/// How many players share the most points.
fn first_places(points: &[i32; SEATS_MAX], game: &Rollout) -> usize {
    let remaining = (0..game.seats.len()).filter(|at| game.seats[*at].remains);
    let most = remaining.clone().map(|at| points[at]).max();
    remaining.filter(|at| Some(points[*at]) == most).count().max(1)
}

/// The points of a seat less those of the best other player.
fn lead(points: &[i32; SEATS_MAX], game: &Rollout, seat: usize) -> i32 {
    let rivals = (0..game.seats.len()).filter(|at| *at != seat && game.seats[*at].remains);
    points[seat] - rivals.map(|at| points[at]).max().unwrap_or(0)
}
