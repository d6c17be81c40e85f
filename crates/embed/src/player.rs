//! The trait of a player: one method that answers, and methods for notifications.

use crate::report::{FinalReport, Removal};
use agon_games::{Game, Seat};
use std::time::Duration;

/// A question to a player.
#[derive(Debug)]
pub struct TurnRequest<'a, G: Game> {
    /// The player's own seat.
    pub seat: Seat,
    /// The question.
    pub question: &'a G::Question,
    /// Everything the player may know about the game.
    pub view: &'a G::View,
    /// How long the answer may take.
    pub time_limit: Duration,
}

/// A player of `G`. Functions from [`TurnRequest`] to an optional answer are players too.
///
/// The referee calls all methods of one player on one thread, in order. A player that is busy with
/// a notification loses that time from its next answer.
pub trait LocalPlayer<G: Game>: Send + 'static {
    /// Answers a question. `None` counts as a failure to answer, and so does a panic.
    fn answer(&mut self, request: &TurnRequest<'_, G>) -> Option<G::Answer>;

    /// The game is set up. The referee calls this once, before anything else.
    fn seated(&mut self, _seating: &Seating) {}

    /// The game changed: a player placed, moved or was removed. `update.view` is this player's own
    /// view.
    fn sync(&mut self, _update: &GameUpdate<G>) {}

    /// The referee removed this player. Players that cheated or failed get no further
    /// notifications.
    fn kick(&mut self, _removal: &Removal) {}

    /// The game is over.
    fn game_over(&mut self, _report: &FinalReport) {}
}

impl<G, F> LocalPlayer<G> for F
where
    G: Game,
    F: FnMut(&TurnRequest<'_, G>) -> Option<G::Answer> + Send + 'static,
{
    fn answer(&mut self, request: &TurnRequest<'_, G>) -> Option<G::Answer> {
        self(request)
    }
}

/// The players of the game, from one player's point of view.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seating {
    /// The player's own seat.
    pub seat: Seat,
    /// The player's own colour, where the game has colours.
    pub color: Option<&'static str>,
    /// All players in playing order. Ages are not in it.
    pub players: Vec<SeatedPlayer>,
}

/// A player and its seat.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SeatedPlayer {
    /// The seat, counted from 0 in playing order.
    pub seat: Seat,
    /// The player's id, unique in its game.
    pub id: String,
    /// The player's name.
    pub name: String,
    /// The player's colour, where the game has colours.
    pub color: Option<&'static str>,
}

/// A change of the game, with the game as the recipient may see it afterwards.
#[derive(Clone, PartialEq, Debug)]
pub struct GameUpdate<G: Game> {
    /// The event.
    pub change: Change,
    /// The game now. Observers get the public view, and the full view once the game is over.
    pub view: G::View,
}

/// A change of a game. The answer itself is not in it, because it may hold secrets of its
/// player; the view shows what everybody may know of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Change {
    /// The game was set up.
    Started,
    /// The player in this seat gave a legal answer: a placement, a move.
    Answered(Seat),
    /// A player was removed.
    Removed(Removal),
    /// The game is over.
    Over,
}
