//! The plan of a run, which its seed determines: the players, the tournaments, and the failures.

mod cup;
mod nodes;
mod peers;

use crate::arrangement::Arrangement;
use crate::disk::Pace;
use agon_bots::SplitMix64 as Rng;
use agon_core::{Millis, Timestamp};
use agon_engine::Peers;
use agon_engine::SecondLogin;
pub(crate) use cup::{Cup, Entry};
pub(crate) use nodes::{BusFault, NodeFault, NodesPlan};

/// When the world begins, in milliseconds since 1970.
pub(crate) const BEGIN: Timestamp = Timestamp::from_ms(1_000_000);

/// How a player behaves until everything is healed, in times per thousand requests.
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
    pub(crate) logout: u64,
    /// True if the player is a person, who gets time to reconnect.
    pub(crate) person: bool,
    /// True if the player uses another system's protocol, where that port is open.
    pub(crate) peer: bool,
    /// How often the player withdraws a request, in times per thousand wake-ups.
    pub(crate) fickle: u64,
}

/// The plan of a whole run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) players: Vec<Temper>,
    pub(crate) cups: Vec<Cup>,
    /// The port for programs of another system, if there is one.
    pub(crate) peers: Option<Peers>,
    pub(crate) second_login: SecondLogin,
    /// Lobby events between two snapshots.
    pub(crate) snapshot_every: u64,
    pub(crate) chaos_ms: Millis,
    pub(crate) reconnect_ms: Millis,
    pub(crate) delay_ms_max: u64,
    pub(crate) pace: Pace,
    /// When servers crash, after the beginning.
    pub(crate) crashes: Vec<Millis>,
    /// When a second server is started beside the first.
    pub(crate) rivals: Vec<Millis>,
    /// When a server stalls, and for how long.
    pub(crate) stalls: Vec<(Millis, Millis)>,
    /// When a connection is cut.
    pub(crate) cuts: Vec<Millis>,
    /// When a server is asked to stop.
    pub(crate) stops: Vec<Millis>,
    /// When the operator gives an order.
    pub(crate) orders: Vec<Millis>,
    /// True if policies blacklist players who cheat, and servers also crash right after a cheat is
    /// durable, while its effects are in flight.
    pub(crate) dies_after_cheats: bool,
    /// True if servers also crash right after the end of a tournament is durable.
    pub(crate) dies_after_ends: bool,
    /// How many other engines own the tournaments.
    pub(crate) cell_engines: u16,
    /// The nodes, if several share a database.
    pub(crate) nodes: Option<NodesPlan>,
}

impl Plan {
    pub(crate) fn draw(rng: &mut Rng, seed: u64, arrangement: Arrangement) -> Plan {
        let mut plan = Plan::draw_alone(rng);
        // Drawn apart, so that all arrangements of a seed have the same players and tournaments.
        let mut rng = Rng::new(seed).fork();
        match arrangement {
            Arrangement::Alone => return plan,
            Arrangement::Engines => plan.cell_engines = rng.between(1, 3) as u16,
            Arrangement::Nodes => {
                plan.cell_engines = rng.below(3) as u16;
                plan.nodes = Some(NodesPlan::draw(&mut rng, plan.chaos_ms));
                // A second server is a node that stands by.
                plan.rivals.clear();
            }
            Arrangement::Bus => {
                plan.nodes = Some(NodesPlan::draw_with_bus(&mut rng, plan.chaos_ms));
                plan.rivals.clear();
                plan.crashes.truncate(2);
            }
        }
        plan.dies_after_ends = rng.chance(500);
        plan
    }

    fn draw_alone(rng: &mut Rng) -> Plan {
        let count = rng.between(2, 5) as usize;
        let mut players: Vec<Temper> = (0..count).map(|_| temper(rng)).collect();
        let cups = if rng.chance(150) { 3 } else { rng.between(1, 2) };
        let peers = rng.chance(200).then(|| peers::draw(rng, count));
        let game = peers.as_ref().map(|peers| peers.series.game.clone());
        let mut cups: Vec<Cup> =
            (1..=cups).map(|number| cup::draw(rng, number, count, game.as_deref())).collect();
        let chaos_ms = rng.between(2_000, 20_000);
        let times = |rng: &mut Rng, per_mille: u64, most: u64| -> Vec<Millis> {
            let some = if rng.chance(per_mille) { rng.between(1, most) } else { 0 };
            (0..some).map(|_| rng.below(chaos_ms)).collect()
        };
        let crashes = times(rng, 700, 5);
        let rivals = times(rng, 150, 2);
        let stalls = times(rng, 400, 3);
        let cuts = times(rng, 600, 8);
        let stops = times(rng, 200, 2);
        let orders = if rng.chance(350) { times(rng, 1_000, 25) } else { Vec::new() };
        let stalls = stalls.into_iter().map(|at| (at, rng.between(5, 3_000))).collect();
        let dies_after_cheats = rng.chance(300);
        if dies_after_cheats {
            let cheater = rng.below(count as u64) as usize;
            players[cheater].cheat = rng.between(20, 200);
            for cup in &mut cups {
                cup.wanted["policy"]["match"]["cheat"] = "blacklist".into();
            }
        }
        let slow = rng.chance(400);
        let pace = match slow {
            true => Pace { sync_ms_max: rng.between(5, 800), answer_ms_max: rng.between(1, 800) },
            false => Pace { sync_ms_max: 5, answer_ms_max: 3 },
        };
        Plan {
            players,
            cups,
            peers,
            second_login: match rng.chance(150) {
                true => SecondLogin::Refuse,
                false => SecondLogin::Takeover,
            },
            snapshot_every: rng.between(3, 60),
            chaos_ms,
            reconnect_ms: rng.between(1_000, 6_000),
            delay_ms_max: if rng.chance(300) { rng.between(50, 1_500) } else { 20 },
            pace,
            crashes,
            rivals,
            stalls,
            cuts,
            stops,
            orders,
            dies_after_cheats,
            dies_after_ends: false,
            cell_engines: 0,
            nodes: None,
        }
    }

    /// The game of a tournament.
    pub(crate) fn game_of(&self, tournament: &str) -> Option<&str> {
        let cup = self.cups.iter().find(|cup| cup.id == tournament).map(|cup| cup.game);
        let series = self.peers.as_ref().map(|peers| &peers.series);
        let series = series.filter(|series| tournament.starts_with(series.id.as_str()));
        cup.or_else(|| series.map(|series| series.game.as_str()))
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
        logout: some(150, 40),
        person: some(200, 2) == 1,
        peer: some(600, 2) == 1,
        fickle: some(200, 60),
    }
}

/// The name of a player, from 1; 0 is the operator.
pub(crate) fn player_name(number: usize) -> String {
    match number {
        0 => "operator".into(),
        // Letters only, as other systems require.
        number => {
            let digits = number.to_string().into_bytes();
            let letters = digits.into_iter().map(|digit| char::from(digit - b'0' + b'a'));
            format!("p{}", letters.collect::<String>())
        }
    }
}

/// The token that a player logs in with. No other player may ever see it.
pub(crate) fn token(number: usize) -> String {
    format!("{:064x}", 0xa60_0000_0000_u64 + number as u64)
}
