//! The engine's reports to the operator: counts, and lines on stderr.
//!
//! Names and ids only. Reports never contain a password, token, answer, view or evidence: those are
//! in the log, for the players they concern.

use crate::engine::{LoginOutcome, Note};
use crate::meters::Meters;
use agon_core::{MatchId, PlayerName};
use std::net::IpAddr;

/// Counts a report and logs it.
pub(super) fn report(meters: &Meters, note: &Note) {
    match note {
        Note::Login { conn, from, account, outcome } => {
            meters.login(*outcome).add();
            log_login(conn.map(|conn| conn.0), *from, account.as_ref(), *outcome);
        }
        Note::SignUpRefused { conn, name, why } => {
            tracing::info!(conn = conn.0, account = name.as_str(), why, "a sign-up was refused");
        }
        Note::ObserverRefused { conn, max } => {
            tracing::info!(conn = conn.0, max, "an observer was refused: too many");
        }
        Note::Fault { conn, tournament, of_match, faulted } => {
            let kind = faulted.fault.kind;
            meters.fault(kind).add();
            let conn = conn.map(|conn| conn.0);
            let (tournament, of_match) =
                (tournament.as_str(), of_match.as_ref().map(MatchId::as_str));
            let account = faulted.player.as_str();
            let request = faulted.request.as_ref().map(|request| request.as_str());
            let game = faulted.game;
            tracing::info!(
                conn,
                account,
                tournament,
                r#match = of_match,
                game,
                request,
                fault = %kind,
                "a player is at fault"
            );
        }
        Note::Blacklisted { conn, account, why } => {
            let conn = conn.map(|conn| conn.0);
            tracing::info!(conn, account = account.as_str(), why, "a player is on the blacklist");
        }
        Note::MatchEnded { key, .. } => {
            tracing::debug!(tournament = %key.tournament, r#match = %key.id, "a match is over");
        }
        Note::MatchStarted { .. } | Note::GameEnded { .. } => {}
        Note::Rebalanced { tournament, to } => {
            tracing::info!(%tournament, engine = to.0, "a tournament moves to a node with less to do");
        }
        Note::TournamentStarted { tournament, players } => {
            tracing::info!(%tournament, players, "a tournament runs");
        }
        Note::TournamentEnded { tournament, winners } => {
            tracing::info!(%tournament, winners, "a tournament is over");
        }
        Note::PlayersPresent(tournament) => {
            tracing::info!(%tournament, "the players of a tournament are here");
        }
        Note::NotHeld { tournament, why } => {
            tracing::info!(%tournament, why, "a tournament that was asked for is not held");
        }
        Note::NotPlayable { tournament, why } => {
            tracing::warn!(%tournament, error = why, "a tournament cannot be played");
        }
        Note::Interrupted { tournament, missing } => {
            tracing::warn!(%tournament, missing, "a restart interrupted a tournament");
        }
        Note::TimerLate(ms) => meters.late_ms.add(*ms),
        Note::Warning(words) => tracing::warn!("{words}"),
    }
}

fn log_login(
    conn: Option<u64>,
    from: Option<IpAddr>,
    account: Option<&PlayerName>,
    outcome: LoginOutcome,
) {
    let from = from.map(tracing::field::display);
    let account = account.map(PlayerName::as_str);
    match outcome {
        LoginOutcome::Good => tracing::info!(conn, from, account, "logged in"),
        LoginOutcome::Wrong => tracing::info!(conn, from, account, "wrong password or token"),
        LoginOutcome::Throttled => tracing::debug!(conn, from, account, "login held up"),
        LoginOutcome::Refused => tracing::info!(conn, from, account, "login refused"),
    }
}
