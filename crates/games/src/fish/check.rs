//! Checks answers. An answer of the wrong kind is a failure, an illegal answer is cheating; so the
//! two are separate, and every rule has its code.

use super::{Action, Answer, Fish, Phase, Position, Tile};
use crate::{Refusal, Seat};

/// An accepted answer in the game's own terms.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Confirm,
    Place(Tile),
    Move { penguin: usize, to: Tile },
}

impl Fish {
    /// The effect of an answer, or why it is rejected.
    #[inline]
    pub(super) fn parse(&self, seat: Seat, answer: &Answer) -> Result<Step, Refusal> {
        if !self.waiting.contains(seat) {
            return Err(Refusal::not_asked(format!("{seat} owes no answer")));
        }
        match (self.phase, answer) {
            (Phase::PlayingAs | Phase::PlayingWith, Answer::Ok) => Ok(Step::Confirm),
            (Phase::Place, Answer::Place(position)) => self.parse_place(*position),
            (Phase::Move, Answer::Move(action)) => self.parse_move(seat, *action),
            _ => Err(self.wrong_kind()),
        }
    }

    #[inline]
    fn parse_place(&self, position: Position) -> Result<Step, Refusal> {
        match self.ice.tile(position) {
            Some(tile) if self.ice.is_free(tile) => Ok(Step::Place(tile)),
            _ => Err(self.not_free(position)),
        }
    }

    #[inline]
    fn parse_move(&self, seat: Seat, Action { from, to }: Action) -> Result<Step, Refusal> {
        if let (Some(start), Some(end)) = (self.ice.tile(from), self.ice.tile(to)) {
            let flock = &self.flocks[seat.index()];
            // Which penguin it is cannot be guessed, so there is no branch for each.
            let at = |(at, tile): (usize, &Tile)| if *tile == start { at } else { 0 };
            let penguin: usize = flock.iter().enumerate().map(at).sum();
            if flock[penguin] == start && self.ice.reaches(start, end) {
                return Ok(Step::Move { penguin, to: end });
            }
        }
        Err(self.no_such_move(seat, from, to))
    }

    #[cold]
    fn wrong_kind(&self) -> Refusal {
        Refusal::wrong_kind(match self.phase {
            Phase::PlayingAs | Phase::PlayingWith => "a confirmation was asked for: \"ok\"",
            Phase::Place => "a placement was asked for: {\"place\":[row,column]}",
            _ => "a move was asked for: {\"move\":[[row,column],[row,column]]}",
        })
    }

    /// Why no penguin can be placed at `position`.
    #[cold]
    fn not_free(&self, position: Position) -> Refusal {
        let stands = |tile| self.flocks.iter().flatten().any(|other| *other == tile);
        match self.ice.tile(position) {
            None => Refusal::illegal("off-board", format!("{position} is off the board")),
            Some(tile) if stands(tile) => {
                Refusal::illegal("occupied", format!("a penguin stands at {position}"))
            }
            Some(_) => Refusal::illegal("hole", format!("there is no tile at {position}")),
        }
    }

    /// Why a slide is not possible.
    #[cold]
    fn no_such_move(&self, seat: Seat, from: Position, to: Position) -> Refusal {
        let own = self.ice.tile(from).filter(|start| self.flock(seat).any(|tile| tile == *start));
        if own.is_none() {
            return Refusal::illegal("not-yours", format!("no penguin of yours is at {from}"));
        }
        match self.ice.tile(to) {
            Some(tile) if self.ice.is_free(tile) => Refusal::illegal(
                "no-way",
                format!("no straight line of free tiles leads from {from} to {to}"),
            ),
            _ => self.not_free(to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fish::Config;
    use crate::{Game, Seed};

    fn said(game: &Fish, seat: u8, answer: &str) -> String {
        let answer: Answer = serde_json::from_str(answer).unwrap();
        game.check(Seat(seat), &answer).unwrap_err().to_string()
    }

    #[test]
    fn refusal_names_the_broken_rule() {
        let config: Config = serde_json::from_str(
            r#"{"board":[[1,1,1],[1,1,1],[0,1,1],[1,1,1],[1,1,1]],"confirm":true}"#,
        )
        .unwrap();
        let mut game = Fish::new(&config, 2, &Seed::from_number(3)).unwrap();
        let confirm = "wrong-kind: a confirmation was asked for: \"ok\"";
        for _ in 0..2 {
            assert_eq!(said(&game, 0, r#"{"place":[0,0]}"#), confirm);
            game.apply(Seat(0), &Answer::Ok).unwrap();
            assert_eq!(said(&game, 0, "\"ok\""), "not-asked: seat 0 owes no answer");
            game.apply(Seat(1), &Answer::Ok).unwrap();
        }
        let place = "wrong-kind: a placement was asked for: {\"place\":[row,column]}";
        assert_eq!(said(&game, 0, "\"ok\""), place);
        assert_eq!(said(&game, 0, r#"{"place":[2,0]}"#), "hole: there is no tile at 2,0");
        assert_eq!(said(&game, 0, r#"{"place":[5,0]}"#), "off-board: 5,0 is off the board");
        for (row, column) in [(0, 0), (0, 2), (1, 0), (4, 2), (1, 1), (4, 1), (3, 0), (2, 2)] {
            let seat = game.awaiting().first().unwrap();
            game.apply(seat, &Answer::Place(Position::new(row, column))).unwrap();
        }
        let slide = "wrong-kind: a move was asked for: {\"move\":[[row,column],[row,column]]}";
        assert_eq!(said(&game, 0, r#"{"place":[2,1]}"#), slide);
        let moved = |way: &str| said(&game, 0, &format!(r#"{{"move":[{way}]}}"#));
        assert_eq!(moved("[0,2],[0,1]"), "not-yours: no penguin of yours is at 0,2");
        assert_eq!(moved("[9,9],[0,1]"), "not-yours: no penguin of yours is at 9,9");
        assert_eq!(moved("[1,1],[2,2]"), "occupied: a penguin stands at 2,2");
        assert_eq!(moved("[1,1],[2,0]"), "hole: there is no tile at 2,0");
        assert_eq!(moved("[1,1],[-1,0]"), "off-board: -1,0 is off the board");
        let no_way = "no-way: no straight line of free tiles leads from 1,1 to 4,0";
        assert_eq!(moved("[1,1],[4,0]"), no_way);
    }
}
