//! A player's requests to the lobby: to announce, to enter, and now and then to leave again.

use super::{Act, Bot, say};
use crate::plan::{Cup, Entry};
use crate::said::Said;
use serde_json::json;

impl Bot {
    /// Now and then the player sends its next request to the lobby, or withdraws an earlier one.
    pub(crate) fn look_around(&mut self) -> Vec<Act> {
        if self.logged_in && !self.healed && self.rng.chance(self.temper.fickle) {
            return self.leave();
        }
        self.ask_lobby()
    }

    /// Leaves a sign-up, a queue or a running tournament.
    fn leave(&mut self) -> Vec<Act> {
        let Some(cup) = self.plan.cups.first() else { return Vec::new() };
        let id = cup.id.clone();
        let (what, line) = match cup.entry {
            Entry::Queue => ("dequeue", json!({"type": "dequeue", "queue": id})),
            _ => ("withdraw", json!({"type": "withdraw", "tournament": id})),
        };
        self.record.asked.insert((what.into(), id));
        vec![say(0, &line)]
    }

    /// Sends the next request that the player still has for the lobby.
    pub(super) fn ask_lobby(&mut self) -> Vec<Act> {
        if !self.logged_in || self.asking.is_some() {
            return Vec::new();
        }
        let wanted = self.plan.cups.iter().find_map(|cup| {
            let what = self.wish(cup)?;
            let key = (what.to_owned(), cup.id.clone());
            let open = !self.record.done.contains(&key) && !self.record.refused.contains(&key);
            open.then_some((key, cup))
        });
        let Some((key, cup)) = wanted else { return Vec::new() };
        let line = match key.0.as_str() {
            "announce" => json!({"type": "announce", "tournament": cup.wanted}),
            "enqueue" => json!({"type": "enqueue", "queue": cup.id}),
            what => json!({"type": what, "tournament": cup.id}),
        };
        self.record.asked.insert(key.clone());
        self.asking = Some(key);
        vec![say(self.rng.between(1, 200), &line)]
    }

    /// The request a player has for a tournament.
    fn wish(&self, cup: &Cup) -> Option<&'static str> {
        match (self.number, cup.entry) {
            (0, _) => Some("announce"),
            (_, Entry::SignUp) => Some("sign-up"),
            (_, Entry::Queue) => Some("enqueue"),
            (_, Entry::Named | Entry::Invited | Entry::Here) => None,
        }
    }

    /// The reply to an invitation, or to the question whether the player is ready.
    pub(super) fn invited(&mut self, said: &Said) -> Vec<Act> {
        let asked = match said.about.as_deref() {
            Some("invitation") => "accept",
            Some("ready-asked") => "ready",
            _ => return Vec::new(),
        };
        let Some(id) = said.about().and_then(|about| about.tournament) else { return Vec::new() };
        let what = match self.rng.below(10) {
            0 if !self.healed => return Vec::new(),
            1 if !self.healed => "reject",
            _ => asked,
        };
        self.record.asked.insert((what.into(), id.clone()));
        let line = json!({"type": what, "tournament": id});
        let mut acts = vec![say(self.rng.between(1, 200), &line)];
        if !self.healed && self.rng.chance(100) {
            acts.push(say(self.rng.between(1, 300), &line));
        }
        acts
    }

    /// Handles the lobby's answer to a request.
    pub(super) fn answered(&mut self, said: &Said) -> Vec<Act> {
        if said.kind == "done" {
            let Some(what) = said.what.as_deref() else { return Vec::new() };
            if let Some(asking) = self.asking.take_if(|asking| asking.0 == what) {
                self.record.done.insert(asking);
                return self.ask_lobby();
            }
            return Vec::new();
        }
        if said.code.as_deref() == Some("wrong-credentials") {
            return vec![Act::Cut(self.rng.between(1, 500))];
        }
        if said.code.as_deref() == Some("logged-in-elsewhere") {
            return vec![Act::CutAll(self.rng.between(1, 500))];
        }
        // The server could not handle the request now, so the player repeats it.
        if said.code.as_deref() == Some("failed") {
            self.asking = None;
            return Vec::new();
        }
        // The operator sends only valid messages.
        let code = said.code.as_deref();
        let refused = code == Some("refused") || (self.number == 0 && code == Some("malformed"));
        if let Some(asking) = self.asking.take_if(|_| refused) {
            let detail = said.detail.as_deref().unwrap_or_default();
            // Too early: the operator has not announced it yet, or nobody has joined yet.
            let early = (asking.0 == "sign-up" && detail.contains("takes no sign-ups"))
                || (asking.0 == "announce"
                    && code == Some("refused")
                    && !detail.contains("already; choose"));
            let mine = detail.contains("signed up already") || detail.contains("already; choose");
            match (early && !self.healed, mine) {
                (true, _) => {}
                (_, true) => drop(self.record.done.insert(asking)),
                _ => drop(self.record.refused.insert(asking)),
            }
        }
        Vec::new()
    }
}
