//! Players of the world: closures that answer, hang, crash, cheat or come late.

use agon_bots::Houses;
use agon_games::{GameState, Seat};

/// One thing that is asked of a player.
pub(crate) struct Call<'a> {
    pub(crate) player: &'a str,
    pub(crate) request: &'a str,
    pub(crate) what: CallKind<'a>,
}

/// A request.
pub(crate) enum CallKind<'a> {
    /// To come to a match: any answer is coming.
    Arrive,
    Ready,
    Propose,
    Farewell,
    Confirm,
    Game {
        seat: Seat,
        game: &'a dyn GameState,
    },
}

impl CallKind<'_> {
    /// The call by name: that of the game's question where there is one.
    pub(crate) fn name(&self) -> String {
        match self {
            CallKind::Arrive => "arrive".into(),
            CallKind::Ready => "ready".into(),
            CallKind::Propose => "start".into(),
            CallKind::Farewell => "end".into(),
            CallKind::Confirm => "win".into(),
            CallKind::Game { seat, game } => {
                let question = game.question(*seat).expect("an awaited seat is asked");
                let value: serde_json::Value = serde_json::from_str(question.get()).expect("JSON");
                value["ask"].as_str().unwrap_or("move").to_owned()
            }
        }
    }
}

/// A player's reaction to a request.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Reply {
    /// Answers at once.
    Answer(String),
    /// Answers after so many milliseconds.
    After(u64, String),
    /// Says nothing, ever.
    Hang,
    /// Loses its connection, and comes back after so many milliseconds, or not at all.
    Crash(Option<u64>),
    /// Answers a request that is open to somebody else, if one is; else its own.
    Steal(String),
    /// Gives up the match.
    Withdraw,
}

impl Reply {
    pub(crate) fn text(text: &str) -> Reply {
        Reply::Answer(text.to_owned())
    }
}

/// A player.
pub(crate) type Script = Box<dyn FnMut(&Call<'_>) -> Reply>;

/// The answer of a correct player outside games.
pub(crate) fn polite(what: &CallKind<'_>) -> Reply {
    Reply::text(match what {
        CallKind::Ready => "true",
        CallKind::Propose => "null",
        _ => "\"ok\"",
    })
}

/// A house player; it is ready, confirms everything and proposes what the house player proposes.
pub(crate) fn house(game: &str, name: &str) -> Script {
    let mut bot = Houses::standard().make(game, name).expect("a house player");
    Box::new(move |call| match call.what {
        CallKind::Game { seat, game } => {
            Reply::text(bot.answer(call.player, call.request, seat, game).get())
        }
        CallKind::Propose => {
            Reply::Answer(bot.propose().map_or("null".into(), |map| map.to_string()))
        }
        _ => polite(&call.what),
    })
}

/// One house player for every name.
pub(crate) fn houses(game: &str, name: &str, count: usize) -> Vec<Script> {
    (0..count).map(|_| house(game, name)).collect()
}

/// The first legal answer, always.
pub(crate) fn first_legal() -> Script {
    Box::new(|call| match call.what {
        CallKind::Game { seat, game } => Reply::text(game.legal(seat)[0].get()),
        _ => polite(&call.what),
    })
}

/// Does something else at the calls that `odd` picks; it gets the name of the call and how many of
/// that name came before.
pub(crate) fn except(
    mut script: Script,
    mut odd: impl FnMut(&str, u32) -> Option<Reply> + 'static,
) -> Script {
    let mut before = std::collections::BTreeMap::<String, u32>::new();
    Box::new(move |call| {
        let name = call.what.name();
        let count = before.entry(name.clone()).or_default();
        *count += 1;
        odd(&name, *count - 1).unwrap_or_else(|| script(call))
    })
}
