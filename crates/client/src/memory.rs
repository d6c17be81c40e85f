//! Requests and their answers. The client sends an answer once for every connection on which the
//! server requests it, and on no other.

use super::{ClientEvent, Notice, Request};
use std::collections::{BTreeMap, VecDeque};

/// How many answers are kept for sending again.
const ANSWERS_MAX: usize = 256;
/// How many open requests and known tournaments are kept; beyond that, the first by name are
/// forgotten.
const OPEN_MAX: usize = 4_096;

/// Requests and answers, each with its connection.
pub(super) struct Memory {
    /// The number of the connection, from 1.
    pub(super) connection: u64,
    /// Requests without an answer, and the connection on which they last arrived.
    open: BTreeMap<String, u64>,
    /// The latest answers, and the connection on which each was sent, if any.
    answers: VecDeque<(String, String, u64)>,
    /// The games of tournaments.
    games: BTreeMap<String, String>,
}

/// The client's reaction to a request.
pub(super) enum RequestAction {
    Deliver(Box<ClientEvent>),
    /// It was answered on an earlier connection: send that answer again.
    Resend(String),
}

impl Memory {
    pub(super) fn new() -> Memory {
        let (open, answers) = (BTreeMap::new(), VecDeque::new());
        Memory { connection: 1, open, answers, games: BTreeMap::new() }
    }

    pub(super) fn asked(&mut self, mut request: Request) -> RequestAction {
        let connection = self.connection;
        let known =
            self.answers.iter_mut().find(|(id, _, over)| *id == request.id && *over < connection);
        if let Some((_, line, over)) = known {
            *over = connection;
            return RequestAction::Resend(line.clone());
        }
        let game = self.games.get(request.in_match.tournament.as_str());
        request.game = game.cloned().unwrap_or_default();
        while self.open.len() >= OPEN_MAX {
            self.open.pop_first();
        }
        RequestAction::Deliver(Box::new(match self.open.insert(request.id.clone(), connection) {
            None => ClientEvent::Request(request),
            Some(_) => ClientEvent::Again(request),
        }))
    }

    /// Records an answer; returns it if it can be sent now. If the request's connection is lost,
    /// the server repeats the request, and the answer is sent then.
    pub(super) fn answered(&mut self, id: &str, line: String) -> Option<String> {
        let over = self.open.remove(id)?;
        self.answers.retain(|(answered, _, _)| answered != id);
        if self.answers.len() >= ANSWERS_MAX {
            self.answers.pop_front();
        }
        self.answers.push_back((id.to_owned(), line.clone(), over));
        (over == self.connection).then_some(line)
    }

    pub(super) fn noticed(&mut self, notice: &Notice) {
        let Some(tournament) = notice.tournament() else { return };
        match (notice.about.as_str(), notice.data["game"].as_str()) {
            ("tournament", Some(game)) => {
                while self.games.len() >= OPEN_MAX {
                    self.games.pop_first();
                }
                self.games.insert(tournament.as_str().to_owned(), game.to_owned());
            }
            ("tournament-over", _) => {
                self.games.remove(tournament.as_str());
                let own = |id: &String| {
                    id.split_once(':').is_some_and(|(of, _)| of == tournament.as_str())
                };
                self.open.retain(|id, _| !own(id));
                self.answers.retain(|(id, _, _)| !own(id));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Message;

    fn request(id: &str) -> Request {
        let line = format!(
            r#"{{"type":"request","id":"{id}","deadline_ms":1,"seat":0,"question":{{}},"view":{{}},
            "match":{{"tournament":"cup","id":"r1m1","round":1,"players":[],"best_of":1,"won":[],
            "game":1}}}}"#
        );
        match Message::read(line) {
            Message::Request(request) => request,
            other => panic!("{other:?}"),
        }
    }

    /// `new`, `again`, or the answer that is sent.
    fn asked(memory: &mut Memory, id: &str) -> String {
        match memory.asked(request(id)) {
            RequestAction::Resend(line) => line,
            RequestAction::Deliver(event) => match *event {
                ClientEvent::Request(_) => "new".into(),
                ClientEvent::Again(_) => "again".into(),
                other => panic!("{other:?}"),
            },
        }
    }

    #[test]
    fn answer_is_sent_once_per_connection_that_requests_it() {
        let mut memory = Memory::new();
        assert_eq!(asked(&mut memory, "cup:1"), "new");
        assert_eq!(memory.answered("cup:1", "one".into()).as_deref(), Some("one"));
        assert_eq!(memory.answered("cup:1", "two".into()), None, "it is not open any more");
        // The connection closed, perhaps before the answer arrived.
        memory.connection += 1;
        assert_eq!(asked(&mut memory, "cup:1"), "one");
        // A repeat on the same connection means that the server rejected the answer, so ask the
        // player again.
        assert_eq!(asked(&mut memory, "cup:1"), "new");
    }

    #[test]
    fn answer_waits_until_the_new_connection_requests_it() {
        let mut memory = Memory::new();
        assert_eq!(asked(&mut memory, "cup:1"), "new");
        assert_eq!(asked(&mut memory, "cup:2"), "new");
        memory.connection += 1;
        assert_eq!(memory.answered("cup:1", "one".into()), None);
        assert_eq!(asked(&mut memory, "cup:1"), "one");
        assert_eq!(asked(&mut memory, "cup:2"), "again");
        assert_eq!(memory.answered("cup:2", "two".into()).as_deref(), Some("two"));
    }

    #[test]
    fn finished_tournaments_are_forgotten_and_memory_is_bounded() {
        let mut memory = Memory::new();
        for number in 0..2 * OPEN_MAX {
            let id = format!("cup:{number}");
            asked(&mut memory, &id);
            if number % 2 == 0 {
                memory.answered(&id, "x".into());
            }
        }
        assert!(memory.open.len() <= OPEN_MAX && memory.answers.len() <= ANSWERS_MAX);
        let line = r#"{"type":"notice","about":"tournament-over","data":{"tournament":"cup"}}"#;
        let Message::Notice(over) = Message::read(line.into()) else { panic!() };
        memory.noticed(&over);
        assert!(memory.open.is_empty() && memory.answers.is_empty());
    }
}
