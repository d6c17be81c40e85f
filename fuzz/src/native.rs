//! The native protocol: lines to the server, and lines to a player.

use crate::input::{Input, pieces};
use agon_client::{Notice, Refused, Request};
use agon_core::PlayerName;
use agon_games::fish::Fish;
use agon_games::trains::Trains;
use agon_games::yahtzee::Yahtzee;
use agon_wire::lines::Lines;
use agon_wire::native::{FromPlayer, decode};

/// Small, so that inputs reach the limit.
const LINE_MAX: usize = 300;

/// The longest piece that arrives at once.
const PIECE_MAX: usize = 64;

/// Lines from a player: how they are cut does not matter, the buffer stays bounded, and every line
/// is a message or is rejected with a short error.
pub fn to_server(data: &[u8]) -> bool {
    let mut input = Input(data);
    let how = input.byte();
    let bytes = input.rest();
    let lines = lines_of(bytes, how);
    assert_eq!(lines, lines_of(bytes, 255), "the cuts decide what the lines are");
    let mut good = false;
    for line in lines.into_iter().flatten() {
        match decode(&line) {
            Ok(message) => {
                good = true;
                look(&message);
                assert_eq!(spaced(&line), Some(format!("{message:?}")), "white space decides");
            }
            Err(bad) => assert!(bad.to_string().chars().count() < 400, "{bad}"),
        }
    }
    good
}

fn lines_of(bytes: &[u8], how: u8) -> Vec<Option<Vec<u8>>> {
    let (mut lines, mut found) = (Lines::new(LINE_MAX), Vec::new());
    for piece in pieces(bytes, how, PIECE_MAX) {
        lines.push(piece);
        while let Some(line) = lines.take() {
            let line = line.ok().map(<[u8]>::to_vec);
            assert!(line.as_ref().is_none_or(|line| line.len() <= LINE_MAX), "a long line");
            found.push(line);
        }
    }
    found
}

fn look(message: &FromPlayer) {
    if let FromPlayer::Answer { answer, .. } = message {
        let json = serde_json::from_str::<&serde_json::value::RawValue>(answer);
        assert!(json.is_ok(), "an answer that is not JSON: {answer}");
    }
}

/// The same line with a space in front, which the parser reads on another path.
fn spaced(line: &[u8]) -> Option<String> {
    let line = [b" ", line].concat();
    decode(&line).ok().map(|message| format!("{message:?}"))
}

/// Lines from a server, as a client in Rust reads them.
pub fn to_player(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let mut good = false;
    if let Ok(request) = serde_json::from_str::<Request>(text) {
        good = true;
        let own = PlayerName::new("ann").expect("a name");
        let names = request.names_by_seat(&own);
        assert_eq!(names.len(), request.in_match.players.len());
        let _ = (request.question_as::<Yahtzee>(), request.view_as::<Yahtzee>());
        let _ = (request.question_as::<Fish>(), request.view_as::<Fish>());
        let _ = (request.question_as::<Trains>(), request.view_as::<Trains>());
        crate::boards::shown(request.question.get(), request.view.get());
    }
    if let Ok(notice) = serde_json::from_str::<Notice>(text) {
        good = true;
        let _ = (notice.tournament(), notice.won());
    }
    if let Ok(refused) = serde_json::from_str::<Refused>(text) {
        good = true;
        let _ = refused.to_string();
    }
    good
}
