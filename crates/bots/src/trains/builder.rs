//! The turns of the champion's own seat in rollouts.
//!
//! A builder plans ways to its destinations that it can finish before the connections are gone, and
//! avoids connections that others are about to acquire. Cards that the plan does not need pay for
//! connections that lengthen its path.

use super::graph::{CLOSED, Goal, Graph, Paths};
use super::rollout::{COLORS, DRAW, FREE, Few, Kind, Rollout, Workspace};

// All numbers were found by playing many thousands of games of builders against house players, each
// with slightly other numbers.

/// The price of a connection, per turn, missing card and segment. The risk that somebody else
/// acquires it adds to the price, the more cards are missing.
const PRICE_TURN: i32 = 43;
const PRICE_MISSING: i32 = 12;
const PRICE_SEGMENT: i32 = 9;
const PRICE_RISK: i32 = 6;
const PRICE_RISK_MISSING: i32 = 3;

/// How often of a thousand a [`Kind::First`] acquires the first free connection in a round, and the
/// percentage of that for each one after it.
const FIRST_ACQUIRES: u32 = 89;
const FIRST_NEXT: u32 = 36;

/// How often of a thousand another player acquires some connection in a round.
const OTHER_ACQUIRES: u32 = 255;

/// The percentage of the risk that matters if a parallel connection is free.
const RISK_PARALLEL: u32 = 33;

/// How many turns of one player are left per free connection, times the players.
const TURNS_EACH: f64 = 2.0;

/// The share of the turns left that a plan can use.
const TURNS_USED: f64 = 0.93;

/// The value of a plan, in eighths of a point: per destination, segment, turn, and segment of the
/// longest path.
const VALUE_GOAL: f64 = 266.0;
const VALUE_SEGMENT: f64 = 8.0;
const VALUE_TURN: f64 = 17.0;
const VALUE_PATH: f64 = 3.0;

/// How many turns a plan needs per missing card, and per missing card of the rarest colour.
const TURNS_MISSING: f64 = 59.0;
const TURNS_RAREST: f64 = 32.0;
const TURNS_SCALE: f64 = 100.0;

/// The worth of a connection per segment that it adds to the longest path, per segment, and for a
/// connection that touches the network elsewhere than at the end of the path.
const WORTH_PATH: i32 = 7;
const WORTH_SEGMENT: i32 = 3;
const WORTH_TOUCH: i32 = 4;

/// The least worth of a connection outside the plan. It is higher while connections of the plan are
/// at risk, and while there is more time than the plan needs. Each card that the plan loses counts.
const SPARE_MIN: i32 = 17;
const SPARE_RISK: i32 = 7;
const SPARE_SLACK: i32 = 2;
const SPARE_CARD: i32 = 7;

/// The worth of a connection that the builder could wait for falls by this much per missing card.
const WAIT_CARD: i32 = 8;

/// Connections that join destinations.
#[derive(Clone, Copy, Debug, Default)]
struct Plan {
    wanted: Few,
    /// The segments by colour.
    need: [u8; COLORS],
    turns: f64,
    value: f64,
}

impl Rollout {
    /// The connection that a builder acquires now.
    pub(super) fn built(&self, graph: &Graph, work: &mut Workspace) -> Option<u16> {
        work.payable.clear();
        work.payable.extend(self.payable(graph));
        if work.payable.is_empty() {
            return None;
        }
        let left = self.turns_left();
        let plan = self.plan_ahead(graph, work, left);
        let wanted = plan.wanted.as_slice();
        let mut most: Option<(u32, u16)> = None;
        for at in wanted.iter().copied().filter(|at| work.payable.contains(at)) {
            let risk = work.risks[usize::from(at)];
            if most.is_none_or(|(other, _)| risk > other) {
                most = Some((risk, at));
            }
        }
        if let Some((_, at)) = most {
            return Some(at);
        }
        let mut whole = self.seats[self.turn].own;
        wanted.iter().for_each(|at| whole.push(*at));
        let paths = graph.paths(whole.as_slice());
        if wanted.is_empty() {
            self.extension(graph, work, &whole, &paths, left)
        } else {
            self.spare(graph, work, &plan, &whole, &paths, left)
        }
    }

    /// A connection that the plan does not need, if the cards for it hardly matter to the plan.
    fn spare(
        &self,
        graph: &Graph,
        work: &Workspace,
        plan: &Plan,
        whole: &Few,
        paths: &Paths,
        left: f64,
    ) -> Option<u16> {
        let seat = &self.seats[self.turn];
        let risk = plan.wanted.as_slice().iter().map(|at| work.risks[usize::from(*at)]).max();
        let risk = risk.unwrap_or(0) as i32;
        let slack = (left - plan.turns) as i32;
        let least = SPARE_MIN + SPARE_RISK * risk / 64 + SPARE_SLACK * slack;
        let mut best = (least, None);
        let used: u8 = plan.need.iter().sum();
        for at in work.payable.iter().copied() {
            let place = usize::from(at);
            let (color, length) = (usize::from(graph.color[place]), graph.length[place]);
            if used + length > seat.rails {
                continue;
            }
            let spare = i32::from(seat.hand[color]) - i32::from(plan.need[color]);
            let lost = (i32::from(length) - spare.max(0)).max(0);
            let worth = extension_worth(graph, whole, paths, at) - SPARE_CARD * lost;
            if worth > best.0 {
                best = (worth, Some(at));
            }
        }
        best.1
    }

    /// The connection that lengthens the path most, or none if a better one is worth waiting for.
    fn extension(
        &self,
        graph: &Graph,
        work: &Workspace,
        whole: &Few,
        paths: &Paths,
        left: f64,
    ) -> Option<u16> {
        let seat = &self.seats[self.turn];
        let mut best: Option<(i32, u16)> = None;
        let mut later = i32::MIN;
        let waits = left >= 1.0 && self.last_turns.is_none() && self.deck >= DRAW;
        for place in 0..self.owner.len() {
            let (color, length) = (usize::from(graph.color[place]), graph.length[place]);
            if self.owner[place] != FREE || seat.rails < length {
                continue;
            }
            let missing = length.saturating_sub(seat.hand[color]);
            if missing > 0 && !waits {
                continue;
            }
            let worth = extension_worth(graph, whole, paths, place as u16);
            if missing == 0 {
                if best.is_none_or(|(most, _)| worth > most) {
                    best = Some((worth, place as u16));
                }
            } else {
                let delay = i32::from(missing) * WAIT_CARD + work.risks[place] as i32 / 16;
                later = later.max(worth - delay);
            }
        }
        best.filter(|(worth, _)| *worth >= later).map(|(_, at)| at)
    }

    /// How many turns the player to act still has, about.
    fn turns_left(&self) -> f64 {
        if self.last_turns.is_some() {
            return 1.0;
        }
        let players = self.seats.iter().filter(|seat| seat.remains).count().max(1);
        f64::from(self.free()) * TURNS_EACH / players as f64
    }

    /// The risk of every connection: how often of a thousand somebody else acquires it in a round.
    /// One with a free parallel connection can be replaced.
    fn set_risks(&self, graph: &Graph, work: &mut Workspace) {
        let others = self.seats.iter().enumerate();
        let others = others.filter(|(at, seat)| *at != self.turn && seat.remains);
        let (mut first, mut other) = (0, 0);
        for (_, seat) in others {
            match seat.kind {
                Kind::First { .. } => first += 1,
                _ => other += 1,
            }
        }
        let each = other * OTHER_ACQUIRES / u32::from(self.free().max(1));
        let mut risk = first * FIRST_ACQUIRES * 16;
        work.risks.clear();
        for owner in &self.owner {
            work.risks.push(if *owner == FREE { risk / 16 + each } else { 0 });
            if *owner == FREE {
                risk = risk * FIRST_NEXT / 100;
            }
        }
        for at in 0..self.owner.len() {
            if self.owner[at] == FREE && self.alternatives(graph, at as u16) > 1 {
                work.risks[at] = work.risks[at] * RISK_PARALLEL / 100;
            }
        }
    }

    fn set_builder_prices(&self, graph: &Graph, work: &mut Workspace) {
        let hand = &self.seats[self.turn].hand;
        work.prices.clear();
        for (at, owner) in self.owner.iter().enumerate() {
            let missing = graph.length[at].saturating_sub(hand[usize::from(graph.color[at])]);
            let missing = i32::from(missing);
            let price = if usize::from(*owner) == self.turn {
                0
            } else if *owner != FREE || (missing > 0 && self.deck < DRAW) {
                CLOSED
            } else {
                let risk = work.risks[at] as i32 * (PRICE_RISK + PRICE_RISK_MISSING * missing) / 64;
                let segments = PRICE_SEGMENT * i32::from(graph.length[at]);
                (PRICE_TURN + PRICE_MISSING * missing + segments + risk) as u32
            };
            work.prices.push(price);
        }
    }

    /// The most valuable plan of the player to act, which has about `left` turns.
    fn plan_ahead(&self, graph: &Graph, work: &mut Workspace, left: f64) -> Plan {
        self.set_risks(graph, work);
        self.set_builder_prices(graph, work);
        let seat = &self.seats[self.turn];
        let path_value = |plan: &Plan| {
            let mut whole = seat.own;
            plan.wanted.as_slice().iter().for_each(|at| whole.push(*at));
            VALUE_PATH * f64::from(graph.paths(whole.as_slice()).longest)
        };
        let nothing = Plan::default();
        let mut best = Plan { value: path_value(&nothing), ..nothing };
        let room = (left * TURNS_USED).max(0.01);
        for order in [seat.goals, [seat.goals[1], seat.goals[0]]] {
            let mut plan = Plan::default();
            let (mut reward, mut segments) = (0.0, 0);
            let mut was = [0; 15];
            for goal in order.into_iter().flatten() {
                let Some(way) = self.affordable(graph, work, goal, seat.rails - segments) else {
                    continue;
                };
                for at in way.as_slice() {
                    let place = usize::from(*at);
                    was[plan.wanted.as_slice().len()] = work.prices[place];
                    work.prices[place] = 0;
                    plan.wanted.push(*at);
                    plan.need[usize::from(graph.color[place])] += graph.length[place];
                    segments += graph.length[place];
                }
                plan.turns = turns(&seat.hand, &plan);
                reward += VALUE_GOAL * (1.5 - plan.turns / room).clamp(0.0, 1.0);
                let spent = VALUE_TURN * plan.turns;
                plan.value =
                    reward + VALUE_SEGMENT * f64::from(segments) - spent + path_value(&plan);
                if plan.value > best.value {
                    best = plan;
                }
            }
            for (at, was) in plan.wanted.as_slice().iter().zip(was) {
                work.prices[usize::from(*at)] = was;
            }
        }
        best
    }

    /// The cheapest way at the current prices, if there are rails for it.
    fn affordable(
        &self,
        graph: &Graph,
        work: &mut Workspace,
        goal: Goal,
        rails: u8,
    ) -> Option<Few> {
        work.one.clear();
        graph.way(goal, &mut work.scratch, &work.prices, &mut work.one)?;
        let length = |at: &u16| u32::from(graph.length[usize::from(*at)]);
        let segments: u32 = work.one.iter().map(length).sum();
        (segments <= u32::from(rails)).then(|| work.one.iter().copied().collect())
    }
}

/// How much a connection helps a network: by its length, and by what it does for the longest path.
fn extension_worth(graph: &Graph, whole: &Few, paths: &Paths, at: u16) -> i32 {
    let ends = graph.ends[usize::from(at)];
    let length = graph.length[usize::from(at)];
    let longest = paths.longest_with(ends, length).unwrap_or_else(|| {
        let mut own = *whole;
        own.push(at);
        graph.paths(own.as_slice()).longest
    });
    let [one, other] = ends;
    let extends = |end: u16, far: u16| paths.ends_in(end) && !paths.contains(far);
    let touches = paths.contains(one) != paths.contains(other);
    let is_elsewhere = touches && !extends(one, other) && !extends(other, one);
    let place = if is_elsewhere { WORTH_TOUCH } else { 0 };
    WORTH_PATH * (longest - paths.longest) as i32 + WORTH_SEGMENT * i32::from(length) + place
}

/// How many turns a plan takes, about.
fn turns(hand: &[u8; COLORS], plan: &Plan) -> f64 {
    let missing = |color: usize| u32::from(plan.need[color].saturating_sub(hand[color]));
    let sum: u32 = (0..COLORS).map(missing).sum();
    let most = (0..COLORS).map(missing).max().unwrap_or(0);
    let draws = TURNS_MISSING * f64::from(sum) + TURNS_RAREST * f64::from(most);
    plan.wanted.as_slice().len() as f64 + draws / TURNS_SCALE
}

#[cfg(test)]
mod tests {
    use super::super::rollout::{HAND, Seated};
    use super::*;
    use crate::SplitMix64;
    use agon_games::trains::{Config, OFFER_LEN, RAILS};

    const OTHERS: [Kind; 5] = [
        Kind::Greedy,
        Kind::First { hold: 10 },
        Kind::First { hold: 0 },
        Kind::Greedy,
        Kind::First { hold: 0 },
    ];

    /// The two destinations of a random offer that are nearest.
    fn goals(
        graph: &Graph,
        all: &[Goal],
        work: &mut Workspace,
        random: &mut SplitMix64,
    ) -> [Goal; 2] {
        let empty = Rollout::new(graph, vec![Seated::new(RAILS, Few::default(), true)], 0, 0);
        let mut offer = [(); OFFER_LEN].map(|()| {
            let goal = *random.pick(all);
            (empty.shortest(graph, goal, work), goal)
        });
        offer.sort_unstable();
        [offer[0].1, offer[1].1]
    }

    /// How many of 300 games one player of a kind wins or shares against the others.
    fn wins(kind: Kind) -> usize {
        let config = Config::default();
        let graph = Graph::new(&config.map);
        let mut work = Workspace::default();
        let won = |number: u64| {
            let mut random = SplitMix64::new(number);
            let mut kinds: Vec<Kind> = std::iter::once(kind).chain(OTHERS).collect();
            let own = number as usize % kinds.len();
            kinds.rotate_right(own);
            let seats = kinds.iter().map(|kind| {
                let mut seated = Seated::new(RAILS, Few::default(), true);
                seated.kind = *kind;
                seated.luck = random.fork();
                seated.draw(HAND);
                let all = config.map.destinations();
                seated.goals = goals(&graph, all, &mut work, &mut random).map(Some);
                seated
            });
            let mut game = Rollout::new(&graph, seats.collect(), 226, 0);
            game.finish(&graph, &mut work, &mut random);
            let points = game.points(&graph);
            points[..kinds.len()].iter().all(|other| *other <= points[own])
        };
        (0..300).map(won).filter(|won| *won).count()
    }

    #[test]
    fn builders_win_more_games_than_planners() {
        let (builder, planner) = (wins(Kind::Builder), wins(Kind::Planner));
        assert!(builder > planner + 15, "{builder} and {planner} of 300");
    }
}
