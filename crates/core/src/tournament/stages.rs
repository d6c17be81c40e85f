//! Stages: tournaments that feed each other, such as groups and then a bracket.
//!
//! The best players of a stage enter the next one, in the order of their rank, which is their seed
//! there. Results of a stage do not count in the next. The first round of a stage lists its players
//! in the log, so that later withdrawals do not change who entered.

use super::format::by_merit;
use super::{Field, Format, MatchCount, Merit, NextRound, PlayerRecord, Round, TournamentFormat};
use crate::ids::{Millis, PlayerName};
use crate::policy::{MatchRules, Pairing};
use crate::report::{RoundStage, TieBreakValue};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Tournaments that feed each other.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stages {
    /// The stages in order.
    pub stages: Vec<Stage>,
}

/// One of several stages.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// The format of this stage.
    pub format: Format,
    /// How many players of the stage before enter this one: by default two of each group, and eight
    /// after other formats. The first stage has everybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub players: Option<u32>,
}

/// The most stages of a tournament.
const STAGES_MAX: usize = 8;

impl TournamentFormat for Stages {
    fn for_seats(seats: RangeInclusive<usize>) -> Stages {
        let groups = Format::from(super::Groups::for_seats(seats.clone()));
        let bracket = Format::from(super::Bracket::for_seats(seats));
        let first = Stage { format: groups, players: None };
        let second = Stage { format: bracket, players: None };
        Stages { stages: vec![first, second] }
    }

    fn about(&self) -> &'static str {
        "Tournaments that feed each other, such as 'groups -> bracket'"
    }

    fn adapt(&self, rules: &mut MatchRules) {
        self.stages.iter().for_each(|stage| stage.format.rules().adapt(rules));
    }

    fn use_current_rules(&mut self, rules: &MatchRules) {
        self.stages.iter_mut().for_each(|stage| stage.format.use_current_rules(rules));
    }

    fn has_earlier_pairings(&self) -> bool {
        self.stages.iter().any(|stage| stage.format.rules().has_earlier_pairings())
    }

    fn measures_luck(&self) -> bool {
        self.stages.iter().any(|stage| stage.format.rules().measures_luck())
    }

    fn check(&self, rules: &MatchRules) -> Result<(), String> {
        if !(2..=STAGES_MAX).contains(&self.stages.len()) {
            let count = self.stages.len();
            return Err(format!("a tournament has 2 to {STAGES_MAX} stages, not {count}"));
        }
        for (stage, number) in self.stages.iter().zip(1..) {
            if matches!(stage.format, Format::Stages(_)) {
                return Err(format!("stage {number} has stages of its own; name them directly"));
            }
            if stage.format.rules().play_ms().is_some() {
                return Err(format!("stage {number} ends by time; only a whole tournament can"));
            }
            match (number, stage.players) {
                (1, Some(_)) => return Err("everybody plays in the first stage".into()),
                (_, Some(players)) if players < 2 => {
                    return Err(format!("stage {number} needs at least 2 players"));
                }
                _ => {}
            }
            let checked = stage.format.rules().check(rules);
            checked.map_err(|why| format!("stage {number}: {why}"))?;
        }
        Ok(())
    }

    fn players_min(&self) -> usize {
        self.stages.first().map_or(1, |stage| stage.format.rules().players_min())
    }

    fn check_players(&self, players: usize) -> Result<(), String> {
        for ((stage, count), number) in self.stages.iter().zip(self.counts(players)).zip(1..) {
            let checked = stage.format.rules().check_players(count);
            checked.map_err(|why| format!("stage {number}: {why}"))?;
        }
        Ok(())
    }

    fn game_sizes(&self, players: usize) -> RangeInclusive<usize> {
        let sizes = || self.stages.iter().map(|stage| stage.format.rules().game_sizes(players));
        let least = sizes().map(|sizes| *sizes.start()).min().unwrap_or(2);
        least..=sizes().map(|sizes| *sizes.end()).max().unwrap_or(2)
    }

    fn has_one_winner(&self) -> bool {
        self.stages.last().is_some_and(|stage| stage.format.rules().has_one_winner())
    }

    fn next_round(&self, order: &[PlayerName], field: &Field<'_>) -> NextRound {
        let begun = begun(field);
        let Some(latest) = begun.last() else {
            return self.begin(0, order.to_vec(), field, 0);
        };
        let at = latest.number - 1;
        let Some(stage) = self.stages.get(at) else { return NextRound::Winners(Vec::new()) };
        match stage.format.rules().next_round(latest.order, &latest.field(field)) {
            NextRound::Round(matches, byes) => {
                let (number, players) = (latest.number as u32, Vec::new());
                NextRound::StageRound(RoundStage { number, players }, matches, byes)
            }
            NextRound::Winners(winners) if at + 1 == self.stages.len() => {
                NextRound::Winners(winners)
            }
            NextRound::Winners(_) | NextRound::StageRound(..) => {
                let entrants = self.entrants(at, latest, field);
                self.begin(at + 1, entrants, field, field.rounds.len())
            }
        }
    }

    /// The latest stage of a player first, then the merit there.
    fn merits(&self, records: &[PlayerRecord], field: &Field<'_>) -> Vec<Merit> {
        let mut merits: Vec<Merit> = vec![vec![0]; records.len()];
        for begun in begun(field) {
            let Some(stage) = self.stages.get(begun.number - 1) else { continue };
            let (own_field, own) = (begun.field(field), begun.field(field).records());
            let own_merits = stage.format.rules().merits(&own, &own_field);
            for (record, merit) in own.iter().zip(own_merits) {
                let player = &record.summary.player;
                let at = records.iter().position(|one| one.summary.player == *player);
                if let Some(at) = at {
                    merits[at] = std::iter::once(begun.number as i64).chain(merit).collect();
                }
            }
        }
        merits
    }

    fn shown(&self, merit: &[i64]) -> Vec<TieBreakValue> {
        let Some((number, rest)) = merit.split_first() else { return Vec::new() };
        let stage = usize::try_from(number - 1).ok().and_then(|at| self.stages.get(at));
        let own = stage.map_or_else(Vec::new, |stage| stage.format.rules().shown(rest));
        let number = super::scores::value("stage", *number);
        std::iter::once(number).chain(own).collect()
    }

    fn play_ms(&self) -> Option<Millis> {
        None
    }

    fn eliminated<'a>(&self, round: &'a Round, field: &Field<'a>) -> Vec<(&'a PlayerName, u32)> {
        let all = begun(field);
        let at = field.rounds.iter().position(|one| std::ptr::eq(one, round));
        let own = all.iter().rfind(|begun| at.is_some_and(|at| at >= begun.from));
        let Some((begun, stage)) = own.zip(own.and_then(|own| self.stages.get(own.number - 1)))
        else {
            return Vec::new();
        };
        let mut out = Vec::new();
        // Players who do not enter the stage leave when it begins.
        if at == Some(begun.from) {
            let before = all.iter().find(|earlier| earlier.number + 1 == begun.number);
            let stayed = |player: &&PlayerName| !begun.order.contains(player);
            let place = begun.order.len() as u32 + 1;
            let left = before.into_iter().flat_map(|earlier| earlier.order.iter().filter(stayed));
            out.extend(left.map(|player| (player, place)));
        }
        // In a stage that feeds another, the rank decides who goes on, not a loss.
        if begun.number == self.stages.len() {
            out.extend(stage.format.rules().eliminated(round, &begun.field(field)));
        }
        out
    }

    fn place_of_leaver(&self, player: &PlayerName, field: &Field<'_>) -> u32 {
        let lost = field.rounds.iter().flat_map(|round| self.eliminated(round, field));
        let place = lost.into_iter().find(|(loser, _)| *loser == player).map(|(_, place)| place);
        place.unwrap_or_else(|| field.place_behind_all())
    }

    fn matches_total(&self, players: usize, drawn: &[usize]) -> MatchCount {
        let stages = self.stages.iter().zip(self.counts(players));
        let totals = stages.map(|(stage, count)| stage.format.rules().matches_total(count, &[]));
        let totals: Vec<MatchCount> = totals.collect();
        let matches = totals.iter().map(|one| one.matches).sum::<usize>();
        let is_exact = totals.iter().all(|one| one.is_exact);
        MatchCount { matches: matches.max(drawn.iter().sum()), is_exact }
    }
}

impl Stages {
    /// How many players each stage has, if this many begin.
    fn counts(&self, players: usize) -> Vec<usize> {
        let mut counts = vec![players];
        for pair in self.stages.windows(2) {
            let left = counts.last().copied().unwrap_or(0);
            let usual = pair[0].format.rules().advancing_count(left);
            counts.push(left.min(pair[1].players.map_or(usual, |count| count as usize)));
        }
        counts
    }

    /// The first round of a stage. A stage that needs no round is passed over. Without players
    /// there is no stage, and nobody wins: a round that names no players would belong to the stage
    /// before.
    fn begin(
        &self,
        at: usize,
        players: Vec<PlayerName>,
        field: &Field<'_>,
        from: usize,
    ) -> NextRound {
        let Some(stage) = self.stages.get(at).filter(|_| !players.is_empty()) else {
            return NextRound::Winners(players);
        };
        let begun = Begun { number: at + 1, order: &players, from, to: from };
        match stage.format.rules().next_round(&players, &begun.field(field)) {
            NextRound::Round(matches, byes) => {
                let number = at as u32 + 1;
                NextRound::StageRound(RoundStage { number, players }, matches, byes)
            }
            NextRound::Winners(winners) => NextRound::Winners(winners),
            NextRound::StageRound(..) => NextRound::Winners(Vec::new()),
        }
    }

    /// The players who enter the next stage, best first.
    fn entrants(&self, at: usize, latest: &Begun<'_>, field: &Field<'_>) -> Vec<PlayerName> {
        let (own, rules) = (latest.field(field), self.stages[at].format.rules());
        let mut ranked = by_merit(rules, &own);
        rules.reorder_advancing(&mut ranked, &own);
        let usual = rules.advancing_count(latest.order.len());
        let wanted = self.stages.get(at + 1).and_then(|next| next.players);
        ranked.truncate(wanted.map_or(usual, |count| count as usize));
        ranked
    }
}

/// A stage that has begun.
struct Begun<'a> {
    number: usize,
    /// Its players in order of seed.
    order: &'a [PlayerName],
    /// Its first round, and the round behind its last one so far.
    from: usize,
    to: usize,
}

impl<'a> Begun<'a> {
    /// The tournament as the format of this stage sees it.
    fn field<'b>(&self, whole: &Field<'b>) -> Field<'b>
    where
        'a: 'b,
    {
        Field {
            players: self.order,
            pairing: if self.number == 1 { whole.pairing } else { Pairing::Seeded },
            rounds: &whole.rounds[self.from..self.to],
            rounds_before: whole.rounds_before + self.from as u32,
            ratings: whole.ratings,
            is_time_up: false,
            as_earlier: whole.as_earlier,
            winners: whole.winners,
            faults: &[],
            out: whole.out.clone(),
        }
    }
}

/// The stages that have begun, in order.
fn begun<'a>(field: &Field<'a>) -> Vec<Begun<'a>> {
    let mut all: Vec<Begun<'a>> = Vec::new();
    for (at, round) in field.rounds.iter().enumerate() {
        let Some(stage) = &round.stage else { continue };
        if stage.players.is_empty() {
            all.last_mut().into_iter().for_each(|latest| latest.to = at + 1);
        } else {
            let (number, order) = (stage.number as usize, &stage.players[..]);
            all.push(Begun { number, order, from: at, to: at + 1 });
        }
    }
    all
}
