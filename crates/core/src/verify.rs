//! Verifies a log: every event must follow from the rules, the luck and the inputs from outside.
//!
//! A record's first event holds the input from outside. The state machine processes that input
//! again, and must produce the same events: the same dice, cards, pairings, scores, forfeits and
//! results. Facts that the log cannot prove, such as that an answer was really late, are taken as
//! they are.

mod agree;
mod blacklist;
mod lobby;
mod receipt;
mod running;
mod stream;

pub use agree::agree;
pub use blacklist::Listing;
pub use lobby::{LobbyCheck, verify_lobby};
pub use receipt::{BadReceipt, Receipt, ReceiptCheck, ReceiptEntry};
pub use running::RunningMatchCheck;
pub use stream::{Stream, read};

use crate::chain::Head;
use crate::event::{Event, GameStarted};
use crate::fair::Secret;
use crate::fault::{FOREIGN_REQUEST, Fault, FaultKind, Faulted};
use crate::ids::{MatchId, PlayerName, RequestId, Timestamp};
use crate::line::Line;
use crate::lobby::Cheat;
use crate::match_::{Match, MatchCommand, MatchOrder, Pending, Rejection, Secrets};
use crate::plan::{MatchPlan, TournamentPlan};
use crate::policy::Pairing;
use crate::report::{MatchResult, Results};
use crate::ruling::Ruling;
use crate::tournament::{
    Tournament, TournamentCommand, TournamentOrder, TournamentRejection, earlier_wording,
};
use agon_games::Registry;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use stream::{check_reports, records};

/// The first event that does not follow.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct Finding {
    /// The stream.
    pub stream: String,
    /// The event's number in the stream; one past the end if an event is missing there.
    pub seq: u64,
    /// The event's name, if it has one.
    pub event: String,
    /// The difference, or the broken rule.
    pub what: String,
}

impl Finding {
    /// The event name of a line that cannot be read.
    const UNREADABLE: &str = "unreadable";

    /// Returns whether the line is not an event at all.
    pub fn is_unreadable(&self) -> bool {
        self.event == Finding::UNREADABLE
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { stream, seq, event, what } = self;
        write!(f, "{stream}, event {seq} ({event}) does not follow: {what}")
    }
}

/// The result of verifying a match.
#[derive(Clone, PartialEq, Debug)]
pub struct MatchCheck {
    /// The plan of the match.
    pub plan: MatchPlan,
    /// The result, if the match has ended.
    pub result: Option<MatchResult>,
    /// The results before each time the match was reopened.
    pub earlier: Vec<MatchResult>,
    /// True if the match was called off since it was last reopened.
    pub called_off: bool,
    /// The number of verified events.
    pub events: u64,
    /// The number of events of a game that is still running. They cannot be verified before its
    /// secret is known.
    pub unchecked: u64,
    /// The number of games verified to the end.
    pub games: u64,
    /// The cheats that the policy blacklists for, and when each was charged.
    pub cheats: Vec<(Cheat, Timestamp)>,
    /// The head of the stream at each end of the match.
    pub heads: Vec<Head>,
    /// True if a version without a chain wrote the end of the match.
    pub predates_chain: bool,
}

/// The result of verifying a tournament.
#[derive(Clone, PartialEq, Debug)]
pub struct TournamentCheck {
    /// The plan of the tournament.
    pub plan: TournamentPlan,
    /// The secret, if the tournament is over.
    pub secret: Option<Secret>,
    /// Matches that were over when luck was renewed: the secret of their luck is lost.
    pub of_lost_luck: BTreeSet<MatchId>,
    /// All matches that the tournament paired.
    pub matches: BTreeMap<MatchId, MatchPlan>,
    /// The reported results, as the matches came to them.
    pub reported: BTreeMap<MatchId, MatchResult>,
    /// Results that were reported before a replay was ordered, by match.
    pub earlier: BTreeMap<MatchId, Vec<MatchResult>>,
    /// When each result was reported, in order.
    pub reports: Vec<(MatchId, Timestamp)>,
    /// Matches whose result an operator overrode.
    pub overridden: BTreeSet<MatchId>,
    /// True if an operator awarded the tournament, so that matches were called off.
    pub awarded: bool,
    /// The results as they follow from the log.
    pub results: Results,
    /// The number of verified events.
    pub events: u64,
    /// The number of events that cannot be verified before the secret is known, because pairings
    /// are drawn by lot.
    pub unchecked: u64,
    /// The reported heads of its matches, including those of earlier results.
    pub reported_heads: BTreeMap<MatchId, Vec<Option<Head>>>,
    /// The head of its stream, if the tournament is over.
    pub head: Option<Head>,
    /// True if a version without a chain wrote the end of the tournament.
    pub predates_chain: bool,
}

/// Verifies a match. With the tournament's secret, this also verifies the secrets of its games.
pub fn verify_match(
    lines: &Stream,
    games: &Registry,
    tournament: Option<&Secret>,
) -> Result<MatchCheck, Finding> {
    let mut records = records(lines);
    let first = records.next().ok_or_else(empty)?;
    let mut progress = MatchProgress::begin(first, games, |plan| {
        revealed(lines, tournament.map(|secret| secret.of_match(&plan.id)).as_ref())
    })?;
    let cheats = Cheat::all(&progress.check.plan, lines).map(|(cheat, line)| (cheat, line.at));
    progress.check.cheats = cheats.collect();
    progress.check.heads = lines.ends().map(|(_, head)| head.clone()).collect();
    progress.check.predates_chain = lines.predates_chain();
    for record in records {
        if let Some(game) = progress.add(record)? {
            let check = &mut progress.check;
            let rest = &lines[check.events as usize..];
            still_running(rest, game, &check.plan)?;
            check.unchecked = rest.len() as u64;
            break;
        }
        lines.check_heads(record)?;
    }
    Ok(progress.finish())
}

/// A match that is verified, record by record.
struct MatchProgress {
    played: Match,
    check: MatchCheck,
}

impl MatchProgress {
    /// Verifies the first record of the stream.
    fn begin(
        first: &[Line],
        games: &Registry,
        secrets: impl FnOnce(&MatchPlan) -> Result<Secrets, Finding>,
    ) -> Result<MatchProgress, Finding> {
        let Event::MatchCreated(created) = &first[0].event else {
            return Err(finding(&first[0], "a match begins with match-created".into()));
        };
        let plan = created.plan.clone();
        named(&first[0], format!("match/{}/{}", plan.tournament, plan.id))?;
        let kind = games
            .kind(&plan.game)
            .ok_or_else(|| finding(&first[0], format!("there is no game {:?}", plan.game)))?;
        let secrets = secrets(&plan)?;
        let (played, event) = Match::create(plan.clone(), kind.clone(), secrets, first[0].at)
            .map_err(|error| finding(&first[0], error.to_string()))?;
        compare(first, &[event])?;
        let check = MatchCheck {
            plan,
            result: None,
            earlier: Vec::new(),
            called_off: false,
            events: 1,
            unchecked: 0,
            games: 0,
            cheats: Vec::new(),
            heads: Vec::new(),
            predates_chain: false,
        };
        Ok(MatchProgress { played, check })
    }

    /// Verifies the next record. Returns the number of a game that starts in it, if the secret of
    /// that game is not known. The rest of the stream cannot be verified then.
    fn add(&mut self, record: &[Line]) -> Result<Option<u32>, Finding> {
        let MatchProgress { played, check } = self;
        let command = match_cause(&record[0], played)?;
        if !check.predates_chain {
            in_time(&record[0], played)?;
        }
        match &record[0].event {
            Event::MatchReopened(_) => {
                check.earlier.extend(played.result().cloned());
                check.called_off = false;
            }
            event => check.called_off |= matches!(event, Event::MatchCalledOff(_)),
        }
        let recorded = |at: usize| record.get(at).map(|line| &line.event);
        match played.decide_again(record[0].at, command, recorded) {
            (events, None) => compare(record, &events)?,
            (events, Some(Rejection::NoSecret(game))) => {
                let (known, _) = record.split_at(events.len().min(record.len()));
                compare(known, &events)?;
                starts(record, known.len(), played)?;
                check.events += known.len() as u64;
                return Ok(Some(game));
            }
            (_, Some(rejection)) => return Err(finding(&record[0], rejection.to_string())),
        }
        check.events += record.len() as u64;
        Ok(None)
    }

    /// The result of verifying all records.
    fn finish(mut self) -> MatchCheck {
        self.check.games = self.played.finished().count() as u64;
        self.check.result = self.played.result().cloned();
        self.check
    }
}

/// Checks that an accepted answer was within its limit: the time per answer, and what is left of
/// the seat's reserve. A correct log records at most that time.
fn in_time(line: &Line, played: &Match) -> Result<(), Finding> {
    let Event::AnswerAccepted(accepted) = &line.event else { return Ok(()) };
    // Only an answer beyond the time per answer draws on the reserve, and few answers do.
    if accepted.took_ms <= played.plan().rules.time.answer_ms {
        return Ok(());
    }
    let mut open = played.pending().into_iter();
    let open = open.find(|pending| pending.id == accepted.request);
    match open.filter(|pending| accepted.took_ms > pending.limit_ms) {
        None => Ok(()),
        Some(Pending { limit_ms, .. }) => {
            let took_ms = accepted.took_ms;
            let what = format!("it took {took_ms} ms, and the limit was {limit_ms} ms");
            Err(finding(line, what))
        }
    }
}

/// Checks that a stream has the name of its match or tournament: a copy under another name does not
/// pass for another match.
fn named(line: &Line, name: String) -> Result<(), Finding> {
    match *line.stream == *name {
        true => Ok(()),
        false => Err(finding(line, format!("it is about {name}, and its stream is another"))),
    }
}

/// Checks that the next game starts here. It must do so whatever its luck is.
fn starts(record: &[Line], at: usize, played: &Match) -> Result<(), Finding> {
    let missing = || finding(record.last().expect("a record"), "game-started is missing".into());
    let line = record.get(at).ok_or_else(missing)?;
    let Event::GameStarted(started) = &line.event else {
        return Err(finding(line, "game-started should be here".into()));
    };
    let coming = played.coming_game(started.commitment.clone());
    let expected = GameStarted { drawn: started.drawn.clone(), ..coming };
    match *started == expected {
        true => Ok(()),
        false => Err(finding(line, difference(&line.event, &expected.into()))),
    }
}

/// Checks that the rest of a stream belongs to a running game, or to a group of duplicate games that
/// began with `game`. Its secret is not due yet.
fn still_running(rest: &[Line], game: u32, plan: &MatchPlan) -> Result<(), Finding> {
    let group = if plan.rules.duplicate { plan.players.len() as u32 } else { 1 };
    let over = rest.iter().enumerate().find(|(at, line)| match &line.event {
        Event::GameStarted(started) if *at == 0 => started.game != game,
        Event::GameStarted(started) => started.duplicate_of != Some(game),
        Event::GameEnded(ended) => ended.result.game + 1 >= game + group,
        Event::MatchRestarted(_) | Event::MatchEnded(_) => true,
        _ => false,
    });
    let what = || format!("the secret of game {game} is not revealed, and it is over");
    over.map_or(Ok(()), |(_, line)| Err(finding(line, what())))
}

/// The secrets that the stream reveals, checked against the match's own secret if that is known.
fn revealed(lines: &[Line], secret: Option<&Secret>) -> Result<Secrets, Finding> {
    let mut secrets = BTreeMap::new();
    for (line, game, one) in Secrets::revealed_by(lines) {
        if secret.is_some_and(|secret| secret.of_game(game) != *one) {
            let what = "its secret is not the one the tournament committed itself to";
            return Err(finding(line, what.into()));
        }
        secrets.insert(game, one.clone());
    }
    Ok(match secret {
        Some(secret) => Secrets::Known(secret.clone()),
        None => Secrets::Revealed(secrets),
    })
}

/// The command that caused a record of a match.
fn match_cause(line: &Line, played: &Match) -> Result<MatchCommand, Finding> {
    match &line.event {
        Event::PlayerArrived(arrived) => Ok(MatchCommand::Arrive {
            player: arrived.player.clone(),
            nonce: arrived.nonce.clone(),
        }),
        Event::AnswerAccepted(accepted) => {
            let seats = played.referee().map_or(&[][..], |referee| referee.seats());
            let player = seats.get(accepted.seat.index());
            let player = player.ok_or_else(|| finding(line, "nobody sits there".into()))?;
            Ok(MatchCommand::Answer {
                player: player.clone(),
                request: accepted.request.clone(),
                answer: accepted.answer.get().to_owned(),
                took_ms: Some(accepted.took_ms),
            })
        }
        Event::PlayerFaulted(faulted) if faulted.faulted.fault.code == FOREIGN_REQUEST => {
            foreign_answer(line, &faulted.faulted, played)
        }
        Event::PlayerFaulted(faulted) => Ok(answer_again(&faulted.faulted).unwrap_or_else(|| {
            let Faulted { player, fault, .. } = faulted.faulted.clone();
            MatchCommand::Charge { player, fault }
        })),
        Event::PlayerLeft(left) => Ok(answer_again(&left.faulted).unwrap_or_else(|| {
            let Faulted { player, fault, .. } = left.faulted.clone();
            MatchCommand::Leave { player, fault }
        })),
        Event::WaitExpired(expired) => {
            Ok(MatchCommand::Expire { player: expired.faulted.player.clone() })
        }
        Event::ResultConfirmed(confirmed) => Ok(MatchCommand::Answer {
            player: confirmed.player.clone(),
            request: confirmed.request.clone(),
            answer: "\"ok\"".into(),
            took_ms: Some(0),
        }),
        event => match match_order(event) {
            Some((order, ruling)) => Ok(MatchCommand::Order { order, ruling: ruling.clone() }),
            None => Err(finding(line, "nothing from outside brings this about".into())),
        },
    }
}

/// The order of an operator that an event records; `None` if it records none.
fn match_order(event: &Event) -> Option<(MatchOrder, &Ruling)> {
    Some(match event {
        Event::MatchPaused(paused) => (MatchOrder::Pause, &paused.ruling),
        Event::MatchResumed(resumed) => (MatchOrder::Resume, &resumed.ruling),
        Event::GameVoided(voided) => (MatchOrder::Void(voided.game), &voided.ruling),
        Event::VoidUndone(undone) => (MatchOrder::UndoVoid(undone.game), &undone.ruling),
        Event::MatchCalledOff(off) => (MatchOrder::CallOff, &off.ruling),
        Event::MatchReopened(reopened) => (MatchOrder::Reopen, &reopened.ruling),
        _ => return None,
    })
}

/// Reconstructs an answer to another player's open request. The fault's detail names that player.
fn foreign_answer(line: &Line, faulted: &Faulted, played: &Match) -> Result<MatchCommand, Finding> {
    let Faulted { player, fault, .. } = faulted;
    let open = played.pending().into_iter();
    let stolen = open.into_iter().find(|pending| {
        pending.player != *player && Fault::foreign_request(&pending.player).detail == fault.detail
    });
    let stolen = stolen.ok_or_else(|| finding(line, "no such request was open".into()))?;
    let answer = fault.answer.as_deref().unwrap_or_default();
    Ok(answered(player, stolen.id, answer, fault))
}

/// The answer as it was sent, with the original text if it came in the format of another system.
fn answered(player: &PlayerName, request: RequestId, answer: &str, fault: &Fault) -> MatchCommand {
    let (player, answer, took_ms) = (player.clone(), answer.to_owned(), Some(0));
    match fault.sent.clone() {
        Some(sent) => MatchCommand::Translated { player, request, answer, sent, took_ms },
        None => MatchCommand::Answer { player, request, answer, took_ms },
    }
}

/// Reconstructs the rejected answer, if the log holds all of it.
fn answer_again(faulted: &Faulted) -> Option<MatchCommand> {
    again(faulted)
        .map(|(request, answer)| answered(&faulted.player, request, answer, &faulted.fault))
}

/// The request and the answer that the rules rejected, if the log holds all of it.
fn again(faulted: &Faulted) -> Option<(RequestId, &str)> {
    let Fault { kind, answer, .. } = &faulted.fault;
    let answer = answer.as_ref().filter(|answer| answer.len() < Fault::EVIDENCE_MAX - 4)?;
    let by_rules = matches!(kind, FaultKind::Cheat | FaultKind::Illegal);
    by_rules.then(|| (faulted.request.clone().unwrap_or_else(|| "none".into()), answer.as_str()))
}

/// Verifies a tournament's own stream. `known` is its secret, if the log does not reveal it yet.
pub fn verify_tournament(
    lines: &Stream,
    games: &Registry,
    known: Option<&Secret>,
) -> Result<TournamentCheck, Finding> {
    let first = records(lines).next().ok_or_else(empty)?;
    let Event::TournamentCreated(created) = &first[0].event else {
        return Err(finding(&first[0], "a tournament begins with tournament-created".into()));
    };
    named(&first[0], format!("tournament/{}", created.plan.id))?;
    let kind = games
        .kind(&created.plan.game)
        .ok_or_else(|| finding(&first[0], format!("there is no game {:?}", created.plan.game)))?;
    let secret = lines.iter().find_map(|line| match &line.event {
        Event::TournamentEnded(ended) => Some(&ended.secret),
        Event::TournamentAborted(aborted) => Some(&aborted.secret),
        _ => None,
    });
    let secret = secret.or(known);
    let renewed = check_commitment(lines, secret)?;
    // Pairings that were drawn from a lost secret cannot be drawn again; later ones can.
    let lost = renewed.filter(|_| created.plan.policy.pairing == Pairing::Random).unwrap_or(0);
    let mut tournament = if lost > 0 {
        let folded = Tournament::fold(&lines[..lost], games, secret.cloned());
        folded.map_err(|error| finding(&first[0], error.to_string()))?
    } else {
        let (plan, commitment) = (created.plan.clone(), created.commitment.clone());
        let made = Tournament::create_unrevealed(plan, kind.clone(), secret.cloned(), commitment);
        let (tournament, events) = made.map_err(|error| finding(&first[0], error.to_string()))?;
        compare(first, &events)?;
        tournament
    };
    lines.check_heads(first)?;
    let mut of_lost_luck = BTreeSet::new();
    let mut count = first.len().max(lost) as u64;
    for record in records(&lines[count as usize..]) {
        if matches!(record[0].event, Event::LuckRenewed(_)) {
            let drawn = tournament.rounds().iter().flat_map(|round| &round.matches);
            let open: BTreeSet<_> = tournament.open_matches().map(|plan| &plan.id).collect();
            let over = drawn.map(|plan| &plan.id).filter(|id| !open.contains(id));
            of_lost_luck = over.cloned().collect();
        }
        let before = may_be_earlier_pairing(&tournament, record).then(|| tournament.clone());
        let events = match tournament.step(tournament_cause(&record[0])?) {
            // Random pairings cannot be verified before the end. In all other cases the secret is
            // needed only at the end, where the log should have revealed it.
            Err(TournamentRejection::NoSecret)
                if created.plan.policy.pairing == Pairing::Random =>
            {
                break;
            }
            Err(TournamentRejection::NoSecret) => {
                let last = record.last().expect("records are not empty");
                return Err(finding(last, "the end, which reveals the secret, is missing".into()));
            }
            stepped => stepped.map_err(|rejection| finding(&record[0], rejection.to_string()))?,
        };
        if let Err(found) = compare(record, &events) {
            tournament = before.and_then(|before| as_earlier(before, record)).ok_or(found)?;
        }
        lines.check_heads(record)?;
        count += record.len() as u64;
    }
    check_reports(lines)?;
    let mut check = checked(&tournament, secret.cloned(), count - lost as u64);
    check.unchecked = lines.len() as u64 - count + lost as u64;
    check.of_lost_luck = of_lost_luck;
    check.head = lines.ends().last().map(|(_, head)| head.clone());
    check.predates_chain = lines.predates_chain();
    for line in lines.iter() {
        if let Event::MatchReported(reported) = &line.event {
            check.reports.push((reported.id.clone(), line.at));
            let heads = check.reported_heads.entry(reported.id.clone()).or_default();
            heads.push(reported.head.clone());
        }
    }
    Ok(check)
}

/// Returns whether an earlier version may have paired the round of this record otherwise.
fn may_be_earlier_pairing(tournament: &Tournament, record: &[Line]) -> bool {
    tournament.plan().policy.format.rules().has_earlier_pairings()
        && record.iter().any(|line| matches!(line.event, Event::RoundPaired(_)))
}

/// The tournament after a record whose round an earlier version paired; `None` if it did not.
fn as_earlier(mut tournament: Tournament, record: &[Line]) -> Option<Tournament> {
    tournament.pair_as_earlier(true);
    let events = tournament.step(tournament_cause(&record[0]).ok()?).ok()?;
    compare(record, &events).ok()?;
    tournament.pair_as_earlier(false);
    Some(tournament)
}

/// Checks that a tournament's latest commitment matches its secret, if that is known. Returns the
/// index of the event that renewed the commitment, if any.
fn check_commitment(lines: &[Line], secret: Option<&Secret>) -> Result<Option<usize>, Finding> {
    let mut commitments = lines.iter().enumerate().filter_map(|(at, line)| match &line.event {
        Event::TournamentCreated(created) => Some((at, &created.commitment)),
        Event::LuckRenewed(renewed) => Some((at, &renewed.commitment)),
        _ => None,
    });
    let (at, commitment) = commitments.next_back().ok_or_else(empty)?;
    match secret.is_some_and(|secret| secret.commitment() != *commitment) {
        true => Err(finding(&lines[at], "it is no commitment to the secret revealed".into())),
        false => Ok(Some(at).filter(|at| *at > 0)),
    }
}

/// The facts about its matches that a verified tournament states.
fn checked(tournament: &Tournament, secret: Option<Secret>, events: u64) -> TournamentCheck {
    let mut check = TournamentCheck {
        plan: tournament.plan().clone(),
        secret,
        of_lost_luck: BTreeSet::new(),
        matches: BTreeMap::new(),
        reported: BTreeMap::new(),
        earlier: BTreeMap::new(),
        reports: Vec::new(),
        overridden: BTreeSet::new(),
        awarded: tournament.awarded().is_some(),
        results: tournament.results(),
        events,
        unchecked: 0,
        reported_heads: BTreeMap::new(),
        head: None,
        predates_chain: false,
    };
    for round in tournament.rounds() {
        for (at, plan) in round.matches.iter().enumerate() {
            check.matches.insert(plan.id.clone(), plan.clone());
            if let Some(result) = &round.reported[at] {
                check.reported.insert(plan.id.clone(), result.clone());
            }
            let earlier: Vec<_> = round.replayed[at].iter().map(|(old, _)| old.clone()).collect();
            if !earlier.is_empty() {
                check.earlier.insert(plan.id.clone(), earlier);
            }
            if round.overrides[at].is_some() {
                check.overridden.insert(plan.id.clone());
            }
        }
    }
    check
}

impl TournamentCheck {
    /// Checks that one of its matches agrees with the tournament; the error says what differs.
    pub fn agrees(&self, check: &MatchCheck) -> Result<(), &'static str> {
        let id = &check.plan.id;
        let Some(plan) = self.matches.get(id) else {
            return Err("the tournament never drew up this match");
        };
        if check.plan != *plan {
            return Err("its plan is not the one the tournament drew up");
        }
        let replayed = self.earlier.get(id).map_or(&[][..], Vec::as_slice);
        if check.earlier.len() > replayed.len() {
            return Err("it was reopened, but the tournament ordered no replay");
        }
        if check.called_off && !self.awarded && !self.overridden.contains(id) {
            return Err("it was called off, but the tournament has no result for it");
        }
        // The match may be ahead by a result that has not reached the tournament.
        let ended: Vec<_> = check.earlier.iter().chain(&check.result).collect();
        let reported: Vec<_> = replayed.iter().chain(self.reported.get(id)).collect();
        let ahead = usize::from(!self.reported.contains_key(id));
        if !ended.starts_with(&reported) || ended.len() > reported.len() + ahead {
            return Err("its result is not the one the tournament reports");
        }
        let heads = self.reported_heads.get(id).map_or(&[][..], Vec::as_slice);
        for (reported, head) in heads.iter().zip(&check.heads) {
            match reported {
                Some(reported) if reported != head => {
                    return Err("its head is not the one the tournament reports");
                }
                None if !check.predates_chain => {
                    return Err("it has a head, and the tournament reports none");
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn tournament_cause(line: &Line) -> Result<TournamentCommand, Finding> {
    let answer = |player: &PlayerName, answer: &str, request: Option<&str>| {
        let request = request.unwrap_or_default().into();
        TournamentCommand::Answer { player: player.clone(), request, answer: answer.into() }
    };
    match &line.event {
        Event::PlayerGreeted(greeted) => {
            let text = greeted.proposal.as_ref().map_or(greeted.plain_answer(), |raw| raw.get());
            Ok(answer(&greeted.player, text, Some(greeted.request.as_str())))
        }
        Event::FarewellConfirmed(confirmed) => {
            Ok(answer(&confirmed.player, "\"ok\"", Some(confirmed.request.as_str())))
        }
        Event::PlayerDropped(dropped) => {
            let Faulted { player, fault, .. } = dropped.faulted.clone();
            Ok(again(&dropped.faulted).map_or(
                TournamentCommand::Drop { player: player.clone(), fault },
                |(request, text)| answer(&player, text, Some(request.as_str())),
            ))
        }
        Event::MatchReported(reported) => Ok(TournamentCommand::Report {
            id: reported.id.clone(),
            result: reported.result.clone(),
            head: reported.head.clone(),
        }),
        Event::TournamentInterrupted(interrupted) => {
            Ok(TournamentCommand::Interrupt(interrupted.interruption.clone()))
        }
        Event::PlayTimeCounted(counted) => {
            Ok(TournamentCommand::CountPlayTime { played_ms: counted.played_ms })
        }
        Event::PlayTimeEnded(_) => Ok(TournamentCommand::EndPlayTime),
        Event::PlayerEntered(entered) => {
            Ok(TournamentCommand::Enter { player: entered.player.clone() })
        }
        Event::LuckRenewed(renewed) => {
            Ok(TournamentCommand::RenewLuck { commitment: renewed.commitment.clone() })
        }
        event => match tournament_order(event) {
            Some((order, ruling)) => Ok(TournamentCommand::Order { order, ruling: ruling.clone() }),
            None => Err(finding(line, "nothing from outside brings this about".into())),
        },
    }
}

/// The order of an operator that an event records; `None` if it records none.
fn tournament_order(event: &Event) -> Option<(TournamentOrder, &Ruling)> {
    Some(match event {
        Event::TournamentPaused(paused) => (TournamentOrder::Pause, &paused.ruling),
        Event::TournamentResumed(resumed) => (TournamentOrder::Resume, &resumed.ruling),
        Event::ResultOverridden(overridden) => {
            let (id, winners) = (overridden.id.clone(), overridden.result.winners.clone());
            (TournamentOrder::Override { id, winners }, &overridden.result.ruling)
        }
        Event::ReplayOrdered(ordered) => {
            (TournamentOrder::Replay { id: ordered.id.clone() }, &ordered.ruling)
        }
        Event::RulingUndone(undone) => {
            (TournamentOrder::Undo { id: undone.id.clone() }, &undone.ruling)
        }
        Event::TournamentAwarded(awarded) => {
            let winners = awarded.result.winners.clone();
            (TournamentOrder::Award { winners }, &awarded.result.ruling)
        }
        _ => return None,
    })
}

fn empty() -> Finding {
    let what = "the stream is empty".to_owned();
    Finding { stream: String::new(), seq: 1, event: "none".into(), what }
}

fn finding(line: &Line, what: String) -> Finding {
    let (stream, event) = (line.stream.to_string(), line.event.tag().into());
    Finding { stream, seq: line.seq, event, what }
}

/// Compares a record with the expected events.
fn compare(record: &[Line], expected: &[Event]) -> Result<(), Finding> {
    for (line, expected) in record.iter().zip(expected) {
        // The head of the stream is not a consequence; `Stream::check_heads` compares it.
        let ending = line.event.own_head().map(|head| expected.with_own_head(head.cloned()));
        let expected = ending.as_ref().unwrap_or(expected);
        let is_same = line.event == *expected
            || Some(&line.event) == in_earlier_words(&line.event, expected).as_ref();
        if !is_same {
            return Err(finding(line, difference(&line.event, expected)));
        }
    }
    match (record.len(), expected.len()) {
        (found, wanted) if found > wanted => {
            Err(finding(&record[wanted], "nothing brings this about".into()))
        }
        (found, wanted) if found < wanted => {
            let missing = expected[found].tag();
            Err(finding(
                record.last().expect("records are not empty"),
                format!("{missing} is missing after it"),
            ))
        }
        _ => Ok(()),
    }
}

/// The expected round, with the earlier words for the reasons that have them in the log.
fn in_earlier_words(found: &Event, expected: &Event) -> Option<Event> {
    let mut event = expected.clone();
    let (Event::RoundPaired(found), Event::RoundPaired(round)) = (found, &mut event) else {
        return None;
    };
    let of_matches = round.matches.iter_mut().map(|plan| &mut plan.reason);
    let reasons = of_matches.chain(round.byes.iter_mut().map(|bye| &mut bye.reason));
    let in_log = found.matches.iter().map(|plan| &plan.reason);
    let in_log = in_log.chain(found.byes.iter().map(|bye| &bye.reason));
    for (reason, in_log) in reasons.zip(in_log) {
        if earlier_wording(reason).as_ref() == Some(in_log) {
            reason.clone_from(in_log);
        }
    }
    Some(event)
}

/// Describes the first place where two events differ.
fn difference(found: &Event, expected: &Event) -> String {
    if found.tag() != expected.tag() {
        return format!("{} should be here", expected.tag());
    }
    let value = |event: &Event| {
        let mut data = Vec::new();
        event.write(&mut data);
        serde_json::from_slice::<Value>(&data).unwrap_or(Value::Null)
    };
    let mut path = String::new();
    let (found, expected) = (value(found), value(expected));
    let (found, expected) = first_difference(&found, &expected, &mut path);
    let short = |value: Option<&Value>| {
        let text = value.map_or("nothing".into(), Value::to_string);
        if text.chars().count() > 90 {
            format!("{}…", text.chars().take(90).collect::<String>())
        } else {
            text
        }
    };
    format!("{path} should be {}, not {}", short(expected), short(found))
}

fn first_difference<'a>(
    found: &'a Value,
    expected: &'a Value,
    path: &mut String,
) -> (Option<&'a Value>, Option<&'a Value>) {
    let step = |name: &str, path: &mut String| {
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(name);
    };
    match (found, expected) {
        (Value::Object(a), Value::Object(b)) => {
            let mut keys = b.keys().chain(a.keys());
            let Some(key) = keys.find(|key| a.get(*key) != b.get(*key)) else {
                return (Some(found), Some(expected));
            };
            step(key, path);
            match (a.get(key), b.get(key)) {
                (Some(a), Some(b)) => first_difference(a, b, path),
                (a, b) => (a, b),
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let Some(at) = (0..a.len()).find(|at| a[*at] != b[*at]) else {
                return (Some(found), Some(expected));
            };
            step(&at.to_string(), path);
            first_difference(&a[at], &b[at], path)
        }
        _ => (Some(found), Some(expected)),
    }
}

#[cfg(test)]
mod tests;
