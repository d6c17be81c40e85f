//! The result of a tournament, for the player who asked for it.
//!
//! The engine sends it when the tournament is over, or at the next login. The log records that it
//! was sent. So it is sent once, and again only if the server crashed in between.

use super::journal::StreamKey;
use super::services::Services;
use super::{ConnId, Effect, Engine, EngineError, ReadError};
use agon_core::lobby::{LobbyCommand, Standing};
use agon_core::{PlayerName, PlayerSummary, Results, Tournament, TournamentId};
use agon_wire::native::ToPlayer;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most players a notice lists.
const ROWS_MAX: usize = 1_000;

/// One player in a report.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
struct Row {
    rank: u32,
    player: PlayerName,
    matches_won: u32,
    matches_lost: u32,
    matches_drawn: u32,
    games_won: u32,
    games_lost: u32,
    games_tied: u32,
    points: i64,
    byes: u32,
}

/// The final report of a tournament: winners, ranks, cheats and failures.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "FinalReport")]
pub struct Report {
    tournament: TournamentId,
    #[serde(skip_serializing_if = "Option::is_none")]
    preset: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    game: Option<String>,
    /// `ended`, `aborted: why`, `called off: why` or `not played`.
    status: String,
    winners: Vec<PlayerName>,
    standings: Vec<Row>,
    cheating: Vec<PlayerName>,
    failing: Vec<PlayerName>,
    /// How many rows of the standings a notice leaves out.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<usize>,
}

impl Report {
    /// The report of a tournament's results.
    pub fn of(tournament: TournamentId, results: &Results) -> Report {
        let row = |summary: &PlayerSummary| Row {
            rank: summary.rank,
            player: summary.player.clone(),
            matches_won: summary.matches_won,
            matches_lost: summary.matches_lost,
            matches_drawn: summary.matches_drawn,
            games_won: summary.games_won,
            games_lost: summary.games_lost,
            games_tied: summary.games_tied,
            points: summary.points,
            byes: summary.byes,
        };
        Report {
            tournament,
            preset: results.preset.clone(),
            game: Some(results.game.clone()),
            status: results.status.clone(),
            winners: results.winners.clone(),
            standings: results.standings.iter().map(row).collect(),
            cheating: results.cheating.clone(),
            failing: results.failing.clone(),
            left_out: None,
        }
    }

    /// The report of a tournament that nobody played.
    pub fn without_play(tournament: TournamentId, status: impl Into<String>) -> Report {
        Report {
            tournament,
            preset: None,
            game: None,
            status: status.into(),
            winners: Vec::new(),
            standings: Vec::new(),
            cheating: Vec::new(),
            failing: Vec::new(),
            left_out: None,
        }
    }

    /// A copy with at most `rows_max` rows.
    fn shortened(&self, rows_max: usize) -> Report {
        let mut short = self.clone();
        let left_out = self.standings.len().saturating_sub(rows_max);
        short.standings.truncate(rows_max);
        short.left_out = (left_out > 0).then_some(left_out);
        short
    }
}

impl Engine {
    /// Sends a result to the player who asked for it, if they are connected.
    pub(super) fn deliver(&mut self, id: &TournamentId, report: &Report) {
        let Some(conn) = self.lobby.state().asker(id).and_then(|asker| self.conn_of(asker)) else {
            return;
        };
        let data = Some(agon_games::json(&report.shortened(ROWS_MAX)));
        self.send(conn, &ToPlayer::notice("tournament-result", data));
        // Recorded after it was sent: a result that was not sent stays owed. The lobby rejects a
        // second record, which is harmless.
        let _ = self.step_lobby(LobbyCommand::Deliver { tournament: id.clone() }, Vec::new());
    }

    /// Sends a player who logged in the results they asked for. The driver loads those of
    /// tournaments that were played, and they are sent when they are here.
    pub(super) fn deliver_results(
        &mut self,
        conn: ConnId,
        account: &PlayerName,
        owed: &[TournamentId],
    ) {
        for id in owed {
            if self.conn_of(account) != Some(conn) {
                return;
            }
            if !self.lobby.state().owed_to(account).any(|still| still == id) {
                continue;
            }
            match self.lobby.state().tournament(id) {
                Some(Standing::CalledOff(reason)) => {
                    let status = format!("called off: {reason}");
                    self.deliver(id, &Report::without_play(id.clone(), status));
                }
                _ => {
                    let stream = StreamKey::Tournament(id.clone());
                    self.services.effects.push(Effect::Load(stream));
                }
            }
        }
    }

    /// Sends a result that was loaded, if it is still owed.
    pub(super) fn result_loaded(
        &mut self,
        id: &TournamentId,
        lines: Result<Vec<String>, ReadError>,
    ) {
        let stream = &StreamKey::Tournament(id.clone());
        let lobby = self.lobby.state();
        let asker = lobby.asker(id).filter(|asker| lobby.owed_to(asker).any(|owed| owed == id));
        if asker.is_none() {
            return;
        }
        match lines
            .map_err(EngineError::Read)
            .and_then(|lines| self.past_report(stream, id, &lines))
        {
            Ok(report) => self.deliver(id, &report),
            Err(error) => self.services.fail(error),
        }
    }

    fn past_report(
        &self,
        stream: &StreamKey,
        id: &TournamentId,
        lines: &[String],
    ) -> Result<Report, EngineError> {
        if lines.is_empty() {
            return Ok(Report::without_play(id.clone(), "not played"));
        }
        let lines = self.services.parse(&stream.name(), lines, 0)?;
        let fold = |lines: &[_]| Tournament::fold(lines, &self.services.games, None);
        Ok(Report::of(id.clone(), &Services::fold(stream, &lines, fold)?.results()))
    }
}
