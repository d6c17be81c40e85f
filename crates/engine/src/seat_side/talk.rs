//! The conversation over the wire of another system, without its socket.
//!
//! This module pairs replies with calls: received values answer the calls in order, whenever they
//! arrive. No call is sent before the last one is answered. That also holds for calls whose answer
//! nobody needs, such as the end of a tournament. Bytes, time and limits on both are up to the
//! owner of the socket.

use crate::{AskId, BadReply, PeerAsk, PeerSaid, Tell};
use agon_core::{Fault, Millis};
use agon_games::Refusal;
use agon_wire::peer::{PeerMessage, Speaker, Spoken, Then};
use agon_wire::values::{BadValues, Values};
use std::collections::VecDeque;

/// How many received bytes may wait for a call that they answer; more stay in the socket.
const UNREAD_MAX: usize = 256 * 1024;

/// How many messages may wait for the answer to the last call; more stay in the outbox.
const WAITING_MAX: usize = 16;

/// How long a pause completes a number or a word.
pub const PAUSE_MS: Millis = 100;

/// How long past its limit a call may stay unanswered before the connection is closed.
pub const GRACE_MS: Millis = 2_000;

/// How long a reply that nobody needs may take.
const COURTESY_MS: Millis = 10_000;

/// A connection that signed up.
pub struct Talk {
    speaker: Speaker,
    values: Values,
    open: Option<Open>,
    waiting: VecDeque<Tell>,
}

/// A call that was written and not answered yet.
struct Open {
    /// True if it repeats a part of the tournament's start: the answer must have the right form,
    /// and changes nothing.
    repeats: bool,
    /// The request; `None` if nobody needs the answer.
    ask: Option<PeerAsk>,
    limit_ms: Millis,
}

/// A message in the wire's language, ready to be written.
pub struct Words {
    /// The text.
    pub text: String,
    /// True if it repeats a part of the tournament's start.
    repeats: bool,
    ask: Option<PeerAsk>,
    then: Next,
}

/// The reaction to the message.
enum Next {
    /// Nothing.
    Nothing,
    /// The other end replies.
    Reply,
    /// The gateway answers for the player, because the wire cannot express the request.
    Answered(Result<String, BadReply>),
}

impl Words {
    /// The request of the message.
    pub fn ask(&self) -> Option<&PeerAsk> {
        self.ask.as_ref().filter(|_| !self.repeats)
    }

    /// How long to wait for the other end's reply, if it has to reply.
    pub fn limit_ms(&self) -> Option<Millis> {
        match self.then {
            Next::Reply => Some(self.ask.as_ref().map_or(COURTESY_MS, |ask| ask.limit_ms)),
            Next::Nothing | Next::Answered(_) => None,
        }
    }
}

impl Talk {
    /// A connection that signed up.
    pub fn new(speaker: Speaker, values: Values) -> Talk {
        Talk { speaker, values, open: None, waiting: VecDeque::new() }
    }

    /// Returns whether the player wants every change, including those without a request.
    pub fn listens(&self) -> bool {
        self.speaker.listens()
    }

    /// Adds bytes that were read.
    pub fn push(&mut self, bytes: &[u8]) {
        self.values.push(bytes);
    }

    /// Returns whether more may be read.
    pub fn has_room(&self) -> bool {
        self.values.rest().len() < UNREAD_MAX
    }

    /// The time limit of the open call.
    pub fn limit_ms(&self) -> Option<Millis> {
        self.open.as_ref().map(|open| open.limit_ms)
    }

    /// Returns whether a part of the reply has arrived, which a pause may complete.
    pub fn is_inside(&self) -> bool {
        self.open.is_some() && self.values.is_inside()
    }

    /// Answers the open call with the next value, if both exist.
    pub fn pair(&mut self) -> Option<PeerSaid> {
        self.open.as_ref()?;
        let value = self.values.take()?.map(str::to_owned);
        self.answer(value)
    }

    /// Like `pair`, after a pause: a number or a word is complete then.
    pub fn flush(&mut self) -> Option<PeerSaid> {
        self.open.as_ref()?;
        let value = self.values.flush()?.map(str::to_owned);
        self.answer(value)
    }

    fn answer(&mut self, value: Result<String, BadValues>) -> Option<PeerSaid> {
        let Open { ask, repeats, .. } = self.open.take()?;
        let answer = match value {
            Ok(text) => self.speaker.hear(&text).map_err(|refusal| BadReply { refusal, text }),
            Err(broken) => {
                let rest = self.values.rest();
                let rest = &rest[..rest.len().min(Fault::EVIDENCE_MAX)];
                let text = String::from_utf8_lossy(rest).into_owned();
                Err(BadReply { refusal: Refusal::malformed(broken.to_string()), text })
            }
        };
        if repeats && answer.is_ok() {
            return None;
        }
        let PeerAsk { id, .. } = ask?;
        if repeats {
            // A player who fails at the start also fails at the request that follows it.
            let other = |tell: &Tell| tell.ask.as_ref().is_none_or(|ask| ask.id != id);
            self.waiting.retain(other);
        }
        Some(PeerSaid::Answer { ask: id, answer })
    }

    /// Returns whether to take more from the outbox.
    pub fn takes_more(&self) -> bool {
        self.waiting.len() < WAITING_MAX
    }

    /// Takes a message from the outbox; returns it if it can be sent at once.
    pub fn take(&mut self, tell: Tell) -> Option<Tell> {
        let asks = match tell.message {
            PeerMessage::Begin { .. }
            | PeerMessage::Again { .. }
            | PeerMessage::Question { .. }
            | PeerMessage::Won(_)
            | PeerMessage::End { .. } => true,
            PeerMessage::SignedUp { .. }
            | PeerMessage::View { .. }
            | PeerMessage::GameOver { .. } => false,
        };
        if !self.waiting.is_empty() || (self.open.is_some() && asks) {
            self.waiting.push_back(tell);
            return None;
        }
        Some(self.after_beginning(tell))
    }

    /// The next waiting message that can be sent now.
    pub fn next_waiting(&mut self) -> Option<Tell> {
        let tell = self.waiting.pop_front_if(|_| self.open.is_none())?;
        Some(self.after_beginning(tell))
    }

    /// Puts the tournament's start before `tell` for a program that is new to a running tournament;
    /// returns the first message to send. Every part has the time limit of the message it leads to.
    fn after_beginning(&mut self, tell: Tell) -> Tell {
        let parts = self.speaker.beginning(&tell.message).into_iter();
        let mut all: VecDeque<Tell> =
            parts.map(|message| Tell { message, ask: tell.ask.clone() }).collect();
        let Some(first) = all.pop_front() else { return tell };
        self.waiting.push_front(tell);
        while let Some(part) = all.pop_back() {
            self.waiting.push_front(part);
        }
        first
    }

    /// Translates a message.
    pub fn say(&mut self, tell: Tell) -> Words {
        let (texts, then) = match self.speaker.tell(&tell.message) {
            Ok(Spoken { texts, then: Then::Nothing }) => (texts, Next::Nothing),
            Ok(Spoken { texts, then: Then::Reply }) => (texts, Next::Reply),
            Ok(Spoken { texts, then: Then::Answered(answer) }) => {
                (texts, Next::Answered(Ok(answer.to_owned())))
            }
            Err(refusal) => {
                let text = String::new();
                (Vec::new(), Next::Answered(Err(BadReply { refusal, text })))
            }
        };
        let repeats = matches!(tell.message, PeerMessage::Again { .. });
        Words { text: texts.concat(), repeats, ask: tell.ask, then }
    }

    /// Records that a message was written; returns its request, and the gateway's own answer if
    /// there is one.
    pub fn said(&mut self, words: Words) -> (Option<AskId>, Option<PeerSaid>) {
        let limit_ms = words.limit_ms();
        let Words { ask, then, repeats, .. } = words;
        let delivered = ask.as_ref().map(|ask| ask.id.clone());
        let answer = match then {
            // The wire cannot express this part.
            Next::Answered(_) if repeats => None,
            Next::Answered(answer) => ask.map(|ask| PeerSaid::Answer { ask: ask.id, answer }),
            Next::Reply | Next::Nothing => {
                self.open =
                    limit_ms.map(|limit_ms| Open { repeats, ask, limit_ms }).or(self.open.take());
                None
            }
        };
        (delivered, answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AskId, MatchKey};
    use agon_core::{MatchId, RequestId, TournamentId};
    use agon_games::{Registry, Seat, Viewer};
    use agon_wire::peer::Language;
    use agon_wire::values::Limits;

    /// A player who uses Fish, and a game's request for them.
    fn fish() -> (Talk, PeerMessage) {
        let (_, speaker) = Language::Fish(None).sign_up("\"ann\"", false).unwrap();
        let games = Registry::standard();
        let kind = games.kind("fish").unwrap();
        let config = kind.check_config(r#"{"rows":4,"columns":3}"#).unwrap();
        let game = kind.set_up(config.get(), 2, &agon_games::Seed::from_number(1)).unwrap();
        let (mut question, mut view) = (Vec::new(), Vec::new());
        assert!(game.write_question(Seat(0), &mut question));
        game.write_view(Viewer::Seat(Seat(0)), &mut view);
        let message = PeerMessage::Question { question, view, seats: [].into() };
        (Talk::new(speaker, Values::new(Limits::default())), message)
    }

    /// The same player, after their tournament's start.
    fn begun() -> (Talk, PeerMessage) {
        let (mut talk, message) = fish();
        let begin = Tell { message: PeerMessage::Begin { proposes: false }, ask: None };
        let begin = talk.take(begin).expect("nothing is open");
        let words = talk.say(begin);
        assert!(talk.said(words).1.is_none());
        talk.push(b"\"void\"");
        assert!(talk.pair().is_none(), "nobody needs this answer");
        (talk, message)
    }

    fn ask(request: &str) -> Option<PeerAsk> {
        let key = MatchKey::new(TournamentId::from("cup"), MatchId::from_text("r1m1"));
        let id = AskId::Match(key, RequestId::from_text(request));
        Some(PeerAsk { id, limit_ms: 1_000 })
    }

    /// The answered request, and the answer.
    fn heard(said: Option<PeerSaid>) -> (String, String) {
        match said {
            Some(PeerSaid::Answer { ask: AskId::Match(_, id), answer }) => {
                (id.to_string(), answer.unwrap_or_else(|bad| format!("bad: {}", bad.text)))
            }
            _ => panic!("nothing was answered"),
        }
    }

    /// A player may be in two tournaments: one ends while the other sends a request.
    #[test]
    fn end_of_a_tournament_is_a_call_that_needs_a_reply() {
        let (mut talk, message) = begun();
        let end = || Tell { message: PeerMessage::End { won: false }, ask: None };
        let question = |id| Tell { message: message.clone(), ask: ask(id) };
        let first = talk.take(question("1")).expect("nothing is open");
        let words = talk.say(first);
        assert!(words.text.starts_with("[\"setup\""), "{}", words.text);
        assert!(talk.said(words).1.is_none());
        assert!(talk.take(end()).is_none(), "the other call is not answered yet");
        talk.push(b"[0,0]");
        assert_eq!(heard(talk.pair()), ("1".into(), "{\"place\":[0,0]}".into()));
        let end = talk.next_waiting().expect("it has waited");
        let words = talk.say(end);
        assert_eq!(
            (words.text.as_str(), words.limit_ms()),
            ("[\"end\",[false]]", Some(COURTESY_MS))
        );
        assert!(talk.said(words).1.is_none());
        assert!(talk.take(question("2")).is_none(), "the end is not answered yet");
        talk.push(b"\"void\"");
        assert!(talk.pair().is_none(), "nobody needs this answer");
        let second = talk.next_waiting().expect("it has waited");
        let words = talk.say(second);
        assert!(talk.said(words).1.is_none());
        talk.push(b"[0,1]");
        assert_eq!(heard(talk.pair()), ("2".into(), "{\"place\":[0,1]}".into()));
    }

    /// Sends the next message; returns its text. The request's clock starts anew with every part.
    fn say_next(talk: &mut Talk, tell: Option<Tell>) -> String {
        let tell = tell.or_else(|| talk.next_waiting()).expect("a message is waiting");
        let words = talk.say(tell);
        let text = words.text.clone();
        let (delivered, answer) = talk.said(words);
        assert_eq!(delivered, ask("1").map(|ask| ask.id));
        assert!(answer.is_none());
        text
    }

    #[test]
    fn new_program_gets_the_start_first_with_a_time_limit_for_each_part() {
        let (mut talk, message) = fish();
        let first = talk.take(Tell { message, ask: ask("1") });
        assert_eq!(say_next(&mut talk, first), "[\"start\",[true]]");
        for call in ["playing-as", "playing-with"] {
            talk.push(b"\"void\"");
            assert!(talk.pair().is_none(), "the answer changes nothing");
            // Positions are not sent as calls.
            let text = say_next(&mut talk, None);
            assert!(text.starts_with(&format!("[\"{call}\"")), "{text}");
        }
        talk.push(b"\"void\"");
        assert!(talk.pair().is_none());
        assert_eq!(say_next(&mut talk, None), "");
        assert!(say_next(&mut talk, None).starts_with("[\"setup\""));
        talk.push(b"[0,0]");
        assert_eq!(heard(talk.pair()), ("1".into(), "{\"place\":[0,0]}".into()));
    }

    #[test]
    fn bad_answer_to_the_start_answers_the_request() {
        let (mut talk, message) = fish();
        let first = talk.take(Tell { message, ask: ask("1") });
        say_next(&mut talk, first);
        talk.push(b"[7,7]");
        assert_eq!(heard(talk.pair()), ("1".into(), "bad: [7,7]".into()));
        assert!(talk.next_waiting().is_none(), "the request is not asked any more");
    }
}
