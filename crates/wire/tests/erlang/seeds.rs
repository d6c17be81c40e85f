//! Every message of the two documents that the referee and the queue protocol come from, one
//! transcript each: the form that the document gives, and a term of that form that was read or
//! written here. Terms that were written are compared with `tests/data/erlang/seed-*.txt`, term for
//! term; every field of every term is held against its name in the form.

use agon_core::PlayerName;
use agon_core::Timestamp;
use agon_core::statistics::{PlayerTallies, Tally};
use agon_games::yahtzee::{Answer, Config, Yahtzee};
use agon_games::{Game, Seat, Seed, Viewer};
use agon_wire::erlang::referee::Known;
use agon_wire::erlang::refs::{Key, Refs};
use agon_wire::erlang::session::{ErlangLogin, Session, SessionOutput, Speaks};
use agon_wire::erlang::term::{Atom, Pid, Ref, Term};
use agon_wire::erlang::{Message, Password, decode, encode, queue, read, referee};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

fn pid(node: &'static str, id: u32) -> Pid {
    Pid { node: Atom::new(node).unwrap(), id, serial: 0, creation: 3 }
}

fn own(number: u32) -> Ref {
    Ref { node: Atom::new("eve@box").unwrap(), creation: 3, words: [number, 0, 0].into() }
}

fn a(name: &'static str) -> Term {
    Term::atom(name)
}

fn s(text: &str) -> Term {
    Term::string(text)
}

fn dice(values: &[i64]) -> Term {
    Term::List(values.iter().copied().map(Term::Int).collect())
}

/// Returns whether a field of a message is what its name in the document says.
fn is_field(name: &str, term: &Term) -> bool {
    let is_pair = |entry: &Term| {
        entry.as_tuple().is_some_and(|pair| pair.len() == 2 && pair[0].as_atom().is_some())
    };
    let is_dictionary = |term: &Term| match term {
        Term::List(entries) => entries.iter().all(is_pair),
        _ => false,
    };
    match name {
        "Pid" => term.as_pid().is_some(),
        "Ref" | "TournamentRef" | "GameRef" => term.as_reference().is_some(),
        "M" | "K" | "MaxPlayers" | "ActiveTournaments" | "PendingTournaments" => {
            term.int().is_some()
        }
        "Username" | "Player" | "NewPassword" => term.text().is_some(),
        "Password" | "OldPassword" => term.text().is_some() || *term == a("false"),
        "DiceRoll" | "DiceSequence" | "Keepers" => {
            let mut dice = term.ints().into_iter().flatten();
            term.ints().is_some() && dice.all(|die| die.is_some_and(|die| (1..=6).contains(&die)))
        }
        "ScoreBox" => term.as_atom().is_some(),
        "ScoreUpdate" => term.as_atom().is_some() || is_pair(term),
        "GameState" => match term.as_tuple() {
            Some([own, other, Term::List(_)]) => is_dictionary(own) && is_dictionary(other),
            _ => false,
        },
        "MatchState" => match term.as_tuple() {
            Some([own, other, of, Term::List(_), Term::List(_)]) => {
                [own, other, of].iter().all(|count| count.int().is_some())
            }
            _ => false,
        },
        "Data" | "UserStats" => is_dictionary(term),
        "Winner" => term.text().is_some() || *term == a("bye"),
        // A word of the message itself.
        word => term.as_atom() == Some(word),
    }
}

/// A page of transcripts.
struct Page {
    lines: Vec<String>,
}

impl Page {
    fn new() -> Page {
        Page { lines: Vec::new() }
    }

    /// Notes a term that was said or told, under the form that the document gives.
    fn note(&mut self, form: &str, arrow: char, term: &Term) -> Term {
        let term = decode::decode(&encode::encode(term), Default::default()).expect("a term");
        let names: Vec<&str> = form.trim_matches(['{', '}']).split(", ").collect();
        let fields = term.as_tuple().expect("a tuple");
        assert_eq!(names.len(), fields.len(), "{form}: {term}");
        for (name, field) in names.iter().zip(fields) {
            assert!(is_field(name, field), "{form}: {name} is not {field}");
        }
        self.lines.push(format!("# {form}"));
        self.lines.push(format!("{arrow} {term}"));
        term
    }

    /// A player, or the environment, says something that is understood.
    fn said(&mut self, form: &str, term: Term) -> (Message, Term) {
        let term = self.note(form, '<', &term);
        (read(&term).unwrap_or_else(|bad| panic!("{form}: {bad}")), term)
    }

    fn told(&mut self, form: &str, term: &Term) {
        self.note(form, '>', term);
    }

    /// Compares with the file; with `AGON_RECORD` set it is written anew.
    fn compare(&self, file: &str, forms: &[&str]) {
        for form in forms {
            assert!(self.lines.contains(&format!("# {form}")), "no transcript of {form}");
        }
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/erlang").join(file);
        let said = self.lines.join("\n") + "\n";
        if std::env::var_os("AGON_RECORD").is_some() {
            std::fs::write(&path, &said).expect("a writable transcript");
        }
        assert_eq!(said, std::fs::read_to_string(&path).expect("a transcript"), "{file}");
    }
}

/// A player that is logged in, in the first game of a match, and the game.
struct Table {
    session: Session<()>,
    game: Yahtzee,
    step: u32,
}

impl Table {
    /// Logs a player in; what it is told.
    fn new(speaks: Speaks) -> (Table, Term) {
        let refs = Arc::new(Refs::new(Atom::new("agon@localhost").unwrap(), 7));
        let login = ErlangLogin {
            pid: pid("eve@box", 91),
            user: PlayerName::new("eve").unwrap(),
            spelt: s("eve"),
            password: Password("pw".into()),
            speaks,
        };
        let manager = refs.pid(2);
        let (session, _) = Session::new(login, manager, refs, Key::new([9; 8]), 1_000);
        let game = Yahtzee::new(&Config::default(), 2, &Seed::from_number(1)).expect("a game");
        let mut table = Table { session, game, step: 0 };
        let welcome = json!({"type": "welcome", "account": "eve", "active": 1, "waiting": 2});
        let told = table.line(&welcome.to_string());
        (table, told.expect("a word"))
    }

    /// A line of the server, and what the player is told because of it.
    fn line(&mut self, line: &str) -> Option<Term> {
        told(self.session.line(line.as_bytes(), None, Timestamp::default()))
    }

    /// The next question of the game, as the player is asked it.
    fn ask(&mut self) -> Term {
        let question = self.game.question(Seat(0)).expect("a question");
        let view = self.game.view(Viewer::Seat(Seat(0)));
        let line = json!({
            "id": format!("cup:r1m1.1.0.{}", self.step), "deadline_ms": 1000, "seat": 0,
            "question": question, "view": view,
            "match": {"tournament": "cup", "id": "r1m1", "round": 1, "players": ["eve", "ann"],
                      "best_of": 3, "won": [1.0, 0.0], "game": 2, "games": [
                          {"game": 1, "seats": ["eve", "ann"], "end": "forfeited", "by": "ann",
                           "scores": [7, 0], "ranks": [1, 2], "winners": ["eve"]}]},
        });
        self.step += 1;
        let line = line.to_string().replacen('{', r#"{"type":"request","#, 1);
        self.line(&line).expect("a request")
    }

    /// The player answers, and the game goes on.
    fn answer(&mut self, (message, term): (Message, Term)) {
        for output in
            self.session.hear(&message, &term, None, Timestamp::default()).expect("an answer")
        {
            let SessionOutput::Answer { answer, .. } = output else { panic!("{output:?}") };
            let answer: Answer = serde_json::from_str(&answer.expect("an answer")).unwrap();
            self.game.apply(Seat(0), &answer).expect("a legal answer");
        }
    }

    /// The terms that the player receives for a message.
    fn hears(&mut self, (message, term): (Message, Term)) -> Option<Term> {
        let from = pid("eve@box", 91);
        told(
            self.session
                .hear(&message, &term, Some(&from), Timestamp::default())
                .expect("it is heard"),
        )
    }
}

fn told(outputs: Vec<SessionOutput<()>>) -> Option<Term> {
    outputs.into_iter().find_map(|output| match output {
        SessionOutput::Tell { term, .. } => Some(term),
        _ => None,
    })
}

fn known() -> Known {
    let record = PlayerTallies {
        games: Tally { won: 3, lost: 1, tied: 2 },
        tournaments: Tally { won: 1, lost: 0, tied: 0 },
        tournaments_played: 1,
        ..PlayerTallies::default()
    };
    Known { record, rank: Some(1) }
}

fn items(term: &Term) -> &[Term] {
    term.as_tuple().expect("a tuple")
}

#[test]
fn every_message_of_the_referee_document_has_a_transcript() {
    let mut page = Page::new();
    let me = || Term::from(pid("eve@box", 91));
    let start = "{Pid, Ref, start_tournament, M, K}";
    page.said(
        start,
        Term::tuple([me(), own(1).into(), a("start_tournament"), Term::Int(1), Term::Int(3)]),
    );
    let stats = "{Pid, Ref, stats_request, Player}";
    page.said(stats, Term::tuple([me(), own(2).into(), a("stats_request"), s("eve")]));
    let response = "{Ref, stats_response, Data}";
    page.told(response, &referee::stats_response(&own(2), Some(&known())));
    page.told(response, &referee::stats_response(&own(2), None));
    let register = "{Pid, Ref, player_registration, Username, Password}";
    let kind = a("player_registration");
    page.said(register, Term::tuple([me(), own(3).into(), kind, s("eve"), s("pw")]));
    let (mut table, welcome) = Table::new(Speaks::Referee { login: own(3) });
    page.told("{Ref, login_success}", &welcome);
    for (told, said, word) in [
        ("start_turn", "first_modification_attempt", "Keepers"),
        ("second_roll", "second_modification_attempt", "Keepers"),
        ("final_roll", "score_selection", "ScoreBox"),
    ] {
        let asked = table.ask();
        page.told(&format!("{{Pid, Ref, {told}, DiceRoll, GameState, MatchState}}"), &asked);
        let reference = items(&asked)[1].clone();
        let choice = match word {
            "ScoreBox" => a("chance"),
            _ => dice(&[items(&asked)[3].ints().unwrap().next().unwrap().unwrap()]),
        };
        let answer = Term::tuple([reference, a(said), choice]);
        table.answer(page.said(&format!("{{Ref, {said}, {word}}}"), answer));
    }
    // The document has no form for it, only what it contains.
    let ended = "{Ref, tournament_ended, Winner}";
    page.told(ended, &referee::tournament_ended(&own(1), Some(&PlayerName::new("eve").unwrap())));
    page.told(ended, &referee::tournament_ended(&own(1), None));
    page.compare(
        "seed-000.txt",
        &[
            start,
            stats,
            response,
            register,
            "{Ref, login_success}",
            "{Pid, Ref, start_turn, DiceRoll, GameState, MatchState}",
            "{Ref, first_modification_attempt, Keepers}",
            "{Pid, Ref, second_roll, DiceRoll, GameState, MatchState}",
            "{Ref, second_modification_attempt, Keepers}",
            "{Pid, Ref, final_roll, DiceRoll, GameState, MatchState}",
            "{Ref, score_selection, ScoreBox}",
            ended,
        ],
    );
}

const NOT_AUTHENTICATED: &str = "{not_authenticated}";

/// A player's login with a name and a password.
fn owned(kind: &'static str, password: &str, more: &[Term]) -> Term {
    let begin = [s("eve"), s(password), a(kind)];
    Term::Tuple(begin.into_iter().chain(more.iter().cloned()).collect())
}

/// Logging in, passwords, and what anybody may ask.
fn queue_logins(page: &mut Page) {
    let me = || Term::from(pid("eve@box", 91));
    let login = "{Pid, login, Username, Password}";
    page.said(login, Term::tuple([me(), a("login"), s("eve"), a("false")]));
    page.told("{new_user}", &queue::new_user());
    let set = "{new_password, Username, NewPassword, OldPassword}";
    page.said(set, Term::tuple([a("new_password"), s("eve"), s("pw"), a("false")]));
    page.said(set, Term::tuple([a("new_password"), s("eve"), s("new"), s("wrong")]));
    page.told(NOT_AUTHENTICATED, &queue::not_authenticated());
    page.said(login, Term::tuple([me(), a("login"), s("eve"), s("wrong")]));
    page.told(NOT_AUTHENTICATED, &queue::not_authenticated());
    page.said(login, Term::tuple([me(), a("login"), s("eve"), s("pw")]));
    page.said("{start_tournament, MaxPlayers}", Term::tuple([a("start_tournament"), Term::Int(4)]));
    page.said("{Username, stats_request}", Term::tuple([s("eve"), a("stats_request")]));
    let stats = "{stats, Username, UserStats}";
    page.told(stats, &queue::stats(&s("eve"), Some(&known())));
    page.told(stats, &queue::stats(&s("nobody"), None));
}

#[test]
fn every_message_of_the_queue_document_has_a_transcript() {
    let mut page = Page::new();
    queue_logins(&mut page);
    let (mut table, welcome) = Table::new(Speaks::Queue { password: Password("pw".into()) });
    page.told("{authenticated, ActiveTournaments, PendingTournaments}", &welcome);
    for kind in ["enqueueMe", "dequeueMe"] {
        let form = format!("{{Username, Password, {kind}}}");
        assert_eq!(table.hears(page.said(&form, owned(kind, "pw", &[]))), None, "no answer");
    }
    let started = json!({"type": "notice", "about": "tournament",
        "data": {"tournament": "cup", "game": "yahtzee"}});
    assert_eq!(table.line(&started.to_string()), None);
    let (dealt, rolls) = ("{dice, TournamentRef, GameRef, DiceSequence}", 2);
    let modification = "{Username, Password, modification, TournamentRef, GameRef, DiceSequence}";
    let end = "{Username, Password, end_turn, DiceSequence, ScoreUpdate}";
    let mut asked = table.ask();
    page.told(dealt, &asked);
    for _ in 0..rolls {
        let first = dice(&[items(&asked)[3].ints().unwrap().next().unwrap().unwrap()]);
        let more = [items(&asked)[1].clone(), items(&asked)[2].clone(), first];
        table.answer(page.said(modification, owned("modification", "pw", &more)));
        asked = table.ask();
        page.told(dealt, &asked);
    }
    let tournament = items(&asked)[1].clone();
    let scored = Term::tuple([a("yahtzee"), Term::Int(0)]);
    let claimed = [items(&asked)[3].clone(), scored];
    table.answer(page.said(end, owned("end_turn", "pw", &claimed)));
    // With a wrong password nothing is done, and that is said.
    let drop = "{Username, Password, drop_tournament, TournamentRef}";
    let game = items(&asked)[2].clone();
    for (form, kind, more) in [
        ("{Username, Password, logout}", "logout", vec![]),
        ("{Username, Password, enqueueMe}", "enqueueMe", vec![]),
        ("{Username, Password, dequeueMe}", "dequeueMe", vec![]),
        (modification, "modification", vec![tournament.clone(), game, dice(&[])]),
        (end, "end_turn", vec![dice(&[1, 2, 3, 4, 5]), a("chance")]),
        (drop, "drop_tournament", vec![tournament.clone()]),
    ] {
        let heard = table.hears(page.said(form, owned(kind, "wrong", &more)));
        page.told(NOT_AUTHENTICATED, &heard.expect("an answer"));
    }
    let dropped = page.said(drop, owned("drop_tournament", "pw", &[tournament]));
    assert_eq!(table.hears(dropped), None);
    let over = json!({"type": "notice", "about": "tournament-over",
        "data": {"tournament": "cup", "won": false, "rank": 2}});
    let over = table.line(&over.to_string()).expect("a word");
    page.told("{tournament_over, TournamentRef}", &over);
    let logout = page.said("{Username, Password, logout}", owned("logout", "pw", &[]));
    assert_eq!(table.hears(logout), None);
    page.compare(
        "seed-002.txt",
        &[
            "{Username, Password, logout}",
            "{Pid, login, Username, Password}",
            "{authenticated, ActiveTournaments, PendingTournaments}",
            NOT_AUTHENTICATED,
            "{new_user}",
            "{new_password, Username, NewPassword, OldPassword}",
            "{Username, Password, enqueueMe}",
            "{Username, Password, dequeueMe}",
            dealt,
            modification,
            end,
            drop,
            "{tournament_over, TournamentRef}",
            "{Username, stats_request}",
            "{stats, Username, UserStats}",
            "{start_tournament, MaxPlayers}",
        ],
    );
}
