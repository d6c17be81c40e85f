//! A lobby on a bench: a clock that only the test moves, and a shadow that reads the log.
//!
//! Every record is written, read back and applied to the shadow, which must stay equal to the
//! lobby; every refusal must leave the lobby as it was; and in the end all that was written has to
//! verify. So all tests here test that as well.

use agon_core::lobby::{
    AccountKind, Announcement, Lobby, LobbyCommand, LobbyOrder, LobbyRejection, PasswordHash,
    QueueName, Reply, Role, Selection, Standing, Terms, TokenHash, Window,
};
use agon_core::verify::verify_lobby;
use agon_core::{
    Age, Event, Line, Millis, PlayerName, Preset, Raw, Ruling, Secret, Timestamp, Why, record_lines,
};
use std::collections::BTreeSet;

/// When a bench begins.
pub(crate) const DAWN: Timestamp = Timestamp::from_ms(1_000_000);

/// At least 5 and at most 10, 30 s and once more 30 s.
pub(crate) const FISH: Window = Window {
    at_least: 5,
    at_most: 10,
    wait_ms: 30_000,
    second_wait_ms: 30_000,
    second_at_least: 5,
    repeat: false,
};

/// 20 s for at least 5, else 20 s more for at least 2; 50 end the wait.
pub(crate) const TRAINS: Window = Window {
    at_least: 5,
    at_most: 50,
    wait_ms: 20_000,
    second_wait_ms: 20_000,
    second_at_least: 2,
    repeat: false,
};

pub(crate) fn name(text: &str) -> PlayerName {
    PlayerName::new(text).expect("a name")
}

/// `p1`, `p2` and so on.
pub(crate) fn numbered(count: usize) -> Vec<String> {
    (1..=count).map(|number| format!("p{number}")).collect()
}

fn queue_name(text: &str) -> QueueName {
    QueueName::new(text).expect("a queue's name")
}

pub(crate) fn register(account: &str) -> LobbyCommand {
    let password = Some(PasswordHash::new(format!("hash of {account}")));
    let (kind, role) = (AccountKind::Program, Role::Player);
    LobbyCommand::Register { account: name(account), kind, role, password }
}

pub(crate) fn log_in(account: &str) -> LobbyCommand {
    LobbyCommand::LogIn { account: name(account) }
}

pub(crate) fn log_out(account: &str) -> LobbyCommand {
    LobbyCommand::LogOut { account: name(account) }
}

pub(crate) fn issue(account: &str, token: &str, expires_at: Timestamp) -> LobbyCommand {
    LobbyCommand::IssueToken { account: name(account), token: TokenHash::of(token), expires_at }
}

pub(crate) fn revoke(token: &str) -> LobbyCommand {
    LobbyCommand::RevokeToken { token: TokenHash::of(token) }
}

pub(crate) fn enqueue(player: &str, queue: &str) -> LobbyCommand {
    LobbyCommand::Enqueue { player: name(player), queue: queue_name(queue) }
}

pub(crate) fn dequeue(player: &str, queue: &str) -> LobbyCommand {
    LobbyCommand::Dequeue { player: name(player), queue: queue_name(queue) }
}

pub(crate) fn blacklist(account: &str, reason: &str) -> LobbyCommand {
    LobbyCommand::Blacklist { account: name(account), reason: reason.into(), by: None, cause: None }
}

pub(crate) fn lift(account: &str) -> LobbyCommand {
    LobbyCommand::Lift { account: name(account), by: name("op"), reason: "a mistake".into() }
}

pub(crate) fn sign_up(tournament: &str, player: &str) -> LobbyCommand {
    LobbyCommand::SignUp { tournament: tournament.into(), player: name(player), age: None }
}

pub(crate) fn sign_up_aged(tournament: &str, player: &str, age: u16) -> LobbyCommand {
    let (tournament, age) = (tournament.into(), Some(Age(age)));
    LobbyCommand::SignUp { tournament, player: name(player), age }
}

pub(crate) fn withdraw(tournament: &str, player: &str) -> LobbyCommand {
    LobbyCommand::Withdraw { tournament: tournament.into(), player: name(player) }
}

pub(crate) fn accept(tournament: &str, player: &str) -> LobbyCommand {
    LobbyCommand::Accept { tournament: tournament.into(), player: name(player) }
}

pub(crate) fn reject(tournament: &str, player: &str) -> LobbyCommand {
    LobbyCommand::Reject { tournament: tournament.into(), player: name(player) }
}

pub(crate) fn ready(tournament: &str, player: &str) -> LobbyCommand {
    LobbyCommand::BeReady { tournament: tournament.into(), player: name(player) }
}

pub(crate) fn deliver(tournament: &str) -> LobbyCommand {
    LobbyCommand::Deliver { tournament: tournament.into() }
}

/// Invites these for at least so many: 30 s to answer, 10 s to be ready.
pub(crate) fn invite(players: &[&str], at_least: u32) -> Terms {
    let players = players.iter().map(|player| name(player)).collect();
    Terms { players, at_least, at_most: None, wait_ms: 30_000, ready_ms: 10_000 }
}

/// An operator's decision, with who and why.
pub(crate) fn order(order: LobbyOrder, why: &str) -> LobbyCommand {
    let ruling = Ruling { by: name("olga"), why: Why::new(why).expect("a reason") };
    LobbyCommand::Order { order, ruling }
}

pub(crate) fn call_off(tournament: &str, why: &str) -> LobbyCommand {
    order(LobbyOrder::CallOff(tournament.into()), why)
}

pub(crate) fn start(tournament: &str, why: &str) -> LobbyCommand {
    order(LobbyOrder::Start(tournament.into()), why)
}

pub(crate) fn pull(tournament: &str, player: &str, why: &str) -> LobbyCommand {
    let (tournament, player) = (tournament.into(), name(player));
    order(LobbyOrder::Withdraw { tournament, player }, why)
}

pub(crate) fn kick(account: &str, why: &str) -> LobbyCommand {
    order(LobbyOrder::LogOut(name(account)), why)
}

pub(crate) fn finish(tournament: &str, winners: &[&str]) -> LobbyCommand {
    let winners = winners.iter().map(|winner| name(winner)).collect();
    LobbyCommand::Finish { tournament: tournament.into(), winners, head: None }
}

/// An announcement for tests in which only the selection matters.
pub(crate) fn announcement(id: &str, selection: Selection) -> Announcement {
    let preset = Preset::named("yahtzee-queue").expect("a preset");
    Announcement {
        id: id.into(),
        preset: Some(preset.name.into()),
        game: preset.game.into(),
        config: Raw::parse(preset.config).expect("JSON"),
        policy: preset.policy,
        selection,
        by: Some(name("op")),
    }
}

pub(crate) fn announce(id: &str, selection: Selection) -> LobbyCommand {
    announce_by_lot(id, selection, 1)
}

/// With the luck of a random selection.
pub(crate) fn announce_by_lot(id: &str, selection: Selection, luck: u64) -> LobbyCommand {
    let (announcement, absent) = (Box::new(announcement(id, selection)), BTreeSet::new());
    let secret = Some(Secret::from_seed_number(luck));
    LobbyCommand::Announce { announcement, secret, absent }
}

/// With players who are not connected.
pub(crate) fn announce_without(id: &str, selection: Selection, absent: &[&str]) -> LobbyCommand {
    let announcement = Box::new(announcement(id, selection));
    let secret = Some(Secret::from_seed_number(1));
    let absent = absent.iter().map(|player| name(player)).collect();
    LobbyCommand::Announce { announcement, secret, absent }
}

pub(crate) fn from_line(at_most: u32) -> Selection {
    Selection::Line { at_most }
}

pub(crate) fn from_queue(queue: &str, at_most: u32) -> Selection {
    Selection::Queue { queue: queue_name(queue), at_most }
}

pub(crate) fn exactly(players: &[&str]) -> Selection {
    Selection::Named { players: players.iter().map(|player| name(player)).collect() }
}

/// The lobby, its clock and its log.
pub(crate) struct Bench {
    pub(crate) lobby: Lobby,
    pub(crate) now: Timestamp,
    pub(crate) lines: Vec<Line>,
    shadow: Lobby,
}

impl Bench {
    pub(crate) fn new() -> Bench {
        let (lobby, shadow) = (Lobby::default(), Lobby::default());
        Bench { lobby, now: DAWN, lines: Vec::new(), shadow }
    }

    /// With accounts of these names, registered and logged in in this order.
    pub(crate) fn with<T: AsRef<str>>(players: &[T]) -> Bench {
        let mut bench = Bench::new();
        for player in players {
            bench.ok(register(player.as_ref()));
            bench.ok(log_in(player.as_ref()));
        }
        bench
    }

    pub(crate) fn step(&mut self, command: LobbyCommand) -> Result<Vec<Event>, LobbyRejection> {
        let before = self.lobby.clone();
        let result = self.lobby.step(self.now, command);
        match &result {
            Ok(events) => {
                let version = self.lines.len() as u64;
                for text in record_lines("lobby", version, self.now, events) {
                    let line = Line::read(&text).expect("a line the lobby wrote");
                    self.shadow.apply(line.at, &line.event).expect("an event of the lobby");
                    self.lines.push(line);
                }
                assert_eq!(self.shadow, self.lobby, "the log and the lobby differ: {events:?}");
            }
            Err(why) => assert_eq!(before, self.lobby, "it said {why} and changed"),
        }
        result
    }

    /// Steps a command that must be accepted; the tags of its events.
    #[track_caller]
    pub(crate) fn ok(&mut self, command: LobbyCommand) -> Vec<&'static str> {
        match self.step(command.clone()) {
            Ok(events) => events.iter().map(Event::tag).collect(),
            Err(why) => panic!("{command:?}: {why}"),
        }
    }

    /// Steps commands that must all be accepted.
    #[track_caller]
    pub(crate) fn all<const N: usize>(&mut self, commands: [LobbyCommand; N]) {
        for command in commands {
            self.ok(command);
        }
    }

    /// Steps a command that must be refused.
    #[track_caller]
    pub(crate) fn no(&mut self, command: LobbyCommand) -> LobbyRejection {
        match self.step(command.clone()) {
            Ok(events) => panic!("{command:?} was accepted: {events:?}"),
            Err(why) => why,
        }
    }

    /// Moves the clock, and does what is due on the way when it is due; the tags of what happened.
    pub(crate) fn wait(&mut self, ms: Millis) -> Vec<&'static str> {
        let (until, mut tags) = (self.now + ms, Vec::new());
        while let Some(at) = self.lobby.deadline().filter(|at| *at <= until) {
            self.now = self.now.max(at);
            let due = self.lobby.due(self.now).expect("a deadline that passed makes something due");
            tags.extend(self.ok(due));
        }
        self.now = until;
        assert_eq!(self.lobby.due(self.now), None);
        tags
    }

    /// The players who are logged in, in order.
    pub(crate) fn line(&self) -> String {
        spaced(self.lobby.line().iter())
    }

    /// The players who wait in a queue, in order.
    pub(crate) fn queue(&self, queue: &str) -> String {
        spaced(self.lobby.queue(&queue_name(queue)).iter())
    }

    /// Where a tournament stands, and with whom: `open: ann bob`.
    pub(crate) fn standing(&self, tournament: &str) -> String {
        match self.lobby.tournament(&tournament.into()) {
            None => "unknown".into(),
            Some(Standing::Open(sign_up)) => format!("open: {}", spaced(&sign_up.players)),
            Some(Standing::Inviting(invitation)) => {
                let word = if invitation.readying { "readying" } else { "inviting" };
                let replies = invitation.replies.iter().map(|(player, reply)| match reply {
                    Reply::Open => player.to_string(),
                    Reply::Accepted => format!("{player}+"),
                    Reply::Rejected => format!("{player}-"),
                    Reply::Ready => format!("{player}!"),
                    Reply::Missed => format!("{player}?"),
                    Reply::Reserve => format!("({player})"),
                    Reply::Silent => format!("{player}…"),
                });
                format!("{word}: {}", replies.collect::<Vec<_>>().join(" "))
            }
            Some(Standing::Running(plan)) => format!("running: {}", spaced(&plan.players)),
            Some(Standing::Finished(winners)) => format!("finished: {}", spaced(winners)),
            Some(Standing::CalledOff(why)) => format!("called off: {why}"),
        }
    }

    /// In how many tournaments a player is, and for how many it waits.
    pub(crate) fn involvement(&self, player: &str) -> (usize, usize) {
        self.lobby.involvement(&name(player))
    }
}

fn spaced<'a>(players: impl IntoIterator<Item = &'a PlayerName>) -> String {
    players.into_iter().map(|player| player.as_str()).collect::<Vec<_>>().join(" ")
}

impl Drop for Bench {
    fn drop(&mut self) {
        if !std::thread::panicking() && !self.lines.is_empty() {
            let check = verify_lobby(&self.lines, |_| None);
            assert!(check.is_ok(), "{check:?}");
        }
    }
}
