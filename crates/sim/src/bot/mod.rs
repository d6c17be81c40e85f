//! Players: programs that play by the rules, and now and then do not.
//!
//! A player knows only what comes over its connections. What it was told and what it sent is its own
//! record, from which tournaments are recounted at the end.

mod deed;

use crate::plan::{Cup, Temper, player_name, token};
use crate::rng::Rng;
use crate::said::Said;
use agon_core::{Millis, PlayerName};
use agon_games::Seat;
use agon_players::{HousePlayer, Houses};
use deed::Deed;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// A line on its way, or something else a player does.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Sends a line over its connection after some time.
    Send(u64, String),
    /// Closes its connection after some time.
    Cut(u64),
    /// Reads nothing for so long.
    Stall(u64),
    /// Opens another connection, beside the one it has.
    Second,
}

/// What a player was told and did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    /// Answers it sent, by request.
    pub(crate) sent: BTreeMap<String, Vec<String>>,
    /// Matches it was told the end of, and whether it won.
    pub(crate) matches: BTreeMap<(String, String), bool>,
    /// Tournaments it was told it has left, each with whether it won and its rank.
    pub(crate) tournaments: BTreeMap<String, (bool, u32)>,
    /// Results it was sent, with the winners.
    pub(crate) results: BTreeMap<String, Vec<String>>,
    /// Tournaments it announced or signed up for with success.
    pub(crate) done: BTreeSet<(String, String)>,
    /// Those it was refused.
    pub(crate) refused: BTreeSet<(String, String)>,
    /// Commitments it was told, by tournament.
    pub(crate) commitments: BTreeMap<String, String>,
}

/// One player.
pub(crate) struct Bot {
    pub(crate) number: usize,
    pub(crate) name: PlayerName,
    temper: Temper,
    rng: Rng,
    houses: BTreeMap<&'static str, Box<dyn HousePlayer>>,
    cups: Vec<Cup>,
    pub(crate) record: Record,
    /// What it answered to the latest requests, to be said again.
    latest: Vec<(String, String)>,
    pub(crate) logged_in: bool,
    /// What it asked the lobby last and was not answered yet.
    asking: Option<(String, String)>,
    pub(crate) healed: bool,
}

impl Bot {
    pub(crate) fn new(number: usize, temper: Temper, cups: &[Cup], rng: Rng) -> Bot {
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
            cups: cups.to_vec(),
            record: Record::default(),
            latest: Vec::new(),
            logged_in: false,
            asking: None,
            healed: false,
        }
    }

    /// What it does when its connection is open and the server has greeted it.
    fn log_in(&mut self) -> Vec<Act> {
        self.logged_in = false;
        self.asking = None;
        let hello = json!({"type": "hello", "protocol": 1, "name": "sim"});
        let login = json!({"type": "login", "token": token(self.number)});
        vec![Act::Send(0, hello.to_string()), Act::Send(0, login.to_string())]
    }

    /// What it does about a line.
    pub(crate) fn hear(&mut self, said: &Said, _now: Millis) -> Vec<Act> {
        match said.kind.as_str() {
            "greeting" => self.log_in(),
            "welcome" => {
                self.logged_in = true;
                let mut acts = self.ask_lobby();
                // Whatever it said last may have been lost with the connection.
                if self.rng.chance(500) {
                    let again = self.latest.last().cloned();
                    acts.extend(again.map(|(id, answer)| self.answer(0, &id, &answer)));
                }
                acts
            }
            "request" => self.asked(said),
            "notice" => {
                self.note(said);
                Vec::new()
            }
            "done" | "error" => self.answered(said),
            _ => Vec::new(),
        }
    }

    /// Asks the lobby for what it still wants, one thing after the other.
    pub(crate) fn ask_lobby(&mut self) -> Vec<Act> {
        if !self.logged_in || self.asking.is_some() {
            return Vec::new();
        }
        let what = if self.number == 0 { "announce" } else { "sign-up" };
        let wanted = self.cups.iter().find(|cup| {
            let key = (what.to_owned(), cup.id.clone());
            let open = !self.record.done.contains(&key) && !self.record.refused.contains(&key);
            open && (self.number == 0 || cup.sign_up)
        });
        let Some(cup) = wanted else { return Vec::new() };
        let line = match self.number {
            0 => json!({"type": what, "tournament": cup.wanted}),
            _ => json!({"type": what, "tournament": cup.id}),
        };
        self.asking = Some((what.into(), cup.id.clone()));
        vec![Act::Send(self.rng.between(1, 200), line.to_string())]
    }

    fn answered(&mut self, said: &Said) -> Vec<Act> {
        if said.kind == "done" {
            let (Some(what), Some(id)) = (&said.what, &said.tournament) else { return Vec::new() };
            self.record.done.insert((what.clone(), id.clone()));
            self.asking = None;
            return self.ask_lobby();
        }
        let refused = matches!(said.code.as_deref(), Some("refused"));
        if let Some(asking) = self.asking.take_if(|_| refused) {
            let detail = said.detail.as_deref().unwrap_or_default();
            // Too early: the operator has yet to announce it.
            let early = asking.0 == "sign-up" && detail.contains("takes no sign-ups");
            let mine = detail.contains("signed up already") || detail.contains("already; choose");
            match (early && !self.healed, mine) {
                (true, _) => {}
                (_, true) => drop(self.record.done.insert(asking)),
                _ => drop(self.record.refused.insert(asking)),
            }
        }
        Vec::new()
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
        let Some(game) = self.cups.iter().find(|one| one.id == cup).map(|one| one.game) else {
            return Vec::new();
        };
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

    /// Sends an answer after so long, and keeps that in its record.
    fn answer(&mut self, after_ms: u64, id: &str, answer: &str) -> Act {
        self.record.sent.entry(id.to_owned()).or_default().push(answer.to_owned());
        Act::Send(after_ms, format!(r#"{{"type":"answer","id":"{id}","answer":{answer}}}"#))
    }
}
