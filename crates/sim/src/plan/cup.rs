//! The tournaments of a run: every game, format, policy and way to select players.

use super::player_name;
use agon_bots::SplitMix64 as Rng;
use serde_json::{Value, json};

/// How a tournament gets its players.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Entry {
    /// The announcement names them.
    Named,
    /// They sign up.
    SignUp,
    /// The announcement invites them.
    Invited,
    /// They wait in the queue that has the tournament's name.
    Queue,
    /// They are logged in: the first, the oldest, or a random selection.
    Here,
}

/// One tournament of a run.
#[derive(Clone, Debug)]
pub(crate) struct Cup {
    pub(crate) id: String,
    pub(crate) game: &'static str,
    pub(crate) entry: Entry,
    /// The announcement, as an operator sends it.
    pub(crate) wanted: Value,
}

/// Draws one for this many players, and for this game if one is given.
pub(super) fn draw(rng: &mut Rng, number: u64, count: usize, game: Option<&str>) -> Cup {
    let id = format!("cup-{number}");
    let games = ["fish", "fish", "fish", "fish", "fish", "fish", "yahtzee", "yahtzee", "yahtzee"];
    let game = match game {
        Some("trains") => "trains",
        Some(_) => "fish",
        None if rng.chance(15) => "trains",
        None => *rng.pick(&games),
    };
    let preset = match game {
        "yahtzee" => *rng.pick(&["yahtzee-class", "yahtzee-referee", "yahtzee-queue"]),
        other => other,
    };
    let (config, policy, entrants) = match game {
        "fish" => {
            let config = json!({"rows": 4, "columns": 3, "confirm": rng.chance(500)});
            (config, fish_policy(rng), count)
        }
        "yahtzee" => {
            let config = json!({"dice": rng.pick(&["duplicate", "independent"])});
            (config, yahtzee_policy(rng), count.min(rng.between(2, 3) as usize))
        }
        _ => {
            let format = json!({"kind": "knockout", "min": 2, "max": 4});
            (json!({}), json!({"greeting": "none", "format": format}), 2)
        }
    };
    let mut policy = policy;
    policy["match"]["time"] = json!({
        "answer_ms": rng.between(300, 3_000),
        "bank_ms": if rng.chance(200) { rng.between(100, 2_000) } else { 0 },
        "wait_ms": rng.between(0, 8_000),
    });
    sequential_test(rng, preset, &mut policy);
    let (entry, selection) = selection(rng, &id, entrants);
    let wanted = json!({
        "id": id, "preset": preset, "policy": policy, "config": config, "selection": selection,
    });
    Cup { id, game, entry, wanted }
}

fn fish_policy(rng: &mut Rng) -> Value {
    let mut policy = json!({"match": {}});
    let drawn = &mut policy["match"];
    if rng.chance(400) {
        drawn["ties"] = json!("replay");
        drawn["best_of"] = json!(rng.pick(&[1, 1, 3]));
        policy["format"] = json!({"kind": "bracket"});
        if rng.chance(200) {
            policy["format"]["slots"] = json!(8);
        }
    } else if rng.chance(500) {
        newer_format(rng, &mut policy);
    } else if rng.chance(300) {
        policy["format"] = json!({"kind": "round-robin"});
        policy["match"]["best_of"] = json!(rng.pick(&[1, 1, 3]));
        policy["match"]["ties"] = json!(rng.pick(&["share", "replay"]));
    } else {
        policy["format"] = json!({"kind": "knockout", "min": 2, "max": rng.between(2, 4)});
    }
    if rng.chance(500) {
        policy["greeting"] = json!(rng.pick(&["none", "ready"]));
        policy["farewell"] = json!(rng.pick(&["none", "winners", "everybody"]));
        policy["pairing"] = json!(rng.pick(&["order", "seeded", "random"]));
    }
    costs(rng, &mut policy);
    policy
}

/// Draws a format in which players meet in pairs, or in Swiss tournaments at tables.
fn newer_format(rng: &mut Rng, policy: &mut Value) {
    let ties = *rng.pick(&["share", "replay"]);
    let orders: [&[&str]; 3] = [
        &["buchholz", "sonneborn-berger", "head-to-head", "points"],
        &["head-to-head", "games"],
        &["points"],
    ];
    let tie_breaks = *rng.pick(&orders);
    let (format, ties) = match rng.below(11) {
        0 => (json!({"kind": "swiss", "rounds": rng.between(1, 4)}), ties),
        1 => (json!({"kind": "swiss", "tie_breaks": tie_breaks}), ties),
        2 => (json!({"kind": "swiss", "rounds": 2, "min": 2, "max": rng.between(3, 4)}), "share"),
        3 => (json!({"kind": "double-elimination", "reset": rng.chance(700)}), "replay"),
        4 => {
            let (size, cycles) = (rng.between(2, 3), rng.between(1, 2));
            (json!({"kind": "groups", "size": size, "cycles": cycles}), ties)
        }
        5 => {
            let (challengers, cycles) = (rng.between(1, 2), rng.between(1, 2));
            let format = json!({"kind": "gauntlet", "challengers": challengers, "cycles": cycles});
            (format, ties)
        }
        6 => {
            let mut arena = json!({"kind": "arena", "rounds": rng.between(1, 4)});
            if rng.chance(500) {
                arena["play_ms"] = json!(rng.between(1, 20_000));
            }
            (arena, ties)
        }
        7 => (json!({"kind": "round-robin", "cycles": 2, "tie_breaks": tie_breaks}), ties),
        8 => (json!({"kind": "bracket", "third_place": true}), "replay"),
        9 => {
            let (places, matches_max) = (rng.between(1, 2), rng.between(1, 8));
            let confidence = rng.between(50, 80);
            let format = json!({"kind": "until-sure", "confidence": confidence,
                                "places": places, "matches_max": matches_max});
            (format, ties)
        }
        _ => {
            let first = json!({"kind": rng.pick(&["groups", "swiss", "round-robin"])});
            let second = json!({"kind": rng.pick(&["bracket", "swiss"])});
            let second = json!({"format": second, "players": rng.between(2, 4)});
            (json!({"kind": "stages", "stages": [{"format": first}, second]}), "replay")
        }
    };
    policy["format"] = format;
    policy["match"]["ties"] = json!(ties);
    policy["match"]["best_of"] = json!(if ties == "share" { 1 } else { *rng.pick(&[1, 1, 3]) });
    if rng.chance(200) {
        policy["pairing"] = json!("rating");
        policy["ratings"] = json!({player_name(1): 1_480, player_name(2): 1_610});
    }
}

fn yahtzee_policy(rng: &mut Rng) -> Value {
    let mut policy = json!({"match": {}});
    if rng.chance(300) {
        let ties = *rng.pick(&["share", "replay"]);
        policy["format"] = match ties {
            "share" => {
                let kind = *rng.pick(&["round-robin", "swiss", "groups"]);
                json!({"kind": kind, "tie_breaks": ["luck-adjusted", "games"]})
            }
            _ => json!({"kind": "round-robin"}),
        };
        policy["match"]["ties"] = json!(ties);
    }
    if rng.chance(300) {
        costs(rng, &mut policy);
    }
    policy
}

/// Draws the cost of crashes and cheats, whether players confirm results, and whether games are
/// duplicated.
fn costs(rng: &mut Rng, policy: &mut Value) {
    if rng.chance(500) {
        policy["match"]["crash"] = json!(rng.pick(&["forfeit-game", "resume", "remove"]));
        policy["match"]["cheat"] = json!(rng.pick(&["as-crash", "remove", "blacklist"]));
        policy["match"]["lapses_max"] = json!(rng.below(4));
        policy["match"]["rotate_seats"] = json!(rng.chance(500));
        policy["match"]["confirm_result"] = json!(rng.chance(300));
        policy["match"]["duplicate"] = json!(rng.chance(300));
    }
}

/// Gives some tournaments of duplicate pairs a sequential test, which ends matches early. The
/// numbers come from a copy, so that all other draws of a seed stay as they were.
fn sequential_test(rng: &Rng, preset: &str, policy: &mut Value) {
    let mut rng = rng.clone();
    let has_pairs = policy["match"]["duplicate"] == json!(true);
    let format = &policy["format"];
    let may_have_more = match format["kind"].as_str() {
        Some("knockout") => true,
        Some("swiss") => !format["max"].is_null(),
        Some(_) => false,
        None => !preset.starts_with("yahtzee"),
    };
    if has_pairs && !may_have_more && rng.chance(800) {
        let (elo1, pairs_max) = (rng.between(50, 400), rng.between(1, 4));
        policy["match"]["sprt"] = json!({
            "elo0": 0, "elo1": elo1, "alpha": 0.2, "beta": 0.2, "pairs_max": pairs_max,
        });
    }
}

fn selection(rng: &mut Rng, id: &str, entrants: usize) -> (Entry, Value) {
    let names: Vec<String> = (1..=entrants).map(player_name).collect();
    match rng.below(100) {
        0..30 => {
            let window = json!({
                "by": "sign-up", "at_least": 2, "at_most": entrants,
                "wait_ms": rng.between(1_000, 5_000), "second_wait_ms": 3_000, "second_at_least": 1,
            });
            (Entry::SignUp, window)
        }
        30..45 => {
            let ready_ms = if rng.chance(600) { rng.between(500, 4_000) } else { 0 };
            let terms = json!({
                "by": "invitation", "players": names, "at_least": 2,
                "wait_ms": rng.between(1_000, 5_000), "ready_ms": ready_ms,
            });
            (Entry::Invited, terms)
        }
        45..52 => (Entry::Queue, json!({"by": "queue", "queue": id, "at_most": entrants})),
        52..60 => {
            let by = *rng.pick(&["line", "age", "random", "draw"]);
            let mut selection = json!({"by": by, "at_most": entrants});
            if by == "draw" {
                (selection["at_least"], selection["wait_ms"]) = (json!(2), json!(3_000));
            }
            (Entry::Here, selection)
        }
        _ => {
            let mut names = names;
            if entrants == 2 && rng.chance(200) {
                names[1] = "house:random".into();
            }
            (Entry::Named, json!({"by": "named", "players": names}))
        }
    }
}
