//! Players: programs that follow the rules, and now and then break them.
//!
//! A player knows only what arrives over its connections. It keeps its own record of the messages
//! it received and sent, and the simulator recounts tournaments from these records at the end.

mod deed;
mod lobby;

use crate::plan::{Plan, Temper, player_name, token};
use crate::said::Said;
use crate::way::Way;
use agon_bots::SplitMix64 as Rng;
use agon_bots::{HousePlayer, Houses};
use agon_core::PlayerName;
use agon_games::Seat;
use deed::Deed;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// Something that a player sends.
#[derive(Clone, Debug)]
pub(crate) enum Out {
    /// A message of the native protocol; answers are translated for other protocols.
    Line(String),
    /// A message in the protocol of its connection.
    Words(String),
    /// Bytes that form no message.
    Bytes(Vec<u8>),
}

/// Something a player does.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Sends something over its connection after a delay.
    Send(u64, Out),
    /// Closes its connection after a delay.
    Cut(u64),
    /// Reads nothing for this long.
    Stall(u64),
    /// Opens another connection beside its present one.
    Second,
    /// Closes all its connections after a delay.
    CutAll(u64),
}

/// A player's own record of what it received and did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    /// Answers it sent, by request.
    pub(crate) sent: BTreeMap<String, Vec<String>>,
    /// Matches whose end it was notified of, and whether it won.
    pub(crate) matches: BTreeMap<(String, String), bool>,
    /// Tournaments whose end for it was notified, each with whether it won and its rank.
    pub(crate) tournaments: BTreeMap<String, (bool, u32)>,
    /// Results it was sent, with the winners.
    pub(crate) results: BTreeMap<String, Vec<String>>,
    /// Announcements and sign-ups that the server accepted.
    pub(crate) done: BTreeSet<(String, String)>,
    /// Those that the server rejected.
    pub(crate) refused: BTreeSet<(String, String)>,
    /// Every request it ever made to the lobby, by kind and tournament.
    pub(crate) asked: BTreeSet<(String, String)>,
    /// Commitments it received, by tournament.
    pub(crate) commitments: BTreeMap<String, String>,
}

/// One player.
pub(crate) struct Bot {
    pub(crate) number: usize,
    pub(crate) name: PlayerName,
    pub(crate) temper: Temper,
    rng: Rng,
    houses: BTreeMap<&'static str, Box<dyn HousePlayer>>,
    plan: Plan,
    pub(crate) record: Record,
    /// Its answers to the latest requests, so that it can repeat them.
    latest: Vec<(String, String)>,
    pub(crate) logged_in: bool,
    /// Its latest request to the lobby that has no answer yet.
    asking: Option<(String, String)>,
    pub(crate) healed: bool,
}

impl Bot {
    pub(crate) fn new(number: usize, temper: Temper, plan: &Plan, rng: Rng) -> Bot {
        let houses = Houses::standard();
        let make = |game| {
            let house = houses.make(game, "random").expect("there is a random player of each game");
            (game, house)
        };
        Bot {
            number,
            name: PlayerName::new(&player_name(number)).expect("names of players are names"),
            temper,
            rng,
            houses: ["fish", "yahtzee", "trains"].map(make).into(),
            plan: plan.clone(),
            record: Record::default(),
            latest: Vec::new(),
            logged_in: false,
            asking: None,
            healed: false,
        }
    }

    /// Returns whether it uses another system's protocol only.
    pub(crate) fn is_peer(&self) -> bool {
        self.plan.peers.is_some() && self.temper.peer && !self.temper.person
    }

    /// Logs in, once the server has greeted the player.
    fn log_in(&mut self) -> Vec<Act> {
        self.logged_in = false;
        self.asking = None;
        let hello = json!({"type": "hello", "protocol": 1, "name": "sim"});
        let login = json!({"type": "login", "token": token(self.number)});
        vec![say(0, &hello), say(0, &login)]
    }

    /// Reacts to a message of the native protocol.
    pub(crate) fn hear(&mut self, said: &Said) -> Vec<Act> {
        match said.kind.as_str() {
            "greeting" => self.log_in(),
            "welcome" => {
                self.logged_in = true;
                let mut acts = self.ask_lobby();
                // Its last message may have been lost with the connection.
                if self.rng.chance(500) {
                    let again = self.latest.last().cloned();
                    acts.extend(again.map(|(id, answer)| self.answer(0, &id, &answer)));
                }
                acts
            }
            "request" => self.asked(said),
            "notice" => {
                self.note(said);
                self.invited(said)
            }
            "done" | "error" => self.answered(said),
            _ => Vec::new(),
        }
    }

    /// Reacts to a call of another system.
    pub(crate) fn called(&mut self, way: Way, said: Option<&Said>, text: &str) -> Vec<Act> {
        let game = match way {
            Way::Trains => text.starts_with(r#"["p"#),
            _ => !text.starts_with(r#"["playing-"#),
        };
        match said.filter(|_| game) {
            Some(said) => self.asked(said),
            None if way == Way::Message && !text.contains("tournament_") => Vec::new(),
            None => {
                let late = !self.healed && self.rng.chance(self.temper.late);
                let after_ms = if late { 3_000 } else { self.rng.between(1, 30) };
                vec![Act::Send(after_ms, Out::Words(way.courtesy(text)))]
            }
        }
    }

    fn note(&mut self, said: &Said) {
        let Some(about) = said.about() else { return };
        let Some(tournament) = about.tournament else { return };
        match said.about.as_deref() {
            Some("match-over") => {
                let id = about.in_match.unwrap_or_default();
                self.record.matches.insert((tournament, id), about.won);
            }
            Some("tournament-over") => {
                let rank = about.rank.unwrap_or(0);
                self.record.tournaments.insert(tournament, (about.won, rank));
            }
            Some("tournament-result") => {
                self.record.results.insert(tournament, about.winners);
            }
            Some("tournament") => {
                let commitment = about.commitment.unwrap_or_default();
                self.record.commitments.insert(tournament, commitment);
            }
            _ => {}
        }
    }

    fn asked(&mut self, said: &Said) -> Vec<Act> {
        let (Some(id), Some(seat), Some(question), Some(view)) =
            (&said.id, said.seat, &said.question, &said.view)
        else {
            return Vec::new();
        };
        let cup = id.split(':').next().unwrap_or_default();
        let Some(game) = self.plan.game_of(cup) else { return Vec::new() };
        let Some(house) = self.houses.get_mut(game) else { return Vec::new() };
        let (name, seat) = (self.name.as_str(), Seat(seat));
        let answer = house.answer_text(name, id, seat, question.get(), view.get());
        let Ok(answer) = answer else { return Vec::new() };
        let deadline_ms = said.deadline_ms.unwrap_or(0);
        let deed = match self.healed {
            true => Deed::Answer,
            false => Deed::choose(&self.temper, &mut self.rng),
        };
        let acts = self.act(deed, id, answer.get(), deadline_ms);
        self.latest.push((id.clone(), answer.get().to_owned()));
        if self.latest.len() > 8 {
            self.latest.remove(0);
        }
        acts
    }

    /// Sends an answer after a delay, and records it.
    fn answer(&mut self, after_ms: u64, id: &str, answer: &str) -> Act {
        self.record.sent.entry(id.to_owned()).or_default().push(answer.to_owned());
        let line = format!(r#"{{"type":"answer","id":"{id}","answer":{answer}}}"#);
        Act::Send(after_ms, Out::Line(line))
    }
}

/// Sends a message of the native protocol.
fn say(after_ms: u64, message: &serde_json::Value) -> Act {
    Act::Send(after_ms, Out::Line(message.to_string()))
}
