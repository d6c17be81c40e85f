//! Answers of players: the cells decide them, and the connection is told why one was rejected.

use crate::cells::{GivenAnswer, RejectedAnswer};
use crate::follow_up::FollowUp;
use crate::journal::StreamKey;
use crate::{ConnId, Engine, TranslatedAnswer};
use agon_core::{Millis, PlayerName, Rejection, RequestId};

impl Engine {
    /// Handles a player's answer to a request; `id` is the request's name as it was sent.
    pub(crate) fn answered(
        &mut self,
        conn: ConnId,
        player: PlayerName,
        id: &RequestId,
        given: GivenAnswer,
        at: Millis,
    ) {
        let outcome = self.in_cells(|cells, cx| cells.answer(cx, player, id, given, at));
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
        let told_of = key.filter(|_| code != "foreign");
        let streams = told_of.into_iter().map(StreamKey::Match).collect();
        let id = id.clone();
        self.once_durable(streams, FollowUp::RejectAnswer { conn, code, id, detail, accepted });
        self.count_junk(conn);
    }

    /// Handles an answer that a gateway translated.
    pub(crate) fn translated(&mut self, conn: ConnId, said: TranslatedAnswer, at: Millis) {
        let Some(player) = self.seats.sessions.account(conn).cloned() else { return };
        self.in_cells(|cells, cx| cells.hear_from(cx, &player));
        let id = said.id.clone();
        self.answered(conn, player, &id, GivenAnswer::Translated(said), at);
    }
}
