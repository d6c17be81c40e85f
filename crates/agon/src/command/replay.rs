//! `agon replay`: a match as text, game by game and move by move.

use super::verify::read_lines;
use crate::args::{ColourArg, ReplayArgs};
use crate::exit::{Exit, Misuse, Unreadable};
use crate::show::{self, paint};
use agon_analysis::{AdjustedStandings, GameAnalysis, Models};
use agon_core::{
    ApplyError, Event, Faulted, GameEnd, GameResult, How, Line, Match, MatchReplay, MatchResult,
    Misfit, PlayerName, ReplayStep, Restart, Ruling, Secrets,
};
use agon_games::{GameState, Registry, Viewer};
use agon_runner::Folder;
use agon_store::{FileLog, Log, read_file};
use anyhow::Result;
use std::fmt::Write;
use std::io::IsTerminal;

pub(crate) fn replay(args: &ReplayArgs) -> Result<Exit> {
    let (lines, secret) = load(args)?;
    let secret = match (secret, lines.first().map(|line| &line.event)) {
        (Some(secret), Some(Event::MatchCreated(created))) => {
            Some(secret.of_match(&created.plan.id))
        }
        _ => None,
    };
    let secrets = Secrets::of_log(&lines, secret);
    let colour = match args.colour {
        ColourArg::Auto => show::colour(std::io::stdout().is_terminal()),
        ColourArg::Always => true,
        ColourArg::Never => false,
    };
    let analyses = if args.json { Vec::new() } else { analyses(&lines) };
    let mut teller = Teller { args, colour, out: String::new(), moves: 0, found: false, analyses };
    teller.all(&lines, secrets)?;
    if let (false, Some(game)) = (teller.found, args.game) {
        return Err(Misuse(format!("there is no game {game} in this match")).into());
    }
    super::print(&teller.out)?;
    Ok(Exit::Success)
}

/// The lines of the requested match, and the tournament's secret if the folder still has it.
fn load(args: &ReplayArgs) -> Result<(Vec<Line>, Option<agon_core::Secret>)> {
    if !args.path.is_dir() {
        return Ok((read_lines(&read_file(&args.path)?.lines)?, None));
    }
    let log = FileLog::open_read_only(&args.path)?;
    let streams = log.streams()?;
    let matches = streams.iter().map(|(name, _)| name).filter(|name| name.starts_with("match/"));
    let id_of = |name: &String| name.rsplit('/').next().unwrap_or_default().to_owned();
    let name = match &args.match_id {
        Some(id) => {
            let ids: Vec<String> = matches.clone().map(id_of).collect();
            let known = ids.join(", ");
            let why = format!("there is no match {id:?} in this folder; there are: {known}");
            matches.clone().find(|name| id_of(name) == *id).ok_or(Misuse(why))?
        }
        None => matches
            .max_by_key(|name| place(&id_of(name)))
            .ok_or_else(|| Unreadable(format!("{} holds no match", args.path.display())))?,
    };
    let secret = Folder::new(&args.path).secret()?;
    Ok((read_lines(&log.load(name, 0)?)?, secret))
}

/// Round and number of a match id.
pub(super) fn place(id: &str) -> (u32, u32) {
    let numbers = id.trim_start_matches('r').split_once('m');
    let number = |text: &str| text.parse().unwrap_or(0);
    numbers.map_or((0, 0), |(round, at)| (number(round), number(at)))
}

struct Teller<'a> {
    args: &'a ReplayArgs,
    colour: bool,
    out: String,
    moves: u32,
    found: bool,
    /// The finished games whose luck can be measured.
    analyses: Vec<GameAnalysis>,
}

impl Teller<'_> {
    fn all(&mut self, lines: &[Line], secrets: Secrets) -> Result<()> {
        let games = Registry::standard();
        let mut replay = MatchReplay::new(lines, &games, secrets)?;
        let plan = replay.plan().clone();
        if !self.args.json {
            let names: Vec<&str> = plan.players.iter().map(PlayerName::as_str).collect();
            let head = format!("{} of {}: {}", plan.id, plan.tournament, names.join(" – "));
            let _ = writeln!(self.out, "{}\n{}\n", paint(&head, "1", self.colour), plan.reason);
        }
        while let Some(step) = replay.step() {
            match step {
                Ok(step) if self.args.json => self.event_json(step.line, step.after),
                Ok(ReplayStep { line, before, after }) => {
                    self.event(line, after, before.referee().map(|referee| referee.game()));
                }
                Err(Misfit { error: ApplyError::NoSecret(game), .. }) => {
                    let _ = writeln!(
                        self.out,
                        "Game {game} is still running; its dice and cards are secret."
                    );
                    return Ok(());
                }
                Err(misfit) => {
                    let stream = &lines[0].stream;
                    let why = format!("{stream}, {misfit}; `agon verify` checks the whole log");
                    return Err(Unreadable(why).into());
                }
            }
        }
        Ok(())
    }

    fn wanted(&mut self, game: u32) -> bool {
        let wanted = self.args.game.is_none_or(|only| only == game);
        self.found |= wanted;
        wanted
    }

    fn event_json(&mut self, line: &Line, played: &Match) {
        let game = played.referee().map(|referee| referee.number());
        if game.is_some_and(|game| !self.wanted(game)) {
            return;
        }
        let over = played.referee().is_none();
        let view = match over {
            true => played.finished().last().map(|(_, game)| game.view(Viewer::Full)),
            false => played.referee().map(|referee| referee.game().view(Viewer::Full)),
        };
        let event: serde_json::Value = serde_json::from_str(&line.write()).expect("lines are JSON");
        let text = serde_json::json!({"event": event, "view": view});
        let _ = writeln!(self.out, "{text}");
    }

    fn event(&mut self, line: &Line, played: &Match, before: Option<&dyn GameState>) {
        let game = played.referee().map(|referee| referee.number());
        if game.is_some_and(|game| !self.wanted(game)) {
            return;
        }
        match &line.event {
            Event::GameStarted(started) => {
                self.moves = 0;
                let title = format!("Game {}", started.game);
                let _ = writeln!(self.out, "{}", paint(&title, "1;4", self.colour));
                if let (Some(referee), false) = (played.referee(), self.args.last) {
                    let drawn = referee.game().render(&names(referee.seats()), self.colour);
                    let _ = writeln!(self.out, "{drawn}");
                }
            }
            Event::AnswerAccepted(accepted) => {
                let (Some(before), false) = (before, self.args.last) else { return };
                if before.only_tells(accepted.seat) {
                    return;
                }
                let after = played.referee().map(|referee| referee.game());
                let last = played.finished().last();
                let after = after.or(last.map(|(_, game)| game));
                let seats = played.referee().map(|r| r.seats());
                let seats = seats.or(last.map(|(result, _)| &result.seats[..])).unwrap_or(&[]);
                let (Some(after), Some(player)) = (after, seats.get(accepted.seat.index())) else {
                    return;
                };
                let text = after.tell(before, accepted.seat, accepted.answer.get());
                let _ = writeln!(self.out, "  {player} {text}");
                self.moves += 1;
                let every = self.args.every.unwrap_or(8 * seats.len() as u32);
                if every > 0 && self.moves.is_multiple_of(every) && played.referee().is_some() {
                    let _ = writeln!(self.out, "\n{}", after.render(&names(seats), self.colour));
                }
            }
            Event::SeatRemoved(removed) => {
                if let Some(player) =
                    played.referee().and_then(|r| r.seats().get(removed.seat.index()))
                {
                    let _ = writeln!(self.out, "  {player} is out of the game");
                }
            }
            // Arrivals before a game are not worth a line.
            Event::PlayerArrived(arrived) if before.is_some() => {
                let _ = writeln!(self.out, "  {} is back", arrived.player);
            }
            Event::PlayerFaulted(faulted) => self.fault(&faulted.faulted, ""),
            Event::PlayerLeft(left) => self.fault(&left.faulted, " leaves"),
            Event::WaitExpired(expired) => self.fault(&expired.faulted, ""),
            Event::GameEnded(ended) => self.game_over(&ended.result, played),
            Event::MatchRestarted(restarted) => {
                let why = match restarted.why {
                    Restart::Undecidable => "too many ties in a row",
                    Restart::AllGone => "everybody was gone between two games",
                };
                let _ = writeln!(self.out, "The match starts again: {why}.\n");
            }
            Event::MatchPaused(paused) => self.ruling("The match is paused", &paused.ruling),
            Event::MatchResumed(resumed) => self.ruling("The match goes on", &resumed.ruling),
            Event::GameVoided(voided) => {
                self.ruling(&format!("Game {} is voided", voided.game), &voided.ruling);
            }
            Event::VoidUndone(undone) => {
                self.ruling(&format!("Game {} counts again", undone.game), &undone.ruling);
            }
            Event::MatchCalledOff(off) => self.ruling("The match is called off", &off.ruling),
            Event::MatchReopened(reopened) => {
                self.ruling("The match is played again", &reopened.ruling);
            }
            Event::MatchEnded(ended) => {
                let text = match_over(&ended.result);
                let _ = writeln!(self.out, "{}", paint(&text, "1;32", self.colour));
                if self.analyses.len() > 1 && self.args.game.is_none() {
                    let standings = AdjustedStandings::of(&self.analyses);
                    let shown = show::adjusted_standings(&standings, self.colour);
                    let _ = write!(self.out, "\n{shown}");
                }
            }
            _ => {}
        }
    }

    fn fault(&mut self, faulted: &Faulted, verb: &str) {
        let text = format!("  {}{verb}: {}", faulted.player, faulted.fault);
        let _ = writeln!(self.out, "{}", paint(&text, "31", self.colour));
    }

    fn ruling(&mut self, what: &str, ruling: &Ruling) {
        let _ = writeln!(self.out, "{what}, by {}: {}\n", ruling.by, ruling.why);
    }

    fn game_over(&mut self, result: &GameResult, played: &Match) {
        if !self.wanted(result.game) {
            return;
        }
        if let Some((_, game)) = played.finished().last() {
            let _ = writeln!(self.out, "\n{}", game.render(&names(&result.seats), self.colour));
        }
        let text = match (&result.end, &result.winners[..]) {
            (GameEnd::Forfeited { by }, _) => format!("{by} forfeits game {}.", result.game),
            (GameEnd::Void, _) => format!("Game {} is void.", result.game),
            (GameEnd::Played, []) => format!("Nobody wins game {}.", result.game),
            (GameEnd::Played, winners) => {
                format!("Game {} goes to {}.", result.game, joined(winners))
            }
        };
        let _ = writeln!(self.out, "{}", paint(&text, "1", self.colour));
        if let Some(analysis) = self.analyses.iter().find(|own| own.game == result.game) {
            self.out.push_str(&show::luck_of_game(analysis));
        }
        self.out.push('\n');
    }
}

/// The analyses of all finished games, if the analysis of their game measures luck.
fn analyses(lines: &[Line]) -> Vec<GameAnalysis> {
    let models = Models::standard();
    let has_luck = match lines.first().map(|line| &line.event) {
        Some(Event::MatchCreated(created)) => models.has_luck(&created.plan.game),
        _ => false,
    };
    if !has_luck {
        return Vec::new();
    }
    super::solve::use_cache(None);
    // A log that cannot be replayed is reported where it is shown.
    let analysed = agon_analysis::analyse_match(lines, &Registry::standard(), &models);
    analysed.unwrap_or_default().into_iter().flatten().collect()
}

fn match_over(result: &MatchResult) -> String {
    let how = match result.how {
        How::Played => "",
        How::Forfeit => " by forfeit",
        How::NoShow => ", as the opponent did not show up",
        How::Void => ": it is void",
        How::Lot => " by lot",
        How::Overridden => ", as an operator decided",
    };
    match result.winners.is_empty() {
        true => format!("Nobody wins the match{how}."),
        false => format!("The match goes to {}{how}.", joined(&result.winners)),
    }
}

fn names(seats: &[PlayerName]) -> Vec<String> {
    seats.iter().map(PlayerName::to_string).collect()
}

fn joined(players: &[PlayerName]) -> String {
    players.iter().map(PlayerName::as_str).collect::<Vec<_>>().join(" and ")
}
