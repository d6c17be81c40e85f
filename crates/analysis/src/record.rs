//! Text records of games, in the manner of PGN: tags, then one line per move.
//!
//! `docs/protocol/record.md` documents the format. A record holds the seed of its luck, so a reader
//! can replay the whole game from the record alone.

use agon_core::{
    Event, GameEnd, GameResult, GameStarted, Line, MatchPlan, MatchReplay, PlayerName, Secrets,
    Timestamp,
};
use agon_games::{GameState, Registry, Seat, Seed};
use std::fmt;

/// The record of one finished game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GameRecord {
    /// Tags in order: names and values.
    pub tags: Vec<(String, String)>,
    /// The moves in order.
    pub moves: Vec<RecordedMove>,
}

/// One line of a record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordedMove {
    /// The seat, from 1.
    pub seat: u8,
    /// The answer as JSON; `None` if the seat was removed from the game.
    pub answer: Option<String>,
    /// The move in words. Readers ignore it.
    pub comment: String,
}

/// Why a text is not a record, or a record cannot be replayed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct BadRecord {
    /// The line, from 1; 0 if the record as a whole is wrong.
    pub line: usize,
    /// The mistake.
    pub what: String,
}

fn bad(line: usize, what: impl Into<String>) -> BadRecord {
    BadRecord { line, what: what.into() }
}

/// The records of all finished games of a match, from its log. `secrets` are those of the match.
///
/// The error says which event does not fit. A game that is still running has no record.
pub fn records(
    lines: &[Line],
    games: &Registry,
    secrets: &Secrets,
) -> Result<Vec<GameRecord>, String> {
    let mut replay =
        MatchReplay::new(lines, games, secrets.clone()).map_err(|error| error.to_string())?;
    let plan = replay.plan().clone();
    let (mut records, mut open) = (Vec::new(), None::<GameRecord>);
    while let Some(step) = replay.step() {
        let step = match step {
            Ok(step) => step,
            Err(misfit) if matches!(misfit.error, agon_core::ApplyError::NoSecret(_)) => break,
            Err(misfit) => return Err(misfit.to_string()),
        };
        match &step.line.event {
            Event::GameStarted(started) => {
                let Some(record) = begin(&plan, started, step.line.at, secrets) else { break };
                open = Some(record);
            }
            Event::AnswerAccepted(accepted) => {
                let before = step.before.referee().map(|referee| referee.game());
                let after = step.after.referee().map(|referee| referee.game());
                let told = match (before, after) {
                    (Some(before), Some(after)) => {
                        after.tell(before, accepted.seat, accepted.answer.get())
                    }
                    _ => String::new(),
                };
                if let Some(record) = &mut open {
                    record.moves.push(RecordedMove {
                        seat: accepted.seat.0 + 1,
                        answer: Some(accepted.answer.get().to_owned()),
                        comment: one_line(&told),
                    });
                }
            }
            Event::SeatRemoved(removed) => {
                if let Some(record) = &mut open {
                    let (seat, comment) = (removed.seat.0 + 1, String::new());
                    record.moves.push(RecordedMove { seat, answer: None, comment });
                }
            }
            Event::GameEnded(ended) => {
                if let Some(mut record) = open.take() {
                    record.add_result(&ended.result);
                    records.push(record);
                }
            }
            _ => {}
        }
    }
    Ok(records)
}

/// The record of a game that starts; `None` without its secret.
fn begin(
    plan: &MatchPlan,
    started: &GameStarted,
    at: Timestamp,
    secrets: &Secrets,
) -> Option<GameRecord> {
    let luck = started.duplicate_of.unwrap_or(started.game);
    let secret = secrets.of_game(luck)?;
    let seed = secret.game_seed(&plan.tournament, &plan.id, luck, &started.nonces);
    let mut record = GameRecord { tags: Vec::new(), moves: Vec::new() };
    record.tag("Tournament", plan.tournament.to_string());
    record.tag("Match", plan.id.to_string());
    record.tag("Round", plan.round.to_string());
    record.tag("Number", started.game.to_string());
    record.tag("Time", at.to_string());
    record.tag("Game", plan.game.clone());
    record.tag("Config", started.config.as_ref().unwrap_or(&plan.config).get().into());
    for (player, seat) in started.seats.iter().zip(1..) {
        record.tag(&format!("Player{seat}"), player.to_string());
    }
    if let Some(first) = started.duplicate_of {
        record.tag("DuplicateOf", first.to_string());
    }
    let hex = seed.bytes().iter().map(|byte| format!("{byte:02x}"));
    record.tag("Seed", hex.collect());
    Some(record)
}

/// Reads records one after the other.
pub fn read(text: &str) -> Result<Vec<GameRecord>, BadRecord> {
    let mut records: Vec<GameRecord> = Vec::new();
    let mut in_tags = false;
    for (line, number) in text.lines().zip(1..) {
        if line.trim().is_empty() || line.starts_with('%') {
            continue;
        }
        if line.starts_with('[') {
            if !in_tags {
                records.push(GameRecord { tags: Vec::new(), moves: Vec::new() });
            }
            in_tags = true;
            let record = records.last_mut().expect("a record was begun");
            record.tags.push(read_tag(line).map_err(|what| bad(number, what))?);
        } else {
            in_tags = false;
            let record = records.last_mut().ok_or_else(|| bad(number, "a move before any tag"))?;
            let due = record.moves.len() + 1;
            record.moves.push(read_move(line, due).map_err(|what| bad(number, what))?);
        }
    }
    Ok(records)
}

/// Reads `[Name "value"]`. The value is a JSON string.
fn read_tag(line: &str) -> Result<(String, String), String> {
    let inside = line.trim_end().strip_prefix('[').and_then(|line| line.strip_suffix(']'));
    let inside = inside.ok_or("a tag has the form [Name \"value\"]")?;
    let (name, value) = inside.split_once(' ').ok_or("a tag has the form [Name \"value\"]")?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let value: String =
        serde_json::from_str(value).map_err(|error| format!("the value of {name:?}: {error}"))?;
    match is_name {
        true => Ok((name.to_owned(), value)),
        false => Err(format!("{name:?} is not the name of a tag")),
    }
}

/// Reads `12. 2 {"keep":[1]} ; a comment`, or `12. 2 removed`.
fn read_move(line: &str, due: usize) -> Result<RecordedMove, String> {
    let wrong = || format!("move {due} has the form \"{due}. SEAT ANSWER\"");
    let rest = line.strip_prefix(&format!("{due}. ")).ok_or_else(wrong)?;
    let (seat, rest) = rest.split_once(' ').ok_or_else(wrong)?;
    let seat: u8 = seat.parse().ok().filter(|seat| *seat > 0).ok_or_else(wrong)?;
    if let Some(after) = rest.strip_prefix("removed") {
        let comment = comment(after)?;
        return Ok(RecordedMove { seat, answer: None, comment });
    }
    let mut values =
        serde_json::Deserializer::from_str(rest).into_iter::<&serde_json::value::RawValue>();
    let answer = values.next().ok_or_else(wrong)?;
    let answer = answer.map_err(|error| format!("the answer is not JSON: {error}"))?.get();
    let comment = comment(&rest[values.byte_offset()..])?;
    Ok(RecordedMove { seat, answer: Some(answer.to_owned()), comment })
}

fn comment(rest: &str) -> Result<String, String> {
    match rest.trim() {
        "" => Ok(String::new()),
        text => match text.strip_prefix(';') {
            Some(comment) => Ok(comment.trim().to_owned()),
            None => Err(format!("a comment begins with a semicolon, not {text:?}")),
        },
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl GameRecord {
    fn tag(&mut self, name: &str, value: String) {
        self.tags.push((name.to_owned(), value));
    }

    fn add_result(&mut self, result: &GameResult) {
        let end = match &result.end {
            GameEnd::Played => "played".to_owned(),
            GameEnd::Forfeited { by } => format!("forfeited by {by}"),
            GameEnd::Void => "void".to_owned(),
        };
        let scores: Vec<String> = result.scores.iter().map(i64::to_string).collect();
        let winners: Vec<&str> = result.winners.iter().map(PlayerName::as_str).collect();
        self.tag("End", end);
        self.tag("Scores", scores.join(" "));
        self.tag("Winners", winners.join(" "));
    }

    /// The value of a tag.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.tags.iter().find(|(tag, _)| tag == name).map(|(_, value)| value.as_str())
    }

    /// The players by seat.
    pub fn players(&self) -> Vec<&str> {
        (1..).map_while(|seat: u32| self.get(&format!("Player{seat}"))).collect()
    }

    /// Plays the game again, from its seed and its moves. The error says which move the rules
    /// reject, or which score differs.
    pub fn replay(&self, games: &Registry) -> Result<Box<dyn GameState>, BadRecord> {
        let get =
            |name: &str| self.get(name).ok_or_else(|| bad(0, format!("the tag {name} is missing")));
        let name = get("Game")?;
        let kind = games.kind(name).ok_or_else(|| bad(0, format!("there is no game {name:?}")))?;
        let seed =
            read_seed(get("Seed")?).ok_or_else(|| bad(0, "Seed is not 64 hexadecimal digits"))?;
        let players = self.players();
        let mut game = kind
            .set_up(get("Config")?, players.len(), &seed)
            .map_err(|error| bad(0, error.to_string()))?;
        for (one, number) in self.moves.iter().zip(1..) {
            let seat = Seat(one.seat - 1);
            if seat.index() >= players.len() {
                return Err(bad(0, format!("move {number}: there is no seat {}", one.seat)));
            }
            match &one.answer {
                Some(answer) => {
                    let applied = game.apply(seat, answer);
                    applied.map_err(|refusal| bad(0, format!("move {number}: {refusal}")))?;
                }
                None => game.remove(seat),
            }
        }
        let scores = game
            .outcome()
            .map(|outcome| outcome.scores.iter().map(i64::to_string).collect::<Vec<_>>().join(" "));
        match (get("End")?, scores) {
            ("played", Some(scores)) if scores != get("Scores")? => {
                Err(bad(0, format!("the scores are {scores}")))
            }
            ("played", None) => Err(bad(0, "the game is not over")),
            _ => Ok(game),
        }
    }
}

fn read_seed(hex: &str) -> Option<Seed> {
    let digits = hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    let byte = |at: usize| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).ok();
    let bytes: Option<Vec<u8>> = (0..32).filter(|_| digits).map(byte).collect();
    Some(Seed::from_bytes(bytes?.try_into().ok()?))
}

impl fmt::Display for GameRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.tags {
            writeln!(f, "[{name} {}]", agon_games::json(value).get())?;
        }
        writeln!(f)?;
        for (one, number) in self.moves.iter().zip(1..) {
            let answer = one.answer.as_deref().unwrap_or("removed");
            write!(f, "{number}. {} {answer}", one.seat)?;
            match one.comment.as_str() {
                "" => writeln!(f)?,
                comment => writeln!(f, " ; {comment}")?,
            }
        }
        writeln!(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_bots::Houses;
    use agon_core::{Match, MatchCommand, MatchPlan, Preset, Raw, Secret, record_lines};
    use proptest::prelude::*;

    /// A duplicate match between random house players, and its records.
    fn played(preset: &str, count: usize, seed: u64) -> Vec<GameRecord> {
        let games = Registry::standard();
        let preset = Preset::named(preset).unwrap();
        let kind = games.kind(preset.game).unwrap().clone();
        let players: Vec<PlayerName> =
            (1..=count).map(|at| PlayerName::new(&format!("p{at}")).unwrap()).collect();
        let mut rules = preset.policy.rules.clone();
        rules.duplicate = true;
        let plan = MatchPlan {
            tournament: "t".into(),
            id: "r1m1".into(),
            round: 1,
            players: players.clone(),
            reason: "a test".into(),
            game: preset.game.into(),
            config: Raw(kind.check_config(preset.config).unwrap()),
            rules,
        };
        let secrets = Secrets::Known(Secret::from_seed_number(seed).of_match(&plan.id));
        let (mut live, created) =
            Match::create(plan, kind, secrets.clone(), Timestamp::from_ms(1)).unwrap();
        let mut events = vec![created];
        for player in &players {
            let player = player.clone();
            events.extend(
                live.step(Timestamp::from_ms(1), MatchCommand::Arrive { player, nonce: None })
                    .unwrap(),
            );
        }
        let mut bot = Houses::standard().make(preset.game, "random").unwrap();
        while let Some(pending) = live.pending().into_iter().next() {
            let answer = match live.referee() {
                Some(referee) => {
                    let seat = referee.seat_of(&pending.player).unwrap();
                    let key = format!("{seed} {}", pending.id);
                    bot.answer(pending.player.as_str(), &key, seat, referee.game()).to_string()
                }
                None => "\"ok\"".into(),
            };
            let (player, request) = (pending.player, pending.id);
            let took_ms = Some(0);
            events.extend(
                live.step(
                    Timestamp::from_ms(1),
                    MatchCommand::Answer { player, request, answer, took_ms },
                )
                .unwrap(),
            );
        }
        let lines: Vec<Line> = record_lines("match/t/r1m1", 0, Timestamp::from_ms(1), &events)
            .iter()
            .map(|line| Line::read(line).unwrap())
            .collect();
        records(&lines, &games, &secrets).unwrap()
    }

    #[test]
    fn records_of_every_game_replay_to_the_same_scores() {
        let games = Registry::standard();
        for (preset, count) in [("yahtzee-class", 2), ("fish", 3), ("trains", 3)] {
            let records = played(preset, count, 5);
            assert!(records.len() >= count, "{preset}");
            let text: String = records.iter().map(GameRecord::to_string).collect();
            let again = read(&text).unwrap();
            assert_eq!(again, records, "{preset}");
            for record in again {
                record.replay(&games).unwrap_or_else(|wrong| panic!("{preset}: {wrong}"));
            }
        }
    }

    #[test]
    fn replay_finds_a_changed_score_and_a_changed_move() {
        let games = Registry::standard();
        let record = played("fish", 2, 3).remove(0);
        let mut forged = record.clone();
        let scores = forged.tags.iter_mut().find(|(name, _)| name == "Scores").unwrap();
        scores.1 = "99 0".into();
        assert!(forged.replay(&games).unwrap_err().what.starts_with("the scores are"));
        let mut forged = record.clone();
        forged.moves.remove(3);
        assert!(forged.replay(&games).is_err());
        let mut forged = record;
        forged.tags.retain(|(name, _)| name != "Seed");
        assert_eq!(forged.replay(&games).unwrap_err().what, "the tag Seed is missing");
    }

    #[test]
    fn reader_says_which_line_is_wrong() {
        let cases = [
            ("1. 1 true", 1, "a move before any tag"),
            ("[Game fish]", 1, "the value of \"Game\""),
            ("[Ga-me \"fish\"]", 1, "is not the name of a tag"),
            ("[Game \"fish\"]\n\n2. 1 true", 3, "move 1 has the form"),
            ("[Game \"fish\"]\n1. 0 true", 2, "move 1 has the form"),
            ("[Game \"fish\"]\n1. 1 {", 2, "the answer is not JSON"),
            ("[Game \"fish\"]\n1. 1 true x", 2, "a comment begins with a semicolon"),
        ];
        for (text, line, what) in cases {
            let wrong = read(text).unwrap_err();
            assert!(wrong.line == line && wrong.what.contains(what), "{text}: {wrong}");
        }
    }

    prop_compose! {
        fn any_record()(
            tags in prop::collection::vec(("[A-Za-z][A-Za-z0-9]{0,9}", ".*"), 1..6),
            moves in prop::collection::vec(
                (1..=8u8, prop::option::of("[a-z ;\"\\\\]*"), "[!-:<-~][ -~]{0,20}"), 0..6),
        ) -> GameRecord {
            let moves = moves.into_iter().map(|(seat, answer, comment)| RecordedMove {
                seat,
                answer: answer.map(|text| agon_games::json(&text).get().to_owned()),
                comment: one_line(&comment),
            });
            GameRecord { tags, moves: moves.collect() }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn written_record_is_read_again(record in any_record()) {
            // Two records without moves in a row would be one: tags separate records.
            let text = record.to_string();
            prop_assert_eq!(read(&text).unwrap(), vec![record]);
        }

        #[test]
        fn reader_never_panics(text in ".*") {
            let _ = read(&text);
            let _ = read(&format!("[Game \"fish\"]\n{text}"));
        }
    }
}
