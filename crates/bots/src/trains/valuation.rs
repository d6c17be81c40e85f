//! Values the choices of one seat by rollouts.
//!
//! The choices are compared under the same luck, and those that fall behind are dropped early. The
//! number of rollouts is fixed, so that the same request gets the same answer; the clock is a
//! second bound for slow machines.

use super::beliefs::{Beliefs, Effort};
use super::graph::{Goal, Graph};
use super::rollout::{Choice, Kind, Rollout, SEATS_MAX, Workspace};
use super::tree::Tree;
use crate::SplitMix64;
use agon_games::Seat;
use agon_games::trains::{Answer, KEEP_LEN, OFFER_LEN, Pair, Question, View};
use std::time::Instant;

/// The rollouts of each choice before the first ones are dropped.
const ROLLOUTS_EACH: u32 = 24;

/// The last two choices are compared in blocks of this many rollouts, until their difference is
/// this many standard errors.
const BLOCK: u32 = 100;
const SURE: f64 = 4.0;

/// How many guesses are made about an opponent; fewer on maps with more cities than
/// [`CITIES_MANY`], where each takes long.
const EFFORT: Effort = Effort { guesses: 48, pairs: 2_000 };
const EFFORT_LITTLE: Effort = Effort { guesses: 4, pairs: 60 };
const CITIES_MANY: usize = 60;

/// The lead that counts 0.7 of a sure win: far leads count little more, and near misses are better
/// than far ones.
const LEAD_SCALE: f64 = 12.0;

/// How many own choices after the first one are compared in a tree.
const DEPTH: usize = 3;

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
    tree: Tree,
}

impl Candidate {
    fn new(answer: Answer, goals: [Option<Goal>; KEEP_LEN], choice: Option<Choice>) -> Candidate {
        Candidate { answer, goals, choice, sum: 0.0, count: 0, tree: Tree::default() }
    }

    fn mean(&self) -> f64 {
        self.sum / f64::from(self.count.max(1))
    }

    /// Returns whether the candidate is this answer. Destinations may be given back in any order.
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
    /// The game as far as it is public, with the own hand.
    known: Rollout,
    graph: Graph,
    /// Empty until the first rollout.
    beliefs: Beliefs,
    random: SplitMix64,
    work: Workspace,
}

impl<'a> Valuation<'a> {
    /// A valuation for `seat`, whose own view this is.
    pub(super) fn new(view: &'a View, seat: Seat, random: SplitMix64) -> Valuation<'a> {
        let graph = Graph::new(&view.map);
        let known = Rollout::known(view, &graph, seat.index());
        Valuation {
            view,
            seat: seat.index(),
            known,
            graph,
            beliefs: Beliefs::default(),
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
                candidates.push(Candidate::new(answer, goals, None));
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
            Candidate::new(answer, goals, Some(choice))
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
        let is_late = || limits.until.is_some_and(|until| Instant::now() >= until);
        if is_late() {
            return self.planned(candidates);
        }
        let many = self.graph.steps.len() > CITIES_MANY;
        let effort = if many { EFFORT_LITTLE } else { EFFORT };
        let random = self.random.fork();
        self.beliefs = Beliefs::new(&self.graph, self.view, self.seat, effort, random);
        let mut left = limits.rollouts;
        let mut each = ROLLOUTS_EACH;
        let mut pairs = Pairs::default();
        while left > 0 {
            for _ in 0..each {
                if is_late() {
                    left = 0;
                    break;
                }
                let luck = self.random.next_word();
                let mut values = [0.0; 2];
                for (at, alive) in alive.iter().enumerate() {
                    let value = self.value(&mut candidates[*alive], luck);
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
                let mut random = SplitMix64::new(luck);
                let mut game = self.begun(candidate, &mut random);
                game.finish(&self.graph, &mut self.work, &mut random);
                lead(&game.points(&self.graph), &game, self.seat)
            });
            pairs.add(f64::from(one - other));
        }
        pairs.difference()
    }

    /// The value of one rollout, from -1 for a loss to 1 for a win. The lead varies less than the
    /// winner, so that fewer rollouts suffice.
    fn value(&mut self, candidate: &mut Candidate, luck: u64) -> f64 {
        let mut random = SplitMix64::new(luck);
        let mut game = self.begun(candidate, &mut random);
        self.explore(&mut candidate.tree, &mut game, &mut random);
        game.finish(&self.graph, &mut self.work, &mut random);
        let lead = f64::from(lead(&game.points(&self.graph), &game, self.seat));
        // A square root is the same on every machine; an exponential is not.
        let value = lead / (lead * lead + LEAD_SCALE * LEAD_SCALE).sqrt();
        candidate.tree.add(value);
        value
    }

    /// Plays the next few turns of the seat by the tree.
    fn explore(&mut self, tree: &mut Tree, game: &mut Rollout, random: &mut SplitMix64) {
        tree.begin();
        for _ in 0..DEPTH {
            while !game.over && game.turn != self.seat {
                let choice = game.choose(&self.graph, &mut self.work, random);
                game.act(&self.graph, choice);
            }
            if game.over {
                return;
            }
            let usual = game.choose(&self.graph, &mut self.work, random);
            let chosen = tree.choose(&self.graph, game, usual);
            game.act(&self.graph, chosen.unwrap_or(usual));
            if chosen.is_none() {
                return;
            }
        }
    }

    /// A rollout after a choice.
    fn begun(&self, candidate: &Candidate, random: &mut SplitMix64) -> Rollout {
        let mut game = self.assumed(candidate.goals, random);
        if let Some(choice) = candidate.choice {
            game.act(&self.graph, choice);
        }
        game
    }

    /// The game as it stands, with everything hidden drawn at random.
    fn assumed(&self, goals: [Option<Goal>; KEEP_LEN], random: &mut SplitMix64) -> Rollout {
        let mut game = self.known.clone();
        for (at, seated) in game.seats.iter_mut().enumerate() {
            let luck = random.fork();
            if at == self.seat {
                seated.goals = goals;
                seated.kind = Kind::Builder;
            } else if let Some(guess) = self.beliefs.sample(at, random) {
                seated.clone_from(guess);
            }
            seated.luck = luck;
        }
        game
    }
}

/// The points of a seat less those of the best other player.
fn lead(points: &[i32; SEATS_MAX], game: &Rollout, seat: usize) -> i32 {
    let rivals = (0..game.seats.len()).filter(|at| *at != seat && game.seats[*at].remains);
    points[seat] - rivals.map(|at| points[at]).max().unwrap_or(0)
}
