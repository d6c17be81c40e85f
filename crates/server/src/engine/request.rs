//! Requests as lines. A server writes one for every decision, so they are put together from text:
//! the view straight from the game, and what is said of the match kept from one to the next.

use super::matches::LiveMatch;
use crate::gateway::Shows;
use agon_core::{Match, Millis, Pending, TournamentId};
use agon_games::{Seat, Viewer};
use std::io::Write;

/// What requests of a match have in common.
#[derive(Default)]
pub(super) struct Common {
    /// The match as everybody may see it, as JSON; empty when it has to be written anew.
    in_match: Vec<u8>,
    /// How its finished games ended, for who is shown that; the same.
    ends: Vec<u8>,
}

impl Common {
    /// Something about the match has changed, not only about its game.
    pub(super) fn forget(&mut self) {
        self.in_match.clear();
        self.ends.clear();
    }

    /// Writes what is to be shown of the match and is not there.
    fn write(&mut self, played: &Match, shows: Shows) {
        if shows != Shows::Game && self.in_match.is_empty() {
            let written = serde_json::to_writer(&mut self.in_match, &played.view());
            written.expect("views of matches are JSON");
        }
        if shows == Shows::Ends && self.ends.is_empty() {
            self.ends.push(b'[');
            for (result, game) in played.finished() {
                let comma = if self.ends.len() > 1 { "," } else { "" };
                write!(self.ends, "{comma}[{},", result.game).expect("memory takes it");
                game.write_view_now(Viewer::Public, &mut self.ends);
                self.ends.push(b']');
            }
            self.ends.push(b']');
        }
    }
}

impl LiveMatch {
    /// Puts the line that asks a seat what the game asks it in the place of what is in `line`;
    /// `false` if it asks nothing.
    pub(super) fn write_request(
        &mut self,
        tournament: &TournamentId,
        pending: &Pending,
        left_ms: Millis,
        to: (Seat, Shows),
        line: &mut Vec<u8>,
    ) -> bool {
        write_line(&self.played, &mut self.common, tournament, pending, left_ms, to, line)
    }
}

fn write_line(
    played: &Match,
    common: &mut Common,
    tournament: &TournamentId,
    pending: &Pending,
    left_ms: Millis,
    (seat, shows): (Seat, Shows),
    line: &mut Vec<u8>,
) -> bool {
    common.write(played, shows);
    let Some(referee) = played.referee() else { return false };
    let game = referee.game();
    line.clear();
    // Ids are plain ASCII without quotes, so they need no escaping.
    line.extend_from_slice(br#"{"type":"request","id":""#);
    line.extend_from_slice(tournament.as_str().as_bytes());
    line.push(b':');
    line.extend_from_slice(pending.id.as_str().as_bytes());
    write!(line, r#"","deadline_ms":{},"seat":{},"question":"#, left_ms, seat.0)
        .expect("memory takes it");
    if !game.write_question(seat, line) {
        return false;
    }
    line.extend_from_slice(br#","view":"#);
    match shows {
        Shows::Game => game.write_view_now(Viewer::Seat(seat), line),
        Shows::Match | Shows::Ends => {
            game.write_view(Viewer::Seat(seat), line);
            line.extend_from_slice(br#","match":"#);
            line.extend_from_slice(&common.in_match);
        }
    }
    if shows == Shows::Ends {
        line.extend_from_slice(br#","ends":"#);
        line.extend_from_slice(&common.ends);
    }
    line.extend_from_slice(b"}\n");
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_core::{
        Ask, Command, MatchId, MatchPlan, PlayerName, Preset, Raw, RequestId, Secret, Secrets,
    };
    use agon_games::Registry;
    use agon_wire::native::{self, Request};

    /// Plays a match by first legal answers and compares every request with what the codec writes.
    fn compare(preset: &str) {
        let preset = Preset::named(preset).unwrap();
        let games = Registry::standard();
        let kind = games.kind(preset.game).unwrap().clone();
        let players = ["a \"b\"", "é"].map(|name| PlayerName::new(name).unwrap());
        let plan = MatchPlan {
            tournament: TournamentId::from("cup"),
            id: MatchId::of(1, 1),
            round: 1,
            players: players.to_vec(),
            reason: "a test".into(),
            game: preset.game.into(),
            config: Raw(kind.check_config(preset.config).unwrap()),
            rules: agon_core::MatchRules { best_of: 3, ..preset.policy.rules },
        };
        let tournament = plan.tournament.clone();
        let secrets = Secrets::Known(Secret::from_seed_number(1));
        let (mut played, _) = Match::create(plan, kind, secrets, 0).unwrap();
        let mut common = Common::default();
        let step = |played: &mut Match, common: &mut Common, command| {
            if played.step(1, command).unwrap().len() > 1 {
                common.forget();
            }
        };
        for player in players {
            step(&mut played, &mut common, Command::Arrive { player, nonce: None });
        }
        let mut compared = 0;
        while let Some(pending) = played.pending().into_iter().next() {
            let answer = match (pending.ask, played.referee()) {
                (Ask::Game(seat), Some(referee)) => {
                    let game = referee.game();
                    let mut line = b"what was there before".to_vec();
                    let (common, limit_ms) = (&mut common, pending.limit_ms);
                    let asks = write_line(
                        &played,
                        common,
                        &tournament,
                        &pending,
                        limit_ms,
                        (seat, Shows::Match),
                        &mut line,
                    );
                    assert!(asks);
                    let due = native::encode(&Request {
                        kind: "request",
                        id: &RequestId::from(format!("cup:{}", pending.id)),
                        deadline_ms: pending.limit_ms,
                        seat,
                        question: game.question(seat).unwrap(),
                        view: game.view(Viewer::Seat(seat)),
                        in_match: played.view(),
                    });
                    assert_eq!(String::from_utf8(line), String::from_utf8(due));
                    compared += 1;
                    game.legal(seat)[0].get().to_owned()
                }
                _ => "\"ok\"".into(),
            };
            let (player, request, took_ms) = (pending.player, pending.id, Some(0));
            let answer = Command::Answer { player, request, answer, took_ms };
            step(&mut played, &mut common, answer);
        }
        assert!(played.result().is_some() && compared > 20, "{compared}");
    }

    #[test]
    fn a_request_is_written_as_the_codec_writes_it() {
        compare("yahtzee-referee");
        compare("fish");
        compare("trains");
    }
}
