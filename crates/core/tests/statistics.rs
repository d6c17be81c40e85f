//! Statistics: by hand on a small log, and against a recount from scratch on random ones.

mod statistics_support;

use agon_core::rating::Ranked;
use agon_core::statistics::{Meetings, PlayerTallies, Tally};
use agon_core::{
    ApplyError, Event, FaultKind, GameEnd, GameResult, How, MatchId, MatchResult, PlayerName,
    Policy, Preset, RatingSettings, RatingSystem, Secret, Statistics, Timestamp, Tournament,
    TournamentAborted, TournamentCommand, TournamentId,
};
use agon_games::Registry;
use proptest::prelude::*;
use statistics_support::random::{
    Dice, Logged, fault, merged, name, open, random_streams, random_tournament, shuffle_reports,
};
use statistics_support::recount::Recount;

fn fold<'a>(log: impl IntoIterator<Item = &'a Logged>) -> Statistics {
    let mut statistics = Statistics::new(&Registry::standard(), RatingSettings::default());
    for (tournament, at, event) in log {
        statistics.apply(tournament, *at, event).unwrap();
    }
    statistics
}

/// The ties directly before the games that count: the match restarted because of them.
fn replayed_ties(player: &PlayerName, result: &MatchResult) -> usize {
    if result.how == How::Void {
        return 0;
    }
    let before = result.games.iter().filter(|game| game.game < result.counts_from);
    let tied = |game: &GameResult| game.end == GameEnd::Played && game.winners.len() > 1;
    let run = before.rev().take_while(|game| tied(game));
    run.filter(|game| game.winners.contains(player)).count()
}

fn game(number: u32, seats: [&str; 2], end: GameEnd, scores: [i64; 2]) -> GameResult {
    let seats = seats.map(name).to_vec();
    let ranks: Vec<Option<u8>> = match &end {
        GameEnd::Void => vec![None, None],
        GameEnd::Forfeited { by } => seats.iter().map(|s| (s != by).then_some(1)).collect(),
        GameEnd::Played => {
            (0..2).map(|at| Some(1 + u8::from(scores[at] < scores[1 - at]))).collect()
        }
    };
    let winners = (0..2).filter(|at| ranks[*at] == Some(1)).map(|at| seats[at].clone()).collect();
    GameResult {
        game: number,
        seats,
        end,
        scores: scores.to_vec(),
        ranks,
        winners,
        luck: Vec::new(),
        voided: None,
    }
}

fn result(how: How, winners: &[&str], games: Vec<GameResult>, counts_from: u32) -> MatchResult {
    MatchResult {
        winners: winners.iter().map(|winner| name(winner)).collect(),
        how,
        halves: vec![0, 0],
        games,
        counts_from,
        faults: Vec::new(),
        out: Vec::new(),
    }
}

/// Four players in a bracket: ann–dan and bob–cat, then a final.
fn small_log() -> (Tournament, Vec<Event>) {
    small_log_under(Preset::named("yahtzee-class").unwrap().policy)
}

fn small_log_under(policy: Policy) -> (Tournament, Vec<Event>) {
    let players = ["ann", "bob", "cat", "dan"].map(name);
    let (mut cup, mut events) = open("cup", policy, "yahtzee", &players);
    let forfeited = |by: &str| GameEnd::Forfeited { by: name(by) };
    let discarded = game(1, ["ann", "dan"], GameEnd::Played, [400, 1]);
    let tied = game(2, ["ann", "dan"], GameEnd::Played, [200, 200]);
    let broken = game(3, ["ann", "dan"], GameEnd::Void, [0, 0]);
    let won = game(4, ["ann", "dan"], GameEnd::Played, [210, 190]);
    let mut first = result(How::Played, &["ann"], vec![discarded, tied, broken, won], 2);
    first.faults = vec![fault(&name("dan"), FaultKind::Cheat)];
    let second = result(How::NoShow, &["cat"], Vec::new(), 1);
    let given = game(1, ["ann", "cat"], forfeited("ann"), [0, 30]);
    let last = result(How::Forfeit, &["cat"], vec![given], 1);
    for (id, result) in [("r1m1", first), ("r1m2", second), ("r2m1", last)] {
        let report = TournamentCommand::Report { id: MatchId::from(id), result, head: None };
        events.extend(cup.step(report).unwrap());
    }
    (cup, events)
}

fn tally(won: u32, lost: u32, tied: u32) -> Tally {
    Tally { won, lost, tied }
}

#[test]
fn unrated_tournament_counts_and_rates_nobody() {
    let policy = Preset::named("yahtzee-class").unwrap().policy;
    let (_, rated) = small_log();
    let (_, unrated) = small_log_under(Policy { unrated: true, ..policy });
    let [rated, unrated] = [rated, unrated].map(|events| {
        let logged = events
            .into_iter()
            .map(|event| (TournamentId::from("cup"), Timestamp::default(), event));
        fold(&logged.collect::<Vec<Logged>>())
    });
    assert!(!rated.ranking("yahtzee").is_empty());
    assert!(unrated.ranking("yahtzee").is_empty());
    let games = |statistics: &Statistics| statistics.player(&name("ann")).total.games;
    assert_eq!(games(&unrated), games(&rated));
}

#[test]
fn a_small_tournament_by_hand() {
    let (cup, events) = small_log();
    assert!(cup.is_over());
    let id = TournamentId::from("cup");
    let log: Vec<Logged> =
        events.into_iter().map(|event| (id.clone(), Timestamp::from_ms(7), event)).collect();
    let statistics = fold(&log);
    let total = |player: &str| statistics.player(&name(player)).total;
    let blank = PlayerTallies { tournaments_played: 1, ..PlayerTallies::default() };
    let lost = tally(0, 1, 0);
    let ann = PlayerTallies {
        games: tally(1, 1, 1),
        matches: tally(1, 1, 0),
        tournaments: lost,
        games_forfeited: 1,
        matches_forfeited: 1,
        points: 410,
        ..blank
    };
    assert_eq!(total("ann"), ann);
    assert_eq!(
        total("bob"),
        PlayerTallies { matches: lost, tournaments: lost, no_shows: 1, ..blank }
    );
    let (games, matches, points) = (tally(1, 0, 0), tally(2, 0, 0), 30);
    assert_eq!(
        total("cat"),
        PlayerTallies { games, matches, tournaments: tally(1, 0, 0), points, ..blank }
    );
    let (games, points) = (tally(0, 1, 1), 390);
    assert_eq!(
        total("dan"),
        PlayerTallies {
            games,
            matches: lost,
            tournaments: lost,
            points,
            cheats: 1,
            faults: 1,
            ..blank
        }
    );
    let met = statistics.head_to_head(&name("dan"), &name("ann"));
    assert_eq!(met.total, Meetings { games: tally(0, 1, 1), matches: lost });
    assert_eq!(met.by_game["yahtzee"], met.total);
    assert_eq!(statistics.head_to_head(&name("bob"), &name("ann")).total, Meetings::default());
    let ranking = statistics.ranking("yahtzee");
    let order: Vec<&str> = ranking.iter().map(|ranked| ranked.player.as_str()).collect();
    assert_eq!(order, ["cat", "ann", "bob", "dan"]);
    let shown = serde_json::to_value(statistics.player(&name("cat"))).unwrap();
    assert_eq!(shown["by_game"]["yahtzee"]["rank"], 1);
    assert_eq!(shown["by_game"]["yahtzee"]["matches"]["won"], 2);
    assert_eq!(shown["total"]["tournaments_played"], 1);
}

#[test]
fn running_tournaments_are_played_and_rounds_are_rated_when_they_are_over() {
    let (_, events) = small_log();
    let id = TournamentId::from("cup");
    let mut statistics = fold(&[]);
    let running = |statistics: &Statistics| statistics.player(&name("ann")).total;
    for event in &events {
        let over = statistics.apply(&id, Timestamp::from_ms(7), event);
        assert_eq!(over, Ok(()));
        let total = running(&statistics);
        assert_eq!(total.tournaments_played, 1);
        let ended = matches!(event, Event::TournamentEnded(_));
        let Tally { won, lost, tied } = total.tournaments;
        assert_eq!(won + lost + tied, u32::from(ended));
        match event {
            Event::MatchReported(reported) if reported.id == MatchId::of(1, 1) => {
                assert_eq!(statistics.ranking("yahtzee"), []);
            }
            Event::MatchReported(reported) if reported.id == MatchId::of(1, 2) => {
                assert_eq!(statistics.ranking("yahtzee").len(), 4);
            }
            _ => {}
        }
    }
    let unknown = statistics.player(&name("zoe"));
    assert_eq!((unknown.total, unknown.by_game.len()), (PlayerTallies::default(), 0));
}

#[test]
fn a_tournament_that_was_called_off_was_not_played() {
    let (_, events) = small_log();
    let id = TournamentId::from("cup");
    let secret = Secret::from_seed_number(1);
    let aborted = TournamentAborted { reason: "test".into(), secret, head: None }.into();
    let statistics = fold(&[
        (id.clone(), Timestamp::from_ms(1), events[0].clone()),
        (id, Timestamp::from_ms(2), aborted),
    ]);
    assert_eq!(statistics.player(&name("ann")).total, PlayerTallies::default());
}

#[test]
fn events_that_do_not_fit_change_nothing() {
    let (_, events) = small_log();
    let id = TournamentId::from("cup");
    let mut statistics = fold(&[]);
    for event in &events {
        let early = statistics.apply(&TournamentId::from("other"), Timestamp::default(), event);
        let created = matches!(event, Event::TournamentCreated(_));
        if !created && !matches!(event, Event::RoundsEnded(_)) {
            assert!(matches!(early, Err(ApplyError::NotATournament(_))), "{}", event.tag());
        }
        if created {
            statistics = fold(&[]);
        }
        statistics.apply(&id, Timestamp::default(), event).unwrap();
        let before = statistics.player(&name("ann"));
        if !matches!(event, Event::RoundsEnded(_)) {
            assert!(
                statistics.apply(&id, Timestamp::default(), event).is_err(),
                "{} twice",
                event.tag()
            );
        }
        assert_eq!(statistics.player(&name("ann")), before, "{} twice", event.tag());
    }
}

fn bits(ranking: Vec<Ranked>) -> Vec<(PlayerName, u32, u64, u64)> {
    let all = ranking.into_iter().map(|ranked| {
        let rating = &ranked.rating;
        (ranked.player, ranked.rank, rating.value.to_bits(), rating.deviation.to_bits())
    });
    all.collect()
}

const GAMES: [(&str, RatingSystem); 2] =
    [("yahtzee", RatingSystem::Glicko2), ("fish", RatingSystem::WengLin)];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn the_fold_equals_a_recount_in_any_interleaving(seed in any::<u64>()) {
        let mut dice = Dice::new(seed);
        let (_, streams) = random_streams(&mut dice);
        let recount = Recount::of(&streams);
        let statistics = fold(&merged(&streams, &mut dice));
        for player in statistics.players() {
            let own = statistics.player(player);
            prop_assert_eq!(own.total, recount.record(player, None), "{}", player);
            for (game, of_game) in &own.by_game {
                prop_assert_eq!(of_game.record, recount.record(player, Some(game)), "{}", player);
            }
            let others = statistics.players().filter(|other| *other != player);
            let met = others.filter(|o| !statistics.head_to_head(player, o).by_game.is_empty());
            prop_assert_eq!(statistics.opponents(player), met.collect::<Vec<_>>());
            for other in statistics.players().filter(|other| *other != player) {
                let met = statistics.head_to_head(player, other);
                for (game, _) in GAMES {
                    let met = met.by_game.get(game).copied().unwrap_or_default();
                    let Meetings { games, matches } = met;
                    prop_assert_eq!(games, recount.meetings(player, other, game, "game"));
                    prop_assert_eq!(matches, recount.meetings(player, other, game, "match"));
                }
            }
        }
        for (game, system) in GAMES {
            let ranking = statistics.ranking(game);
            prop_assert_eq!(bits(ranking.clone()), bits(recount.ranking(game, system)));
            for ranked in &ranking {
                let own = statistics.player(&ranked.player).by_game[game];
                prop_assert_eq!((own.rank, own.rating), (Some(ranked.rank), Some(ranked.rating)));
            }
        }
    }

    #[test]
    fn the_order_of_reports_within_a_round_changes_not_one_bit(seed in any::<u64>()) {
        let mut dice = Dice::new(seed);
        let (_, mut streams) = random_streams(&mut dice);
        let one = fold(&merged(&streams, &mut dice));
        for (_, events) in &mut streams {
            shuffle_reports(events, &mut dice);
        }
        let other = fold(&merged(&streams, &mut dice));
        for player in one.players() {
            prop_assert_eq!(one.player(player), other.player(player));
        }
        for (game, _) in GAMES {
            prop_assert_eq!(bits(one.ranking(game)), bits(other.ranking(game)));
        }
    }

    #[test]
    fn asking_on_the_way_changes_nothing(seed in any::<u64>()) {
        let mut dice = Dice::new(seed);
        let (_, streams) = random_streams(&mut dice);
        let log = merged(&streams, &mut dice);
        let mut asked = fold(&[]);
        for (tournament, at, event) in &log {
            asked.apply(tournament, *at, event).unwrap();
            for (game, _) in GAMES {
                asked.ranking(game);
            }
        }
        for (game, _) in GAMES {
            prop_assert_eq!(bits(asked.ranking(game)), bits(fold(&log).ranking(game)));
        }
    }

    #[test]
    fn the_fold_agrees_with_the_tournaments_own_standings(seed in any::<u64>()) {
        let mut dice = Dice::new(seed);
        let (tournament, events) = random_tournament("t", &mut dice);
        let id = TournamentId::from("t");
        let at = Timestamp::default();
        let log: Vec<Logged> = events.into_iter().map(|event| (id.clone(), at, event)).collect();
        let statistics = fold(&log);
        let results = tournament.results();
        let byes = || results.rounds.iter().flat_map(|round| &round.byes);
        for summary in &results.standings {
            let player = &summary.player;
            let total = statistics.player(player).total;
            let PlayerTallies { games, matches, points, cheats, .. } = total;
            let walked = byes().filter(|bye| bye.walkover.is_some());
            let gifts = walked.clone().filter(|bye| bye.player.as_ref() == Some(player)).count();
            let misses = walked.filter(|bye| bye.walkover.as_ref() == Some(player)).count();
            prop_assert_eq!(matches.won + gifts as u32, summary.matches_won);
            prop_assert_eq!(matches.lost + misses as u32, summary.matches_lost);
            prop_assert_eq!(matches.tied, summary.matches_drawn);
            prop_assert_eq!(games.won, summary.games_won);
            prop_assert_eq!(games.lost, summary.games_lost);
            let matches = results.rounds.iter().flat_map(|round| &round.matches);
            let replayed: usize = matches.map(|report| replayed_ties(player, &report.result)).sum();
            prop_assert_eq!(games.tied, summary.games_tied + replayed as u32);
            prop_assert_eq!(points, summary.points);
            let caught = summary.faults.iter().filter(|(_, faulted)| faulted.fault.is_cheat());
            prop_assert_eq!(cheats as usize, caught.count());
        }
    }

    #[test]
    fn in_games_of_two_every_win_is_a_loss(seed in any::<u64>()) {
        let mut dice = Dice::new(seed);
        let (_, streams) = random_streams(&mut dice);
        let statistics = fold(&merged(&streams, &mut dice));
        let of_two = |player| statistics.player(player).by_game.get("yahtzee").copied();
        let (mut games, mut matches) = ([0; 3], [0; 3]);
        for player in statistics.players() {
            let Some(own) = of_two(player) else { continue };
            let tallies = [(&mut games, own.record.games), (&mut matches, own.record.matches)];
            for (sum, Tally { won, lost, tied }) in tallies {
                for (sum, more) in sum.iter_mut().zip([won, lost, tied]) {
                    *sum += more;
                }
            }
            let mut met = Meetings::default();
            for other in statistics.players().filter(|other| *other != player) {
                let mirrored = statistics.head_to_head(other, player).total;
                let theirs = statistics.head_to_head(player, other);
                let Tally { won, lost, tied } = theirs.total.games;
                prop_assert_eq!(mirrored.games, Tally { won: lost, lost: won, tied });
                let Some(theirs) = theirs.by_game.get("yahtzee") else { continue };
                met.matches.won += theirs.matches.won;
                met.matches.lost += theirs.matches.lost;
                met.matches.tied += theirs.matches.tied;
            }
            prop_assert_eq!(met.matches, own.record.matches);
        }
        prop_assert_eq!(games[0], games[1]);
        prop_assert_eq!(matches[0], matches[1]);
        prop_assert!(games[2] % 2 == 0 && matches[2] % 2 == 0);
    }
}
