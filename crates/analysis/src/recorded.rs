//! Finished games of a match, read from its log: the start position and every move.

use crate::model::Move;
use agon_core::{
    ApplyError, Event, GameResult, Line, Match, MatchId, Misfit, Raw, Secrets, TournamentId,
};
use agon_games::{GameState, Registry};

/// A finished game with everything that an analysis needs.
#[derive(Clone, Debug)]
pub struct RecordedGame {
    /// The tournament.
    pub tournament: TournamentId,
    /// The match.
    pub match_id: MatchId,
    /// The name of the game's rules, such as `yahtzee`.
    pub kind: String,
    /// The configuration, in full.
    pub config: Raw,
    /// The position before the first answer.
    pub start: Box<dyn GameState>,
    /// Everything that happened, in order; answers as JSON text.
    pub moves: Vec<Move<String>>,
    /// The first game of the match with the same luck, if it is another one.
    pub duplicate_of: Option<u32>,
    /// The result, with the game's number in the match and the players by seat.
    pub result: GameResult,
}

/// A game that has begun.
struct OpenGame {
    start: Box<dyn GameState>,
    config: Raw,
    duplicate_of: Option<u32>,
    moves: Vec<Move<String>>,
}

/// Why the games of a match cannot be read.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum RecordingError {
    /// The stream is not a match.
    #[error("failed to read the match: {0}")]
    NotAMatch(#[from] ApplyError),
    /// An event does not follow from those before it.
    #[error("failed to replay the match: {0}; `agon verify` checks the whole log")]
    Misfit(#[from] Misfit),
}

/// The finished games of a match, from its stream. A game that is still running is left out,
/// because its luck is secret until its end.
pub fn recorded_games(
    lines: &[Line],
    games: &Registry,
) -> Result<Vec<RecordedGame>, RecordingError> {
    let (first, rest) = lines.split_first().ok_or(ApplyError::Empty)?;
    let mut played = Match::fold([first], games, Secrets::of_log(lines, None))?;
    let mut recorded = Vec::new();
    let mut open: Option<OpenGame> = None;
    for line in rest {
        match played.apply(line.at, &line.event) {
            Err(ApplyError::NoSecret(_)) => break,
            Err(error) => return Err(Misfit { seq: line.seq, error }.into()),
            Ok(()) => {}
        }
        match &line.event {
            Event::GameStarted(started) => {
                let config = started.config.as_ref().unwrap_or(&played.plan().config).clone();
                let duplicate_of = started.duplicate_of;
                open = played.referee().map(|referee| {
                    let start = referee.game().boxed_clone();
                    OpenGame { start, config, duplicate_of, moves: Vec::new() }
                });
            }
            Event::AnswerAccepted(accepted) => {
                let answer = accepted.answer.get().to_owned();
                let done = Move::Answered { seat: accepted.seat, answer };
                open.iter_mut().for_each(|game| game.moves.push(done.clone()));
            }
            Event::SeatRemoved(removed) => {
                let done = Move::Removed { seat: removed.seat };
                open.iter_mut().for_each(|game| game.moves.push(done.clone()));
            }
            Event::GameEnded(ended) => {
                let Some(OpenGame { start, config, duplicate_of, moves }) = open.take() else {
                    continue;
                };
                recorded.push(RecordedGame {
                    tournament: played.plan().tournament.clone(),
                    match_id: played.plan().id.clone(),
                    kind: played.plan().game.clone(),
                    config,
                    start,
                    moves,
                    duplicate_of,
                    result: ended.result.clone(),
                });
            }
            _ => {}
        }
    }
    // An operator may void a game after its end; the match knows its final result.
    for (result, _) in played.finished() {
        let same = |game: &&mut RecordedGame| game.result.game == result.game;
        recorded.iter_mut().filter(same).for_each(|game| game.result = result.clone());
    }
    Ok(recorded)
}
