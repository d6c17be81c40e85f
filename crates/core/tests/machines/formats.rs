//! Formats by data: who meets whom, why, and who wins.

use crate::support::plan::{name, names, numbered, of_preset};
use agon_core::{
    Event, Fault, FaultKind, Format, GameEnd, GameResult, How, MatchResult, Pairing, PlayerName,
    Secret, Stage, Stages, Ties, Tournament, TournamentCommand, TournamentPlan,
    TournamentRejection,
};
use agon_games::yahtzee::Yahtzee;
use agon_games::{Game, Registry};
use proptest::prelude::*;

/// A tournament of a format as people write it.
pub(crate) fn plan(format: &str, players: usize) -> TournamentPlan {
    let mut plan = of_preset("yahtzee-class", "", numbered(players));
    plan.policy.format = Format::read(format, &(2..=2)).expect("a format");
    plan.policy.format.rules().adapt(&mut plan.policy.rules);
    plan
}

pub(crate) fn make(plan: TournamentPlan) -> Tournament {
    let games = Registry::standard();
    let kind = games.kind(&plan.game).expect("a game").clone();
    Tournament::create(plan, kind, Secret::from_seed_number(2)).expect("a sound plan").0
}

pub(crate) fn won(winners: Vec<PlayerName>) -> MatchResult {
    let how = if winners.is_empty() { How::Void } else { How::Played };
    let (games, faults, out) = (Vec::new(), Vec::new(), Vec::new());
    MatchResult { winners, how, halves: vec![0; 2], games, counts_from: 1, faults, out }
}

/// Reports results for the whole open round: of each match, the first of `better` who plays in it.
fn play_round(tournament: &mut Tournament, better: &[&str]) {
    let better = names(better);
    let open: Vec<_> = tournament.open_matches().cloned().collect();
    for plan in open {
        let winner = better.iter().find(|player| plan.players.contains(player));
        let winner = winner.unwrap_or(&plan.players[0]).clone();
        report(tournament, plan.id.as_str(), vec![winner]);
    }
}

fn report(tournament: &mut Tournament, id: &str, winners: Vec<PlayerName>) {
    let command = TournamentCommand::Report { id: id.into(), result: won(winners), head: None };
    tournament.step(command).expect("an open match");
}

fn withdraw(tournament: &mut Tournament, player: &str) {
    let fault = Fault::new(FaultKind::Withdrew, "withdrew", "went home");
    tournament.step(TournamentCommand::Drop { player: name(player), fault }).expect("a player");
}

/// The latest round: matches as `r1m1 p1 p2`, then byes as `p3`.
fn latest(tournament: &Tournament) -> Vec<String> {
    let round = tournament.rounds().last().expect("a round");
    let matches = round.matches.iter().map(|plan| {
        let players: Vec<&str> = plan.players.iter().map(PlayerName::as_str).collect();
        format!("{} {}", plan.id, players.join(" "))
    });
    let byes = round.byes.iter().filter_map(|bye| bye.player.as_ref().map(PlayerName::to_string));
    matches.chain(byes).collect()
}

/// The reasons of the latest round, in the same order.
fn reasons(tournament: &Tournament) -> Vec<String> {
    let round = tournament.rounds().last().expect("a round");
    let matches = round.matches.iter().map(|plan| plan.reason.clone());
    matches.chain(round.byes.iter().map(|bye| bye.reason.clone())).collect()
}

/// The standings as `1 p1`.
fn ranks(tournament: &Tournament) -> Vec<String> {
    let standings = tournament.results().standings;
    standings.iter().map(|one| format!("{} {}", one.rank, one.player)).collect()
}

/// The shown numbers of one player: `score 4, buchholz 6`.
fn shown(tournament: &Tournament, player: &str) -> String {
    let standings = tournament.results().standings;
    let own = standings.into_iter().find(|one| one.player == name(player)).expect("a player");
    let values = own.tie_breaks.into_iter().map(|one| format!("{} {}", one.by, one.value));
    values.collect::<Vec<_>>().join(", ")
}

const BY_NUMBER: [&str; 8] = ["p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8"];

#[test]
fn swiss_pairs_the_upper_half_with_the_lower_half_and_then_equal_scores() {
    let mut swiss = make(plan("swiss", 8));
    assert_eq!(latest(&swiss), ["r1m1 p1 p5", "r1m2 p6 p2", "r1m3 p3 p7", "r1m4 p8 p4"]);
    assert_eq!(reasons(&swiss)[0], "round 1 of 3: both have 0 points");
    play_round(&mut swiss, &BY_NUMBER);
    let scores: Vec<String> = reasons(&swiss);
    assert_eq!(scores[0], "round 2 of 3: both have 2 points");
    assert_eq!(scores[3], "round 2 of 3: both have 0 points");
    play_round(&mut swiss, &BY_NUMBER);
    play_round(&mut swiss, &BY_NUMBER);
    assert!(swiss.is_over());
    assert_eq!(swiss.winners(), [name("p1")]);
    assert!(shown(&swiss, "p1").starts_with("score 6, buchholz "), "{}", shown(&swiss, "p1"));
}

#[test]
fn swiss_gives_the_bye_to_a_player_with_few_points_and_only_once() {
    let mut swiss = make(plan("swiss:rounds=5", 5));
    let mut idle = Vec::new();
    while !swiss.is_over() {
        let round = swiss.rounds().last().expect("a round");
        idle.push(round.byes[0].player.clone().expect("a player"));
        assert!(round.byes[0].reason.starts_with("5 players: one sits out; "), "{round:?}");
        play_round(&mut swiss, &BY_NUMBER);
    }
    idle.sort();
    assert_eq!(idle, numbered(5), "everybody sits out once in five rounds");
}

#[test]
fn swiss_says_when_a_rematch_cannot_be_avoided() {
    let mut swiss = make(plan("swiss:rounds=2", 2));
    play_round(&mut swiss, &["p1"]);
    assert_eq!(latest(&swiss).len(), 1);
    let reason = &reasons(&swiss)[0];
    assert!(reason.ends_with("since a round without rematches is impossible"), "{reason}");
    let seats: Vec<_> =
        swiss.rounds().iter().map(|round| round.matches[0].players[0].clone()).collect();
    assert_ne!(seats[0], seats[1], "the players exchange seats");
}

#[test]
fn withdrawn_players_are_not_paired_again_in_a_swiss_tournament() {
    let mut swiss = make(plan("swiss:rounds=3", 6));
    withdraw(&mut swiss, "p2");
    play_round(&mut swiss, &BY_NUMBER);
    let paired = latest(&swiss);
    assert!(!paired.join(" ").contains("p2"), "{paired:?}");
    assert_eq!(paired.len(), 3, "two matches and a bye: {paired:?}");
}

#[test]
fn tables_of_four_in_a_swiss_tournament_count_opponents_who_were_beaten() {
    let mut plan = of_preset("fish", "", numbered(9));
    plan.policy.format = Format::read("swiss:min=3,max=4,rounds=2", &(2..=4)).unwrap();
    plan.policy.greeting = agon_core::Greeting::None;
    plan.policy.farewell = agon_core::Farewell::None;
    let mut swiss = make(plan);
    assert_eq!(latest(&swiss), ["r1m1 p1 p4 p7", "r1m2 p2 p5 p8", "r1m3 p3 p6 p9"]);
    play_round(&mut swiss, &["p1", "p2", "p3"]);
    // The winners beat two opponents; the others share a place, so each has one point.
    assert!(shown(&swiss, "p1").starts_with("score 4,"), "{}", shown(&swiss, "p1"));
    assert!(shown(&swiss, "p9").starts_with("score 1,"), "{}", shown(&swiss, "p9"));
    let second = latest(&swiss);
    let met: Vec<Vec<&str>> = second.iter().map(|line| line.split(' ').skip(1).collect()).collect();
    for table in [["p1", "p4", "p7"], ["p2", "p5", "p8"], ["p3", "p6", "p9"]] {
        let again = |own: &Vec<&str>| own.iter().filter(|one| table.contains(one)).count();
        assert!(met.iter().all(|own| again(own) < 2), "a rematch in {second:?}");
    }
}

#[test]
fn double_elimination_takes_two_losses_from_everybody_but_the_winner() {
    let mut cup = make(plan("double-elimination", 4));
    assert_eq!(latest(&cup), ["r1m1 p1 p4", "r1m2 p2 p3"]);
    play_round(&mut cup, &BY_NUMBER);
    assert_eq!(latest(&cup), ["r2m1 p1 p2", "r2m2 p4 p3"]);
    assert_eq!(
        reasons(&cup),
        [
            "the final of the winners' bracket: two players without a loss",
            "losers' bracket, round 1: two players with one loss"
        ]
    );
    play_round(&mut cup, &BY_NUMBER);
    assert_eq!(cup.departures(|_| false), [(name("p4"), 4)]);
    assert_eq!(latest(&cup), ["r3m1 p3 p2"]);
    play_round(&mut cup, &BY_NUMBER);
    assert_eq!(latest(&cup), ["r4m1 p1 p2"]);
    play_round(&mut cup, &["p2"]);
    assert_eq!(reasons(&cup), ["the second final: both players have lost once"]);
    play_round(&mut cup, &["p2"]);
    assert_eq!(cup.winners(), [name("p2")]);
    assert_eq!(ranks(&cup), ["1 p2", "2 p1", "3 p3", "4 p4"]);
}

#[test]
fn double_elimination_of_every_size_is_played_to_its_final() {
    for players in 2..=40 {
        for best in [1, players / 2 + 1, players] {
            let mut cup = make(plan("double-elimination", players));
            let better: Vec<String> =
                (0..players).map(|at| format!("p{}", (best - 1 + at) % players + 1)).collect();
            let better: Vec<&str> = better.iter().map(String::as_str).collect();
            while !cup.is_over() {
                play_round(&mut cup, &better);
            }
            let what = format!("{players} players, p{best} is the best");
            assert_eq!(cup.winners(), [name(better[0])], "{what}");
            let mut losses = vec![0; players];
            for round in cup.rounds() {
                for (plan, result) in round.matches.iter().zip(&round.results) {
                    let winners = &result.as_ref().expect("a result").winners;
                    for loser in plan.players.iter().filter(|player| !winners.contains(player)) {
                        let at = better.iter().position(|one| *one == loser.as_str());
                        losses[at.expect("a player")] += 1;
                    }
                }
            }
            let expected: Vec<i32> = (0..players).map(|at| if at == 0 { 0 } else { 2 }).collect();
            assert_eq!(losses, expected, "{what}");
        }
    }
}

#[test]
fn double_elimination_without_a_reset_ends_with_the_first_final() {
    let mut cup = make(plan("double-elimination:reset=false", 2));
    play_round(&mut cup, &["p1"]);
    assert_eq!(latest(&cup), ["r2m1 p1 p2"]);
    play_round(&mut cup, &["p2"]);
    assert_eq!((cup.is_over(), cup.winners()), (true, &[name("p2")][..]));
}

#[test]
fn a_player_who_withdraws_from_a_double_elimination_leaves_a_bye() {
    let mut cup = make(plan("double-elimination", 4));
    report(&mut cup, "r1m1", names(&["p1"]));
    withdraw(&mut cup, "p4");
    report(&mut cup, "r1m2", names(&["p2"]));
    assert_eq!(latest(&cup), ["r2m1 p1 p2", "p3"]);
    assert_eq!(
        reasons(&cup)[1],
        "losers' bracket, round 1: no player advanced from the other side"
    );
    play_round(&mut cup, &BY_NUMBER);
    assert_eq!(latest(&cup), ["r3m1 p3 p2"]);
}

#[test]
fn a_third_place_match_accompanies_the_final_and_decides_the_ranks() {
    let mut cup = make(plan("bracket:third_place=true", 4));
    play_round(&mut cup, &BY_NUMBER);
    assert_eq!(cup.departures(|_| false), [], "the losers of the semi-finals play again");
    assert_eq!(latest(&cup), ["r2m1 p1 p2", "r2m2 p4 p3"]);
    assert_eq!(reasons(&cup)[1], "third place: the losers of the semi-finals");
    report(&mut cup, "r2m2", names(&["p4"]));
    let gone = cup.departures(|_| false);
    assert_eq!(gone, [(name("p4"), 3), (name("p3"), 4)]);
    report(&mut cup, "r2m1", names(&["p2"]));
    assert_eq!(ranks(&cup), ["1 p2", "2 p1", "3 p4", "4 p3"]);
}

#[test]
fn a_semi_final_loser_alone_is_third_without_a_match() {
    let mut cup = make(plan("bracket:third_place=true", 4));
    report(&mut cup, "r1m1", names(&["p1"]));
    withdraw(&mut cup, "p4");
    report(&mut cup, "r1m2", names(&["p2"]));
    assert_eq!(latest(&cup), ["r2m1 p1 p2", "p3"]);
    play_round(&mut cup, &BY_NUMBER);
    assert_eq!(ranks(&cup), ["1 p1", "2 p2", "3 p3", "4 p4"]);
}

#[test]
fn a_round_robin_of_two_cycles_exchanges_seats() {
    let mut league = make(plan("round-robin:cycles=2", 3));
    let mut seats = Vec::new();
    while !league.is_over() {
        seats.extend(league.rounds().last().expect("a round").matches[0].players.clone());
        play_round(&mut league, &BY_NUMBER);
    }
    let pairs: Vec<String> =
        seats.chunks(2).map(|pair| format!("{} {}", pair[0], pair[1])).collect();
    assert_eq!(pairs, ["p2 p3", "p1 p2", "p1 p3", "p3 p2", "p2 p1", "p3 p1"]);
    let last = &league.rounds()[5].matches[0].reason;
    assert_eq!(last, "everybody meets everybody: cycle 2 of 2, round 3 of 3");
}

#[test]
fn tie_breaks_decide_in_their_order_and_are_shown() {
    // p1 beats p2 and p4, p2 beats p3 and p4, p3 beats p1 and p4: the first three are equal.
    let wins = [("p1", "p2"), ("p1", "p4"), ("p2", "p3"), ("p2", "p4"), ("p3", "p1"), ("p3", "p4")];
    let by = |text: &str| {
        let mut league = make(plan(&format!("round-robin:tie_breaks={text}"), 4));
        while !league.is_over() {
            for plan in league.open_matches().cloned().collect::<Vec<_>>() {
                let has = |player: &str| plan.players.contains(&name(player));
                let (winner, _) = wins.iter().find(|(w, l)| has(w) && has(l)).expect("a result");
                report(&mut league, plan.id.as_str(), names(&[winner]));
            }
        }
        league
    };
    let league = by("head-to-head");
    assert_eq!(league.results(), by("[\"head-to-head\"]").results(), "as in a policy");
    assert_eq!(shown(&league, "p1"), "score 4, head-to-head 2");
    assert_eq!(league.winners().len(), 3, "they beat each other in a circle");
    let league = by("buchholz+sonneborn-berger");
    assert_eq!(shown(&league, "p1"), "score 4, buchholz 8, sonneborn-berger 8");
    assert_eq!(shown(&league, "p4"), "score 0, buchholz 12, sonneborn-berger 0");
}

#[test]
fn luck_adjusted_points_break_ties_and_are_shown() {
    let plan = plan("groups:size=3,tie_breaks=luck-adjusted", 3);
    let unmeasured = Registry::standard().kind("yahtzee").expect("a game").clone();
    let refused = Tournament::create(plan.clone(), unmeasured, Secret::from_seed_number(2));
    let why = refused.expect_err("nobody can measure the luck").to_string();
    assert!(why.starts_with("the luck of yahtzee with this configuration cannot be"), "{why}");
    let games = Registry::standard().with_luck::<Yahtzee>(|_, game| Some(vec![0; game.seats()]));
    let kind = games.kind("yahtzee").expect("a game").clone();
    let mut group = Tournament::create(plan, kind, Secret::from_seed_number(2)).expect("a plan").0;
    // Each player wins once and has a bye. p1 has the most points, and p3 has the worst luck.
    let points = [("p1", 300, 50), ("p2", 250, 10), ("p3", 240, -5)];
    while !group.is_over() {
        for plan in group.open_matches().cloned().collect::<Vec<_>>() {
            assert!(plan.rules.measure_luck, "the matches measure luck");
            let of =
                |player: &PlayerName| *points.iter().find(|one| one.0 == player.as_str()).unwrap();
            let own: Vec<_> = plan.players.iter().map(of).collect();
            let beats = [("p1", "p2"), ("p2", "p3"), ("p3", "p1")];
            let has = |one: &str| own.iter().any(|(name, ..)| *name == one);
            let (winner, _) = beats.iter().find(|(one, other)| has(one) && has(other)).unwrap();
            let mut result = won(names(&[winner]));
            result.games.push(GameResult {
                game: 1,
                seats: plan.players.clone(),
                end: GameEnd::Played,
                scores: own.iter().map(|(_, points, _)| *points).collect(),
                ranks: vec![None; 2],
                winners: names(&[winner]),
                luck: own.iter().map(|(.., luck)| *luck).collect(),
                voided: None,
            });
            group.step(TournamentCommand::Report { id: plan.id, result, head: None }).unwrap();
        }
    }
    assert_eq!(shown(&group, "p1"), "place-in-group 1, score 4, luck-adjusted 500");
    assert_eq!(shown(&group, "p3"), "place-in-group 2, score 4, luck-adjusted 490");
    assert_eq!(ranks(&group), ["1 p1", "2 p3", "3 p2"]);
}

#[test]
fn a_gauntlet_pairs_the_challenger_with_everybody_else() {
    let mut gauntlet = make(plan("gauntlet", 4));
    let mut rounds = Vec::new();
    while !gauntlet.is_over() {
        rounds.extend(latest(&gauntlet));
        play_round(&mut gauntlet, &["p2", "p1"]);
    }
    assert_eq!(rounds, ["r1m1 p1 p2", "r2m1 p1 p3", "r3m1 p1 p4"]);
    assert_eq!(ranks(&gauntlet), ["1 p2", "2 p1", "3 p3", "3 p4"]);
    assert!(shown(&gauntlet, "p1").starts_with("score-per-thousand 666,"));
}

#[test]
fn groups_are_dealt_back_and_forth_and_each_has_a_winner() {
    let mut groups = make(plan("groups:size=3", 6));
    assert_eq!(latest(&groups), ["r1m1 p4 p5", "r1m2 p3 p6", "p1", "p2"]);
    assert_eq!(reasons(&groups)[0], "group A: everybody meets everybody: round 1 of 3");
    assert_eq!(reasons(&groups)[3], "group B: 3 players: one sits out each round");
    while !groups.is_over() {
        play_round(&mut groups, &BY_NUMBER);
    }
    assert_eq!(groups.winners(), names(&["p1", "p2"]));
    assert_eq!(ranks(&groups), ["1 p1", "1 p2", "3 p3", "3 p4", "5 p5", "5 p6"]);
    assert!(shown(&groups, "p3").starts_with("place-in-group 2, score 4,"));
}

#[test]
fn the_best_of_the_groups_enter_the_bracket_by_rank() {
    let mut cup = make(plan("groups:size=3 -> top 4", 6));
    for _ in 0..3 {
        play_round(&mut cup, &BY_NUMBER);
    }
    assert_eq!(latest(&cup), ["r4m1 p1 p3", "r4m2 p2 p4"]);
    let stage = cup.rounds()[3].stage.as_ref().expect("a stage");
    assert_eq!((stage.number, &stage.players), (2, &names(&["p1", "p2", "p4", "p3"])));
    // Nobody meets a player of the same group at once: p4 was second in the group of p1.
    assert_eq!(cup.departures(|_| false), [(name("p5"), 5), (name("p6"), 5)]);
    play_round(&mut cup, &["p3", "p2"]);
    assert_eq!(reasons(&cup), ["the final: the players who advanced from r4m1 and r4m2"]);
    play_round(&mut cup, &["p3"]);
    assert_eq!(cup.winners(), names(&["p3"]));
    assert_eq!(ranks(&cup), ["1 p3", "2 p2", "3 p1", "3 p4", "5 p5", "5 p6"]);
}

#[test]
fn a_withdrawal_in_the_second_stage_does_not_change_who_entered_it() {
    let mut cup = make(plan("swiss:rounds=2 -> top 4", 6));
    play_round(&mut cup, &BY_NUMBER);
    play_round(&mut cup, &BY_NUMBER);
    let entered = cup.rounds()[2].stage.as_ref().expect("a stage").players.clone();
    withdraw(&mut cup, entered[1].as_str());
    play_round(&mut cup, &BY_NUMBER);
    let last = latest(&cup);
    assert!(!last.iter().any(|line| line.contains("p5") || line.contains("p6")), "{last:?}");
    while !cup.is_over() {
        play_round(&mut cup, &BY_NUMBER);
    }
    assert!(entered.contains(&cup.winners()[0]));
}

#[test]
fn an_arena_pairs_by_rating_until_its_time_ends() {
    let mut plan = plan("arena:rounds=50,play_ms=60000", 4);
    for (player, rating) in numbered(4).into_iter().zip([1_500, 1_900, 1_510, 1_890]) {
        plan.policy.ratings.insert(player, rating);
    }
    let mut arena = make(plan);
    let pairs = |arena: &Tournament| {
        let round = arena.rounds().last().expect("a round").clone();
        let pair = |plan: &agon_core::MatchPlan| {
            let mut players = plan.players.clone();
            players.sort();
            format!("{} {}", players[0], players[1])
        };
        round.matches.iter().map(pair).collect::<Vec<_>>()
    };
    assert_eq!(pairs(&arena), ["p2 p4", "p1 p3"]);
    assert_eq!(reasons(&arena)[0], "ratings 1900 and 1890");
    play_round(&mut arena, &BY_NUMBER);
    assert_ne!(pairs(&arena), ["p2 p4", "p1 p3"], "nobody meets the same opponent again at once");
    assert_eq!(arena.play_ms(), Some(60_000));
    let events = arena.step(TournamentCommand::EndPlayTime).expect("its time runs");
    assert_eq!(events.iter().map(Event::tag).collect::<Vec<_>>(), ["play-time-ended"]);
    let again = arena.step(TournamentCommand::EndPlayTime);
    assert_eq!(again, Err(TournamentRejection::NoPlayTime));
    play_round(&mut arena, &BY_NUMBER);
    assert!(arena.is_over(), "the round that was paired is the last");
}

#[test]
fn seeds_by_rating_put_the_highest_first_and_the_unrated_last() {
    let mut plan = plan("bracket", 4);
    plan.policy.pairing = Pairing::Rating;
    plan.policy.ratings.extend([(name("p4"), 1_800), (name("p2"), -5), (name("p3"), 1_800)]);
    assert_eq!(latest(&make(plan)), ["r1m1 p3 p1", "r1m2 p4 p2"]);
}

#[test]
fn formats_are_read_as_people_write_them() {
    let read = |text: &str| Format::read(text, &(2..=4));
    let json = |text: &str| serde_json::to_string(&read(text).expect("a format")).unwrap();
    assert_eq!(json("round-robin"), r#"{"kind":"round-robin"}"#);
    assert_eq!(json("round-robin: cycles=3"), r#"{"kind":"round-robin","cycles":3}"#);
    assert_eq!(json("bracket:third-place=true"), r#"{"kind":"bracket","third_place":true}"#);
    let stages = r#"{"kind":"stages","stages":[{"format":{"kind":"round-robin"}},{"format":{"kind":"bracket"},"players":8}]}"#;
    assert_eq!(json("round-robin → top 8"), stages);
    assert_eq!(json("round-robin -> top 8 bracket"), stages);
    let error = |text: &str| read(text).unwrap_err();
    assert!(error("chess").starts_with("there is no format \"chess\"; there are: bracket, "));
    assert_eq!(
        error("swiss:speed=3"),
        "swiss has no option speed; there are: max, min, rounds, tie_breaks"
    );
    assert_eq!(error("swiss:rounds"), "\"rounds\" is no option; write KEY=VALUE, such as rounds=7");
    assert!(error("swiss:rounds=many").contains("invalid type"), "{}", error("swiss:rounds=many"));
    assert!(error("swiss -> top x").contains("`top` needs a number"));
    assert!(error("round-robin:cycle=2").contains("there are: cycles, tie_breaks"));
}

#[test]
fn policies_with_contradictory_options_are_refused() {
    let check = |text: &str, ties: Ties| {
        let mut plan = plan("bracket", 4);
        plan.policy.rules.ties = ties;
        plan.policy.format = Format::read(text, &(2..=4)).expect("a format");
        plan.policy.check().expect_err("contradictory")
    };
    let replay = Ties::Replay;
    assert!(check("swiss:max=4", replay).contains("first places are shared"));
    assert!(check("swiss:rounds=0", replay).contains("1 to 1000 rounds"));
    assert!(check("swiss:tie_breaks=points+points", replay).contains("named twice"));
    assert!(check("double-elimination", Ties::Share).contains("one winner"));
    assert!(check("groups:size=1", replay).contains("2 to 1000 players"));
    assert!(check("gauntlet:challengers=0", replay).contains("challengers"));
    assert!(check("round-robin:cycles=0", replay).contains("1 to 1000 times"));
    assert!(check("arena:rounds=0", replay).contains("1 to 10000 rounds"));
    assert!(check("groups -> bracket", Ties::Share).starts_with("stage 2: "));
    assert!(check("groups -> top 1", replay).contains("at least 2 players"));
    assert!(check("swiss -> arena:play_ms=5", replay).contains("ends by time"));
}

#[test]
fn loser_of_a_running_round_ranks_behind_players_who_still_play() {
    let mut bracket = make(plan("bracket", 4));
    assert_eq!(latest(&bracket), ["r1m1 p1 p4", "r1m2 p2 p3"]);
    report(&mut bracket, "r1m1", names(&["p1"]));
    assert_eq!(ranks(&bracket), ["1 p1", "2 p2", "2 p3", "3 p4"]);
    report(&mut bracket, "r1m2", names(&["p3"]));
    assert_eq!(ranks(&bracket), ["1 p1", "1 p3", "3 p2", "3 p4"]);
    report(&mut bracket, "r2m1", names(&["p3"]));
    assert_eq!(ranks(&bracket), ["1 p3", "2 p1", "3 p2", "3 p4"]);
}

fn enter(tournament: &mut Tournament, player: &str) -> Result<Vec<String>, TournamentRejection> {
    let events = tournament.step(TournamentCommand::Enter { player: name(player) })?;
    Ok(events.iter().map(|event| event.tag().to_owned()).collect())
}

#[test]
fn player_who_enters_a_swiss_tournament_late_plays_from_the_next_round() {
    let mut swiss = make(plan("swiss:rounds=3", 4));
    play_round(&mut swiss, &BY_NUMBER);
    assert_eq!(enter(&mut swiss, "late").unwrap(), ["player-entered"]);
    assert_eq!(enter(&mut swiss, "late"), Err(TournamentRejection::Entered(name("late"))));
    assert!(!latest(&swiss).iter().any(|line| line.contains("late")), "the round goes on");
    play_round(&mut swiss, &BY_NUMBER);
    assert!(latest(&swiss).iter().any(|line| line.contains("late")), "{:?}", latest(&swiss));
    let closed = enter(&mut swiss, "later").unwrap_err().to_string();
    assert_eq!(closed, "nobody can enter any more: the last round has begun");
    play_round(&mut swiss, &["late", "p1", "p2", "p3", "p4"]);
    assert!(swiss.is_over());
    assert_eq!(swiss.results().standings.len(), 5);
    assert!(shown(&swiss, "late").starts_with("score 2, "), "{}", shown(&swiss, "late"));
}

#[test]
fn late_player_can_withdraw_and_does_not_enter_twice() {
    let mut arena = make(plan("arena:rounds=3", 4));
    assert_eq!(enter(&mut arena, "late").unwrap(), ["player-entered"]);
    withdraw(&mut arena, "late");
    assert_eq!(enter(&mut arena, "late"), Err(TournamentRejection::Entered(name("late"))));
    play_round(&mut arena, &BY_NUMBER);
    assert!(!latest(&arena).iter().any(|line| line.contains("late")));
}

#[test]
fn late_players_are_rejected_where_the_pairings_are_fixed() {
    for format in ["bracket", "round-robin", "double-elimination", "groups:size=2", "gauntlet"] {
        let mut cup = make(plan(format, 4));
        let rejected = enter(&mut cup, "late").unwrap_err();
        assert!(matches!(rejected, TournamentRejection::EntryClosed(_)), "{format}: {rejected}");
    }
}

#[test]
fn every_format_takes_players_while_it_greets_them() {
    for format in ["bracket", "round-robin", "swiss", "stages"] {
        let mut plan = plan(format, 4);
        plan.policy.greeting = agon_core::Greeting::Ready;
        let mut cup = make(plan);
        assert_eq!(enter(&mut cup, "p5").unwrap(), ["player-entered"], "{format}");
        let asked: Vec<PlayerName> = cup.pending().into_iter().map(|one| one.player).collect();
        assert_eq!(asked, numbered(5), "{format}");
        for pending in cup.pending() {
            let (player, request) = (pending.player, pending.id);
            let answer = TournamentCommand::Answer { player, request, answer: "true".into() };
            cup.step(answer).unwrap();
        }
        let paired: Vec<String> = latest(&cup);
        assert!(paired.iter().any(|line| line.contains("p5")), "{format}: {paired:?}");
    }
}

/// Formats without stages, with options inside and outside the usual ones.
fn any_format() -> impl Strategy<Value = Format> {
    let orders = vec!["[]", r#"["points"]"#, r#"["buchholz","head-to-head"]"#];
    let order = proptest::sample::select(orders);
    (0..10usize, 1u32..4, 2u32..5, any::<bool>(), order).prop_map(|(kind, n, max, flag, order)| {
        let rounds = if flag { n.to_string() } else { "null".into() };
        let text = match kind {
            0 => format!(r#"{{"kind":"bracket","slots":{},"third_place":{flag}}}"#, 1 << n),
            1 => r#"{"kind":"bracket"}"#.into(),
            2 => format!(r#"{{"kind":"knockout","min":2,"max":{max}}}"#),
            3 => format!(r#"{{"kind":"round-robin","cycles":{n},"tie_breaks":{order}}}"#),
            4 => format!(
                r#"{{"kind":"swiss","rounds":{rounds},"min":2,"max":{max},"tie_breaks":{order}}}"#
            ),
            5 => format!(r#"{{"kind":"double-elimination","reset":{flag}}}"#),
            6 => format!(r#"{{"kind":"groups","size":{max},"cycles":{n},"tie_breaks":{order}}}"#),
            7 => format!(r#"{{"kind":"gauntlet","challengers":{n},"cycles":{max}}}"#),
            8 => format!(r#"{{"kind":"arena","rounds":{n},"play_ms":{rounds}}}"#),
            _ => format!(
                r#"{{"kind":"until-sure","confidence":9{n},"places":{max},"matches_max":{n}}}"#
            ),
        };
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
    })
}

proptest! {
    #[test]
    fn format_is_read_back_from_its_text(
        stages in proptest::collection::vec((any_format(), proptest::option::of(2u32..9)), 1..4),
        most in 2usize..5,
    ) {
        let seats = 2..=most;
        let format: Format = match &stages[..] {
            [(only, _)] => only.clone(),
            several => {
                let stage = |(at, (format, players)): (usize, &(Format, Option<u32>))| Stage {
                    format: format.clone(),
                    players: players.filter(|_| at > 0),
                };
                Stages { stages: several.iter().enumerate().map(stage).collect() }.into()
            }
        };
        let text = format.text(&seats);
        prop_assert_eq!(Format::read(&text, &seats), Ok(format.clone()), "{}", text);
        let list = format!("bracket, {text},{text},swiss:rounds=2,max=4");
        let list = Format::read_list(&list, &seats).expect("a list");
        prop_assert_eq!(list.len(), 4, "{}", text);
        prop_assert_eq!((&list[1], &list[2]), (&format, &format));
    }
}

#[test]
fn text_of_a_format_names_only_unusual_options() {
    let seats = 2..=2;
    for text in [
        "bracket",
        "groups:size=3 -> bracket",
        "swiss:rounds=5 -> top 8",
        "round-robin:cycles=2,tie_breaks=buchholz+points -> top 4 swiss",
        "swiss:max=4",
    ] {
        assert_eq!(Format::read(text, &seats).expect("a format").text(&seats), text);
    }
}
