//! The cost of a full lobby: 10,000 players, 1,000 running tournaments, and many that
//! are over.
//!
//! `cargo bench -p agon-core --bench lobby`. One pass each on one core, in microseconds a step.
#![expect(clippy::print_stdout, reason = "a bench prints")]

use agon_core::lobby::{
    AccountKind, Announcement, Lobby, LobbyCommand, QueueName, Role, Selection, TokenHash, Window,
};
use agon_core::{PlayerName, Preset, Raw, Timestamp};
use std::collections::BTreeSet;
use std::hint::black_box;
use std::time::Instant;

const PLAYERS: usize = 10_000;
const RUNNING: usize = 1_000;
const OVER: usize = 9_000;

fn player(number: usize) -> PlayerName {
    PlayerName::new(&format!("player-{number}")).expect("a name")
}

fn announce(id: String, selection: Selection) -> LobbyCommand {
    let preset = Preset::named("yahtzee-queue").expect("a preset");
    let announcement = Box::new(Announcement {
        id: id.into(),
        preset: None,
        game: preset.game.into(),
        config: Raw::parse(preset.config).expect("JSON"),
        policy: preset.policy,
        selection,
        by: None,
    });
    LobbyCommand::Announce { announcement, secret: None, absent: BTreeSet::new() }
}

/// Does something so many times and says what one time took.
const NOW: Timestamp = Timestamp::from_ms(1);

fn measure(what: &str, count: usize, mut work: impl FnMut(usize)) {
    let started = Instant::now();
    (0..count).for_each(&mut work);
    let micros = started.elapsed().as_secs_f64() * 1e6 / count as f64;
    println!("{what:<44} {micros:>10.2} µs");
}

fn main() {
    let mut lobby = Lobby::default();
    measure("register", PLAYERS, |number| {
        let (kind, role, password) = (AccountKind::Program, Role::Player, None);
        let account = player(number);
        lobby.step(NOW, LobbyCommand::Register { account, kind, role, password }).expect("new");
    });
    measure("issue a token", PLAYERS, |number| {
        let token = TokenHash::of(&format!("token {number}"));
        let (account, expires_at) = (player(number), NOW + 1_000_000 + number as u64);
        lobby.step(NOW, LobbyCommand::IssueToken { account, token, expires_at }).expect("known");
    });
    measure("log in", PLAYERS, |number| {
        lobby.step(NOW, LobbyCommand::LogIn { account: player(number) }).expect("known");
    });
    measure("enqueue", PLAYERS, |number| {
        let queue = QueueName::new("q").expect("a name");
        lobby.step(NOW, LobbyCommand::Enqueue { player: player(number), queue }).expect("room");
    });
    measure("announce and finish one of eight", OVER, |number| {
        let players = (0..8).map(|at| player((number * 8 + at) % PLAYERS)).collect();
        let id = format!("over-{number}");
        lobby.step(NOW, announce(id.clone(), Selection::Named { players })).expect("players");
        let winners = Vec::new();
        lobby
            .step(NOW, LobbyCommand::Finish { tournament: id.into(), winners, head: None })
            .expect("the tournament is running");
    });
    measure("announce one of eight", RUNNING, |number| {
        let players = (0..8).map(|at| player((number * 8 + at) % PLAYERS)).collect();
        lobby
            .step(NOW, announce(format!("t-{number}"), Selection::Named { players }))
            .expect("all");
    });
    let window = Window {
        at_least: 2,
        at_most: 100,
        wait_ms: 60_000,
        second_wait_ms: 0,
        second_at_least: 2,
        repeat: false,
    };
    measure("announce a sign-up", 100, |number| {
        lobby
            .step(NOW, announce(format!("open-{number}"), Selection::SignUp(window.clone())))
            .expect("room");
    });
    measure("sign up", 5_000, |number| {
        let tournament = format!("open-{}", number % 100).into();
        lobby
            .step(NOW, LobbyCommand::SignUp { tournament, player: player(number), age: None })
            .expect("the request is open");
    });
    measure("when something is due", 1_000, |_| {
        black_box(lobby.deadline());
    });
    measure("what a player is in", 1_000, |number| {
        black_box(lobby.involvement(&player(number)));
    });
    measure("log out and in again", 1_000, |number| {
        let account = player(number * 7 % PLAYERS);
        lobby.step(NOW, LobbyCommand::LogOut { account: account.clone() }).expect("known");
        lobby.step(NOW, LobbyCommand::LogIn { account }).expect("known");
    });
}
