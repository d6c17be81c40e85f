//! Accounts: names, passwords, tokens.

use crate::bench::{Bench, DAWN, dequeue, enqueue, issue, log_in, log_out, name, register, revoke};
use agon_core::lobby::{
    AccountKind, Lobby, LobbyCommand, LobbyRejection, PasswordHash, Role, TokenHash,
};
use agon_core::{AccountRegistered, Event, Timestamp};

fn holder(bench: &Bench, token: &str) -> Option<String> {
    let holder = bench.lobby.holder(&TokenHash::of(token), bench.now);
    holder.map(|account| account.as_str().to_owned())
}

#[test]
fn an_account_keeps_what_it_registered_with() {
    let mut bench = Bench::new();
    bench.now = Timestamp::from_ms(5_000);
    assert_eq!(bench.ok(register("ann")), ["account-registered"]);
    let (account, kind, role) = (name("house:greedy"), AccountKind::House, Role::Operator);
    bench.ok(LobbyCommand::Register { account, kind, role, password: None });
    let ann = bench.lobby.account(&name("ann")).unwrap();
    assert_eq!((ann.kind, ann.role), (AccountKind::Program, Role::Player));
    assert_eq!(ann.password.as_ref().map(PasswordHash::phc), Some("hash of ann"));
    assert_eq!(
        (ann.registered_at, ann.number, &ann.blacklisted),
        (Timestamp::from_ms(5_000), 0, &None)
    );
    let house = bench.lobby.account(&name("house:greedy")).unwrap();
    assert_eq!((house.kind, house.role), (AccountKind::House, Role::Operator));
    assert_eq!((house.number, &house.password), (1, &None));
    assert_eq!(bench.line(), "", "who registers is not yet logged in");
}

#[test]
fn a_name_that_is_taken_stays_with_its_first_owner() {
    let mut bench = Bench::new();
    bench.ok(register("ann"));
    let (account, password) = (name("ann"), Some(PasswordHash::new("a thief's")));
    let (kind, role) = (AccountKind::Person, Role::Operator);
    let theft = LobbyCommand::Register { account, kind, role, password };
    assert_eq!(bench.no(theft), LobbyRejection::Taken(name("ann")));
    // Names are what they are, letter by letter.
    bench.ok(register("Ann"));
}

#[test]
fn there_is_room_for_so_many_accounts_and_no_more() {
    let mut lobby = Lobby::default();
    let (kind, role) = (AccountKind::Program, Role::Player);
    for number in 1..Lobby::ACCOUNTS_MAX {
        let account = name(&format!("p{number}"));
        let registered = AccountRegistered { account, kind, role, password: None };
        lobby.apply(DAWN, &Event::from(registered)).unwrap();
    }
    assert!(lobby.step(DAWN, register("last")).is_ok());
    assert_eq!(lobby.step(DAWN, register("late")), Err(LobbyRejection::NoRoom));
    assert_eq!(lobby.step(DAWN, register("p1")), Err(LobbyRejection::Taken(name("p1"))));
    assert!(lobby.step(DAWN, log_in("p1")).is_ok(), "those who are in stay in");
}

#[test]
fn strangers_must_register_first() {
    let mut bench = Bench::new();
    let unknown = LobbyRejection::Unknown(name("eve"));
    let (account, password) = (name("eve"), PasswordHash::new("x"));
    assert_eq!(bench.no(LobbyCommand::ChangePassword { account, password, keep: None }), unknown);
    assert_eq!(bench.no(issue("eve", "t", DAWN + 1)), unknown);
    assert_eq!(bench.no(log_in("eve")), unknown);
}

#[test]
fn the_last_password_counts_and_nothing_shows_it() {
    let mut bench = Bench::new();
    bench.ok(register("ann"));
    let (account, password) = (name("ann"), PasswordHash::new("second"));
    let change = LobbyCommand::ChangePassword { account, password, keep: None };
    assert!(!format!("{change:?}").contains("second"));
    assert_eq!(bench.ok(change), ["password-changed"]);
    let ann = bench.lobby.account(&name("ann")).unwrap();
    assert_eq!(ann.password.as_ref().map(PasswordHash::phc), Some("second"));
    assert!(!format!("{:?}", bench.lobby).contains("second"));
    assert!(!format!("{:?}", bench.lines).contains("second"), "not even the log's debug form");
}

#[test]
fn a_token_is_good_until_its_time_is_over() {
    let mut bench = Bench::with(&["ann"]);
    bench.ok(issue("ann", "t", DAWN + 1_000));
    assert_eq!(holder(&bench, "t").as_deref(), Some("ann"));
    assert_eq!(holder(&bench, "T"), None);
    bench.wait(999);
    assert_eq!(holder(&bench, "t").as_deref(), Some("ann"));
    bench.wait(1);
    assert_eq!(holder(&bench, "t"), None);
}

#[test]
fn a_revoked_token_is_good_no_more_and_others_stay() {
    let mut bench = Bench::with(&["ann"]);
    bench.all([issue("ann", "one", DAWN + 1_000), issue("ann", "two", DAWN + 1_000)]);
    assert_eq!(bench.ok(revoke("one")), ["token-revoked"]);
    assert_eq!(bench.no(revoke("one")), LobbyRejection::NoToken);
    assert_eq!(holder(&bench, "one"), None);
    assert_eq!(holder(&bench, "two").as_deref(), Some("ann"));
}

#[test]
fn the_token_that_ends_first_makes_room_and_others_accounts_are_not_touched() {
    let mut bench = Bench::with(&["ann", "bob"]);
    bench.ok(issue("bob", "bob's", DAWN + 1));
    // The fourth ends first.
    for number in 0..Lobby::TOKENS_MAX as u64 {
        let ends = if number == 3 { 50 } else { 100 + number };
        assert_eq!(bench.ok(issue("ann", &format!("t{number}"), DAWN + ends)), ["token-issued"]);
    }
    assert_eq!(bench.ok(issue("ann", "new", DAWN + 60)), ["token-issued", "token-revoked"]);
    assert_eq!(holder(&bench, "t3"), None);
    assert_eq!(bench.ok(issue("ann", "newer", DAWN + 500)), ["token-issued", "token-revoked"]);
    assert_eq!(holder(&bench, "new"), None);
    assert_eq!(bench.ok(issue("ann", "newest", DAWN + 500)), ["token-issued", "token-revoked"]);
    assert_eq!(holder(&bench, "t0"), None);
    for kept in ["t1", "t2", "t4", "t31", "newer", "newest"] {
        assert_eq!(holder(&bench, kept).as_deref(), Some("ann"), "{kept}");
    }
    assert_eq!(holder(&bench, "bob's").as_deref(), Some("bob"));
}

#[test]
fn a_new_password_revokes_the_other_tokens_of_the_account() {
    let mut bench = Bench::with(&["ann", "bob"]);
    bench.all([issue("ann", "a", DAWN + 9), issue("ann", "b", DAWN + 9)]);
    bench.all([issue("ann", "c", DAWN + 9), issue("bob", "d", DAWN + 9)]);
    let (account, password) = (name("ann"), PasswordHash::new("next"));
    let keep = Some(TokenHash::of("b"));
    let tags = bench.ok(LobbyCommand::ChangePassword { account, password, keep });
    assert_eq!(tags, ["password-changed", "token-revoked", "token-revoked"]);
    let holders = ["a", "b", "c", "d"].map(|token| holder(&bench, token));
    let [ann, bob] = ["ann", "bob"].map(|text| Some(text.to_owned()));
    assert_eq!(holders, [None, ann, None, bob]);
}

#[test]
fn tokens_that_have_ended_are_forgotten_and_take_no_room() {
    let mut bench = Bench::with(&["ann", "bob"]);
    bench.ok(issue("ann", "short", DAWN + 10));
    for number in 1..Lobby::TOKENS_MAX {
        bench.ok(issue("ann", &format!("t{number}"), DAWN + 1_000));
    }
    bench.wait(10);
    assert_eq!(bench.ok(issue("ann", "next", DAWN + 1_000)), ["token-issued"], "one has ended");
    assert_eq!(bench.no(revoke("short")), LobbyRejection::NoToken, "it is not kept");
    bench.wait(990);
    bench.ok(issue("bob", "bob's", DAWN + 5_000));
    assert_eq!(bench.no(revoke("t1")), LobbyRejection::NoToken, "whoever gets one cleans up");
}

#[test]
fn no_token_is_in_the_log() {
    let mut bench = Bench::with(&["ann"]);
    bench.ok(issue("ann", "swordfish", DAWN + 1));
    assert!(bench.lines.iter().all(|line| !line.write().contains("swordfish")));
}

#[test]
fn a_bare_name_that_never_played_can_be_dropped() {
    let mut bench = Bench::new();
    let bare = |account: &str| {
        let (kind, role) = (AccountKind::Program, Role::Player);
        LobbyCommand::Register { account: name(account), kind, role, password: None }
    };
    let drop = |account: &str| LobbyCommand::Drop { account: name(account) };
    let stays = |account: &str| LobbyRejection::Stays(name(account));
    assert_eq!(bench.no(drop("ann")), LobbyRejection::Unknown(name("ann")));
    bench.ok(bare("ann"));
    bench.ok(log_in("ann"));
    assert_eq!(bench.no(drop("ann")), stays("ann"), "it is here");
    bench.ok(LobbyCommand::LogOut { account: name("ann") });
    assert_eq!(bench.ok(drop("ann")), ["account-dropped"]);
    assert!(bench.lobby.account(&name("ann")).is_none());
    // The name is free again, and numbers are not used twice.
    bench.ok(bare("bob"));
    bench.ok(bare("ann"));
    let number = |account: &str| bench.lobby.account(&name(account)).unwrap().number;
    assert_eq!((number("bob"), number("ann")), (1, 2));
    bench.ok(issue("bob", "t", DAWN + 1_000_000));
    assert_eq!(bench.no(drop("bob")), stays("bob"), "it can log in with a token");
    bench.ok(register("cat"));
    assert_eq!(bench.no(drop("cat")), stays("cat"), "it can log in with a password");
}

fn guest(account: &str) -> LobbyCommand {
    let (kind, role) = (AccountKind::Person, Role::Player);
    LobbyCommand::Register { account: name(account), kind, role, password: None }
}

fn claim(guest: &str, account: &str) -> LobbyCommand {
    let password = PasswordHash::new(format!("hash of {account}"));
    LobbyCommand::Claim { guest: name(guest), account: name(account), password }
}

#[test]
fn guest_who_is_claimed_goes_on_under_another_name() {
    let mut bench = Bench::new();
    bench.ok(guest("Guest 1"));
    bench.ok(register("bob"));
    bench.ok(issue("Guest 1", "t", DAWN + 1_000_000));
    assert!(bench.lobby.account(&name("Guest 1")).unwrap().is_guest());
    assert_eq!(bench.no(claim("bob", "ann")), LobbyRejection::NotGuest(name("bob")));
    assert_eq!(bench.no(claim("Guest 2", "ann")), LobbyRejection::Unknown(name("Guest 2")));
    assert_eq!(bench.no(claim("Guest 1", "bob")), LobbyRejection::Taken(name("bob")));
    bench.ok(enqueue("Guest 1", "fish-casual"));
    assert_eq!(bench.no(claim("Guest 1", "ann")), LobbyRejection::GuestPlays(name("Guest 1")));
    bench.ok(dequeue("Guest 1", "fish-casual"));
    let events = bench.ok(claim("Guest 1", "ann"));
    assert_eq!(events, ["guest-claimed", "token-revoked"]);
    let ann = bench.lobby.account(&name("ann")).unwrap();
    assert_eq!((ann.kind, ann.is_guest()), (AccountKind::Person, false));
    assert_eq!(ann.guest, Some(name("Guest 1")));
    assert_eq!(holder(&bench, "t"), None, "the guest's session is over");
}

#[test]
fn guest_who_never_played_loses_the_account_after_a_while() {
    let mut bench = Bench::new();
    let drop = |account: &str| LobbyCommand::Drop { account: name(account) };
    let stays = |account: &str| LobbyRejection::Stays(name(account));
    for account in ["Guest 1", "Guest 2", "Guest 3"] {
        bench.ok(guest(account));
        bench.ok(issue(account, account, DAWN + 100 * Lobby::GUEST_IDLE_MS));
    }
    bench.now += Lobby::GUEST_IDLE_MS - 1;
    assert_eq!(bench.no(drop("Guest 1")), stays("Guest 1"), "it is too new");
    bench.now += 1;
    assert_eq!(holder(&bench, "Guest 1").as_deref(), Some("Guest 1"));
    assert_eq!(bench.ok(drop("Guest 1")), ["account-dropped"]);
    assert_eq!(holder(&bench, "Guest 1"), None, "its token went with it");
    bench.ok(log_in("Guest 2"));
    assert_eq!(bench.no(drop("Guest 2")), stays("Guest 2"), "it is here");
    bench.ok(log_out("Guest 2"));
    bench.ok(enqueue("Guest 2", "fish-casual"));
    assert_eq!(bench.no(drop("Guest 2")), stays("Guest 2"), "it waits");
    let password = PasswordHash::new("hash of Guest 3");
    let account = name("Guest 3");
    bench.ok(LobbyCommand::ChangePassword { account, password, keep: None });
    assert_eq!(bench.no(drop("Guest 3")), stays("Guest 3"), "it kept the name");
}
