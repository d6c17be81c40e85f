//! The referee of one game: whose answer is due, under which request id, and by when.
//!
//! The match decides what a fault costs, and the game knows its rules.

use crate::fair::{Nonce, Secret};
use crate::ids::{JsonText, MatchId, Millis, PlayerName, RequestId, TournamentId};
use agon_games::{GameKind, GameState, Refusal, Seat, SeatSet, SetupError};

/// One game in progress.
#[derive(Clone, Debug)]
pub struct Referee {
    pub(crate) number: u32,
    pub(crate) seats: Vec<PlayerName>,
    pub(crate) secret: Secret,
    pub(crate) game: Box<dyn GameState>,
    id: MatchId,
    answered: Vec<u32>,
    latest: Vec<Option<JsonText>>,
    bank_ms: Vec<Millis>,
    lapses: Vec<u32>,
    /// A buffer for texts that the game writes, reused.
    text: Vec<u8>,
}

/// How a request id relates to this game.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Reading {
    /// The open request of a seat.
    Open(Seat),
    /// A request that the seat has answered; the accepted answer, if it is still known.
    Answered(Seat, Option<JsonText>),
    /// A request that is not open: closed, or in the future.
    Closed(Seat),
    /// A request of another game.
    Past,
    /// Not a request of this match.
    Foreign,
}

/// Everything needed to set up a game.
#[derive(Debug)]
pub(crate) struct SetUp<'a> {
    pub(crate) tournament: &'a TournamentId,
    pub(crate) id: &'a MatchId,
    pub(crate) number: u32,
    /// The number of the game whose luck this one has: its own, or the first of its group.
    pub(crate) luck: u32,
    pub(crate) seats: Vec<PlayerName>,
    pub(crate) config: &'a str,
    pub(crate) nonces: &'a [Option<Nonce>],
    pub(crate) secret: Secret,
    pub(crate) bank_ms: Millis,
}

impl Referee {
    pub(crate) fn set_up(kind: &dyn GameKind, set_up: SetUp<'_>) -> Result<Referee, SetupError> {
        let SetUp { tournament, id, number, luck, seats, config, nonces, secret, bank_ms } = set_up;
        let seed = secret.game_seed(tournament, id, luck, nonces);
        let count = seats.len();
        let game = kind.set_up(config, count, &seed)?;
        let (answered, latest) = (vec![0; count], vec![None; count]);
        let (bank_ms, lapses) = (vec![bank_ms; count], vec![0; count]);
        let (id, text) = (id.clone(), Vec::new());
        Ok(Referee { number, seats, secret, game, id, answered, latest, bank_ms, lapses, text })
    }

    /// The game's number in the match, from 1.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The players by seat.
    pub fn seats(&self) -> &[PlayerName] {
        &self.seats
    }

    /// The game itself. Callers must pass it on only through a view.
    pub fn game(&self) -> &dyn GameState {
        &*self.game
    }

    /// The seats whose answer is due.
    pub fn awaiting(&self) -> SeatSet {
        self.game.awaiting()
    }

    /// The seat of a player.
    pub fn seat_of(&self, player: &PlayerName) -> Option<Seat> {
        self.seats.iter().position(|name| name == player).map(|at| Seat(at as u8))
    }

    /// The id of the seat's open or next request.
    pub fn request_id(&self, seat: Seat) -> RequestId {
        let numbers = [self.number, u32::from(seat.0), self.answered[seat.index()]];
        RequestId::numbered(&self.id, numbers)
    }

    /// The time limit of the seat's open request.
    pub(crate) fn limit_ms(&self, seat: Seat, answer_ms: Millis) -> Millis {
        answer_ms.saturating_add(self.bank_ms[seat.index()])
    }

    pub(crate) fn lapses(&self, seat: Seat) -> u32 {
        self.lapses[seat.index()]
    }

    pub(crate) fn add_lapse(&mut self, seat: Seat) {
        self.lapses[seat.index()] += 1;
    }

    /// How `request` relates to this game.
    pub(crate) fn read(&self, request: &RequestId) -> Reading {
        // Most answers are to an open request.
        let is_open = |seat: &Seat| {
            let turn = self.answered[seat.index()];
            request.is_numbered(&self.id, [self.number, seat.0.into(), turn])
        };
        if let Some(seat) = self.awaiting().find(is_open) {
            return Reading::Open(seat);
        }
        let mut parts = request.as_str().split('.');
        if parts.next() != Some(self.id.as_str()) {
            return Reading::Foreign;
        }
        let mut number = || parts.next().and_then(|part| part.parse::<u32>().ok());
        let (Some(game), Some(seat), Some(turn)) = (number(), number(), number()) else {
            return Reading::Foreign;
        };
        // A request has exactly one spelling: no leading zeros, nothing after the last number.
        let spelt = request.is_numbered(&self.id, [game, seat, turn]);
        if seat as usize >= self.seats.len() || !spelt {
            return Reading::Foreign;
        }
        if game != self.number {
            return Reading::Past;
        }
        let seat = Seat(seat as u8);
        let answered = self.answered[seat.index()];
        if turn == answered && self.awaiting().contains(seat) {
            Reading::Open(seat)
        } else if turn < answered {
            let latest = (turn + 1 == answered).then(|| self.latest[seat.index()].clone());
            Reading::Answered(seat, latest.flatten())
        } else {
            Reading::Closed(seat)
        }
    }

    /// Checks and applies an answer, and returns it in canonical form. A rejected answer changes
    /// nothing.
    pub(crate) fn accept(
        &mut self,
        seat: Seat,
        answer: &str,
        over_ms: Millis,
    ) -> Result<JsonText, Refusal> {
        if seat.index() >= self.seats.len() {
            return Err(Refusal::not_asked(format!("there is no {seat}")));
        }
        self.text.clear();
        self.game.apply_to(seat, answer, &mut self.text)?;
        let answer = JsonText::of_written(&self.text);
        self.answered[seat.index()] += 1;
        self.latest[seat.index()] = Some(answer.clone());
        let bank = &mut self.bank_ms[seat.index()];
        *bank = bank.saturating_sub(over_ms);
        Ok(answer)
    }

    pub(crate) fn remove(&mut self, seat: Seat) {
        self.game.remove(seat);
    }

    /// Returns whether the latest step drew this.
    pub(crate) fn has_drawn(&mut self, drawn: Option<&str>) -> bool {
        self.text.clear();
        let has_any = self.game.write_drawn(&mut self.text);
        drawn.map(str::as_bytes) == has_any.then_some(&self.text[..])
    }

    /// The random draw of the latest step, if there was one.
    pub(crate) fn drawn(&mut self) -> Option<JsonText> {
        self.text.clear();
        self.game.write_drawn(&mut self.text).then(|| JsonText::of_written(&self.text))
    }
}

impl PartialEq for Referee {
    fn eq(&self, other: &Referee) -> bool {
        self.number == other.number
            && self.seats == other.seats
            && self.secret == other.secret
            && *self.game == *other.game
            && self.answered == other.answered
            && self.latest == other.latest
            && self.bank_ms == other.bank_ms
            && self.lapses == other.lapses
    }
}
