//! Properties of every tournament, however badly its players behave.

use crate::support::cases::cases;
use crate::support::chaos::Chaos;
use crate::support::plan::{numbered, of_preset};
use agon_bots::Dice;
use agon_core::lobby::Cheat;
use agon_core::{
    Bracket, Event, How, Line, Match, MatchId, MatchReplay, MatchResult, Pairing, PlayerName,
    Preset, RecoveredMatch, ReplayStep, Secret, Secrets, StreamEnd, Tournament, TournamentCommand,
};
use agon_games::Registry;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The formats of chaotic tournaments; the empty one is the preset's own.
const FORMATS: [&str; 14] = [
    "",
    "",
    "round-robin",
    "round-robin:cycles=2,tie_breaks=head-to-head+games",
    "bracket:third_place=true",
    "swiss",
    "double-elimination",
    "groups:size=3",
    "gauntlet:cycles=2",
    "arena:rounds=3",
    "groups:size=2 -> top 2",
    "swiss:rounds=2 -> top 3 double-elimination",
    "until-sure:confidence=80,places=1,matches_max=8",
    "swiss:min=2,max=4,rounds=3",
];

fn any_chaos() -> impl Strategy<Value = Chaos> {
    // The other presets are formats, which have a list of their own.
    let preset = proptest::sample::select(&Preset::NAMES[..5]);
    let best_of = proptest::sample::select(&[1, 3, 5][..]);
    let odd_in = proptest::sample::select(&[4, 12, 40, 150, 0][..]);
    let format = proptest::sample::select(&FORMATS[..]);
    let flags = (format, any::<bool>());
    let parts = (preset, flags, best_of, 1usize..7, 0u64..1_000_000, odd_in);
    parts.prop_map(|(preset, (format, ruled), best_of, players, seed, odd_in)| {
        // Yahtzee has two seats, and Fish up to four.
        let is_own = match format.contains("max=4") {
            true => preset == "fish",
            false => preset.starts_with("yahtzee"),
        };
        let format = if is_own { format } else { "" };
        Chaos { preset, format, best_of, players, seed, odd_in, ruled }
    })
}

proptest! {
    #![proptest_config(cases(48))]

    /// Inside the world every record is read back and applied to a shadow that must stay equal, and
    /// refused commands must change nothing. Here: it ends, its log folds from nothing to the same
    /// state, and it verifies.
    #[test]
    fn a_log_replays_and_verifies_whatever_players_do(chaos in any_chaos()) {
        let played = chaos.play();
        played.assert_verifies();
        let games = Registry::standard();
        let secret = Secret::from_seed_number(chaos.seed);
        for (name, lines) in &played.streams {
            let lines: Vec<Line> = lines.iter().map(|line| Line::read(line).unwrap()).collect();
            if name.starts_with("tournament/") {
                let folded = Tournament::fold(&lines, &games, None).unwrap();
                prop_assert!(folded.same_state(&played.tournament));
            } else {
                let id = MatchId::from(name.rsplit('/').next().unwrap());
                let secrets = Secrets::Known(secret.of_match(&id));
                let folded = Match::fold(&lines, &games, secrets).unwrap();
                let Some(Event::MatchEnded(ended)) = lines.last().map(|line| &line.event) else {
                    return Err(TestCaseError::fail("a match that does not end"));
                };
                prop_assert_eq!(folded.result(), Some(&ended.result));
            }
        }
    }

    /// Every step of a replay has the match as it folds from the events before, and with this one.
    /// A match that a start recovers is the folded one, and its stream ends where it was written.
    #[test]
    fn a_replay_and_a_recovery_agree_with_the_fold(chaos in any_chaos()) {
        let played = chaos.play();
        let games = Registry::standard();
        let secret = Secret::from_seed_number(chaos.seed);
        let matches = played.streams.iter().filter(|(name, _)| name.starts_with("match/"));
        for (name, texts) in matches {
            let lines: Vec<Line> = texts.iter().map(|line| Line::read(line).unwrap()).collect();
            let id = MatchId::from(name.rsplit('/').next().unwrap());
            let secrets = Secrets::Known(secret.of_match(&id));
            let mut replay = MatchReplay::new(&lines, &games, secrets.clone()).unwrap();
            let mut shadow = Match::fold(&lines[..1], &games, secrets.clone()).unwrap();
            let mut steps = 1;
            while let Some(step) = replay.step() {
                let ReplayStep { line, before, after } = step.unwrap();
                prop_assert!(before.same_state(&shadow));
                shadow.apply(line.at, &line.event).unwrap();
                prop_assert!(after.same_state(&shadow));
                steps += 1;
            }
            prop_assert_eq!(steps, lines.len());
            let recovered =
                RecoveredMatch::read(name, texts, &games, secrets.clone()).unwrap().unwrap();
            prop_assert!(recovered.played.same_state(&shadow));
            prop_assert_eq!(&recovered.end, &StreamEnd::of(name.as_str(), texts));
            prop_assert_eq!(Some(recovered.latest_at), lines.iter().map(|line| line.at).max());
            let cheats = Cheat::all(shadow.plan(), &lines).map(|(cheat, _)| cheat);
            prop_assert_eq!(recovered.cheats, cheats.collect::<Vec<_>>());
            // A recovery trusts the draws of a log, as long as they are JSON.
            let drew = |line: &Line| match &line.event {
                Event::AnswerAccepted(accepted) => accepted.drawn.is_some(),
                _ => false,
            };
            let Some(at) = lines.iter().position(drew) else { continue };
            let (before, rest) = texts[at].split_once(r#","drawn":"#).unwrap();
            let (_, took) = rest.rsplit_once(r#","took_ms":"#).unwrap();
            for (drawn, is_json) in [("[]", true), ("[", false)] {
                let mut texts = texts.clone();
                texts[at] = format!(r#"{before},"drawn":{drawn},"took_ms":{took}"#);
                let recovered = RecoveredMatch::read(name, &texts, &games, secrets.clone());
                prop_assert_eq!(recovered.is_ok(), is_json);
            }
        }
    }

    /// Until a game has ended its stream tells neither its secret nor its seed, and never those of
    /// the match; the tournament's own secret comes last.
    #[test]
    fn nothing_tells_the_luck_to_come(chaos in any_chaos()) {
        let played = chaos.play();
        let secret = Secret::from_seed_number(chaos.seed);
        for (name, lines) in &played.streams {
            let all = lines.len();
            let before_end = if name.starts_with("tournament/") { all - 1 } else { all };
            prop_assert!(lines[..before_end].iter().all(|line| !line.contains(&secret.hex())));
            let of_match = secret.of_match(&MatchId::from(name.rsplit('/').next().unwrap()));
            prop_assert!(lines.iter().all(|line| !line.contains(&of_match.hex())));
            let mut open: Option<[String; 2]> = None;
            for text in lines {
                let line = Line::read(text).unwrap();
                if let Event::GameStarted(started) = &line.event {
                    let luck = started.duplicate_of.unwrap_or(started.game);
                    let of_game = of_match.of_game(luck);
                    let id = MatchId::from(name.rsplit('/').next().unwrap());
                    let seed = of_game.game_seed(&"t".into(), &id, luck, &started.nonces);
                    let seed = seed.bytes().iter().map(|byte| format!("{byte:02x}")).collect();
                    open = Some([of_game.hex(), seed]);
                }
                // A duplicate game keeps its secret until the last game with the same luck.
                let reveals = match &line.event {
                    Event::GameEnded(ended) => ended.secret.is_some() || !chaos.is_duplicate(),
                    Event::MatchRestarted(restarted) => restarted.secret.is_some(),
                    Event::MatchEnded(_) => open.is_some(),
                    _ => false,
                };
                if reveals {
                    let [secret, _] = open.take().expect("a game was open");
                    prop_assert!(text.contains(&secret), "revealed at the end");
                }
                let hidden = open.iter().flatten().all(|hex| !text.contains(hex.as_str()));
                prop_assert!(hidden, "{name}: {text}");
            }
        }
    }
}

/// The coin's result for every match of a bracket.
fn by_coin(players: usize, pairing: Pairing) -> Tournament {
    let mut plan = of_preset("yahtzee-class", "", numbered(players));
    plan.policy.format = Bracket::default().into();
    plan.policy.pairing = pairing;
    let games = Registry::standard();
    let kind = games.kind("yahtzee").unwrap().clone();
    let secret = Secret::from_seed_number(players as u64);
    let (mut tournament, _) = Tournament::create(plan, kind, secret).unwrap();
    let mut coin = Dice::new("coin", &format!("{players} {pairing:?}"));
    loop {
        let Some(plan) = tournament.open_matches().next().cloned() else { return tournament };
        let winner = plan.players[coin.below(2)].clone();
        let result = MatchResult {
            winners: vec![winner],
            how: How::Played,
            halves: vec![0, 0],
            games: Vec::new(),
            counts_from: 1,
            faults: Vec::new(),
            out: Vec::new(),
        };
        tournament.step(TournamentCommand::Report { id: plan.id, result, head: None }).unwrap();
    }
}

#[test]
fn every_bracket_has_one_champion_one_bye_at_most_and_losers_that_lose_once() {
    for players in 1..=70 {
        for pairing in [Pairing::Order, Pairing::Seeded, Pairing::Random] {
            let tournament = by_coin(players, pairing);
            let context = format!("{players} players, {pairing:?}");
            assert!(tournament.is_over(), "{context}");
            assert_eq!(tournament.winners().len(), 1, "{context}");
            let rounds = tournament.rounds().len() as u32;
            assert_eq!(1 << rounds, players.next_power_of_two().max(2), "{context}");
            let mut seen: BTreeMap<PlayerName, u32> = BTreeMap::new();
            for one in tournament.results().standings {
                let champion = tournament.winners().contains(&one.player);
                assert!(one.byes <= 1, "{context}: {} has {} byes", one.player, one.byes);
                assert_eq!(one.matches_lost, u32::from(!champion), "{context}: {}", one.player);
                assert_eq!(one.matches_won + one.byes == rounds, champion, "{context}");
                *seen.entry(one.player).or_default() += 1;
            }
            assert_eq!(seen.len(), players, "{context}");
        }
    }
}
