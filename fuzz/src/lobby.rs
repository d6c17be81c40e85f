//! Announcements of tournaments, and snapshots of the lobby.

use crate::boards::GAMES;
use crate::input::Input;
use agon_core::lobby::{AccountKind, Lobby, LobbyCommand, Role, Standing};
use agon_core::{Age, Line, PlayerName, Secret, Timestamp, Tournament, TournamentId, record_lines};
use agon_server::Wanted;
use agon_store::{Append, Log, MemoryLog, Snapshot, seal};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The stream of a lobby.
const STREAM: &str = "lobby";

/// An announcement as JSON, as it arrives over HTTP and the native protocol. The server rejects it
/// with a reason, or it is in the log and reads back, and the tournament either can start or fails
/// with a reason.
pub fn announcement(data: &[u8]) -> bool {
    let Ok(wanted) = serde_json::from_slice::<Wanted>(data) else { return false };
    let announcement = match wanted.announcement(&GAMES, name("olga")) {
        Ok(announcement) => Box::new(announcement),
        Err(why) => {
            assert!(!why.is_empty());
            return false;
        }
    };
    let text = serde_json::to_string(&announcement).expect("announcements are JSON");
    assert_eq!(serde_json::from_str(&text).as_ref().ok(), Some(&*announcement), "{text}");
    let (mut lobby, mut lines) = HERE.clone();
    let secret = Secret::from_seed_number(7);
    let id = announcement.id.clone();
    let absent = BTreeSet::from([name("bob")]);
    let command = LobbyCommand::Announce { announcement, secret: Some(secret.clone()), absent };
    let Ok(events) = lobby.step(Timestamp::from_ms(5_000), command) else { return true };
    lines.extend(record_lines(STREAM, lines.len() as u64, Timestamp::from_ms(5_000), &events));
    // In time it starts or is cancelled.
    for _ in 0..10 {
        let Some(at) = lobby.deadline() else { break };
        let Some(command) = lobby.due(at) else { break };
        let events = lobby.step(at, command).expect("a due answer is accepted");
        lines.extend(record_lines(STREAM, lines.len() as u64, at, &events));
    }
    let read: Vec<Line> = lines.iter().map(|line| Line::read(line).expect("a line")).collect();
    assert_eq!(Lobby::fold(&read).as_ref().ok(), Some(&lobby), "the log says something else");
    if let Some(Standing::Running(plan)) = lobby.tournament(&id) {
        let kind = GAMES.kind(&plan.game).expect("the game was checked").clone();
        let _ = Tournament::create((**plan).clone(), kind, secret);
    }
    true
}

/// A damaged snapshot is rejected. A snapshot with a valid checksum is read or rejected, and a
/// lobby that was read can be used.
///
/// The input says whether the checksum is recomputed, then which bytes change to what.
pub fn snapshot(data: &[u8]) -> bool {
    let mut input = Input(data);
    let (log, good) = &*KEPT;
    let anew = input.byte().is_multiple_of(2);
    let mut bytes = good.as_bytes().to_vec();
    while !input.is_empty() {
        let at = input.number() % bytes.len();
        match input.byte() {
            0..=99 => bytes[at] = input.byte(),
            100..=139 => drop(bytes.splice(at..at, input.piece().iter().copied())),
            140..=179 => drop(bytes.remove(at)),
            180..=199 => bytes.truncate(at.max(1)),
            _ => {
                let to = (at + usize::from(input.byte())).min(bytes.len());
                bytes.extend_from_within(at..to);
            }
        }
        if bytes.is_empty() || bytes.len() > 16 * 1024 {
            return false;
        }
    }
    let Ok(text) = String::from_utf8(bytes) else { return false };
    if !anew {
        let read = Snapshot::read(&text, STREAM, log);
        assert!(read.is_err() || text == *good, "a damaged snapshot was read");
        return read.is_ok();
    }
    let Some((_, body)) = text.split_once(' ') else { return false };
    let Ok(read) = Snapshot::read(&seal(body), STREAM, log) else { return false };
    let events = log.load(STREAM, 0).expect("a log in memory").len() as u64;
    assert!((1..=events).contains(&read.seq), "after event {} of {events}", read.seq);
    let Ok(mut lobby) = Lobby::from_snapshot(&read.state) else { return false };
    let again = Lobby::from_snapshot(&lobby.snapshot()).expect("a snapshot reads back");
    assert!(again == lobby, "a snapshot says something else than the lobby");
    use_it(&mut lobby);
    true
}

/// Sends several commands to a lobby, which may reject them.
fn use_it(lobby: &mut Lobby) {
    let at = lobby.deadline().unwrap_or(Timestamp::from_ms(9_000));
    if let Some(command) = lobby.due(at) {
        let _ = lobby.step(at, command);
    }
    let (ann, tournament) = (name("ann"), TournamentId::from("cup"));
    let player = ann.clone();
    let _ = lobby.step(Timestamp::from_ms(9_000), LobbyCommand::LogOut { account: ann.clone() });
    let _ = lobby.step(Timestamp::from_ms(9_000), LobbyCommand::LogIn { account: ann });
    let sign_up =
        LobbyCommand::SignUp { tournament: tournament.clone(), player, age: Some(Age(7)) };
    let _ = lobby.step(Timestamp::from_ms(9_000), sign_up);
    let _ = lobby
        .step(Timestamp::from_ms(9_000), LobbyCommand::Close { tournament: tournament.clone() });
    let winners = vec![name("bob")];
    let _ = lobby
        .step(Timestamp::from_ms(9_000), LobbyCommand::Finish { tournament, winners, head: None });
}

/// A lobby with logged-in players, and the lines that made it.
static HERE: LazyLock<(Lobby, Vec<String>)> = LazyLock::new(|| {
    let (mut lobby, mut lines) = (Lobby::default(), Vec::new());
    let mut step = |lobby: &mut Lobby, at: u64, command: LobbyCommand| {
        let events = lobby.step(Timestamp::from_ms(at), command).expect("a good command");
        lines.extend(record_lines(STREAM, lines.len() as u64, Timestamp::from_ms(at), &events));
    };
    for (at, account) in (1_000..).zip(["olga", "ann", "bob", "cat", "dan"]) {
        let (account, kind, password) = (name(account), AccountKind::Program, None);
        let role = if at == 1_000 { Role::Operator } else { Role::Player };
        let register = LobbyCommand::Register { account: account.clone(), kind, role, password };
        step(&mut lobby, at, register);
        if at > 1_000 {
            step(&mut lobby, at, LobbyCommand::LogIn { account });
        }
    }
    (lobby, lines)
});

/// A log with a lobby in it, and a valid snapshot of it.
static KEPT: LazyLock<(MemoryLog, String)> = LazyLock::new(|| {
    let (mut lobby, lines) = HERE.clone();
    let log = MemoryLog::new();
    let append = |from: usize, lines: Vec<String>| {
        for (at, line) in lines.into_iter().enumerate() {
            let (stream, expected) = (STREAM.into(), (from + at) as u64);
            log.append(Append { stream, expected, lines: vec![line] }).expect("a good line");
        }
    };
    append(0, lines.clone());
    let wanted = br#"{"id":"cup","preset":"yahtzee-class",
        "selection":{"by":"sign-up","at_least":2,"at_most":4,"wait_ms":1000,
        "second_wait_ms":0,"second_at_least":1}}"#;
    let wanted: Wanted = serde_json::from_slice(wanted).expect("a good announcement");
    let announcement = wanted.announcement(&GAMES, name("olga")).expect("a good announcement");
    let (announcement, absent) = (Box::new(announcement), BTreeSet::new());
    let command = LobbyCommand::Announce { announcement, secret: None, absent };
    let events = lobby.step(Timestamp::from_ms(5_000), command).expect("a good announcement");
    append(
        lines.len(),
        record_lines(STREAM, lines.len() as u64, Timestamp::from_ms(5_000), &events),
    );
    let (seq, format) = ((lines.len() + events.len()) as u64, Lobby::SNAPSHOT_VERSION);
    let snapshot = Snapshot { stream: STREAM.into(), format, seq, state: lobby.snapshot() };
    let text = snapshot.write(&log).expect("the log has the event");
    (log, text)
});

fn name(text: &str) -> PlayerName {
    PlayerName::new(text).expect("a name")
}
