//! The meaning of a log: everything its readers learn from it, and nothing else.
//!
//! These are all events in their order, except for the following. Each of them came from outside,
//! and no later event repeats it. A log with another value, or without it, is the log of another
//! history in which everything else went the same way. Only a signature could tell.
//!
//! 1. When things happened, and how long answers took.
//! 2. An answer, where another legal one would have led to the same luck and results; and the last
//!    answers in a game that was then broken off, which had no effect.
//! 3. When, among the actions of others, a player or a match did something that had no effect of
//!    its own.
//! 4. The author of a ruling and the reason, and rulings without effect: a pause, a void that was
//!    undone, a result that would have been the same.
//! 5. Why a player was dropped before or after the rounds, unless by an answer that the log holds.
//! 6. Proposals that were not chosen, and a nonce that no game used.
//! 7. All that the lobby records about accounts, except for what policies blacklist; who announced
//!    a tournament, and as whose choice; that the draw of its players was committed to.
//! 8. That a log ends where it does. Without its end it is the log of an earlier time, and games
//!    that still run can be checked only once their secrets are revealed. A stream whose end the
//!    lobby recorded has an end, or nothing is left of it at all, as after a repair.

use super::played::Streams;
use super::{Checked, Whole};
use agon_core::{Event, GameEnd, Line};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Checks that a forged log that verifies still means the same as the original log.
pub(super) fn compare(whole: &Whole, forged: &Streams, checked: &Checked) -> Result<(), String> {
    for (name, lines) in &whole.streams {
        let running = running(name, checked);
        let Some(found) = forged.get(name) else {
            match running {
                true => continue,
                false => return Err(format!("{name} is gone")),
            }
        };
        if found == lines {
            continue;
        }
        // Verification checks nothing of a game that still runs.
        let known = checked.matches.get(name).map(|check| check.events as usize);
        let known = known.or_else(|| Some(tournament(name, checked)?.events as usize));
        let found = &found[..known.unwrap_or(found.len()).min(found.len())];
        let (meant, means) = (Facts::of(lines), Facts::of(found));
        means.follow_from(&meant, running).map_err(|what| format!("{name} {what}"))?;
    }
    match forged.keys().find(|name| !whole.streams.contains_key(*name)) {
        Some(name) => Err(format!("{name} is new")),
        None => Ok(()),
    }
}

/// Returns whether a stream may end early: its tournament still runs. The lobby always may, because
/// it is notified last.
fn running(name: &str, checked: &Checked) -> bool {
    let Some(id) = name.split('/').nth(1) else { return true };
    let over = checked.tournaments.get(id).is_some_and(|check| check.secret.is_some());
    !over
}

fn tournament<'a>(
    name: &str,
    checked: &'a Checked,
) -> Option<&'a agon_core::verify::TournamentCheck> {
    checked.tournaments.get(name.strip_prefix("tournament/")?)
}

/// The contents of a stream.
#[derive(Debug, Default)]
struct Facts {
    /// The records with consequences, in order.
    long: Vec<Vec<Value>>,
    /// All records by their origin, in order; of the long ones only their place.
    of: BTreeMap<String, Vec<Value>>,
    /// The games that were broken off.
    broken: BTreeSet<u64>,
}

impl Facts {
    fn of(lines: &[String]) -> Facts {
        let lines: Vec<Line> = lines.iter().filter_map(|line| Line::read(line).ok()).collect();
        let (mut facts, mut rest) = (Facts::default(), &lines[..]);
        while let Some(first) = rest.first() {
            let (record, tail) = rest.split_at((first.more as usize + 1).min(rest.len()));
            rest = tail;
            // The checked events end within this record.
            if record.len() <= first.more as usize {
                break;
            }
            let said: Vec<Value> =
                record.iter().filter_map(|line| told(&line.event, &lines)).collect();
            let own = facts.of.entry(owner(&first.event)).or_default();
            if record.len() == 1 && !changes_all(&first.event) {
                own.extend(said);
                continue;
            }
            own.push(json!({"record": facts.long.len()}));
            facts.long.push(said);
            facts.broken.extend(record.iter().filter_map(|line| match &line.event {
                Event::GameEnded(ended) if ended.result.end != GameEnd::Played => {
                    Some(u64::from(ended.result.game))
                }
                _ => None,
            }));
        }
        facts
    }

    /// Checks that this stream says the same as `meant`; with `may_end`, up to its own end.
    fn follow_from(&self, meant: &Facts, may_end: bool) -> Result<(), String> {
        let (said, before) = (&self.long, &meant.long);
        if said != before && !(may_end && before.starts_with(said)) {
            let differs = said.iter().zip(before).find(|(said, before)| said != before);
            return Err(format!("says {differs:?}, of {} and {}", said.len(), before.len()));
        }
        for owner in self.of.keys().chain(meant.of.keys()) {
            let said = self.of.get(owner).map_or(&[][..], Vec::as_slice);
            let before = meant.of.get(owner).map_or(&[][..], Vec::as_slice);
            // Answers in a game that was broken off had no effect, and may be missing.
            let lost = |fact: &&Value| meant.led_to_nothing(fact) && !said.contains(fact);
            let kept: Vec<&Value> = before.iter().filter(|fact| !lost(fact)).collect();
            let same = kept.iter().copied().eq(said);
            let cut_short = may_end && before.starts_with(said);
            if !same && !cut_short {
                return Err(format!("says of {owner} {said:?}, not {before:?}"));
            }
        }
        Ok(())
    }

    /// Returns whether this is an answer in a game that was broken off.
    fn led_to_nothing(&self, fact: &Value) -> bool {
        let game = |request: &str| request.split('.').nth(1)?.parse::<u64>().ok();
        let request = fact["data"]["request"].as_str();
        fact["type"] == "answer-accepted"
            && request.and_then(game).is_some_and(|game| self.broken.contains(&game))
    }
}

/// Returns whether an event that stands alone in its record changes what others may do after it.
fn changes_all(event: &Event) -> bool {
    matches!(event, Event::TournamentFinished(_) | Event::TournamentCreated(_))
}

/// The facts of an event; `None` if it states only what cannot be known.
fn told(event: &Event, lines: &[Line]) -> Option<Value> {
    let mut data = Vec::new();
    event.write(&mut data);
    let mut data: Value = serde_json::from_slice(&data).expect("events are JSON");
    let mut forget = |key: &str| drop(data.as_object_mut().expect("an object").remove(key));
    match event {
        Event::AnswerAccepted(_) => {
            forget("took_ms");
            forget("answer");
        }
        Event::PlayerDropped(dropped) => {
            let by_answer = dropped.faulted.fault.answer.is_some();
            if !by_answer || !follows_from_answer(&dropped.faulted) {
                data["faulted"].as_object_mut().expect("an object").remove("fault");
            }
        }
        Event::PlayerArrived(_) => {
            // The start of a game repeats the part that the game uses.
            forget("nonce");
        }
        Event::PlayerGreeted(greeted) => {
            let chosen = lines.iter().any(|line| match &line.event {
                Event::ConfigChosen(chosen) => chosen.by == greeted.player,
                _ => false,
            });
            if !chosen {
                forget("proposal");
            }
        }
        Event::TournamentAnnounced(_) => {
            // Older logs have no commitment to the draw, and count as unchecked.
            forget("commitment");
            // A log does not say whether a player was connected.
            forget("passed_over");
            let announcement = data["announcement"].as_object_mut().expect("an object");
            announcement.remove("by");
            announcement.remove("selection");
        }
        // A policy's blacklisting follows from a cheat. Logs of earlier versions do not name the
        // cheat.
        Event::AccountBlacklisted(listed) if listed.by.is_none() => forget("cause"),
        _ if rules(event) || is_of_account(event) => return None,
        _ => {}
    }
    Some(json!({"type": event.tag(), "data": data}))
}

/// Returns whether a fault was decided from an answer that the log holds.
fn follows_from_answer(faulted: &agon_core::Faulted) -> bool {
    use agon_core::FaultKind::{Cheat, Illegal};
    matches!(faulted.fault.kind, Cheat | Illegal)
}

/// Returns whether an event is a ruling. Its effect is recorded again where it takes effect.
fn rules(event: &Event) -> bool {
    let ends = [
        "-paused",
        "-resumed",
        "-undone",
        "-ordered",
        "-reopened",
        "-voided",
        "-interrupted",
        "-awarded",
    ];
    let tag = event.tag();
    ends.iter().any(|end| tag.ends_with(end))
        || matches!(event, Event::ResultOverridden(_) | Event::MatchCalledOff(_))
}

fn is_of_account(event: &Event) -> bool {
    let tag = event.tag();
    let kinds = ["account-", "token-", "password-", "player-located", "requester-"];
    kinds.iter().any(|kind| tag.starts_with(kind))
}

/// The origin of an event.
fn owner(event: &Event) -> String {
    let mut data = Vec::new();
    event.write(&mut data);
    let data: Value = serde_json::from_slice(&data).expect("events are JSON");
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match event {
        Event::AnswerAccepted(accepted) => format!("seat {}", accepted.seat),
        _ => text(&data["player"])
            .or_else(|| text(&data["faulted"]["player"]))
            .or_else(|| text(&data["id"]))
            .unwrap_or_else(|| event.tag().to_owned()),
    }
}
