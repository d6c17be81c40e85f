//! The referee of one game: whose answer is due, under which request id, and by when.
//!
//! The match decides what a fault costs, and the game knows its rules.

use crate::fair::{Nonce, Secret};
use crate::ids::{MatchId, Millis, PlayerName, Raw, RequestId, TournamentId};
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
    latest: Vec<Option<Raw>>,
    bank_ms: Vec<Millis>,
    lapses: Vec<u32>,
}

/// How a request id relates to this game.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Reading {
    /// The open request of a seat.
    Open(Seat),
    /// A request that the seat has answered; the accepted answer, if it is still known.
    Answered(Seat, Option<Raw>),
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
        let id = id.clone();
        Ok(Referee { number, seats, secret, game, id, answered, latest, bank_ms, lapses })
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
    ) -> Result<Raw, Refusal> {
        if seat.index() >= self.seats.len() {
            return Err(Refusal::not_asked(format!("there is no {seat}")));
        }
        let answer = Raw(self.game.apply(seat, answer)?);
        self.answered[seat.index()] += 1;
        self.latest[seat.index()] = Some(answer.clone());
        let bank = &mut self.bank_ms[seat.index()];
        *bank = bank.saturating_sub(over_ms);
        Ok(answer)
    }

    pub(crate) fn remove(&mut self, seat: Seat) {
        self.game.remove(seat);
    }

    pub(crate) fn drawn(&self) -> Option<Raw> {
        self.game.drawn().map(Raw)
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
