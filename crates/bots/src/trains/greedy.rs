//! A player that builds towards its destinations, and then extends its longest path.
//!
//! It keeps the two destinations that are cheapest to connect. For each it plans the cheapest way
//! over its own and free connections, and acquires connections of that plan as soon as it can pay.
//! When nothing is left to connect, it acquires the longest connection it can, first those that
//! touch its own. It plans again on every turn, from the view alone. Its turns are those of
//! [`Kind::Greedy`], the champion's model of it.

use super::default_map;
use super::graph::Graph;
use super::rollout::{Choice, Few, Kind, Rollout, Seated, Workspace};
use crate::SplitMix64;
use crate::house::{Ask, Bot};
use agon_games::Json;
use agon_games::trains::{Answer, KEEP_LEN, Map, OFFER_LEN, Pair, Question, RAILS, Trains, View};

/// Connects its destinations, then extends its path.
#[derive(Clone, Debug, Default)]
pub struct Greedy;

impl Bot<Trains> for Greedy {
    fn answer(&mut self, ask: &Ask<'_, Trains>) -> Answer {
        match ask.question {
            Question::Setup { .. } | Question::More { .. } => Answer::Ok,
            Question::Pick { destinations } => pick(&ask.view.map, destinations),
            Question::Play {} => play(ask.view, ask.seat.index()),
        }
    }

    fn propose(&mut self) -> Option<Json> {
        default_map()
    }
}

/// Keeps the two destinations with the cheapest ways on an empty map.
fn pick(map: &Map, offered: &[Pair; OFFER_LEN]) -> Answer {
    let graph = Graph::new(map);
    let player = Seated::new(RAILS, Few::default(), true);
    let empty = Rollout::new(&graph, vec![player], 0, 0);
    let mut work = Workspace::default();
    let mut by_cost = offered.map(|pair| {
        let goal = Graph::goal(map, &pair);
        let cost = goal.and_then(|goal| empty.shortest(&graph, goal, &mut work));
        (cost.unwrap_or(u32::MAX), pair)
    });
    by_cost.sort_unstable();
    Answer::Return(by_cost[KEEP_LEN..].iter().map(|(_, pair)| *pair).collect())
}

fn play(view: &View, seat: usize) -> Answer {
    let graph = Graph::new(&view.map);
    let mut game = Rollout::known(view, &graph, seat);
    game.seats[seat].kind = Kind::Greedy;
    match game.choose(&graph, &mut Workspace::default(), &mut SplitMix64::new(0)) {
        Choice::Draw => Answer::MoreCards,
        Choice::Acquire(at) => Answer::Acquire(view.map.connections()[usize::from(at)]),
    }
}
