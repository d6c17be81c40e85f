//! Requests as lines. A server writes one for every decision, so this module assembles them from
//! text: the view comes directly from the game, and the part about the match is cached.
//!
//! A request does not grow with its match. It shows the game as it stands and the score of the match;
//! past turns and finished games are for the first request of a match on a connection, and for
//! players that asked for them.

use agon_core::{Ask, Match, Millis, Pending, TournamentId};
use agon_games::Viewer;
use serde::{Deserialize, Serialize};
use std::io::Write;

/// How much of its match a request shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Shows {
    /// The game as it stands, and nothing of the match.
    Game,
    /// The game as it stands and the score of the match: all that a player without memory needs.
    Score,
    /// Also the turns of the game so far and the finished games of the match.
    History,
    /// Also the final positions of the finished games.
    Ends,
}

/// Writes the requests of one match, and caches what they have in common.
#[derive(Default)]
pub struct RequestWriter {
    /// The match with its finished games, as JSON; empty if it must be written again.
    history: Vec<u8>,
    /// The match without its finished games; likewise.
    score: Vec<u8>,
    /// The final positions of its finished games; likewise.
    ends: Vec<u8>,
}

impl RequestWriter {
    /// Clears the cache, because the match has changed, not only its game.
    pub fn forget(&mut self) {
        self.history.clear();
        self.score.clear();
        self.ends.clear();
    }

    /// Replaces the contents of `line` by the request line for a player; `false` if the request has
    /// no question. Over sockets ids begin with the tournament's name.
    pub fn write(
        &mut self,
        played: &Match,
        prefix: Option<&TournamentId>,
        pending: &Pending,
        left_ms: Millis,
        shows: Shows,
        line: &mut Vec<u8>,
    ) -> bool {
        let (Ask::Game(seat), Some(referee)) = (pending.ask, played.referee()) else {
            return false;
        };
        let game = referee.game();
        line.clear();
        // Ids are plain ASCII without quotes, so they need no escaping.
        line.extend_from_slice(br#"{"type":"request","id":""#);
        if let Some(tournament) = prefix {
            line.extend_from_slice(tournament.as_str().as_bytes());
            line.push(b':');
        }
        line.extend_from_slice(pending.id.as_str().as_bytes());
        line.extend_from_slice(br#"","deadline_ms":"#);
        write_number(line, left_ms);
        line.extend_from_slice(br#","seat":"#);
        write_number(line, seat.0.into());
        line.extend_from_slice(br#","question":"#);
        if !game.write_question(seat, line) {
            return false;
        }
        line.extend_from_slice(br#","view":"#);
        let viewer = Viewer::Seat(seat);
        match shows {
            Shows::Game | Shows::Score => game.write_view_now(viewer, line),
            Shows::History | Shows::Ends => game.write_view(viewer, line),
        }
        if shows != Shows::Game {
            line.extend_from_slice(br#","match":"#);
            line.extend_from_slice(self.of_match(played, shows == Shows::Score));
        }
        if shows == Shows::Ends {
            line.extend_from_slice(br#","ends":"#);
            line.extend_from_slice(self.ends(played));
        }
        line.extend_from_slice(b"}\n");
        true
    }

    fn of_match(&mut self, played: &Match, score_only: bool) -> &[u8] {
        let kept = if score_only { &mut self.score } else { &mut self.history };
        if kept.is_empty() {
            let view = if score_only { played.score() } else { played.view() };
            serde_json::to_writer(&mut *kept, &view).expect("views of matches are JSON");
        }
        kept
    }

    fn ends(&mut self, played: &Match) -> &[u8] {
        if self.ends.is_empty() {
            self.ends.push(b'[');
            for (result, game) in played.finished() {
                let comma = if self.ends.len() > 1 { "," } else { "" };
                write!(self.ends, "{comma}[{},", result.game)
                    .expect("a buffer accepts every write");
                game.write_view_now(Viewer::Public, &mut self.ends);
                self.ends.push(b']');
            }
            self.ends.push(b']');
        }
        &self.ends
    }
}

fn write_number(line: &mut Vec<u8>, number: u64) {
    serde_json::to_writer(line, &number).expect("a buffer accepts a number");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::{self, Request};
    use agon_core::Timestamp;
    use agon_core::{
        MatchCommand, MatchId, MatchPlan, PlayerName, Preset, Raw, RequestId, Secret, Secrets,
    };
    use agon_games::{GameState, Json, Registry, Seat};

    /// Plays a match by first legal answers, and shows every question to `see` before its answer.
    fn play(preset: &str, best_of: u32, mut see: impl FnMut(&Match, &mut RequestWriter, &Pending)) {
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
            rules: agon_core::MatchRules {
                best_of,
                ties: agon_core::Ties::Share,
                ..preset.policy.rules
            },
        };
        let secrets = Secrets::Known(Secret::from_seed_number(1));
        let (mut played, _) = Match::create(plan, kind, secrets, Timestamp::default()).unwrap();
        let mut requests = RequestWriter::default();
        let step = |played: &mut Match, requests: &mut RequestWriter, command| {
            if played.step(Timestamp::from_ms(1), command).unwrap().len() > 1 {
                requests.forget();
            }
        };
        for player in players {
            step(&mut played, &mut requests, MatchCommand::Arrive { player, nonce: None });
        }
        while let Some(pending) = played.pending().into_iter().next() {
            let answer = match (pending.ask, played.referee()) {
                (Ask::Game(seat), Some(referee)) => {
                    see(&played, &mut requests, &pending);
                    referee.game().legal(seat)[0].get().to_owned()
                }
                _ => "\"ok\"".into(),
            };
            let (player, request, took_ms) = (pending.player, pending.id, Some(0));
            let answer = MatchCommand::Answer { player, request, answer, took_ms };
            step(&mut played, &mut requests, answer);
        }
        assert!(played.result().is_some());
    }

    fn view_now(game: &dyn GameState, seat: Seat) -> Json {
        let mut view = Vec::new();
        game.write_view_now(Viewer::Seat(seat), &mut view);
        serde_json::from_slice(&view).unwrap()
    }

    #[test]
    fn request_is_written_as_the_codec_writes_it() {
        for preset in ["yahtzee-referee", "fish", "trains"] {
            let (mut line, mut compared) = (b"the line before".to_vec(), 0);
            play(preset, 3, |played, requests, pending| {
                let Ask::Game(seat) = pending.ask else { return };
                let game = played.referee().unwrap().game();
                for (shows, view, in_match) in [
                    (Shows::History, game.view(Viewer::Seat(seat)), played.view()),
                    (Shows::Score, view_now(game, seat), played.score()),
                ] {
                    let cup = TournamentId::from("cup");
                    let limit_ms = pending.limit_ms;
                    assert!(requests.write(
                        played,
                        Some(&cup),
                        pending,
                        limit_ms,
                        shows,
                        &mut line
                    ));
                    let due = native::encode(&Request {
                        kind: "request",
                        id: &RequestId::from(format!("cup:{}", pending.id)),
                        deadline_ms: pending.limit_ms,
                        seat,
                        question: game.question(seat).unwrap(),
                        view,
                        in_match,
                    });
                    assert_eq!(String::from_utf8_lossy(&line), String::from_utf8_lossy(&due));
                    compared += 1;
                }
            });
            assert!(compared > 40, "{preset}: {compared}");
        }
    }

    #[test]
    fn request_does_not_grow_with_the_match() {
        let (mut line, mut longest, mut longest_whole) = (Vec::new(), 0, 0);
        play("yahtzee-class", 99, |played, requests, pending| {
            let cup = TournamentId::from("a-tournament-with-a-name-of-some-length");
            requests.write(played, Some(&cup), pending, 10_000, Shows::Score, &mut line);
            longest = longest.max(line.len());
            requests.write(played, Some(&cup), pending, 10_000, Shows::History, &mut line);
            longest_whole = longest_whole.max(line.len());
        });
        assert!(longest <= 1_500, "{longest} bytes");
        assert!(longest_whole > 10_000, "{longest_whole} bytes: the match was long");
    }
}
