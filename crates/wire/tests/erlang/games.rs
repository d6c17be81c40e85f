//! Whole games of Yahtzee in every vocabulary: clients that know nothing but the terms they were
//! sent play to the end, against each other.

use crate::support::compare;
use agon_core::PlayerName;
use agon_games::yahtzee::{Answer, Config, Question, View, Yahtzee};
use agon_games::{Game, Seat, Seed, Viewer};
use agon_wire::erlang::class::{self, Ids, Variant, Writer};
use agon_wire::erlang::term::{Atom, Pid, Ref, Term};
use agon_wire::erlang::{Answers, Message, queue, read, referee};

const BOXES: [&str; 13] = [
    "aces",
    "twos",
    "threes",
    "fours",
    "fives",
    "sixes",
    "three_of_a_kind",
    "four_of_a_kind",
    "full_house",
    "small_straight",
    "large_straight",
    "yahtzee",
    "chance",
];

#[derive(Clone, Copy, PartialEq, Debug)]
enum Speaks {
    Class(Variant),
    Referee,
    Queue,
}

fn pid(node: &'static str, id: u32) -> Pid {
    Pid { node: Atom::new(node).unwrap(), id, serial: 0, creation: 3 }
}

fn manager() -> Pid {
    pid("agon@localhost", 1)
}

fn reference(number: u32) -> Ref {
    Ref { node: Atom::new("agon@localhost").unwrap(), creation: 7, words: [number, 0, 0].into() }
}

/// Terms as they come out of the wire, not as they were made.
fn over_the_wire(term: &Term) -> Term {
    let bytes = agon_wire::erlang::encode::encode(term);
    agon_wire::erlang::decode::decode(&bytes, Default::default()).expect("a term")
}

fn items(term: &Term) -> Vec<Term> {
    match term {
        Term::Tuple(items) | Term::List(items) => items.clone(),
        Term::Bytes(bytes) => bytes.iter().map(|byte| Term::Int((*byte).into())).collect(),
        other => panic!("{other} has no items"),
    }
}

fn ints(term: &Term) -> Vec<i64> {
    term.ints().expect("a list").map(|number| number.expect("a number")).collect()
}

/// Keeps what there is most of.
fn keepers(dice: &[i64]) -> Vec<bool> {
    let count = |die: &i64| dice.iter().filter(|other| *other == die).count();
    let best = dice.iter().max_by_key(|die| (count(die), **die)).expect("dice");
    dice.iter().map(|die| die == best).collect()
}

struct Client {
    speaks: Speaks,
    user: &'static str,
    pid: Pid,
    /// In the queue protocol, what it has to remember.
    rolls: usize,
    filled: Vec<usize>,
}

impl Client {
    fn new(speaks: Speaks, user: &'static str) -> Client {
        Client { speaks, user, pid: pid("eve@box", 91), rolls: 0, filled: Vec::new() }
    }

    fn me(&self) -> Term {
        Term::string(self.user)
    }

    fn login(&self) -> Term {
        let (login, pid) = (Term::atom("login"), Term::from(self.pid.clone()));
        let both = Term::tuple([self.me(), Term::string("pw")]);
        match self.speaks {
            Speaks::Class(Variant::Plain) => Term::tuple([login, pid, self.me(), both]),
            Speaks::Class(Variant::Tupled) => {
                Term::tuple([login, pid, Term::atom("eve@box"), both])
            }
            Speaks::Class(Variant::NoUser) => Term::tuple([login, pid, both]),
            Speaks::Referee => {
                let kind = Term::atom("player_registration");
                Term::tuple([pid, reference(900).into(), kind, self.me(), Term::string("pw")])
            }
            Speaks::Queue => Term::tuple([pid, login, self.me(), Term::string("pw")]),
        }
    }

    fn hear(&mut self, term: &Term) -> Term {
        let fields = items(term);
        match self.speaks {
            Speaks::Class(variant) => self.class(variant, &fields),
            Speaks::Referee => self.referee(&fields),
            Speaks::Queue => self.queue(&fields),
        }
    }

    fn class(&self, variant: Variant, fields: &[Term]) -> Term {
        assert_eq!(fields[0], Term::atom("play_request"));
        let data = items(fields.last().unwrap());
        let (roll, rest) = match variant {
            Variant::NoUser => (&data[4], &data[5..]),
            _ => (&data[3], &data[4..]),
        };
        let (dice, card) = (ints(&rest[0]), ints(&rest[1]));
        assert_eq!((dice.len(), card.len(), ints(&rest[2]).len()), (5, 14, 14));
        let keep = keepers(&dice);
        let line = 1 + card.iter().position(|points| *points == -1).expect("an empty box") as i64;
        // The third roll, or four alike already: score. Tupled ones always name a box.
        let done = roll == &Term::Int(3) || keep.iter().filter(|kept| **kept).count() > 3;
        let line = if done || variant == Variant::Tupled { line } else { 0 };
        let keep = keep.iter().map(|kept| Term::atom(if *kept { "true" } else { "false" }));
        let keep = Term::List(keep.collect());
        let mut reply = vec![Term::atom("play_action"), self.pid.clone().into()];
        if variant != Variant::NoUser {
            reply.push(self.me());
        }
        let copied = data[..3].iter().chain([roll]).cloned();
        reply.push(Term::Tuple(copied.chain([keep, Term::Int(line)]).collect()));
        Term::Tuple(reply)
    }

    fn referee(&self, fields: &[Term]) -> Term {
        let (kind, dice) = (fields[2].as_atom().expect("a kind"), ints(&fields[3]));
        let kept = dice.iter().zip(keepers(&dice)).filter(|(_, kept)| *kept);
        let kept = Term::List(kept.map(|(die, _)| Term::Int(*die)).collect());
        let (kind, choice) = match kind {
            "start_turn" => ("first_modification_attempt", kept),
            "second_roll" => ("second_modification_attempt", kept),
            _ => {
                let card = items(&items(&fields[4])[0]);
                let empty = card.iter().find(|entry| items(entry)[1] == Term::atom("no_value"));
                ("score_selection", items(empty.expect("an empty box"))[0].clone())
            }
        };
        Term::tuple([fields[1].clone(), Term::atom(kind), choice])
    }

    fn queue(&mut self, fields: &[Term]) -> Term {
        assert_eq!(fields[0], Term::atom("dice"));
        let dice = ints(&fields[3]);
        let again: Vec<Term> = dice
            .iter()
            .zip(keepers(&dice))
            .filter(|(_, kept)| !kept)
            .map(|(die, _)| Term::Int(*die))
            .collect();
        self.rolls += 1;
        let mut reply = vec![self.me(), Term::string("pw")];
        if self.rolls == 3 || again.len() < 2 {
            self.rolls = 0;
            let at = (0..13).find(|at| !self.filled.contains(at)).expect("an empty box");
            self.filled.push(at);
            reply.extend([Term::atom("end_turn"), fields[3].clone(), Term::atom(BOXES[at])]);
        } else {
            reply.push(Term::atom("modification"));
            reply.extend([fields[1].clone(), fields[2].clone(), Term::List(again)]);
        }
        Term::Tuple(reply)
    }
}

/// The gateway's part for one seat.
struct Seated {
    client: Client,
    name: PlayerName,
    /// The answer to a question the player is not sent.
    then: Option<String>,
    asked: u32,
    said: Vec<String>,
}

impl Seated {
    fn new(speaks: Speaks, user: &'static str) -> Seated {
        let (client, name) = (Client::new(speaks, user), PlayerName::new(user).unwrap());
        let login = over_the_wire(&client.login());
        let said = vec![format!("< {login}")];
        let read = read(&login).expect("a login");
        match (speaks, read) {
            (
                Speaks::Class(wanted),
                Message::Class(class::FromPlayer::Login { user, variant, .. }),
            ) => {
                assert_eq!((user, variant), (name.clone(), wanted));
            }
            (Speaks::Referee, Message::Referee(referee::FromPlayer::Register { user, .. }))
            | (Speaks::Queue, Message::Queue(queue::FromPlayer::Login { user, .. })) => {
                assert_eq!(user, name);
            }
            other => panic!("{other:?}"),
        }
        let mut seated = Seated { client, name, then: None, asked: 0, said };
        seated.welcome(speaks);
        seated
    }

    fn welcome(&mut self, speaks: Speaks) {
        let mut sent = match speaks {
            Speaks::Class(variant) => {
                let writer = self.writer(variant);
                vec![writer.logged_in(&reference(500)), writer.start_tournament(&reference(501))]
            }
            Speaks::Referee => vec![referee::login_success(&reference(900))],
            Speaks::Queue => vec![queue::authenticated(0, 0)],
        };
        self.said.extend(sent.drain(..).map(|term| format!("> {}", over_the_wire(&term))));
    }

    fn writer(&self, variant: Variant) -> Writer {
        Writer { variant, user: self.client.me(), manager: manager() }
    }

    fn answer(&mut self, question: &Question, view: &View) -> String {
        if let Some(then) = self.then.take() {
            assert!(matches!(question, Question::Score { .. }));
            return then;
        }
        self.asked += 1;
        let sent = over_the_wire(&self.request(question, view));
        let reply = over_the_wire(&self.client.hear(&sent));
        self.said.extend([format!("> {sent}"), format!("< {reply}")]);
        let answers = self.read(question, &reply);
        self.then = answers.then;
        answers.now
    }

    fn request(&self, question: &Question, view: &View) -> Term {
        let request = reference(1_000 + self.asked);
        match self.client.speaks {
            Speaks::Class(variant) => {
                let ids =
                    Ids { reference: request, tournament: reference(501), game: reference(502) };
                self.writer(variant)
                    .play_request(&ids, question, &view.into())
                    .expect("a seat's view")
            }
            Speaks::Referee => {
                let seen = serde_json::json!({
                    "players": ["eve", "ann"], "best_of": 3, "won": [1.0, 0.0], "games": [
                        {"game": 1, "seats": ["eve", "ann"], "end": "forfeited", "by": "ann",
                         "scores": [7, 0], "ranks": [1, 2], "winners": ["eve"]}]});
                let seen = serde_json::from_value(seen).expect("a match");
                referee::request(&manager(), &request, &self.name, question, view, &seen, &[])
                    .expect("a seat's view")
            }
            Speaks::Queue => queue::dice(&reference(501), &reference(502), question),
        }
    }

    fn read(&self, question: &Question, reply: &Term) -> Answers {
        let request = reference(1_000 + self.asked);
        match (self.client.speaks, read(reply).expect("a message")) {
            (Speaks::Class(variant), Message::Class(class::FromPlayer::Action(action))) => {
                assert_eq!(action.reference, request.into());
                class::answers(variant, question, &action).expect("an answer")
            }
            (
                Speaks::Referee,
                Message::Referee(referee::FromPlayer::Answer { reference, to, choice }),
            ) => {
                assert_eq!(reference, request);
                referee::answers(question, to, &choice).expect("an answer")
            }
            (Speaks::Queue, Message::Queue(queue::FromPlayer::Owned { what, .. })) => match what {
                queue::Owned::Modify { dice, .. } => queue::modify(question, &dice).expect("dice"),
                queue::Owned::EndTurn { dice, score } => {
                    queue::end_turn(question, &dice, &score).expect("a score")
                }
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }
}

/// Plays a game between two vocabularies, and gives what the first player heard and said.
fn play(speaks: [Speaks; 2], seed: u64) -> Vec<String> {
    let [first, second] = speaks;
    let mut seats = [Seated::new(first, "eve"), Seated::new(second, "ann")];
    let mut game = Yahtzee::new(&Config::default(), 2, &Seed::from_number(seed)).expect("a game");
    while let Some(seat) = game.awaiting().first() {
        let question = game.question(seat).expect("a question");
        let view = game.view(Viewer::Seat(seat));
        let answer = seats[seat.index()].answer(&question, &view);
        let answer: Answer = serde_json::from_str(&answer).expect("an answer");
        game.apply(seat, &answer).expect("a legal answer");
    }
    assert!(game.outcome().is_some() && seats.iter().all(|seat| seat.then.is_none()));
    let [eve, _] = seats;
    eve.said
}

const ALL: [Speaks; 5] = [
    Speaks::Class(Variant::Plain),
    Speaks::Class(Variant::Tupled),
    Speaks::Class(Variant::NoUser),
    Speaks::Referee,
    Speaks::Queue,
];

#[test]
fn every_vocabulary_plays_against_every_other() {
    for first in ALL {
        for second in ALL {
            for seed in 0..2 {
                play([first, second], seed);
            }
        }
    }
}

/// How games begin.
#[test]
fn transcripts() {
    let files = [
        ("class.txt", 9),
        ("class-tupled.txt", 5),
        ("class-no-user.txt", 5),
        ("referee.txt", 8),
        ("queue.txt", 8),
    ];
    for (speaks, (file, lines)) in ALL.into_iter().zip(files) {
        let mut said = play([speaks, Speaks::Queue], 1);
        said.truncate(lines);
        compare(&format!("erlang/{file}"), "erlang.md", &said);
    }
}

#[test]
fn nothing_of_the_opponents_turn_is_sent() {
    let mut game = Yahtzee::new(&Config::default(), 2, &Seed::from_number(3)).expect("a game");
    let question = game.question(Seat(0)).expect("a question");
    let request = |game: &Yahtzee, speaks| {
        let seated = Seated::new(speaks, "eve");
        seated.request(&question, &game.view(Viewer::Seat(Seat(0))))
    };
    for speaks in ALL {
        let before = request(&game, speaks);
        let mut after = game.clone();
        while after.awaiting().contains(Seat(1)) {
            let answer = after.legal(Seat(1)).swap_remove(0);
            after.apply(Seat(1), &answer).expect("a legal answer");
        }
        assert_eq!(before, request(&after, speaks), "{speaks:?}");
    }
    while game.outcome().is_none() {
        let seat = game.awaiting().first().unwrap();
        let answer = game.legal(seat).swap_remove(0);
        game.apply(seat, &answer).unwrap();
    }
    let full = game.view(Viewer::Full);
    let ids = Ids { reference: reference(1), tournament: reference(2), game: reference(3) };
    let writer = Seated::new(ALL[0], "eve").writer(Variant::Plain);
    assert_eq!(
        writer.play_request(&ids, &question, &(&full).into()),
        None,
        "the full view is nobody's"
    );
}
