//! Messages one by one: what is read, what is refused and why.

use agon_core::PlayerName;
use agon_core::statistics::{PlayerTallies, Tally};
use agon_games::RefusalKind::{Malformed, WrongKind};
use agon_games::yahtzee::Question;
use agon_wire::erlang::class::{self, Action, Status, Variant};
use agon_wire::erlang::queue::{self, Owned};
use agon_wire::erlang::referee::{self, Attempt};
use agon_wire::erlang::term::{Atom, Pid, Ref, Term};
use agon_wire::erlang::{BadMessage, Message, Password, read};

fn pid() -> Pid {
    Pid { node: Atom::new("eve@box").unwrap(), id: 9, serial: 0, creation: 1 }
}

fn reference(number: u32) -> Ref {
    Ref { node: Atom::new("agon@localhost").unwrap(), creation: 7, words: [number].into() }
}

fn a(name: &'static str) -> Term {
    Term::atom(name)
}

fn s(text: &str) -> Term {
    Term::string(text)
}

fn eve() -> PlayerName {
    PlayerName::new("eve").unwrap()
}

fn question(roll: u8) -> Question {
    let text = match roll {
        3 => r#"{"ask":"score","dice":[2,3,2,4,6]}"#.to_owned(),
        roll => format!(r#"{{"ask":"keep","roll":{roll},"dice":[2,3,2,4,6]}}"#),
    };
    serde_json::from_str(&text).unwrap()
}

fn class(term: Term) -> class::FromPlayer {
    match read(&term) {
        Ok(Message::Class(message)) => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn messages_of_the_class_protocol() {
    let p = || Term::from(pid());
    let (tid, ticket) = (Term::from(reference(1)), Term::from(reference(2)));
    let logout = class::FromPlayer::Logout { pid: pid(), ticket: ticket.clone() };
    assert_eq!(class(Term::tuple([a("logout"), p(), s("eve"), ticket.clone()])), logout);
    let wrapped = Term::tuple([ticket.clone()]);
    assert_eq!(class(Term::tuple([a("logout"), p(), s("eve"), wrapped])), logout);
    assert_eq!(class(Term::tuple([a("logout"), p(), ticket.clone()])), logout);
    let both = Term::tuple([tid.clone(), ticket.clone()]);
    let accepts = class(Term::tuple([a("accept_tournament"), p(), s("eve"), both]));
    let expected = |accepts, ticket| class::FromPlayer::Invited {
        pid: pid(),
        accepts,
        tournament: tid.clone(),
        ticket,
    };
    assert_eq!(accepts, expected(true, Some(ticket)));
    let rejects = class(Term::tuple([a("reject_tournament"), p(), tid.clone()]));
    assert_eq!(rejects, expected(false, None));
    let wanted = Term::tuple([Term::Int(8), Term::Int(3)]);
    let wanted = class(Term::tuple([a("request_tournament"), p(), wanted]));
    assert_eq!(wanted, class::FromPlayer::RequestTournament { pid: pid(), players: 8, games: 3 });
    for user in [s("eve"), Term::tuple([s("eve")])] {
        let info = class(Term::tuple([a("user_info"), p(), user]));
        assert_eq!(info, class::FromPlayer::UserInfo { pid: pid(), user: eve(), spelt: s("eve") });
    }
    for asked in [tid.clone(), Term::tuple([tid.clone()])] {
        let info = class(Term::tuple([a("tournament_info"), p(), asked]));
        assert_eq!(info, class::FromPlayer::TournamentInfo { pid: pid(), tournament: tid.clone() });
    }
}

#[test]
fn invalid_messages_are_explained() {
    let p = || Term::from(pid());
    assert_eq!(read(&a("login")), Err(BadMessage::NotAMessage));
    assert_eq!(read(&Term::tuple([])), Err(BadMessage::NotAMessage));
    assert_eq!(read(&Term::tuple([a("dance"), p(), s("eve")])), Err(BadMessage::NotAMessage));
    assert_eq!(read(&Term::tuple([a("login"), p()])), Err(BadMessage::NotAMessage));
    let field = |term: Term| match read(&term) {
        Err(BadMessage::Field { message, .. }) => message,
        other => panic!("{other:?}"),
    };
    assert_eq!(field(Term::tuple([a("login"), p(), s("eve")])), "login");
    let both = Term::tuple([s("eve"), Term::Int(7)]);
    assert_eq!(field(Term::tuple([a("login"), p(), both])), "login");
    assert_eq!(field(Term::tuple([a("play_action"), p(), Term::Int(7)])), "play_action");
    assert_eq!(field(Term::tuple([s("eve"), Term::Int(1), a("enqueueMe")])), "enqueueMe");
    assert_eq!(field(Term::tuple([a("start_tournament"), a("many")])), "start_tournament");
    let nameless = Term::tuple([s(""), a("stats_request")]);
    assert!(matches!(read(&nameless), Err(BadMessage::Name { message: "stats_request", .. })));
}

/// A program may use atoms for names and passwords, and reads its own spelling back.
#[test]
fn atoms_are_names_and_passwords_too() {
    let both = || Term::tuple([a("eve"), a("pw")]);
    let spelt = a("eve");
    let login = class(Term::tuple([a("login"), pid().into(), a("eve"), both()]));
    let password = Password("pw".into());
    let (user, variant) = (eve(), Variant::Plain);
    let expected = class::FromPlayer::Login { pid: pid(), user, spelt, password, variant };
    assert_eq!(login, expected);
    let tupled = class(Term::tuple([a("login"), pid().into(), a("eve@box"), both()]));
    assert!(matches!(tupled, class::FromPlayer::Login { variant: Variant::Tupled, .. }));
    let writer = class::Writer { variant: Variant::Plain, user: a("eve"), manager: pid() };
    let told = writer.logged_in(&reference(1)).to_string();
    assert_eq!(told, "{logged_in,<eve@box.9.0>,eve,#Ref<agon@localhost.1>}");
    let enqueue = Term::tuple([a("eve"), a("pw"), a("enqueueMe")]);
    let expected = queue::FromPlayer::Owned {
        user: eve(),
        password: Password("pw".into()),
        what: Owned::Enqueue,
    };
    assert_eq!(read(&enqueue), Ok(Message::Queue(expected)));
}

#[test]
fn passwords_are_not_shown() {
    let both = Term::tuple([s("eve"), s("swordfish")]);
    let login = class(Term::tuple([a("login"), pid().into(), s("eve"), both]));
    assert!(!format!("{login:?}").contains("swordfish"));
    assert!(
        matches!(login, class::FromPlayer::Login { password: Password(p), .. } if p == "swordfish")
    );
}

fn action(roll: i64, keep: [bool; 5], line: i64) -> Action {
    Action {
        pid: pid(),
        reference: reference(1).into(),
        tournament: reference(2).into(),
        game: reference(3).into(),
        roll: Term::Int(roll),
        keep,
        line,
    }
}

#[test]
fn a_line_scores_at_once_and_zero_rolls_again() {
    let keep = [true, false, true, false, false];
    let plain = |roll: u8, line| {
        class::answers(Variant::Plain, &question(roll), &action(roll.into(), keep, line))
    };
    let again = plain(1, 0).expect("keepers");
    assert_eq!((&*again.now, again.then), (r#"{"keep":[true,false,true,false,false]}"#, None));
    let scored = plain(2, 13).expect("a box");
    assert_eq!(scored.now, r#"{"keep":[true,true,true,true,true]}"#);
    assert_eq!(scored.then.as_deref(), Some(r#"{"score":"chance"}"#));
    let scored = plain(3, 1).expect("a box");
    assert_eq!((&*scored.now, scored.then), (r#"{"score":"aces"}"#, None));
    for line in [14, -1, i64::MIN, i64::MAX] {
        assert_eq!(plain(3, line).expect("for the rules").now, r#"{"score":"no-such-box"}"#);
    }
    // The rules refuse what is not what was asked for, with what was sent before them.
    let kept = r#"{"keep":[true,false,true,false,false]}"#;
    assert_eq!(plain(3, 0).expect("for the rules").now, kept);
    let other = class::answers(Variant::Plain, &question(2), &action(1, keep, 0));
    assert_eq!(other.unwrap_err().kind, WrongKind);
    // Tupled programs name a box while they roll again.
    let tupled =
        class::answers(Variant::Tupled, &question(1), &action(1, keep, 5)).expect("keepers");
    assert_eq!((&*tupled.now, tupled.then), (r#"{"keep":[true,false,true,false,false]}"#, None));
    // Without users the fourth field may be the turn.
    assert!(class::answers(Variant::NoUser, &question(1), &action(12, keep, 0)).is_ok());
}

#[test]
fn answers_of_the_referee_protocol() {
    let dice = |values: &[i64]| Term::List(values.iter().copied().map(Term::Int).collect());
    let one = |roll, to, choice: &Term| referee::answers(&question(roll), to, choice);
    assert_eq!(one(1, Attempt::First, &dice(&[2, 2])).unwrap().now, r#"{"keep":[2,2]}"#);
    assert_eq!(one(2, Attempt::Second, &Term::nil()).unwrap().now, r#"{"keep":[]}"#);
    assert_eq!(one(2, Attempt::Second, &dice(&[-7])).unwrap().now, r#"{"keep":[-7]}"#);
    let score = one(3, Attempt::Score, &a("three_of_a_kind")).unwrap();
    assert_eq!(score.now, r#"{"score":"three-of-a-kind"}"#);
    assert_eq!(one(3, Attempt::Score, &a("sevens")).unwrap().now, r#"{"score":"no-such-box"}"#);
    assert_eq!(one(1, Attempt::Second, &dice(&[2])).unwrap_err().kind, WrongKind);
    assert_eq!(one(1, Attempt::Score, &a("aces")).unwrap().now, r#"{"score":"aces"}"#);
    assert_eq!(one(3, Attempt::First, &dice(&[2])).unwrap().now, r#"{"keep":[2]}"#);
    assert_eq!(one(1, Attempt::First, &a("all")).unwrap_err().kind, Malformed);
    assert_eq!(one(1, Attempt::First, &Term::List(vec![a("two")])).unwrap_err().kind, Malformed);
    assert_eq!(one(3, Attempt::Score, &Term::Int(3)).unwrap_err().kind, Malformed);
}

#[test]
fn answers_of_the_queue_protocol() {
    let dice = |values: &[i64]| Term::List(values.iter().copied().map(Term::Int).collect());
    let again = |roll, values: &[i64]| queue::modify(&question(roll), &dice(values));
    assert_eq!(again(1, &[3, 2]).unwrap().now, r#"{"keep":[true,false,false,true,true]}"#);
    assert_eq!(again(1, &[]).unwrap().now, r#"{"keep":[true,true,true,true,true]}"#);
    // Dice that are not on the table are named to the rules, which refuse them.
    for values in [&[5][..], &[2, 2, 2], &[0], &[i64::MAX], &[6; 20]] {
        let named = serde_json::to_string(values).unwrap();
        assert_eq!(again(1, values).unwrap().now, format!(r#"{{"keep":{named}}}"#));
    }
    assert_eq!(again(3, &[2]).unwrap().now, r#"{"keep":[true,true,false,true,true]}"#);
    assert_eq!(queue::modify(&question(1), &a("all")).unwrap_err().kind, Malformed);
    let table = dice(&[2, 3, 2, 4, 6]);
    let scored = queue::end_turn(&question(1), &table, &a("chance")).unwrap();
    assert_eq!(scored.then.as_deref(), Some(r#"{"score":"chance","dice":[2,3,2,4,6]}"#));
    let with_points = Term::tuple([a("chance"), Term::Int(17)]);
    let scored = queue::end_turn(&question(3), &table, &with_points).unwrap();
    assert_eq!(scored.now, r#"{"score":"chance","dice":[2,3,2,4,6],"points":17}"#);
    for score in [Term::Int(3), Term::tuple([a("chance")]), Term::tuple([a("chance"), a("lots")])] {
        assert_eq!(queue::end_turn(&question(3), &table, &score).unwrap_err().kind, Malformed);
    }
    for answer in [scored.now, r#"{"score":"no-such-box","dice":[1]}"#.to_owned()] {
        serde_json::from_str::<agon_games::yahtzee::Answer>(&answer).expect("an answer");
    }
}

#[test]
fn messages_of_the_queue_protocol() {
    let queue = |term: Term| match read(&term) {
        Ok(Message::Queue(message)) => message,
        other => panic!("{other:?}"),
    };
    let login = queue(Term::tuple([pid().into(), a("login"), s("eve"), a("false")]));
    assert_eq!(login, queue::FromPlayer::Login { pid: pid(), user: eve(), password: None });
    let set = queue(Term::tuple([a("new_password"), s("eve"), s("new"), a("false")]));
    let new = Password("new".into());
    assert_eq!(set, queue::FromPlayer::NewPassword { user: eve(), new, old: None });
    let start = queue(Term::tuple([a("start_tournament"), Term::Int(8)]));
    assert_eq!(start, queue::FromPlayer::StartTournament { players_max: 8 });
    for (kind, what) in
        [("logout", Owned::Logout), ("enqueueMe", Owned::Enqueue), ("dequeueMe", Owned::Dequeue)]
    {
        let password = Password("pw".into());
        let expected = queue::FromPlayer::Owned { user: eve(), password, what };
        assert_eq!(queue(Term::tuple([s("eve"), s("pw"), a(kind)])), expected);
    }
    let tid = Term::from(reference(1));
    let left = queue(Term::tuple([s("eve"), s("pw"), a("drop_tournament"), tid.clone()]));
    assert!(matches!(
        left,
        queue::FromPlayer::Owned { what: Owned::Drop { tournament }, .. } if tournament == tid
    ));
}

#[test]
fn replies_about_players_and_tournaments() {
    let record = PlayerTallies {
        matches: Tally { won: 3, lost: 2, tied: 0 },
        tournaments: Tally { won: 1, lost: 1, tied: 0 },
        tournaments_played: 3,
        ..PlayerTallies::default()
    };
    let manager = pid();
    let text = |term: Term| term.to_string();
    assert_eq!(
        text(class::user_status(&manager, &s("eve"), &record)),
        r#"{user_status,<eve@box.9.0>,{"eve",3,2,3,1}}"#
    );
    let tid = Term::from(reference(1));
    for (status, shown) in [
        (Status::InProgress, "in_progress,undefined"),
        (Status::Won(eve()), "complete,\"eve\""),
        (Status::Bye, "complete,bye"),
    ] {
        assert_eq!(
            text(class::tournament_status(&manager, &tid, &status)),
            format!("{{tournament_status,<eve@box.9.0>,{{#Ref<agon@localhost.1>,{shown},[]}}}}")
        );
    }
    assert_eq!(
        text(class::tournament_started(&manager, &reference(1), &[eve()])),
        r#"{tournament_started,<eve@box.9.0>,{#Ref<agon@localhost.1>,["eve"],[]}}"#
    );
    let ended =
        |winner: Option<&PlayerName>| text(referee::tournament_ended(&reference(1), winner));
    assert_eq!(ended(Some(&eve())), r#"{#Ref<agon@localhost.1>,tournament_ended,"eve"}"#);
    assert_eq!(ended(None), "{#Ref<agon@localhost.1>,tournament_ended,bye}");
    let known = referee::Known { record, rank: Some(4) };
    let stats = text(queue::stats(&a("eve"), Some(&known)));
    assert!(stats.starts_with("{stats,eve,[") && stats.contains("{rank,4},{tournaments_lost,1}"));
    assert_eq!(text(queue::stats(&s("ann"), None)), r#"{stats,"ann",[]}"#);
    let unranked = referee::Known { record, rank: None };
    let unranked = text(referee::stats_response(&reference(1), Some(&unranked)));
    assert!(unranked.contains("{rank,no_value}"), "{unranked}");
    let stats = text(queue::stats(&s("eve"), Some(&known)));
    assert!(stats.starts_with(r#"{stats,"eve",[{cheats,0},"#) && stats.contains("{matches_won,3}"));
    let keys: Vec<&str> =
        stats.split('{').skip(2).map(|entry| entry.split(',').next().unwrap()).collect();
    assert!(keys.is_sorted(), "a dictionary is in the order of its keys");
}
