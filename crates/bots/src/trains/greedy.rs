//! A player that builds towards its destinations, and then extends its longest path.
//!
//! It keeps the two destinations that are cheapest to connect. For each it plans the cheapest way
//! over its own and free connections, and acquires connections of that plan as soon as it can pay.
//! When nothing is left to connect, it acquires the longest connection it can, first those that
//! touch its own. It plans again on every turn, from the view alone.

use super::default_map;
use super::plain::state;
use crate::house::{Ask, Bot};
use agon_games::Json;
use agon_games::trains::{
    Answer, Connection, KEEP_LEN, Map, OFFER_LEN, Pair, PlayerState, Question, Trains,
};

/// Connects its destinations, then extends its path.
#[derive(Clone, Debug, Default)]
pub struct Greedy;

impl Bot<Trains> for Greedy {
    fn answer(&mut self, ask: &Ask<'_, Trains>) -> Answer {
        match ask.question {
            Question::Setup { .. } | Question::More { .. } => Answer::Ok,
            Question::Pick { destinations } => pick(&ask.view.map, destinations),
            Question::Play {} => play(&ask.view.map, &state(ask)),
        }
    }

    fn propose(&mut self) -> Option<Json> {
        default_map()
    }
}

/// Keeps the two destinations with the cheapest ways on an empty map.
fn pick(map: &Map, offered: &[Pair; OFFER_LEN]) -> Answer {
    let price = |at: usize| Some(u32::from(map.connections()[at].length.segments()));
    let mut by_cost = offered.map(|pair| {
        let way = cheapest_way(map, &pair, price);
        (way.map_or(u32::MAX, |way| cost(map, &way)), pair)
    });
    by_cost.sort_unstable();
    Answer::Return(by_cost[KEEP_LEN..].iter().map(|(_, pair)| *pair).collect())
}

fn cost(map: &Map, way: &[usize]) -> u32 {
    way.iter().map(|at| u32::from(map.connections()[*at].length.segments())).sum()
}

fn play(map: &Map, state: &PlayerState) -> Answer {
    let mut mine = vec![false; map.connections().len()];
    state.this.acquired.iter().filter_map(|held| map.find(held)).for_each(|at| mine[at] = true);
    let free: Vec<bool> = map.connections().iter().map(|held| !state.is_held(held)).collect();
    let mut planned = Vec::new();
    for pair in [state.this.destination1, state.this.destination2] {
        // The player's own connections cost nothing, free ones cost their length, and those of
        // others cannot be used.
        let way = cheapest_way(map, &pair, |at| match (mine[at], free[at]) {
            (true, _) => Some(0),
            (_, true) => Some(u32::from(map.connections()[at].length.segments())),
            _ => None,
        });
        let way = way.unwrap_or_default();
        let missing: Vec<usize> = way.into_iter().filter(|at| !mine[*at]).collect();
        // A way that needs more rails than the player has is not a plan.
        if u64::from(cost(map, &missing)) <= state.this.rails.0 {
            planned.push(missing);
        }
    }
    planned.sort_by_key(|missing| cost(map, missing));
    let wanted: Vec<usize> = planned.into_iter().flatten().collect();
    let payable = |at: &&usize| state.can_pay(&map.connections()[**at]);
    if let Some(at) = wanted.iter().find(payable) {
        return Answer::Acquire(map.connections()[*at]);
    }
    if wanted.is_empty() { lengthen(map, state) } else { Answer::MoreCards }
}

/// The longest connection that can be acquired, first those that touch the player's own.
fn lengthen(map: &Map, state: &PlayerState) -> Answer {
    let own = || state.this.acquired.iter().map(|held| held.pair);
    let touches = |connection: &Connection| {
        let cities = [connection.pair.first(), connection.pair.second()];
        own().any(|pair| cities.contains(&pair.first()) || cities.contains(&pair.second()))
            && own().all(|pair| pair != connection.pair)
    };
    let best = state.choices(map).max_by_key(|choice| (touches(choice), choice.length));
    best.map_or(Answer::MoreCards, |best| Answer::Acquire(*best))
}

/// The cheapest way between two cities, as indices of connections. `price` returns the cost of a
/// connection, or `None` if it cannot be used.
fn cheapest_way(
    map: &Map,
    pair: &Pair,
    price: impl Fn(usize) -> Option<u32>,
) -> Option<Vec<usize>> {
    let (from, to) = (map.city(pair.first())?, map.city(pair.second())?);
    let mut best: Vec<Option<(u32, usize)>> = vec![None; map.cities().len()];
    best[from] = Some((0, usize::MAX));
    // Prices are at most 5 and ways are short. Scanning all connections until nothing improves is
    // fast enough, and needs no queue.
    let mut improved = true;
    while improved {
        improved = false;
        for at in 0..map.connections().len() {
            let Some(price) = price(at) else { continue };
            let [one, other] = map.ends(at).map(usize::from);
            for (here, there) in [(one, other), (other, one)] {
                let Some((cost, _)) = best[here] else { continue };
                if best[there].is_none_or(|(known, _)| cost + price < known) {
                    best[there] = Some((cost + price, at));
                    improved = true;
                }
            }
        }
    }
    let mut way = Vec::new();
    let mut city = to;
    while city != from {
        let (_, at) = best[city]?;
        way.push(at);
        let [one, other] = map.ends(at).map(usize::from);
        city = if one == city { other } else { one };
    }
    Some(way)
}
