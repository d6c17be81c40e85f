//! What everybody may see of tournaments and matches, as JSON.
//!
//! It answers for what stays hidden: of a game in progress only its public view is shown, and the
//! configuration of games (which may hold a deck or dice in order) only when all is over. Who has
//! answered and how often is not shown either: where players move at once, that is news to them.

use agon_core::{Match, Tournament, TournamentPlan};
use agon_games::Viewer;
use serde::Serialize;
use serde_json::{Value, json};

/// A plan; the configuration only of tournaments that are over.
pub(crate) fn plan(plan: &TournamentPlan, over: bool) -> Value {
    let mut shown = json!({
        "preset": plan.preset,
        "game": plan.game,
        "policy": plan.policy,
        "players": plan.players,
    });
    if over {
        shown["config"] = json!(plan.config);
    }
    shown
}

/// A tournament that runs or is over.
pub(crate) fn tournament(tournament: &Tournament) -> Value {
    let over = tournament.is_over();
    let pairings = tournament.rounds().iter().zip(1..).flat_map(|(round, number)| {
        round.matches.iter().zip(&round.results).map(move |(plan, result)| {
            json!({
                "round": number,
                "match": plan.id,
                "players": plan.players,
                "reason": plan.reason,
                "over": result.is_some(),
            })
        })
    });
    json!({
        "id": tournament.plan().id,
        "standing": if over { "over" } else { "running" },
        "plan": plan(tournament.plan(), over),
        "pairings": pairings.collect::<Vec<_>>(),
        "results": tournament.results(),
    })
}

/// A match that runs or is over.
pub(crate) fn match_(played: &Match) -> Value {
    let mut shown = json!({
        "standing": if played.result().is_some() { "over" } else { "running" },
        "game": played.plan().game,
        "reason": played.plan().reason,
        "match": played.view(),
    });
    if let Some(referee) = played.referee() {
        shown["in_progress"] = json!({
            "game": referee.number(),
            "seats": referee.seats(),
            "view": referee.game().view(Viewer::Public),
        });
    }
    if let Some((result, game)) = played.finished().last() {
        // The games of a match may share a deck or dice: all is shown when the last one is over.
        let viewer = if played.result().is_some() { Viewer::Full } else { Viewer::Public };
        shown["latest"] = json!({"result": result, "view": game.view(viewer)});
    }
    if let Some(result) = played.result() {
        shown["result"] = json!(result);
    }
    shown
}

/// A match that runs, as the text that [`match_`] stands for: made for every change that is watched.
pub(crate) fn running_match(played: &Match) -> String {
    let mut text = Vec::with_capacity(8 * 1024);
    put(&mut text, b"{\"game\":", &played.plan().game);
    if let Some(referee) = played.referee() {
        put(&mut text, b",\"in_progress\":{\"game\":", &referee.number());
        put(&mut text, b",\"seats\":", referee.seats());
        text.extend_from_slice(b",\"view\":");
        referee.game().write_view(Viewer::Public, &mut text);
        text.push(b'}');
    }
    if let Some((result, game)) = played.finished().last() {
        put(&mut text, b",\"latest\":{\"result\":", result);
        text.extend_from_slice(b",\"view\":");
        game.write_view(Viewer::Public, &mut text);
        text.push(b'}');
    }
    put(&mut text, b",\"match\":", &played.view());
    put(&mut text, b",\"reason\":", &played.plan().reason);
    text.extend_from_slice(b",\"standing\":\"running\"}");
    String::from_utf8(text).expect("JSON is UTF-8")
}

fn put<T: Serialize + ?Sized>(text: &mut Vec<u8>, name: &[u8], value: &T) {
    text.extend_from_slice(name);
    serde_json::to_writer(text, value).expect("what is shown is JSON");
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_core::{
        Command, MatchId, MatchPlan, PlayerName, Preset, Raw, Secret, Secrets, TournamentId,
    };
    use agon_games::Registry;

    #[test]
    fn a_match_that_runs_is_shown_alike_both_ways() {
        let preset = Preset::named("yahtzee-referee").unwrap();
        let kind = Registry::standard().kind(preset.game).unwrap().clone();
        let players = ["a \"b\"", "é"].map(|name| PlayerName::new(name).unwrap());
        let plan = MatchPlan {
            tournament: TournamentId::from("cup"),
            id: MatchId::of(1, 1),
            round: 1,
            players: players.to_vec(),
            reason: "a \"test\"".into(),
            game: preset.game.into(),
            config: Raw(kind.check_config(preset.config).unwrap()),
            rules: agon_core::MatchRules { best_of: 3, ..preset.policy.rules },
        };
        let secrets = Secrets::Known(Secret::from_seed_number(1));
        let (mut played, _) = Match::create(plan, kind, secrets, 0).unwrap();
        let mut compared = 0;
        let mut compare = |played: &Match| {
            let text: Value = serde_json::from_str(&running_match(played)).unwrap();
            assert_eq!(text, match_(played));
            compared += 1;
        };
        compare(&played);
        for player in players {
            played.step(1, Command::Arrive { player, nonce: None }).unwrap();
            compare(&played);
        }
        while let Some(pending) = played.pending().into_iter().next() {
            let agon_core::Ask::Game(seat) = pending.ask else { panic!("{pending:?}") };
            let legal = played.referee().unwrap().game().legal(seat);
            let (answer, took_ms) = (legal[seat.index() % legal.len()].get().to_owned(), Some(0));
            let (player, request) = (pending.player, pending.id);
            played.step(1, Command::Answer { player, request, answer, took_ms }).unwrap();
            if played.result().is_none() {
                compare(&played);
            }
        }
        assert!(compared > 100, "{compared}");
    }
}
