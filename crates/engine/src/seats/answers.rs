//! Answers of players: the seat measures them, the cells decide them, and the connection is told why
//! one was rejected.

use crate::cells::RejectedAnswer;
use crate::engines::ToCells;
use crate::follow_up::FollowUp;
use crate::journal::StreamKey;
use crate::port::{Answer, FromSeat, GivenAnswer};
use crate::{AskId, ConnId, Engine, TranslatedAnswer};
use agon_core::{PlayerName, Rejection, RequestId, Timestamp, Timing};

impl Engine {
    /// Handles a player's answer to a request; `id` is the request's name as it was sent.
    pub(crate) fn answered(
        &mut self,
        conn: ConnId,
        player: &PlayerName,
        id: RequestId,
        given: GivenAnswer,
        at: Timestamp,
    ) {
        if self.is_request_on_its_way(&id) {
            // The next engine asks again.
            return;
        }
        let timing = self.timing(player, |ask| ask.is_sent_as(&id), at);
        let answer = Answer { given, timing, at };
        let Some(owner) = self.cell_engines.owner_of_request(&id) else {
            return self.decide_answer(conn, player, id, answer);
        };
        // Another engine decides. An answer to a request that is open here is not useless.
        if timing.is_some() {
            self.forgive_junk(conn);
        }
        self.pass(owner, ToCells::Answer { conn, player: player.clone(), id, answer });
    }

    /// Has the cells decide an answer, and tells the connection why it is rejected, if it is.
    pub(crate) fn decide_answer(
        &mut self,
        conn: ConnId,
        player: &PlayerName,
        id: RequestId,
        answer: Answer,
    ) {
        if self.is_request_on_its_way(&id) {
            return;
        }
        let outcome = self.send_to_cells(player, FromSeat::Answer(answer));
        let Err(RejectedAnswer { key, rejection }) = outcome else {
            return self.forgive_junk(conn);
        };
        let detail = rejection.to_string();
        let (code, accepted) = match rejection {
            Rejection::Repeated { accepted } => ("repeated", accepted.map(|raw| raw.0)),
            Rejection::Late | Rejection::Over => ("late", None),
            _ => ("foreign", None),
        };
        // The accepted answer may be in flight, and the rejection repeats it, so the rejection
        // waits for it. A rejection of an unknown request need not wait.
        let known_match = key.filter(|_| code != "foreign");
        let streams = known_match.into_iter().map(StreamKey::Match).collect();
        self.once_durable(streams, FollowUp::RejectAnswer { conn, code, id, detail, accepted });
        self.count_junk(conn);
    }

    /// How long a player took for an answer that was read at `at`, by the clock of their seat.
    pub(crate) fn timing(
        &self,
        player: &PlayerName,
        is_it: impl Fn(&AskId) -> bool,
        at: Timestamp,
    ) -> Option<Timing> {
        self.services.present.seat(player)?.timing(is_it, at)
    }

    /// Handles an answer that a gateway translated.
    pub(crate) fn translated(&mut self, conn: ConnId, said: TranslatedAnswer, at: Timestamp) {
        let Some(player) = self.seats.sessions.account(conn).cloned() else { return };
        self.tell_cells(&player, FromSeat::Heard);
        let id = said.id.clone();
        self.answered(conn, &player, id, GivenAnswer::Translated(said), at);
    }

    /// Starts the clock of a request that was written to its connection at `at`.
    pub(crate) fn delivered(&mut self, conn: ConnId, ask: AskId, at: Timestamp) {
        let Some(player) = self.seats.sessions.account(conn).cloned() else { return };
        if !self.services.present.deliver(&player, conn, &ask, at) {
            return;
        }
        let owner = self.cell_engines.owner(ask.tournament());
        let message = FromSeat::Delivered { conn, ask, at };
        match owner {
            Some(to) => self.pass(to, ToCells::FromSeat(player, message)),
            None => self.tell_cells(&player, message),
        }
    }
}
