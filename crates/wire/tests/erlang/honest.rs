//! Honest players of the queue protocol in four games at once: whatever the order in which they
//! answer, every answer of theirs reaches the game they meant.

use crate::sessions::Visit;
use agon_games::yahtzee::{Answer, Config, Question, ScoreBox, Yahtzee};
use agon_games::{Game, Luck, Seat, Seed, Viewer};
use agon_wire::erlang::Password;
use agon_wire::erlang::session::Speaks;
use agon_wire::erlang::term::Term;
use serde_json::json;

const TABLES: usize = 4;

/// In which order a player answers the dice that lie before it.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Order {
    AsTheyCame,
    LatestFirst,
    Random,
    /// It finishes a turn before it looks at other dice.
    TurnByTurn,
}

/// A game of the player's, and what the player knows about it.
struct Table {
    game: Yahtzee,
    /// How many questions it was asked.
    asked: u32,
    is_open: bool,
    rolls: usize,
    filled: Vec<ScoreBox>,
}

impl Table {
    /// The opponent plays; then the next question to the player as a line, if it has not got it.
    fn question(&mut self, number: usize) -> Option<String> {
        while self.game.awaiting().contains(Seat(1)) {
            let answer = match self.game.question(Seat(1)) {
                Some(Question::Keep { .. }) => Answer::keep_places([true; 5]),
                _ => self.game.legal(Seat(1)).swap_remove(0),
            };
            self.game.apply(Seat(1), &answer).expect("a legal answer");
        }
        let question = self.game.question(Seat(0)).filter(|_| !self.is_open)?;
        let line = json!({
            "id": format!("cup{number}:r1m1.1.0.{}", self.asked), "deadline_ms": 1000, "seat": 0,
            "question": question, "view": self.game.view(Viewer::Seat(Seat(0))),
        });
        (self.is_open, self.asked) = (true, self.asked + 1);
        Some(line.to_string().replacen('{', r#"{"type":"request","#, 1))
    }
}

struct World {
    visit: Visit,
    tables: Vec<Table>,
    /// Dice the player has not looked at: the table, the references and the dice.
    mail: Vec<(usize, [Term; 2], Term)>,
    /// The table whose turn the player is in.
    busy: Option<usize>,
    /// How many terms of the visit were taken for mail.
    read: usize,
}

impl World {
    fn new(seed: u64) -> World {
        let table = |number: u64| Table {
            game: Yahtzee::new(&Config::default(), 2, &Seed::from_number(seed * 10 + number))
                .expect("a game"),
            asked: 0,
            is_open: false,
            rolls: 1,
            filled: Vec::new(),
        };
        let visit = Visit::logged_in(Speaks::Queue { password: Password("pw".into()) }, 0);
        let read = visit.told.len();
        let tables = (0..TABLES as u64).map(table).collect();
        World { visit, tables, mail: Vec::new(), busy: None, read }
    }

    /// The opponents play, and the player is asked whatever is open.
    fn ask(&mut self) {
        for number in 0..TABLES {
            while let Some(line) = self.tables[number].question(number) {
                for (id, answer) in self.visit.bytes(line.as_bytes()) {
                    self.apply(number, &id, &answer);
                }
            }
        }
        self.sort_mail();
    }

    /// A game is given an answer, which has to be for it and legal.
    fn apply(&mut self, number: usize, id: &str, answer: &str) {
        assert!(id.starts_with(&format!("cup{number}:")), "an answer to {number} went to {id}");
        let table = &mut self.tables[number];
        let answer: Answer = serde_json::from_str(answer).expect("an answer");
        table.game.apply(Seat(0), &answer).expect("an honest answer is legal");
        table.is_open = false;
    }

    /// Puts what the player was told into its mail, by table.
    fn sort_mail(&mut self) {
        for term in &self.visit.told[self.read..] {
            let Some([_, tid, gid, dice]) = term.as_tuple() else { panic!("{term}") };
            let number = self.visit.table_of(tid);
            self.mail.push((number, [tid.clone(), gid.clone()], dice.clone()));
        }
        self.read = self.visit.told.len();
    }

    /// Takes the dice that the player looks at next.
    fn next(&mut self, order: Order, luck: &mut u64) -> Option<(usize, [Term; 2], Term)> {
        let at = match (order, self.busy) {
            (Order::TurnByTurn, Some(busy)) => {
                self.mail.iter().position(|(number, ..)| *number == busy)?
            }
            (Order::LatestFirst, _) => self.mail.len().checked_sub(1)?,
            (Order::Random, _) => {
                *luck += 1;
                let seed = Seed::from_number(*luck);
                Luck::new(&seed, "order").below(0, self.mail.len().max(1) as u64) as usize
            }
            _ => 0,
        };
        (at < self.mail.len()).then(|| self.mail.remove(at))
    }

    /// The player answers, and what it meant is compared with what became of it.
    fn answer(&mut self, (number, [tid, gid], dice): (usize, [Term; 2], Term)) {
        let table = &mut self.tables[number];
        let values: Vec<i64> = dice.ints().expect("dice").flatten().collect();
        let most = |die: &i64| (values.iter().filter(|other| *other == die).count(), *die);
        let best = *values.iter().max_by_key(|die| most(die)).expect("dice");
        let again: Vec<Term> =
            values.iter().filter(|die| **die != best).map(|die| Term::Int(*die)).collect();
        let (eve, pw) = (Term::string("eve"), Term::string("pw"));
        let term = if table.rolls == 3 || again.is_empty() {
            let mut empty = ScoreBox::ALL.into_iter().filter(|at| !table.filled.contains(at));
            let at = empty.next().expect("an empty box");
            table.filled.push(at);
            (table.rolls, self.busy) = (1, None);
            let name = Term::Atom(
                agon_wire::erlang::term::Atom::new(at.name().replace('-', "_")).expect("short"),
            );
            Term::tuple([eve, pw, Term::atom("end_turn"), dice, name])
        } else {
            (table.rolls, self.busy) = (table.rolls + 1, Some(number));
            Term::tuple([eve, pw, Term::atom("modification"), tid, gid, Term::List(again)])
        };
        for (id, answer) in self.visit.answers(&term) {
            self.apply(number, &id, &answer);
        }
        self.sort_mail();
    }
}

#[test]
fn honest_answers_reach_the_game_they_are_meant_for() {
    for order in [Order::AsTheyCame, Order::LatestFirst, Order::Random, Order::TurnByTurn] {
        let mut waits = 0;
        for seed in 0..6 {
            let (mut world, mut luck) = (World::new(seed), seed * 1_000);
            loop {
                world.ask();
                if let Some(mail) = world.next(order, &mut luck) {
                    world.answer(mail);
                    continue;
                }
                // Nothing lies before it: time passes until something does, or all games are over.
                let Some(at) = world.visit.deadline() else { break };
                waits += 1;
                world.visit.now = at;
                world.visit.due(at);
                world.sort_mail();
            }
            let over = |table: &Table| table.game.outcome().is_some();
            assert!(world.tables.iter().all(over), "{order:?} {seed}");
        }
        // A player who answers every open request never has to wait.
        assert_eq!(waits > 0, order == Order::TurnByTurn, "{order:?}: {waits}");
    }
}
