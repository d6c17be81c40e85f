//! The Trains wire, `docs/protocol/trains.md`: the server calls, the client answers with one value.
//!
//! Two vocabularies name the calls: the course's, where players propose the map, and the memo's,
//! where the operator supplies it. Questions and views of the game go in and calls come out;
//! replies go in and come out as the game's own answers. The game decides whether an answer
//! keeps to the rules.

mod speaker;

use crate::sign_up::{BadSignUp, checked_name, cut};
use agon_core::PlayerName;
use agon_games::trains::{Color, Connection, Pair, Question, View};
use agon_games::{Refusal, Seat};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
pub use speaker::Speaker;

/// The longest name.
pub const NAME_LEN_MAX: usize = 50;

/// Which names calls have.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Vocabulary {
    /// `start` and `end`; players propose a map.
    #[default]
    Course,
    /// `beginTournament` and `endTournament`; no proposals.
    Memo,
}

impl Vocabulary {
    fn begin(self) -> &'static str {
        match self {
            Vocabulary::Course => "start",
            Vocabulary::Memo => "beginTournament",
        }
    }

    fn end(self) -> &'static str {
        match self {
            Vocabulary::Course => "end",
            Vocabulary::Memo => "endTournament",
        }
    }

    /// The reply that asks for cards.
    fn more_cards(self) -> &'static str {
        match self {
            Vocabulary::Course => "more cards",
            Vocabulary::Memo => "more_cards",
        }
    }
}

/// Parses the first value of a connection, its name. If names are `strict`, it has only letters.
pub fn sign_up(first: &str, strict: bool) -> Result<PlayerName, BadSignUp> {
    match serde_json::from_str::<String>(first) {
        Ok(name) => checked_name(&name, NAME_LEN_MAX, strict),
        Err(_) => Err(BadSignUp::NotASignUp(cut(first))),
    }
}

/// Which reply is waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Awaited {
    /// A map, or in the memo's vocabulary a confirmation.
    Begun,
    /// The confirmation of a message.
    Confirmed,
    /// The destinations given back.
    Returned,
    /// The player's turn.
    Turn,
}

/// A call to send, and the reply to wait for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// The exact text to send.
    pub text: String,
    /// The reply to wait for.
    pub awaited: Awaited,
}

/// The tournament starts.
pub fn begin(vocabulary: Vocabulary) -> Call {
    call(vocabulary.begin(), [true], Awaited::Begun)
}

/// A game is over.
pub fn win(won: bool) -> Call {
    call("win", [won], Awaited::Confirmed)
}

/// The tournament is over.
pub fn end(vocabulary: Vocabulary, won: bool) -> Call {
    call(vocabulary.end(), [won], Awaited::Confirmed)
}

/// A question of the game to the seat whose view it is; `None` if the view is not that of a seat
/// that can be asked this.
pub fn ask(question: &Question, view: &View) -> Option<Call> {
    Some(match question {
        Question::Setup { rails, cards } => {
            call("setup", (&*view.map, rails, cards), Awaited::Confirmed)
        }
        Question::Pick { destinations } => call("pick", [destinations], Awaited::Returned),
        Question::Play {} => {
            let seat: Seat = view.you?;
            call("play", [view.player_state(seat)?], Awaited::Turn)
        }
        Question::More { cards } => call("more", [cards], Awaited::Confirmed),
    })
}

/// The set-up for a program that is new to a running game: the map, and its current rails and
/// cards, without the cards that the question brings.
pub(crate) fn set_up_again(question: &Question, view: &View) -> Option<Call> {
    let own = view.players.get(view.you?.index())?;
    let mut counts = own.hand?.counts();
    if let Question::More { cards } = question {
        for card in cards {
            let count = &mut counts[card.index()];
            *count = count.saturating_sub(1);
        }
    }
    let cards = Color::ALL.into_iter().zip(counts);
    let cards: Vec<Color> =
        cards.flat_map(|(color, count)| std::iter::repeat_n(color, count.into())).collect();
    Some(call("setup", (&*view.map, own.rails, cards), Awaited::Confirmed))
}

/// A client's reply as the answer the game or the tournament takes.
pub fn reply(vocabulary: Vocabulary, awaited: Awaited, text: &str) -> Result<String, Refusal> {
    match (awaited, kind(vocabulary, text)) {
        (Awaited::Begun, Some(Kind::Object)) if vocabulary == Vocabulary::Course => Ok(text.into()),
        (Awaited::Begun, Some(Kind::Void)) if vocabulary == Vocabulary::Memo => Ok("null".into()),
        (Awaited::Confirmed, Some(Kind::Void)) => Ok("\"ok\"".into()),
        (Awaited::Returned, Some(Kind::Pairs)) => Ok(format!("{{\"return\":{text}}}")),
        (Awaited::Turn, Some(Kind::MoreCards)) => Ok("\"more-cards\"".into()),
        (Awaited::Turn, Some(Kind::Connection)) => Ok(format!("{{\"acquire\":{text}}}")),
        (_, Some(kind)) => {
            let wanted = awaited.wanted(vocabulary);
            let detail = format!("{wanted} was asked for, not {}", kind.name());
            Err(Refusal::wrong_kind(detail))
        }
        (_, None) => {
            Err(Refusal::malformed(format!("{} was asked for", awaited.wanted(vocabulary))))
        }
    }
}

impl Awaited {
    fn wanted(self, vocabulary: Vocabulary) -> &'static str {
        match self {
            Awaited::Begun if vocabulary == Vocabulary::Course => "a map",
            Awaited::Begun | Awaited::Confirmed => "\"void\"",
            Awaited::Returned => "a list of destinations",
            Awaited::Turn => "more cards or a connection",
        }
    }
}

/// The kinds of replies there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Void,
    MoreCards,
    Connection,
    Pairs,
    /// A possible map; the game checks it.
    Object,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Void => "\"void\"",
            Kind::MoreCards => "a request for cards",
            Kind::Connection => "a connection",
            Kind::Pairs => "a list of destinations",
            Kind::Object => "a map",
        }
    }
}

fn kind(vocabulary: Vocabulary, text: &str) -> Option<Kind> {
    if text.starts_with('"') {
        let word: String = serde_json::from_str(text).ok()?;
        return match &*word {
            "void" => Some(Kind::Void),
            word if word == vocabulary.more_cards() => Some(Kind::MoreCards),
            _ => None,
        };
    }
    if text.starts_with('{') {
        return serde_json::from_str::<&RawValue>(text).is_ok().then_some(Kind::Object);
    }
    if serde_json::from_str::<Connection>(text).is_ok() {
        return Some(Kind::Connection);
    }
    serde_json::from_str::<Vec<Pair>>(text).is_ok().then_some(Kind::Pairs)
}

fn call<A: Serialize>(name: &str, arguments: A, awaited: Awaited) -> Call {
    let text = serde_json::to_string(&(name, arguments)).expect("calls are JSON");
    Call { text, awaited }
}
