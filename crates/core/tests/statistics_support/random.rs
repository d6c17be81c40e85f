//! Random tournaments, on the real machine.

use agon_core::{
    Event, Fault, FaultKind, Faulted, GameEnd, GameResult, How, MatchResult, Millis, PlayerName,
    Policy, Preset, Raw, RoundRobin, Ruling, Secret, Ties, Timestamp, Tournament,
    TournamentCommand, TournamentId, TournamentOrder, TournamentPlan, Why,
};
use agon_games::{Luck, Registry, Seed};

pub(crate) fn name(text: &str) -> PlayerName {
    PlayerName::new(text).unwrap()
}

/// One event, with the stream it is from and when it was decided.
pub(crate) type Logged = (TournamentId, Timestamp, Event);

pub(crate) fn fault(player: &PlayerName, kind: FaultKind) -> Faulted {
    let fault = Fault::new(kind, "test", "for a test");
    Faulted { player: player.clone(), game: None, request: None, fault }
}

pub(crate) fn open(
    id: &str,
    policy: Policy,
    game: &str,
    players: &[PlayerName],
) -> (Tournament, Vec<Event>) {
    let registry = Registry::standard();
    let kind = registry.kind(game).unwrap();
    let preset = Preset::all().into_iter().find(|preset| preset.game == game).unwrap();
    let plan = TournamentPlan {
        id: TournamentId::from(id),
        preset: None,
        game: game.into(),
        config: Raw::parse(preset.config).unwrap(),
        policy,
        players: players.to_vec(),
    };
    Tournament::create(plan, kind.clone(), Secret::from_seed_number(1)).unwrap()
}

pub(crate) struct Dice(Luck, u32);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(Luck::new(&Seed::from_number(seed), "test"), 0)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.1 += 1;
        self.0.below(self.1, n as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

pub(crate) fn random_policy(dice: &mut Dice) -> (Policy, &'static str) {
    if dice.one_in(3) {
        return (Preset::named("fish").unwrap().policy, "fish");
    }
    let mut policy = Preset::named("yahtzee-class").unwrap().policy;
    policy.rules.best_of = 3;
    if dice.one_in(2) {
        policy.format = RoundRobin::default().into();
        policy.rules.ties = Ties::Share;
    }
    (policy, "yahtzee")
}

/// A tournament on the real machine, with random results: its events and itself.
pub(crate) fn random_tournament(id: &str, dice: &mut Dice) -> (Tournament, Vec<Event>) {
    let mut players: Vec<PlayerName> =
        ["ann", "bob", "cat", "dan", "eve", "fay"].iter().map(|text| name(text)).collect();
    players.rotate_left(dice.below(6));
    players.truncate(2 + dice.below(5));
    let (policy, game) = random_policy(dice);
    let ties = policy.rules.ties;
    let (mut tournament, mut events) = open(id, policy, game, &players);
    // Some are left running.
    let stop = if dice.one_in(3) { dice.below(12) } else { 1_000 };
    for _ in 0..stop {
        let asked = tournament.pending().into_iter().next();
        let matches: Vec<_> = tournament.open_matches().cloned().collect();
        let command = match asked {
            Some(pending) if dice.one_in(5) => {
                let kinds = [FaultKind::Cheat, FaultKind::NoShow, FaultKind::Timeout];
                let fault = Fault::new(kinds[dice.below(3)], "test", "for a test");
                TournamentCommand::Drop { player: pending.player, fault }
            }
            Some(pending) => {
                let answer = if pending.id.as_str().contains("start") { "true" } else { "\"ok\"" };
                let (player, request) = (pending.player, pending.id);
                TournamentCommand::Answer { player, request, answer: answer.into() }
            }
            None if matches.is_empty() => break,
            None => {
                let plan = &matches[dice.below(matches.len())];
                let result = random_result(&plan.players, ties, dice);
                TournamentCommand::Report { id: plan.id.clone(), result, head: None }
            }
        };
        events.extend(tournament.step(command).unwrap());
        if dice.one_in(4) {
            interfere(&mut tournament, &mut events, dice);
        }
    }
    (tournament, events)
}

/// A pause with rulings by chance; those that are refused change nothing.
fn interfere(tournament: &mut Tournament, events: &mut Vec<Event>, dice: &mut Dice) {
    let ruling = Ruling { by: name("olga"), why: Why::new("by chance").unwrap() };
    let mut order = |tournament: &mut Tournament, order| {
        let ruling = ruling.clone();
        let stepped = tournament.step(TournamentCommand::Order { order, ruling });
        events.extend(stepped.unwrap_or_default());
    };
    order(tournament, TournamentOrder::Pause);
    for _ in 0..dice.below(5) {
        let Some(round) = tournament.rounds().last() else { break };
        if round.matches.is_empty() {
            break;
        }
        let plan = round.matches[dice.below(round.matches.len())].clone();
        let id = plan.id;
        let one = match dice.below(4) {
            0 => TournamentOrder::Replay { id },
            1 => TournamentOrder::Undo { id },
            _ => {
                let winners = plan.players.into_iter().filter(|_| dice.one_in(2)).collect();
                TournamentOrder::Override { id, winners }
            }
        };
        order(tournament, one);
    }
    order(tournament, TournamentOrder::Resume);
}

pub(crate) fn random_game(number: u32, players: &[PlayerName], dice: &mut Dice) -> GameResult {
    let count = players.len();
    let scores: Vec<i64> = (0..count).map(|_| dice.below(5) as i64 * 10).collect();
    let removed: Vec<bool> = (0..count).map(|_| count > 2 && dice.one_in(6)).collect();
    let mut ranks: Vec<Option<u8>> = (0..count)
        .map(|at| {
            let better = |other: &usize| !removed[*other] && scores[*other] > scores[at];
            (!removed[at]).then(|| 1 + (0..count).filter(better).count() as u8)
        })
        .collect();
    let mut end = GameEnd::Played;
    if count == 2 && dice.one_in(5) {
        let loser = dice.below(2);
        end = GameEnd::Forfeited { by: players[loser].clone() };
        ranks = (0..2).map(|at| (at != loser).then_some(1)).collect();
    } else if count == 2 && dice.one_in(8) {
        (end, ranks) = (GameEnd::Void, vec![None; 2]);
    }
    let winners = (0..count).filter(|at| ranks[*at] == Some(1)).map(|at| players[at].clone());
    let winners = winners.collect();
    GameResult {
        game: number,
        seats: players.to_vec(),
        end,
        scores,
        ranks,
        winners,
        luck: Vec::new(),
        voided: None,
    }
}

pub(crate) fn random_result(players: &[PlayerName], ties: Ties, dice: &mut Dice) -> MatchResult {
    let several = players.len() > 2;
    let games = if several { 1 } else { 1 + dice.below(4) as u32 };
    let games: Vec<GameResult> =
        (1..=games).map(|number| random_game(number, players, dice)).collect();
    let winner = players[dice.below(players.len())].clone();
    let mut out = Vec::new();
    let (how, winners) = match dice.below(10) {
        _ if several => {
            let failed = players.iter().zip(&games[0].ranks).filter(|(_, rank)| rank.is_none());
            out = failed.map(|(player, _)| player.clone()).collect();
            (How::Played, games[0].winners.clone())
        }
        0 => (How::Void, Vec::new()),
        1 => (How::NoShow, vec![winner]),
        2 => (How::Lot, vec![winner]),
        3 => {
            let lost = |player: &&PlayerName| **player != winner && dice.one_in(2);
            out = players.iter().filter(lost).cloned().collect();
            (How::Forfeit, vec![winner])
        }
        4 | 5 if ties == Ties::Share => (How::Played, players.to_vec()),
        _ => (How::Played, vec![winner]),
    };
    let mut faults = Vec::new();
    for player in players {
        if dice.one_in(6) {
            let kinds = [FaultKind::Cheat, FaultKind::Timeout, FaultKind::NoShow];
            faults.push(fault(player, kinds[dice.below(if several { 3 } else { 2 })]));
        }
    }
    let counts_from = if several { 1 } else { 1 + dice.below(2) as u32 };
    MatchResult { winners, how, halves: vec![0; players.len()], games, counts_from, faults, out }
}

pub(crate) type Stream = (TournamentId, Vec<(Timestamp, Event)>);

pub(crate) fn random_streams(dice: &mut Dice) -> (Vec<Tournament>, Vec<Stream>) {
    let count = 1 + dice.below(5);
    let tournaments = (0..count).map(|number| {
        let id = format!("t{number}");
        let (tournament, events) = random_tournament(&id, dice);
        let mut at = Timestamp::from_ms(dice.below(20) as u64);
        let events = events.into_iter().map(|event| {
            at += dice.below(3) as Millis;
            (at, event)
        });
        (tournament, (TournamentId::from(id), events.collect()))
    });
    tournaments.unzip()
}

/// All streams merged by chance, each in its own order.
pub(crate) fn merged(streams: &[Stream], dice: &mut Dice) -> Vec<Logged> {
    let mut rest: Vec<(&TournamentId, &[(Timestamp, Event)])> =
        streams.iter().map(|(id, events)| (id, &events[..])).collect();
    let mut log = Vec::new();
    while !rest.is_empty() {
        let at = dice.below(rest.len());
        match rest[at].1.split_first() {
            None => drop(rest.remove(at)),
            Some(((millis, event), left)) => {
                log.push((rest[at].0.clone(), *millis, event.clone()));
                rest[at].1 = left;
            }
        }
    }
    log
}

/// Shuffles what was reported within each round; times stay where they are.
pub(crate) fn shuffle_reports(events: &mut [(Timestamp, Event)], dice: &mut Dice) {
    let is_report = |event: &(Timestamp, Event)| matches!(event.1, Event::MatchReported(_));
    for run in events.chunk_by_mut(|one, other| is_report(one) && is_report(other)) {
        for last in (1..run.len()).rev() {
            let at = dice.below(last + 1);
            let (head, tail) = run.split_at_mut(last);
            if let Some(one) = head.get_mut(at) {
                std::mem::swap(&mut one.1, &mut tail[0].1);
            }
        }
    }
}
