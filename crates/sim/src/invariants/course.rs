//! The contents of a tournament's stream, as plain lists: rounds, results of matches, and rulings.
//! Read without the tournament's own code.

use crate::disk::Entry;
use agon_core::{Bye, Event, Format, How, MatchId, MatchResult, PlayerName, RoundStage};
use std::collections::{BTreeMap, BTreeSet};

/// A match that was paired.
#[derive(Clone)]
pub(super) struct Played {
    id: MatchId,
    pub(super) players: Vec<PlayerName>,
    /// Why they meet.
    pub(super) reason: String,
    now: Standing,
    /// Its state before the ruling of this pause.
    before: Option<Standing>,
    /// True if an operator ever ruled about it.
    pub(super) ruled: bool,
}

/// The result of a match, and the winners according to an operator.
#[derive(Clone, Default)]
struct Standing {
    reported: Option<MatchResult>,
    overridden: Option<Vec<PlayerName>>,
}

impl Played {
    /// The result that counts.
    pub(super) fn result(&self) -> Option<MatchResult> {
        let mut result = self.now.reported.clone()?;
        if let Some(winners) = &self.now.overridden {
            result.out.retain(|player| !winners.contains(player));
            result.how = if winners.is_empty() { How::Void } else { How::Overridden };
            result.winners.clone_from(winners);
        }
        Some(result)
    }

    fn rule(&mut self, change: impl FnOnce(&mut Standing)) {
        self.ruled = true;
        self.before = Some(self.now.clone());
        change(&mut self.now);
    }
}

/// A whole tournament, or one stage of it.
#[derive(Clone)]
pub(super) struct Course {
    pub(super) format: Format,
    pub(super) players: Vec<PlayerName>,
    /// By round: the players with a bye, and the matches.
    pub(super) rounds: Vec<(Vec<PlayerName>, Vec<Played>)>,
    /// By round: the byes with their walkovers.
    pub(super) byes: Vec<Vec<Bye>>,
    /// By round: the stage it belongs to.
    stages: Vec<Option<RoundStage>>,
    /// The ratings that the organiser gave.
    pub(super) ratings: BTreeMap<PlayerName, i64>,
    /// Players who were dropped before the last round was over.
    dropped: BTreeSet<PlayerName>,
    /// Players who failed at the farewell: they lose their win, and nobody gets it.
    pub(super) failed: BTreeSet<PlayerName>,
    rounds_ended: bool,
    pub(super) winners: Option<Vec<PlayerName>>,
    /// True if an operator decided the winners, who are then in `awarded_to`.
    pub(super) awarded: bool,
    pub(super) awarded_to: Vec<PlayerName>,
}

impl Course {
    /// Returns whether a player was out before the last round was over.
    pub(super) fn is_out(&self, player: &PlayerName) -> bool {
        let mut results = self.matches().filter_map(Played::result);
        self.dropped.contains(player) || results.any(|result| result.out.contains(player))
    }

    /// Players who won because the opponent was out of the tournament, once for each time.
    pub(super) fn walkovers(&self) -> impl Iterator<Item = &PlayerName> {
        let walkovers = self.byes.iter().flatten().filter(|bye| bye.walkover.is_some());
        walkovers.filter_map(|bye| bye.player.as_ref())
    }

    /// The latest stage that has begun: its number, and a tournament of only its rounds. `None`
    /// if the tournament has no stages.
    pub(super) fn latest_stage(&self) -> Option<(usize, Course)> {
        let Format::Stages(stages) = &self.format else { return None };
        let number = self.stages.iter().flatten().map(|stage| stage.number).max()?;
        let is_own =
            |stage: &Option<RoundStage>| stage.as_ref().is_some_and(|stage| stage.number == number);
        let from = self.stages.iter().position(is_own)?;
        let mut part = self.clone();
        part.format = stages.stages.get(number as usize - 1)?.format.clone();
        part.players = self.stages[from].as_ref()?.players.clone();
        part.rounds.drain(..from);
        part.byes.drain(..from);
        part.stages.drain(..from);
        Some((number as usize, part))
    }

    pub(super) fn matches(&self) -> impl Iterator<Item = &Played> {
        self.rounds.iter().flat_map(|(_, matches)| matches)
    }

    /// Returns whether an operator ever ruled about a match.
    pub(super) fn is_ruled(&self, id: &str) -> bool {
        self.matches().any(|played| played.id.as_str() == id && played.ruled)
    }

    fn find(&mut self, id: &MatchId) -> Option<&mut Played> {
        self.rounds.last_mut()?.1.iter_mut().find(|played| played.id == *id)
    }

    fn apply(&mut self, event: &Event) -> Option<()> {
        match event {
            Event::RoundPaired(paired) => {
                self.byes.push(paired.byes.clone());
                self.stages.push(paired.stage.clone());
                let byes = paired.byes.iter().filter_map(|bye| bye.player.clone());
                let matches = paired.matches.iter().map(|plan| Played {
                    id: plan.id.clone(),
                    players: plan.players.clone(),
                    reason: plan.reason.clone(),
                    now: Standing::default(),
                    before: None,
                    ruled: false,
                });
                self.rounds.push((byes.collect(), matches.collect()));
            }
            Event::MatchReported(reported) => {
                self.find(&reported.id)?.now.reported = Some(reported.result.clone());
            }
            Event::ResultOverridden(ruled) => {
                let winners = ruled.result.winners.clone();
                self.find(&ruled.id)?.rule(|now| now.overridden = Some(winners));
            }
            Event::ReplayOrdered(ruled) => {
                self.find(&ruled.id)?.rule(|now| *now = Standing::default());
            }
            Event::RulingUndone(undone) => {
                let played = self.find(&undone.id)?;
                let (before, now) = (played.before.take()?, &mut played.now);
                // A match that ended after the ruling keeps its result.
                now.reported = before.reported.or(now.reported.take());
                now.overridden = before.overridden;
            }
            Event::TournamentResumed(_) => {
                let all = self.rounds.iter_mut().flat_map(|(_, matches)| matches);
                all.for_each(|played| played.before = None);
            }
            Event::PlayerEntered(entered) => self.players.push(entered.player.clone()),
            Event::PlayerDropped(dropped) => {
                let player = dropped.faulted.player.clone();
                match self.rounds_ended {
                    true => self.failed.insert(player),
                    false => self.dropped.insert(player),
                };
            }
            Event::TournamentAwarded(awarded) => {
                // The award cancels its open matches.
                self.awarded = true;
                let latest = self.rounds.last_mut().into_iter().flat_map(|(_, matches)| matches);
                let open = latest.filter(|played| played.now.reported.is_none());
                open.for_each(|played| played.ruled = true);
                self.awarded_to.clone_from(&awarded.result.winners);
            }
            Event::RoundsEnded(_) => self.rounds_ended = true,
            Event::TournamentEnded(ended) => self.winners = Some(ended.winners.clone()),
            _ => {}
        }
        Some(())
    }
}

/// Reads the events of a tournament; `None` if they are inconsistent.
pub(super) fn read(entries: &[Entry]) -> Option<Course> {
    let Event::TournamentCreated(created) = &entries.first()?.line.event else { return None };
    let mut course = Course {
        format: created.plan.policy.format.clone(),
        players: created.plan.players.clone(),
        rounds: Vec::new(),
        byes: Vec::new(),
        stages: Vec::new(),
        ratings: created.plan.policy.ratings.clone(),
        dropped: BTreeSet::new(),
        failed: BTreeSet::new(),
        rounds_ended: false,
        winners: None,
        awarded: false,
        awarded_to: Vec::new(),
    };
    entries.iter().try_for_each(|entry| course.apply(&entry.line.event))?;
    Some(course)
}
