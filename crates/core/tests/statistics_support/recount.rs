//! The second implementation of the statistics: slow, plain, and by other means.

use agon_core::rating::{MatchPlaces, Ranked};
use agon_core::statistics::{PlayerTallies, Tally};
use agon_core::{
    Event, FaultKind, Faulted, GameEnd, GameResult, How, Ladder, MatchId, MatchResult, PlayerName,
    RatingSettings, RatingSystem, Timestamp, TournamentId,
};
use std::collections::{BTreeMap, BTreeSet};

/// Something that counts: for whom, in which game, what, and how much.
type Fact = (PlayerName, String, &'static str, i64);
/// One player finished ahead of, level with, or behind another.
type Met = (PlayerName, PlayerName, String, &'static str);

/// The second implementation: a list of plain facts, counted when asked.
#[derive(Default)]
pub(crate) struct Recount {
    facts: Vec<Fact>,
    met: Vec<Met>,
    rounds: BTreeMap<(String, Timestamp, TournamentId, u32), Vec<MatchPlaces>>,
}

const FINISHES: [&str; 3] = ["won", "lost", "tied"];

fn finish(player: &PlayerName, winners: &[PlayerName], what: [&'static str; 3]) -> &'static str {
    if !winners.contains(player) {
        what[1]
    } else if winners.len() > 1 {
        what[2]
    } else {
        what[0]
    }
}

/// Which of two finished a match ahead: by winning, by advancing, then by rank in the only game.
fn ahead(
    one: &PlayerName,
    other: &PlayerName,
    result: &MatchResult,
    games: &[&GameResult],
) -> &'static str {
    let worst = |player: &PlayerName| -> u32 {
        if result.winners.contains(player) {
            return 0;
        }
        let rank = match games {
            [only] => {
                let seat = only.seats.iter().position(|seated| seated == player).unwrap();
                only.ranks[seat].map_or(99, u32::from)
            }
            _ => 1,
        };
        if result.out.contains(player) { 100 + rank } else { rank }
    };
    match (worst(one), worst(other)) {
        (one, other) if one < other => "match won",
        (one, other) if one > other => "match lost",
        _ => "match tied",
    }
}

/// The results that stand at the end, each with when its round could last have changed by it: what
/// was ruled and not undone is put in place of what was reported, from the last event to the first.
fn standing_reports(events: &[(Timestamp, Event)]) -> BTreeMap<MatchId, (Timestamp, MatchResult)> {
    let mut ids: BTreeSet<&MatchId> = BTreeSet::new();
    for (_, event) in events {
        if let Event::MatchReported(reported) = event {
            ids.insert(&reported.id);
        }
    }
    let standing = ids.into_iter().filter_map(|id| {
        let mut own: Vec<&(Timestamp, Event)> = Vec::new();
        for one in events {
            match &one.1 {
                Event::MatchReported(reported) if reported.id == *id => own.push(one),
                Event::ResultOverridden(overridden) if overridden.id == *id => own.push(one),
                Event::ReplayOrdered(ordered) if ordered.id == *id => own.push(one),
                // In these tests nothing is reported in a pause: the last one is what is undone.
                Event::RulingUndone(undone) if undone.id == *id => drop(own.pop()),
                _ => {}
            }
        }
        let replayed = own.iter().rposition(|one| matches!(one.1, Event::ReplayOrdered(_)));
        let own = &own[replayed.map_or(0, |at| at + 1)..];
        let (at, mut result) = own.iter().find_map(|(at, event)| match event {
            Event::MatchReported(reported) => Some((*at, reported.result.clone())),
            _ => None,
        })?;
        let ruled = own.iter().rev().find_map(|(_, event)| match event {
            Event::ResultOverridden(overridden) => Some(overridden.result.winners.clone()),
            _ => None,
        });
        if let Some(winners) = ruled {
            result.how = if winners.is_empty() { How::Void } else { How::Overridden };
            result.out.retain(|player| !winners.contains(player));
            result.winners = winners;
        }
        Some((id.clone(), (at, result)))
    });
    standing.collect()
}

impl Recount {
    pub(crate) fn of(streams: &[(TournamentId, Vec<(Timestamp, Event)>)]) -> Recount {
        let mut recount = Recount::default();
        for (id, events) in streams {
            recount.add_tournament(id, events);
        }
        recount
    }

    fn fact(&mut self, player: &PlayerName, game: &str, what: &'static str, much: i64) {
        self.facts.push((player.clone(), game.to_owned(), what, much));
    }

    fn add_tournament(&mut self, id: &TournamentId, events: &[(Timestamp, Event)]) {
        let (_, Event::TournamentCreated(created)) = &events[0] else { panic!("no plan") };
        let game = created.plan.game.as_str();
        let mut entered: BTreeSet<&PlayerName> = created.plan.players.iter().collect();
        let mut rounds_begun = false;
        let mut winners = None;
        for (_, event) in events {
            match event {
                Event::PlayerDropped(dropped) => {
                    let Faulted { player, fault, .. } = &dropped.faulted;
                    self.fact(player, game, "fault", 1);
                    match fault.kind {
                        FaultKind::Cheat => self.fact(player, game, "cheat", 1),
                        FaultKind::NoShow => self.fact(player, game, "no-show", 1),
                        _ => {}
                    }
                    if !rounds_begun {
                        entered.remove(player);
                    }
                }
                Event::RoundPaired(_) => rounds_begun = true,
                Event::TournamentEnded(ended) => winners = Some(&ended.winners),
                _ => {}
            }
        }
        for player in entered {
            self.fact(player, game, "tournament", 1);
            if let Some(winners) = winners {
                let what = ["tournament won", "tournament lost", "tournament tied"];
                self.fact(player, game, finish(player, winners, what), 1);
            }
        }
        self.add_rounds(id, game, events);
    }

    fn add_rounds(&mut self, id: &TournamentId, game: &str, events: &[(Timestamp, Event)]) {
        let reports = standing_reports(events);
        for (_, event) in events {
            let Event::RoundPaired(paired) = event else { continue };
            let mut outcomes = Vec::new();
            let mut last = Some(Timestamp::default());
            for plan in &paired.matches {
                let Some((at, result)) = reports.get(&plan.id) else {
                    last = None;
                    continue;
                };
                last = last.map(|last: Timestamp| last.max(*at));
                self.add_match(&plan.players, game, result);
                outcomes.extend(MatchPlaces::of(&plan.players, result, true));
            }
            if let Some(last) = last.filter(|_| !outcomes.is_empty()) {
                self.rounds.insert((game.into(), last, id.clone(), paired.round), outcomes);
            }
        }
    }

    fn add_match(&mut self, players: &[PlayerName], game: &str, result: &MatchResult) {
        for Faulted { player, fault, .. } in &result.faults {
            self.fact(player, game, "fault", 1);
            if fault.kind == FaultKind::Cheat {
                self.fact(player, game, "cheat", 1);
            }
        }
        if result.how == How::Void {
            return;
        }
        let winners = &result.winners;
        let counted =
            |game: &&GameResult| game.game >= result.counts_from && game.end != GameEnd::Void;
        let games: Vec<&GameResult> = result.games.iter().filter(counted).collect();
        for player in players {
            let what = ["match won", "match lost", "match tied"];
            self.fact(player, game, finish(player, winners, what), 1);
            let fail = |faulted: &Faulted| {
                faulted.player == *player && faulted.fault.kind == FaultKind::NoShow
            };
            if result.how == How::Forfeit && !winners.contains(player) {
                self.fact(player, game, "match forfeited", 1);
            }
            if result.how == How::NoShow && !winners.contains(player)
                || players.len() > 2 && result.faults.iter().any(fail)
            {
                self.fact(player, game, "no-show", 1);
            }
        }
        // Ties that led to a restart: counted from the restart backwards, up to another result.
        let mut at = result.counts_from as usize - 1;
        while at > 0 && result.games[at - 1].winners.len() > 1 {
            at -= 1;
            if result.games[at].end != GameEnd::Played {
                break;
            }
            for player in &result.games[at].winners {
                self.fact(player, game, "game tied", 1);
            }
        }
        for result in &games {
            for (seat, player) in result.seats.iter().enumerate() {
                let what = ["game won", "game lost", "game tied"];
                self.fact(player, game, finish(player, &result.winners, what), 1);
                self.fact(player, game, "points", result.scores[seat]);
                if result.ranks[seat].is_none() {
                    self.fact(player, game, "game forfeited", 1);
                }
                for (other, rival) in result.seats.iter().enumerate().filter(|(at, _)| *at != seat)
                {
                    let what = match (result.ranks[seat], result.ranks[other]) {
                        (one, other) if one == other => "game tied",
                        (Some(_), None) => "game won",
                        (Some(one), Some(other)) if one < other => "game won",
                        _ => "game lost",
                    };
                    self.met.push((player.clone(), rival.clone(), game.into(), what));
                }
            }
        }
        for (player, rival) in
            players.iter().flat_map(|one| players.iter().map(move |two| (one, two)))
        {
            if player != rival {
                let what = ahead(player, rival, result, &games);
                self.met.push((player.clone(), rival.clone(), game.into(), what));
            }
        }
    }

    pub(crate) fn record(&self, player: &PlayerName, game: Option<&str>) -> PlayerTallies {
        let sum = |what: &str| -> i64 {
            let own = self.facts.iter().filter(|(who, of, is, _)| {
                who == player && game.is_none_or(|game| game == of) && *is == what
            });
            own.map(|(.., much)| much).sum()
        };
        let count = |what: &str| sum(what) as u32;
        let tally = |kind: &str| {
            let [won, lost, tied] = FINISHES.map(|finish| count(&format!("{kind} {finish}")));
            Tally { won, lost, tied }
        };
        PlayerTallies {
            games: tally("game"),
            matches: tally("match"),
            tournaments: tally("tournament"),
            tournaments_played: count("tournament"),
            games_forfeited: count("game forfeited"),
            matches_forfeited: count("match forfeited"),
            no_shows: count("no-show"),
            cheats: count("cheat"),
            faults: count("fault"),
            points: sum("points"),
        }
    }

    pub(crate) fn meetings(
        &self,
        one: &PlayerName,
        other: &PlayerName,
        game: &str,
        kind: &str,
    ) -> Tally {
        let [won, lost, tied] = FINISHES.map(|finish| {
            let what = format!("{kind} {finish}");
            let met = self.met.iter();
            let met =
                met.filter(|(a, b, of, is)| (a, b) == (one, other) && of == game && *is == what);
            met.count() as u32
        });
        Tally { won, lost, tied }
    }

    pub(crate) fn ranking(&self, game: &str, system: RatingSystem) -> Vec<Ranked> {
        let mut ladder = Ladder::new(system, RatingSettings::default());
        for ((of, _, tournament, round), outcomes) in &self.rounds {
            if of == game {
                ladder.apply_round(tournament, *round, outcomes);
            }
        }
        ladder.ranking()
    }
}
