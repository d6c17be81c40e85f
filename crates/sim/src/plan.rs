//! What a seed stands for: who plays what, and how much goes wrong.

use crate::disk::Pace;
use crate::rng::Rng;
use agon_core::Millis;
use serde_json::{Value, json};

/// When the world begins, in milliseconds since 1970.
pub(crate) const BEGIN: Millis = 1_000_000;

/// How a player behaves until all is healed, each in times per thousand requests.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Temper {
    pub(crate) late: u64,
    pub(crate) silent: u64,
    pub(crate) twice: u64,
    pub(crate) stale: u64,
    pub(crate) foreign: u64,
    pub(crate) cheat: u64,
    pub(crate) malformed: u64,
    pub(crate) crash: u64,
    pub(crate) stall: u64,
    pub(crate) flood: u64,
    pub(crate) second: u64,
}

/// One tournament that is held.
#[derive(Clone, Debug)]
pub(crate) struct Cup {
    pub(crate) id: String,
    pub(crate) game: &'static str,
    /// Whether players sign up, rather than being named.
    pub(crate) sign_up: bool,
    /// The announcement, as an operator sends it.
    pub(crate) wanted: Value,
}

/// The whole of a run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) players: Vec<Temper>,
    pub(crate) cups: Vec<Cup>,
    pub(crate) chaos_ms: Millis,
    pub(crate) reconnect_ms: Millis,
    pub(crate) delay_ms_max: u64,
    pub(crate) pace: Pace,
    /// When servers die, after the beginning.
    pub(crate) crashes: Vec<Millis>,
    /// When a second server is started beside the first.
    pub(crate) rivals: Vec<Millis>,
    /// When a server stands still for how long.
    pub(crate) stalls: Vec<(Millis, Millis)>,
    /// When a connection is cut.
    pub(crate) cuts: Vec<Millis>,
}

impl Plan {
    pub(crate) fn draw(rng: &mut Rng) -> Plan {
        let count = rng.between(2, 5) as usize;
        let players = (0..count).map(|_| temper(rng)).collect();
        let cups = rng.between(1, 2);
        let cups: Vec<Cup> = (1..=cups).map(|number| cup(rng, number, count)).collect();
        let chaos_ms = rng.between(2_000, 20_000);
        let times = |rng: &mut Rng, per_mille: u64, most: u64| -> Vec<Millis> {
            let some = if rng.chance(per_mille) { rng.between(1, most) } else { 0 };
            (0..some).map(|_| rng.below(chaos_ms)).collect()
        };
        let crashes = times(rng, 700, 5);
        let rivals = times(rng, 150, 2);
        let stalls = times(rng, 400, 3);
        let cuts = times(rng, 600, 8);
        let stalls = stalls.into_iter().map(|at| (at, rng.between(5, 3_000))).collect();
        let slow = rng.chance(400);
        let pace = match slow {
            true => Pace { sync_ms_max: rng.between(5, 800), answer_ms_max: rng.between(1, 800) },
            false => Pace { sync_ms_max: 5, answer_ms_max: 3 },
        };
        Plan {
            players,
            cups,
            chaos_ms,
            reconnect_ms: rng.between(1_000, 6_000),
            delay_ms_max: if rng.chance(300) { rng.between(50, 1_500) } else { 20 },
            pace,
            crashes,
            rivals,
            stalls,
            cuts,
        }
    }
}

fn temper(rng: &mut Rng) -> Temper {
    let mut some =
        |per_mille: u64, most: u64| if rng.chance(per_mille) { rng.below(most) } else { 0 };
    Temper {
        late: some(200, 60),
        silent: some(150, 60),
        twice: some(350, 300),
        stale: some(350, 300),
        foreign: some(150, 80),
        cheat: some(200, 80),
        malformed: some(200, 60),
        crash: some(350, 100),
        stall: some(200, 60),
        flood: some(100, 40),
        second: some(250, 100),
    }
}

fn cup(rng: &mut Rng, number: u64, count: usize) -> Cup {
    let id = format!("cup-{number}");
    let games = ["fish", "fish", "fish", "fish", "fish", "fish", "yahtzee", "yahtzee", "yahtzee"];
    let game = if rng.chance(15) { "trains" } else { *rng.pick(&games) };
    let preset = match game {
        "yahtzee" => *rng.pick(&["yahtzee-class", "yahtzee-referee", "yahtzee-queue"]),
        other => other,
    };
    let time = json!({
        "answer_ms": rng.between(300, 3_000),
        "bank_ms": if rng.chance(200) { rng.between(100, 2_000) } else { 0 },
        "wait_ms": rng.between(0, 8_000),
    });
    let mut policy = json!({"match": {"time": time}});
    let mut config = json!({});
    let mut entrants = count;
    match game {
        "fish" => {
            config = json!({"rows": 4, "columns": 3, "confirm": rng.chance(500)});
            if rng.chance(400) {
                policy["format"] = json!({"kind": "bracket"});
                policy["match"]["ties"] = json!("replay");
                policy["match"]["crash"] = json!(rng.pick(&["forfeit-game", "resume", "remove"]));
                policy["match"]["rotate_seats"] = json!(rng.chance(500));
                policy["match"]["best_of"] = json!(rng.pick(&[1, 1, 3]));
            } else if rng.chance(300) {
                policy["format"] = json!({"kind": "round-robin"});
            } else {
                policy["format"] = json!({"kind": "knockout", "min": 2, "max": rng.between(2, 4)});
            }
        }
        "yahtzee" => {
            config = json!({"dice": rng.pick(&["duplicate", "independent"])});
            entrants = entrants.min(rng.between(2, 3) as usize);
        }
        _ => {
            policy["greeting"] = json!("none");
            policy["format"] = json!({"kind": "knockout", "min": 2, "max": 4});
            entrants = 2;
        }
    }
    let sign_up = rng.chance(400);
    let selection = match sign_up {
        true => json!({
            "by": "sign-up", "at_least": 2, "at_most": entrants,
            "wait_ms": rng.between(1_000, 5_000), "second_wait_ms": 3_000, "second_at_least": 1,
        }),
        false => {
            let mut names: Vec<String> = (1..=entrants).map(player_name).collect();
            if entrants == 2 && rng.chance(200) {
                names[1] = "house:random".into();
            }
            json!({"by": "named", "players": names})
        }
    };
    let wanted = json!({
        "id": id, "preset": preset, "policy": policy, "config": config, "selection": selection,
    });
    Cup { id, game, sign_up, wanted }
}

/// The name of a player, from 1; 0 is the operator.
pub(crate) fn player_name(number: usize) -> String {
    match number {
        0 => "desk".into(),
        number => format!("p{number}"),
    }
}

/// The token a player comes with. Nobody else may ever see it.
pub(crate) fn token(number: usize) -> String {
    format!("{:064x}", 0xa60_0000_0000_u64 + number as u64)
}
