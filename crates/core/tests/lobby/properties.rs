//! Properties of every lobby, after any commands.
//!
//! The bench itself checks after every command that the log folds to the state and that a refusal
//! changes nothing; here it is given lists of commands nobody thought of.

use crate::bench::{
    Bench, DAWN, accept, announce, announce_by_lot, announce_without, blacklist, call_off, deliver,
    dequeue, enqueue, exactly, finish, from_line, from_queue, issue, kick, lift, log_in, log_out,
    name, numbered, pull, ready, register, reject, revoke, sign_up, sign_up_aged, start, withdraw,
};
use crate::cases::cases;
use agon_core::lobby::{
    Draw, Lobby, LobbyCommand, QueueName, Reply, Selection, Standing, Terms, Window,
};
use agon_core::{Event, Millis, Timestamp};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const PLAYERS: usize = 6;
const QUEUES: [&str; 2] = ["q", "r"];

/// The next action of a test.
#[derive(Clone, Debug)]
enum Move {
    Ask(LobbyCommand),
    Wait(Millis),
}

fn any_player() -> impl Strategy<Value = String> {
    // One more than there are: a stranger.
    (1..=PLAYERS + 1).prop_map(|number| format!("p{number}"))
}

fn any_tournament() -> impl Strategy<Value = String> {
    (1..8u32).prop_map(|number| format!("t{number}"))
}

fn any_queue() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(&QUEUES[..])
}

fn any_window() -> impl Strategy<Value = Window> {
    let parts = (1..4u32, 1..5u32, 0..50u64, 0..50u64, 0..4u32, any::<bool>());
    parts.prop_map(|(at_least, at_most, wait_ms, second_wait_ms, second_at_least, repeat)| Window {
        at_least,
        at_most,
        wait_ms,
        second_wait_ms,
        second_at_least,
        repeat,
    })
}

fn any_terms() -> impl Strategy<Value = Terms> {
    let players = prop::sample::subsequence(numbered(PLAYERS), 1..PLAYERS);
    let parts = (players, 1..4u32, prop::option::of(1..5u32), 0..50u64, 0..50u64);
    parts.prop_map(|(players, at_least, at_most, wait_ms, ready_ms)| Terms {
        players: players.iter().map(|player| name(player)).collect(),
        at_least,
        at_most,
        wait_ms,
        ready_ms,
    })
}

fn any_draw() -> impl Strategy<Value = Draw> {
    (0..4u32, 0..5u32, 1..200u64).prop_map(|(at_least, at_most, wait_ms)| Draw {
        at_least,
        at_most,
        wait_ms,
    })
}

fn any_selection() -> impl Strategy<Value = Selection> {
    let named = prop::collection::vec(any_player(), 0..4)
        .prop_map(|players| exactly(&players.iter().map(String::as_str).collect::<Vec<_>>()));
    prop_oneof![
        (0..5u32).prop_map(from_line),
        (0..5u32).prop_map(|at_most| Selection::Age { at_most }),
        (0..5u32).prop_map(|at_most| Selection::Random { at_most }),
        (any_queue(), 0..5u32).prop_map(|(queue, at_most)| from_queue(queue, at_most)),
        named,
        any_window().prop_map(Selection::SignUp),
        any_window().prop_map(Selection::SignUp),
        any_terms().prop_map(Selection::Invitation),
        any_terms().prop_map(Selection::Invitation),
        any_draw().prop_map(Selection::Draw),
        any_draw().prop_map(Selection::Draw),
    ]
}

fn any_command() -> impl Strategy<Value = LobbyCommand> {
    let seats = || (any_tournament(), any_player());
    let places = || (any_player(), any_queue());
    prop_oneof![
        2 => any_player().prop_map(|player| register(&player)),
        4 => any_player().prop_map(|player| log_in(&player)),
        2 => any_player().prop_map(|player| log_out(&player)),
        6 => places().prop_map(|(player, queue)| enqueue(&player, queue)),
        2 => places().prop_map(|(player, queue)| dequeue(&player, queue)),
        1 => any_player().prop_map(|player| blacklist(&player, "cheated")),
        1 => any_player().prop_map(|player| lift(&player)),
        8 => seats().prop_map(|(tournament, player)| sign_up(&tournament, &player)),
        2 => seats().prop_map(|(tournament, player)| withdraw(&tournament, &player)),
        2 => seats().prop_map(|(tournament, player)| finish(&tournament, &[&player])),
        6 => seats().prop_map(|(tournament, player)| accept(&tournament, &player)),
        2 => seats().prop_map(|(tournament, player)| reject(&tournament, &player)),
        6 => seats().prop_map(|(tournament, player)| ready(&tournament, &player)),
        1 => any_tournament().prop_map(|id| deliver(&id)),
        1 => any_tournament().prop_map(|id| call_off(&id, "rain")),
        1 => any_tournament().prop_map(|id| start(&id, "enough are here")),
        1 => any_player().prop_map(|player| kick(&player, "asleep")),
        1 => seats().prop_map(|(tournament, player)| pull(&tournament, &player, "ill")),
        1 => any_tournament().prop_map(|id| LobbyCommand::Close { tournament: id.as_str().into() }),
        2 => (any_tournament(), any_selection(), prop::collection::vec(any_player(), 0..4))
            .prop_map(|(id, selection, absent)| {
                let absent: Vec<&str> = absent.iter().map(String::as_str).collect();
                announce_without(&id, selection, &absent)
            }),
        2 => (seats(), 0..90u16)
            .prop_map(|((tournament, player), age)| sign_up_aged(&tournament, &player, age)),
        5 => (any_tournament(), any_selection(), 0..9u64)
            .prop_map(|(id, selection, luck)| announce_by_lot(&id, selection, luck)),
        1 => (any_player(), 0..9u32, 0..2_000_000u64)
            .prop_map(|(player, token, ends)| {
                issue(&player, &format!("token {token}"), Timestamp::from_ms(ends))
            }),
        1 => (0..90u64, 0..900u64).prop_map(|(away_ms, until)| {
            LobbyCommand::Resume { away_ms, answers_until: DAWN + until }
        }),
        1 => (0..9u32).prop_map(|token| revoke(&format!("token {token}"))),
    ]
}

fn any_moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        8 => any_command().prop_map(Move::Ask),
        1 => (1..60u64).prop_map(Move::Wait),
    ];
    prop::collection::vec(one, 1..120)
}

/// Plays moves on a bench whose players are known, and looks at it after each.
fn play(moves: Vec<Move>, mut look: impl FnMut(&Bench)) -> Bench {
    let mut bench = Bench::with(&numbered(PLAYERS - 1));
    for one in moves {
        match one {
            Move::Ask(command) => {
                // Refused or not: the bench compares.
                let _ = bench.step(command);
            }
            Move::Wait(ms) => {
                bench.wait(ms);
            }
        }
        look(&bench);
    }
    bench
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn the_log_folds_to_the_lobby_after_every_record(moves in any_moves()) {
        let mut states = BTreeMap::new();
        let bench = play(moves, |bench| {
            states.insert(bench.lines.len(), bench.lobby.clone());
        });
        for (count, state) in states {
            let folded = Lobby::fold(&bench.lines[..count]).unwrap();
            prop_assert_eq!(folded, state, "after {} events", count);
        }
    }

    /// The indexes beside the tournaments agree with a scan of all tournaments.
    #[test]
    fn the_index_agrees_with_a_recount(moves in any_moves()) {
        play(moves, |bench| {
            let lobby = &bench.lobby;
            let mut deadlines = Vec::new();
            let (mut running, mut open) = (Vec::new(), Vec::new());
            let mut counts: BTreeMap<_, (usize, usize)> = BTreeMap::new();
            for (id, standing) in lobby.tournaments() {
                match standing {
                    Standing::Open(up) => {
                        open.push(id);
                        let Selection::SignUp(window) = &up.announcement.selection else {
                            panic!("{id} is a sign-up");
                        };
                        if !(window.repeat && up.players.is_empty()) {
                            deadlines.push(up.closes_at);
                        }
                        up.players.iter().for_each(|p| counts.entry(p).or_default().1 += 1);
                    }
                    Standing::Inviting(invitation) => {
                        deadlines.push(invitation.deadline());
                        invitation.coming().for_each(|p| counts.entry(p).or_default().1 += 1);
                    }
                    Standing::Running(plan) => {
                        running.push(id);
                        plan.players.iter().for_each(|p| counts.entry(p).or_default().0 += 1);
                    }
                    Standing::Finished(_) | Standing::CalledOff(_) => {}
                }
            }
            for queue in QUEUES {
                let waiting = lobby.queue(&QueueName::new(queue).unwrap());
                waiting.iter().for_each(|p| counts.entry(p).or_default().1 += 1);
            }
            assert_eq!(lobby.deadline(), deadlines.into_iter().min());
            assert_eq!(lobby.running().map(|plan| &plan.id).collect::<Vec<_>>(), running);
            assert_eq!(lobby.sign_ups().map(|up| &up.announcement.id).collect::<Vec<_>>(), open);
            for (player, _) in lobby.accounts() {
                let counted = counts.get(player).copied().unwrap_or_default();
                assert_eq!(lobby.involvement(player), counted, "{player}");
            }
        });
    }

    /// Players by invitation were invited, accepted and, where required, said that they are ready.
    #[test]
    fn nobody_is_taken_who_did_not_come(moves in any_moves()) {
        let mut before = BTreeMap::new();
        play(moves, |bench| {
            for (id, invitation) in std::mem::take(&mut before) {
                let invitation: agon_core::lobby::Invitation = invitation;
                if let Some(Standing::Running(plan)) = bench.lobby.tournament(&id) {
                    let last = &bench.lines[bench.lines.len() - 2].event;
                    for player in &plan.players {
                        let said = match last {
                            Event::PlayerReady(ready) if ready.player == *player => true,
                            Event::InvitationAccepted(said) if said.player == *player => true,
                            _ => matches!(
                                invitation.reply(player),
                                Some(Reply::Accepted | Reply::Ready)
                            ),
                        };
                        assert!(said, "{player} in {id}");
                    }
                }
            }
            for (id, standing) in bench.lobby.tournaments() {
                if let Standing::Inviting(invitation) = standing {
                    before.insert(id.clone(), (**invitation).clone());
                }
            }
        });
    }

    /// Where a snapshot was taken makes no difference: what follows it leads to the same lobby.
    #[test]
    fn a_snapshot_and_the_rest_are_the_whole(moves in any_moves()) {
        let mut snapshots = BTreeMap::new();
        let bench = play(moves, |bench| {
            snapshots.insert(bench.lines.len(), bench.lobby.snapshot());
        });
        for (count, text) in snapshots {
            let mut lobby = Lobby::from_snapshot(&text).unwrap();
            for line in &bench.lines[count..] {
                lobby.apply(line.at, &line.event).unwrap();
            }
            prop_assert_eq!(&lobby, &bench.lobby, "from a snapshot after {} events", count);
        }
    }

    #[test]
    fn nobody_is_twice_in_one_tournament(moves in any_moves()) {
        play(moves, |bench| {
            for (id, standing) in bench.lobby.tournaments() {
                let players = match standing {
                    Standing::Open(sign_up) => &sign_up.players,
                    Standing::Running(plan) => &plan.players,
                    _ => continue,
                };
                let distinct: BTreeSet<_> = players.iter().collect();
                assert_eq!(distinct.len(), players.len(), "{id}: {players:?}");
            }
            let line: BTreeSet<_> = bench.lobby.line().iter().collect();
            assert_eq!(line.len(), bench.lobby.line().len(), "nor in line");
        });
    }

    #[test]
    fn blacklisted_player_waits_nowhere_and_enters_nothing(moves in any_moves()) {
        let mut seen = 0;
        play(moves, |bench| {
            let listed: BTreeSet<_> = bench
                .lobby
                .accounts()
                .filter(|(_, account)| account.blacklisted.is_some())
                .map(|(name, _)| name)
                .collect();
            for queue in QUEUES {
                let waiting = bench.lobby.queue(&QueueName::new(queue).unwrap());
                assert!(waiting.iter().all(|player| !listed.contains(player)), "{queue}");
            }
            for (id, standing) in bench.lobby.tournaments() {
                if let Standing::Open(sign_up) = standing {
                    assert!(sign_up.players.iter().all(|p| !listed.contains(p)), "{id}");
                }
            }
            // No step both lists somebody and starts a tournament.
            for line in &bench.lines[seen..] {
                if let Event::TournamentStarted(started) = &line.event {
                    let players = &started.plan.players;
                    assert!(players.iter().all(|p| !listed.contains(p)), "{players:?}");
                }
            }
            seen = bench.lines.len();
        });
    }

    #[test]
    fn tournaments_start_with_players_they_may_have(moves in any_moves()) {
        let bench = play(moves, |_| {});
        let mut selections = BTreeMap::new();
        for line in &bench.lines {
            match &line.event {
                Event::TournamentAnnounced(announced) => {
                    let announcement = &announced.announcement;
                    selections.insert(announcement.id.clone(), announcement.selection.clone());
                }
                Event::TournamentStarted(started) => {
                    let count = started.plan.players.len();
                    let at_most = match &selections[&started.plan.id] {
                        Selection::Line { at_most }
                        | Selection::Age { at_most }
                        | Selection::Random { at_most }
                        | Selection::Queue { at_most, .. } => *at_most as usize,
                        Selection::Named { players } => players.len(),
                        Selection::SignUp(window) => window.at_most as usize,
                        Selection::Invitation(terms) => terms.most(),
                        Selection::Draw(draw) => draw.at_most as usize,
                    };
                    prop_assert!((1..=at_most).contains(&count), "{} of {}", count, at_most);
                    for player in &started.plan.players {
                        prop_assert!(bench.lobby.account(player).is_some());
                    }
                }
                _ => {}
            }
        }
    }

    /// A player who stays in the queue plays as often as everybody else, give or take one.
    #[test]
    fn rotation_is_fair(players in 1usize..12, sizes in prop::collection::vec(1u32..14, 1..40)) {
        let names = numbered(players);
        let mut bench = Bench::with(&names);
        for (number, size) in sizes.into_iter().enumerate() {
            bench.ok(announce(&format!("t{number}"), from_line(size)));
            let counts = names.iter().map(|player| bench.involvement(player).0);
            let (least, most) = (counts.clone().min().unwrap(), counts.max().unwrap());
            prop_assert!(most - least <= 1, "{} to {} after {}", least, most, number + 1);
        }
    }

    /// A latecomer plays before anybody plays twice.
    #[test]
    fn nobody_overtakes_twice(players in 2usize..10, size in 1u32..4, rounds in 1usize..30) {
        let mut bench = Bench::with(&numbered(players));
        for number in 0..rounds {
            bench.ok(announce(&format!("t{number}"), from_line(size)));
        }
        bench.ok(register("late"));
        bench.ok(log_in("late"));
        let ahead = bench.lobby.line().len() - 1;
        for number in 0..ahead / size as usize {
            bench.ok(announce(&format!("u{number}"), from_line(size)));
        }
        bench.ok(announce("next", from_line(size)));
        let Some(Standing::Running(plan)) = bench.lobby.tournament(&"next".into()) else {
            return Err(TestCaseError::fail("it does not run"));
        };
        prop_assert!(plan.players.contains(&name("late")), "{:?}", plan.players);
    }
}
