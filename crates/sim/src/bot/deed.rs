//! How a player handles a request: mostly it answers.

use super::{Act, Bot, Out, say};
use crate::plan::Temper;
use crate::said::Asked;
use crate::world::LINE_BYTES_MAX;
use agon_bots::SplitMix64 as Rng;
use serde_json::json;

/// The ways to handle a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Deed {
    Answer,
    Late,
    Silent,
    Twice,
    Stale,
    Foreign,
    Cheat,
    Malformed,
    Crash,
    Stall,
    Flood,
    Second,
    LogOut,
}

impl Deed {
    pub(super) fn choose(temper: &Temper, rng: &mut Rng) -> Deed {
        let all = [
            (temper.late, Deed::Late),
            (temper.silent, Deed::Silent),
            (temper.twice, Deed::Twice),
            (temper.stale, Deed::Stale),
            (temper.foreign, Deed::Foreign),
            (temper.cheat, Deed::Cheat),
            (temper.malformed, Deed::Malformed),
            (temper.crash, Deed::Crash),
            (temper.stall, Deed::Stall),
            (temper.flood, Deed::Flood),
            (temper.second, Deed::Second),
            (temper.logout, Deed::LogOut),
        ];
        let does = all.into_iter().find(|(per_mille, _)| rng.chance(*per_mille));
        does.map_or(Deed::Answer, |(_, deed)| deed)
    }
}

/// Values that are no answers, or break a rule of some game.
const WRONG: [&str; 8] = [
    "null",
    "[]",
    r#"{"keep":[7,7]}"#,
    r#"{"score":"aces","points":99}"#,
    r#"{"place":[99,99]}"#,
    r#"{"move":[[0,0],[0,0]]}"#,
    r#"{"acquire":["A","B","red",3]}"#,
    r#""ok""#,
];

/// An answer of the right type that the rules forbid in most positions.
fn against_the_rules(right: &str) -> Option<&'static str> {
    let kinds = [
        ("{\"keep\"", r#"{"keep":[1,1,1,1,1]}"#),
        ("{\"place\"", r#"{"place":[99,99]}"#),
        ("{\"move\"", r#"{"move":[[0,0],[0,0]]}"#),
    ];
    kinds.into_iter().find(|(kind, _)| right.starts_with(kind)).map(|(_, wrong)| wrong)
}

impl Bot {
    /// Handles a request to which `right` is a legal answer.
    pub(super) fn act(&mut self, deed: Deed, id: &str, right: &str, deadline_ms: u64) -> Vec<Act> {
        let soon = self.rng.between(1, 30);
        let asked = Asked::parse(id);
        match deed {
            Deed::Answer => vec![self.answer(soon, id, right)],
            Deed::Late => {
                let late_ms = self.rng.between(deadline_ms * 9 / 10, deadline_ms * 13 / 10);
                vec![self.answer(late_ms, id, right)]
            }
            Deed::Silent => Vec::new(),
            Deed::Twice => {
                let other = *self.rng.pick(&WRONG);
                let second = if self.rng.chance(500) { right } else { other };
                let after = soon + self.rng.below(50);
                vec![self.answer(soon, id, right), self.answer(after, id, second)]
            }
            Deed::Stale => {
                let before = self.latest.get(self.rng.below(8) as usize).cloned();
                let mut acts: Vec<Act> = Vec::new();
                if let Some((id, _)) = before {
                    let answer = if self.rng.chance(500) { right } else { "null" };
                    acts.push(self.answer(soon, &id, answer));
                }
                acts.push(self.answer(soon, id, right));
                acts
            }
            Deed::Foreign => {
                let Some(asked) = asked else { return Vec::new() };
                let turn = (asked.turn + self.rng.below(3) as u32).saturating_sub(1);
                let other = asked.id(asked.seat ^ 1, turn);
                vec![self.answer(soon, &other, right), self.answer(soon + 1, id, right)]
            }
            Deed::Cheat => {
                let wrong = *self.rng.pick(&WRONG);
                let wrong =
                    against_the_rules(right).filter(|_| self.rng.chance(500)).unwrap_or(wrong);
                vec![self.answer(soon, id, wrong)]
            }
            Deed::Malformed => {
                let lines = ["no json", "{\"type\":\"dance\"}", "[1,2", "{\"type\":\"answer\"}"];
                let out = match self.rng.below(10) {
                    // An invalid frame, a close frame, or a line that is too long.
                    0 => Out::Bytes(b"\x83\x00".to_vec()),
                    1 => Out::Bytes(b"\x88\x80\x00\x00\x00\x00\n".to_vec()),
                    2 => Out::Line("x".repeat(LINE_BYTES_MAX + 10)),
                    _ => Out::Line((*self.rng.pick(&lines)).to_owned()),
                };
                vec![Act::Send(soon, out), self.answer(soon + 5, id, right)]
            }
            Deed::Crash => {
                let mut acts = Vec::new();
                if self.rng.chance(600) {
                    acts.push(self.answer(soon, id, right));
                }
                acts.push(Act::Cut(soon + self.rng.below(20)));
                acts
            }
            Deed::Stall => {
                vec![Act::Stall(self.rng.between(100, 6_000)), self.answer(soon, id, right)]
            }
            Deed::Flood => {
                let count = self.rng.between(20, 130);
                let junk = format!(r#"{{"type":"answer","id":"{id}9","answer":0}}"#);
                let mut acts: Vec<Act> =
                    (0..count).map(|_| Act::Send(soon, Out::Line(junk.clone()))).collect();
                acts.push(self.answer(soon + 1, id, right));
                acts
            }
            Deed::LogOut => vec![say(soon, &json!({"type": "logout"}))],
            Deed::Second => {
                let mut acts = vec![Act::Second];
                if self.rng.chance(500) {
                    acts.push(self.answer(soon + 30, id, right));
                }
                acts
            }
        }
    }
}
