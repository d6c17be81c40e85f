//! One player's visit, between its vocabulary and the native protocol: what is sent, what is said,
//! and what is not accepted.

use agon_core::PlayerName;
use agon_core::Timestamp;
use agon_wire::erlang::class::Variant;
use agon_wire::erlang::refs::{Key, Refs};
use agon_wire::erlang::session::{ErlangLogin, NotAccepted, Session, SessionOutput, Speaks};
use agon_wire::erlang::term::{Atom, Pid, Ref, Term};
use agon_wire::erlang::{Password, read};
use agon_wire::native::{FromPlayer, ToLobby};
use serde_json::{Value, json};
use std::sync::Arc;

fn pid(id: u32) -> Pid {
    Pid { node: Atom::new("eve@box").unwrap(), id, serial: 0, creation: 3 }
}

fn reference(number: u32) -> Ref {
    Ref { node: Atom::new("eve@box").unwrap(), creation: 3, words: [number, 0, 0].into() }
}

/// A visit with the outputs it led to, as text.
pub(crate) struct Visit {
    session: Session<u32>,
    refs: Arc<Refs>,
    /// The time.
    pub(crate) now: Timestamp,
    /// Terms it was sent.
    pub(crate) told: Vec<Term>,
}

impl Visit {
    fn new(speaks: Speaks) -> Visit {
        let refs = Arc::new(Refs::new(Atom::new("agon@localhost").unwrap(), 7));
        let (user, password) = (PlayerName::new("eve").unwrap(), Password("pw".into()));
        let spelt = Term::string("eve");
        let login = ErlangLogin { pid: pid(91), user, spelt, password, speaks };
        let manager = refs.pid(1);
        let (session, first) =
            Session::new(login, manager, Arc::clone(&refs), Key::new([9; 8]), 1_000);
        assert!(matches!(&first[0], FromPlayer::Hello(_)));
        Visit { session, refs, now: Timestamp::default(), told: Vec::new() }
    }

    pub(crate) fn logged_in(speaks: Speaks, active: u32) -> Visit {
        let mut visit = Visit::new(speaks);
        let welcome = json!({"type": "welcome", "account": "eve", "active": active, "waiting": 2});
        assert_eq!(visit.line(&welcome, Timestamp::default())[0], "logged in");
        visit
    }

    fn shown(&mut self, outputs: Vec<SessionOutput<u32>>) -> Vec<String> {
        let shown = outputs.into_iter().map(|output| match output {
            SessionOutput::Tell { to, term, written } => {
                let note = written.map_or_else(String::new, |written| format!(" #{written}"));
                let text = format!("tell {}: {term}{note}", to.id);
                self.told.push(term);
                text
            }
            SessionOutput::Answer { id, answer: Ok(answer), .. } => format!("say {id} {answer}"),
            SessionOutput::Answer { id, answer: Err(refusal), sent } => {
                format!("{id}: {refusal} {sent}")
            }
            SessionOutput::Running(written) => format!("#{written} runs"),
            SessionOutput::Refused { code, detail } => format!("{code}: {detail}"),
            SessionOutput::Say(FromPlayer::Answer { .. }) => {
                panic!("answers have their own output")
            }
            SessionOutput::Say(FromPlayer::Lobby(ToLobby::Accept { tournament })) => {
                format!("accept {tournament}")
            }
            SessionOutput::Say(FromPlayer::Lobby(ToLobby::Withdraw { tournament })) => {
                format!("withdraw {tournament}")
            }
            SessionOutput::Say(FromPlayer::Lobby(other)) => format!("say {other:?}"),
            SessionOutput::Say(FromPlayer::Hello(_)) => "hello".into(),
            SessionOutput::LoggedIn => "logged in".into(),
            SessionOutput::NotLetIn(code) => format!("not let in: {code}"),
            SessionOutput::PlaysFor(pid) => format!("{} plays", pid.id),
            SessionOutput::Stirred => "stirred".into(),
        });
        shown.collect()
    }

    pub(crate) fn line(&mut self, line: &Value, now: Timestamp) -> Vec<String> {
        let outputs = self.session.line(line.to_string().as_bytes(), None, now);
        self.shown(outputs)
    }

    pub(crate) fn resumed(&mut self, cup: &str) -> Vec<String> {
        let data = json!({"tournament": cup, "game": "yahtzee", "resumed": true});
        self.line(
            &json!({"type": "notice", "about": "tournament", "data": data}),
            Timestamp::default(),
        )
    }

    fn notice(&mut self, about: &str, now: Timestamp) -> Vec<String> {
        let data = json!({"tournament": "cup", "game": "yahtzee", "reply": "open"});
        self.line(&json!({"type": "notice", "about": about, "data": data}), now)
    }

    pub(crate) fn request(&mut self, id: &str, question: Value, written: u32) -> Vec<String> {
        let outputs = self.session.line(&request(id, question), Some(written), self.now);
        self.shown(outputs)
    }

    pub(crate) fn hear(&mut self, term: &Term) -> Result<Vec<String>, NotAccepted> {
        let message = read(term).expect("a message");
        let heard = self.session.hear(&message, term, Some(&pid(91)), self.now)?;
        Ok(self.shown(heard))
    }

    /// A line of the server as it is; what is answered to it at once.
    pub(crate) fn bytes(&mut self, line: &[u8]) -> Vec<(String, String)> {
        let outputs = self.session.line(line, Some(0), self.now);
        self.passed_on(outputs)
    }

    /// The number of the tournament `cup0`, `cup1` … that a reference stands for.
    pub(crate) fn table_of(&self, tournament: &Term) -> usize {
        let id = self.refs.tournament_of(tournament.as_reference().expect("a reference"));
        let id = id.expect("a tournament");
        id.as_str().trim_start_matches("cup").parse().expect("a number")
    }

    /// The request and the answer into which the player's message is translated.
    pub(crate) fn answers(&mut self, term: &Term) -> Vec<(String, String)> {
        let message = read(term).expect("a message");
        let outputs = self.session.hear(&message, term, None, self.now).expect("it is accepted");
        self.passed_on(outputs)
    }

    fn passed_on(&mut self, outputs: Vec<SessionOutput<u32>>) -> Vec<(String, String)> {
        let (mut answers, mut others) = (Vec::new(), Vec::new());
        for output in outputs {
            match output {
                SessionOutput::Answer { id, answer, .. } => {
                    answers.push((id.to_string(), answer.expect("an answer")));
                }
                other => others.push(other),
            }
        }
        self.shown(others);
        answers
    }

    pub(crate) fn deadline(&self) -> Option<Timestamp> {
        self.session.deadline()
    }

    pub(crate) fn due(&mut self, now: Timestamp) -> Vec<String> {
        let due = self.session.due(now);
        self.shown(due)
    }

    /// The last term that was sent, taken apart.
    pub(crate) fn last(&self) -> &[Term] {
        self.told.last().and_then(Term::as_tuple).expect("a tuple")
    }

    fn request_data(&self) -> Vec<Term> {
        self.last().last().and_then(Term::as_tuple).expect("data").to_vec()
    }
}

fn request(id: &str, question: Value) -> Vec<u8> {
    use agon_games::yahtzee::{Config, Yahtzee};
    use agon_games::{Game, Seat, Seed, Viewer};
    let game = Yahtzee::new(&Config::default(), 2, &Seed::from_number(1)).expect("a game");
    let view = game.view(Viewer::Seat(Seat(0)));
    let line = json!({
        "id": id, "deadline_ms": 1000, "seat": 0, "question": question, "view": view,
        "match": {"tournament": "cup", "id": "r1m1", "round": 1, "players": ["eve", "ann"],
                  "best_of": 3, "won": [0.0, 0.0], "game": 1, "games": []},
    });
    line.to_string().replacen('{', r#"{"type":"request","#, 1).into_bytes()
}

pub(crate) fn keep(roll: u8) -> Value {
    json!({"ask": "keep", "roll": roll, "dice": [1, 2, 3, 4, 6]})
}

fn score() -> Value {
    json!({"ask": "score", "dice": [1, 2, 3, 4, 6]})
}

fn action(data: &[Term], line: i64) -> Term {
    let keep = Term::List(["true"; 5].map(Term::atom).into());
    let mut reply = data[..4].to_vec();
    reply.extend([keep, Term::Int(line)]);
    let me = pid(91).into();
    Term::tuple([Term::atom("play_action"), me, Term::string("eve"), Term::Tuple(reply)])
}

fn accept(visit: &Visit, pid: &Pid, ticket: Term) -> Term {
    let tid = visit.last().last().expect("a tournament").clone();
    let data = Term::tuple([tid, ticket]);
    Term::tuple([Term::atom("accept_tournament"), pid.clone().into(), Term::string("eve"), data])
}

fn class() -> Speaks {
    Speaks::Class(Variant::Plain)
}

#[test]
fn requests_wait_for_the_accepting_process() {
    let mut visit = Visit::logged_in(class(), 0);
    let ticket = visit.last()[3].clone();
    let told = visit.notice("tournament", Timestamp::from_ms(100));
    assert!(told[0].starts_with("tell 91: {start_tournament,<agon@localhost.1.0>,\"eve\","));
    assert_eq!(told[1], "stirred");
    let invitation = visit.told.last().cloned();
    assert_eq!(visit.request("cup:r1m1.1.0.0", keep(1), 5), Vec::<String>::new());
    visit.told.extend(invitation);
    let heard = visit.hear(&accept(&visit, &pid(92), ticket)).unwrap();
    assert_eq!(heard[0], "92 plays");
    assert!(heard[1].starts_with("tell 92: {play_request,") && heard[1].ends_with(" #5"));
    assert_eq!(visit.session.deadline(), None);
}

#[test]
fn late_or_invalid_accept_leaves_the_tournament() {
    let mut visit = Visit::logged_in(class(), 0);
    visit.notice("tournament", Timestamp::from_ms(100));
    assert_eq!(visit.session.deadline(), Some(Timestamp::from_ms(1_100)));
    assert!(visit.session.due(Timestamp::from_ms(1_099)).is_empty());
    let due = visit.session.due(Timestamp::from_ms(1_100));
    assert_eq!(visit.shown(due), ["withdraw cup"]);
    let mut visit = Visit::logged_in(class(), 0);
    visit.notice("invitation", Timestamp::default());
    let heard = visit.hear(&accept(&visit, &pid(91), reference(1).into())).unwrap();
    assert_eq!(heard, ["say Reject"]);
}

#[test]
fn returning_player_gets_open_requests_at_once() {
    let mut visit = Visit::logged_in(class(), 1);
    assert_eq!(visit.resumed("cup"), Vec::<String>::new());
    let asked = visit.request("cup:r1m1.1.0.3", keep(2), 1);
    assert!(asked[0].starts_with("tell 91: {play_request,"), "{asked:?}");
    // Another one that starts later is a new one.
    let data = json!({"tournament": "other", "game": "yahtzee"});
    let started = visit.line(
        &json!({"type": "notice", "about": "tournament", "data": data}),
        Timestamp::default(),
    );
    assert!(started[0].contains("start_tournament"), "{started:?}");
}

#[test]
fn an_answer_is_passed_on_once_and_stale_references_never() {
    let mut visit = Visit::logged_in(class(), 1);
    visit.resumed("cup");
    visit.request("cup:r1m1.1.0.0", keep(1), 1);
    let first = visit.request_data();
    // Sent again, it is the same request.
    visit.request("cup:r1m1.1.0.0", keep(1), 2);
    assert_eq!(visit.request_data()[0], first[0]);
    let said = visit.hear(&action(&first, 0)).unwrap();
    assert_eq!(said, [r#"say cup:r1m1.1.0.0 {"keep":[true,true,true,true,true]}"#]);
    assert_eq!(visit.hear(&action(&first, 0)), Err(NotAccepted::Stale));
    visit.request("cup:r1m1.1.0.1", score(), 3);
    assert_eq!(visit.hear(&action(&first, 0)), Err(NotAccepted::Stale));
    let second = visit.request_data();
    for field in 0..3 {
        let mut foreign = second.clone();
        foreign[field] = reference(4).into();
        assert_eq!(visit.hear(&action(&foreign, 1)), Err(NotAccepted::Stale), "{field}");
    }
    assert_eq!(
        visit.hear(&action(&second, 1)).unwrap(),
        [r#"say cup:r1m1.1.0.1 {"score":"aces"}"#]
    );
}

#[test]
fn a_line_on_the_first_roll_is_two_answers_and_one_request() {
    let mut visit = Visit::logged_in(class(), 1);
    visit.resumed("cup");
    visit.request("cup:r1m1.1.0.0", keep(1), 1);
    let said = visit.hear(&action(&visit.request_data(), 13)).unwrap();
    assert_eq!(said, [r#"say cup:r1m1.1.0.0 {"keep":[true,true,true,true,true]}"#]);
    let asked = visit.request("cup:r1m1.1.0.1", score(), 2);
    assert_eq!(asked, [r#"say cup:r1m1.1.0.1 {"score":"chance"}"#]);
    // In another game it means nothing.
    visit.request("cup:r1m1.1.0.2", keep(1), 3);
    visit.hear(&action(&visit.request_data(), 13)).unwrap();
    let asked = visit.request("cup:r1m1.2.0.0", score(), 4);
    assert!(asked[0].starts_with("tell 91: {play_request,"), "{asked:?}");
}

#[test]
fn wrong_answers_reach_the_rules_as_they_were_sent() {
    let mut visit = Visit::logged_in(class(), 1);
    visit.resumed("cup");
    visit.request("cup:r1m1.1.0.0", score(), 1);
    let said = visit.hear(&action(&visit.request_data(), 0)).unwrap();
    assert_eq!(said, [r#"say cup:r1m1.1.0.0 {"keep":[true,true,true,true,true]}"#]);
    let mut visit = Visit::logged_in(Speaks::Queue { password: Password("pw".into()) }, 1);
    visit.notice("tournament", Timestamp::default());
    visit.request("cup:r1m1.1.0.0", keep(1), 1);
    let (tid, gid) = (visit.last()[1].clone(), visit.last()[2].clone());
    let modify = |password: &str, dice: i64| {
        let dice = Term::List(vec![Term::Int(dice)]);
        let (name, kind) = (Term::string("eve"), Term::atom("modification"));
        let (tid, gid) = (tid.clone(), gid.clone());
        Term::Tuple(vec![name, Term::string(password), kind, tid, gid, dice])
    };
    let wrong = ["tell 91: {not_authenticated}", "wrong-credentials: a wrong password"];
    assert_eq!(visit.hear(&modify("pv", 1)).unwrap(), wrong);
    assert_eq!(visit.hear(&modify("pw", 5)).unwrap(), [r#"say cup:r1m1.1.0.0 {"keep":[5]}"#]);
}

#[test]
fn logins_are_answered_in_their_vocabulary() {
    let mut visit = Visit::new(Speaks::Queue { password: Password("pw".into()) });
    let welcome = json!({"type": "welcome", "account": "eve", "active": 3, "waiting": 2});
    let told = visit.line(&welcome, Timestamp::default());
    assert_eq!(told, ["logged in", "tell 91: {authenticated,3,2}"]);
    let wrong = json!({"type": "error", "code": "wrong-credentials", "detail": "no"});
    let mut visit = Visit::new(Speaks::Queue { password: Password("pw".into()) });
    let told = visit.line(&wrong, Timestamp::default());
    assert_eq!(told, ["not let in: wrong-credentials", "tell 91: {not_authenticated}"]);
    for speaks in [class(), Speaks::Referee { login: reference(5) }] {
        assert_eq!(
            Visit::new(speaks).line(&wrong, Timestamp::default()),
            ["not let in: wrong-credentials"]
        );
    }
}

/// A class player that was knocked out and logs in again is asked before it plays in the next one.
#[test]
fn a_new_tournament_after_a_login_is_an_invitation() {
    // It is out of the only tournament it was in, so the count that comes with the login is wrong.
    let mut visit = Visit::logged_in(class(), 1);
    let over = visit.notice("tournament-over", Timestamp::default());
    assert_eq!(over, ["stirred"]);
    let started = visit.notice("tournament", Timestamp::default());
    assert!(started[0].contains("start_tournament"), "{started:?}");
}

#[test]
fn refusals_of_the_lobby_are_for_the_operators_log() {
    let mut visit = Visit::logged_in(Speaks::Queue { password: Password("pw".into()) }, 0);
    let refused = json!({"type": "error", "code": "refused", "detail": "too many places"});
    assert_eq!(visit.line(&refused, Timestamp::default()), ["refused: too many places"]);
}

/// The evidence is the term that was sent, without its password.
#[test]
fn evidence_is_the_sent_term() {
    let mut visit = Visit::logged_in(Speaks::Queue { password: Password("pw".into()) }, 0);
    visit.request("cup:r1m1.1.0.0", keep(1), 1);
    let dice = Term::List([6; 5].map(Term::Int).into());
    let (eve, pw) = (Term::string("eve"), Term::string("pw"));
    let term = Term::tuple([eve, pw, Term::atom("end_turn"), dice, Term::atom("aces")]);
    let heard =
        visit.session.hear(&read(&term).unwrap(), &term, None, Timestamp::default()).unwrap();
    let SessionOutput::Answer { sent, .. } = &heard[0] else { panic!("{heard:?}") };
    assert_eq!(sent, "{\"eve\",\"…\",end_turn,[6,6,6,6,6],aces}");
    let mut visit = Visit::logged_in(class(), 0);
    visit.resumed("cup");
    visit.request("cup:r1m1.1.0.0", keep(2), 1);
    let sent = action(&visit.request_data(), 3);
    let mut wrong = sent.clone();
    if let Term::Tuple(items) = &mut wrong
        && let Some(Term::Tuple(data)) = items.last_mut()
    {
        data[3] = Term::Int(1);
    }
    let heard = visit.hear(&wrong).unwrap();
    let expected =
        "cup:r1m1.1.0.0: wrong-kind: the request was for roll 2 {play_action,<eve@box.91.0>,";
    assert!(heard[0].starts_with(expected), "{heard:?}");
}

#[test]
fn a_tournament_of_another_game_is_left() {
    let mut visit = Visit::logged_in(class(), 0);
    let data = json!({"tournament": "ice", "game": "fish", "reply": "open"});
    let line = |about: &str| json!({"type": "notice", "about": about, "data": data});
    assert_eq!(visit.line(&line("invitation"), Timestamp::default()), ["say Reject"]);
    assert_eq!(visit.line(&line("tournament"), Timestamp::default()), ["withdraw ice"]);
}
