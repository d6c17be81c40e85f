//! The effects of answers and removals, and the end of a game.

use super::state::{Deed, Drawn, Possessions, Stage, Trains};
use super::talk::{Answer, KEEP_LEN, MORE_LEN, OFFER_LEN, RAILS_LAST, RETURN_LEN};
use super::{Connection, Pair};
use crate::{Refusal, Seat};

/// The effect of a checked answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// The seat confirms a notification.
    Confirm,
    /// The seat keeps these two destinations.
    Keep([u32; KEEP_LEN]),
    /// The seat draws two cards, if there are two.
    More,
    /// The seat acquires the connection at this index of the map.
    Acquire(u16),
}

impl Trains {
    /// The effect of `answer` if `seat` gives it now.
    #[inline]
    pub(super) fn step(&self, seat: Seat, answer: &Answer) -> Result<Step, Refusal> {
        if self.stage == Stage::Over || seat != self.turn {
            return Err(self.not_asked(seat));
        }
        match (self.stage, answer) {
            (Stage::Setup | Stage::More, Answer::Ok) => Ok(Step::Confirm),
            (Stage::Pick, Answer::Return(pairs)) => self.keep(pairs).map(Step::Keep),
            (Stage::Play, Answer::MoreCards) => Ok(Step::More),
            (Stage::Play, Answer::Acquire(connection)) => {
                self.acquire(seat, connection).map(Step::Acquire)
            }
            _ => Err(self.wrong_kind(answer)),
        }
    }

    #[cold]
    fn not_asked(&self, seat: Seat) -> Refusal {
        Refusal::not_asked(match self.stage {
            Stage::Over => "the game is over".into(),
            _ => format!("{} is asked, not {seat}", self.turn),
        })
    }

    #[cold]
    fn wrong_kind(&self, answer: &Answer) -> Refusal {
        let wanted = match self.stage {
            Stage::Setup | Stage::More => "ok",
            Stage::Pick => "return",
            Stage::Play | Stage::Over => "more-cards or acquire",
        };
        Refusal::wrong_kind(format!("the answer is {}, not {}", wanted, answer.kind()))
    }

    /// The destinations that a player keeps who gives these back.
    fn keep(&self, returned: &[Pair]) -> Result<[u32; KEEP_LEN], Refusal> {
        if returned.len() != RETURN_LEN {
            let detail = format!("{} destinations given back, not {RETURN_LEN}", returned.len());
            return Err(Refusal::illegal("not-three", detail));
        }
        let mut back = [false; OFFER_LEN];
        for pair in returned {
            let Some(at) = self.offer.iter().position(|at| self.destination(*at) == *pair) else {
                return Err(Refusal::illegal("not-offered", format!("{pair} was not offered")));
            };
            if std::mem::replace(&mut back[at], true) {
                return Err(Refusal::illegal("twice", format!("{pair} is given back twice")));
            }
        }
        let mut kept = (0..OFFER_LEN).filter(|at| !back[*at]).map(|at| self.offer[at]);
        Ok(std::array::from_fn(|_| kept.next().expect("five less three different ones")))
    }

    /// The index of a connection that the player may acquire.
    #[inline]
    fn acquire(&self, seat: Seat, connection: &Connection) -> Result<u16, Refusal> {
        let place = self.place(seat);
        let (color, length) = (connection.color, connection.length.segments());
        let cards = place.hand[color.index()];
        match self.map.find(connection) {
            Some(at) if self.is_free(at) && cards >= length && place.rails >= length => {
                Ok(at as u16)
            }
            at => Err(self.why_not(at, cards, place.rails, connection)),
        }
    }

    #[cold]
    fn why_not(&self, at: Option<usize>, cards: u8, rails: u8, wanted: &Connection) -> Refusal {
        let length = wanted.length.segments();
        match at {
            None => Refusal::illegal("not-on-map", format!("the map has no {wanted}")),
            Some(at) if !self.is_free(at) => {
                Refusal::illegal("held", format!("somebody holds {wanted}"))
            }
            Some(_) if cards < length => {
                let detail = format!("{wanted} with {cards} {} cards", wanted.color);
                Refusal::illegal("too-few-cards", detail)
            }
            Some(_) => Refusal::illegal("too-few-rails", format!("{wanted} with {rails} rails")),
        }
    }

    /// Carries out a step of the seat whose turn it is.
    #[inline]
    pub(super) fn take(&mut self, step: Step) {
        let seat = self.turn;
        self.drawn = Drawn::default();
        match step {
            Step::Confirm if self.stage == Stage::Setup => self.offer_destinations(),
            Step::Confirm => {
                self.stage = Stage::Play;
                self.end_turn();
            }
            Step::Keep(destinations) => {
                self.place_mut(seat).kept = Some(destinations);
                self.history.push((seat, Deed::Picked));
                self.set_up_from(seat.0 + 1);
            }
            Step::More => self.more_cards(seat),
            Step::Acquire(at) => {
                let connection = &self.map.connections()[usize::from(at)];
                let (color, length) = (connection.color.index(), connection.length.segments());
                let place = self.place_mut(seat);
                place.hand[color] -= length;
                place.rails -= length;
                place.hold(at);
                self.free[usize::from(at) / 64] &= !(1 << (at % 64));
                self.idle = 0;
                self.history.push((seat, Deed::Acquired(at)));
                self.end_turn();
            }
        }
    }

    fn more_cards(&mut self, seat: Seat) {
        let drawn = self.deck.left() >= MORE_LEN as u8;
        let count = if drawn { MORE_LEN as u8 } else { 0 };
        self.history.push((seat, Deed::Drew(count)));
        if drawn {
            self.draw(seat, count);
            self.idle = 0;
            if self.confirm {
                self.stage = Stage::More;
                return;
            }
        } else {
            self.idle += 1;
        }
        self.end_turn();
    }

    /// Ends the turn of the current seat.
    #[inline]
    fn end_turn(&mut self) {
        let short = self.place(self.turn).rails <= RAILS_LAST;
        match &mut self.last_turns {
            Some(seats) => seats.remove(self.turn),
            None if short => {
                let mut others = self.remaining;
                others.remove(self.turn);
                self.last_turns = Some(others);
            }
            None => {}
        }
        self.next_turn();
    }

    /// Ends the game, or passes the turn to the next remaining player.
    #[inline]
    fn next_turn(&mut self) {
        let all_idle = usize::from(self.idle) >= self.remaining.len();
        if all_idle || self.last_turns.is_some_and(|seats| seats.is_empty()) {
            self.stage = Stage::Over;
            return;
        }
        let turn = self.turn;
        let after = self.remaining.into_iter().find(|seat| *seat > turn);
        self.turn = after.or(self.remaining.first()).expect("somebody remains");
    }

    /// Takes a seat out of the game. Its connections are free again, its rails and cards are gone;
    /// the destinations it kept stay out of the pool.
    pub(super) fn take_out(&mut self, seat: Seat) {
        if self.stage == Stage::Over || !self.remaining.contains(seat) {
            return;
        }
        self.remaining.remove(seat);
        self.history.push((seat, Deed::Removed));
        let place = *self.place(seat);
        *self.place_mut(seat) = Possessions { kept: place.kept, ..Possessions::default() };
        for at in place.held() {
            self.free[usize::from(*at) / 64] |= 1 << (at % 64);
        }
        self.idle = 0;
        self.drawn = Drawn::default();
        if let Some(seats) = &mut self.last_turns {
            seats.remove(seat);
        }
        if self.remaining.is_empty() {
            self.stage = Stage::Over;
        } else if seat == self.turn {
            match self.stage {
                Stage::Setup | Stage::Pick => self.set_up_from(seat.0 + 1),
                Stage::Play | Stage::More | Stage::Over => {
                    self.stage = Stage::Play;
                    self.next_turn();
                }
            }
        }
    }
}
