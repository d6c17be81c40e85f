//! Questions of the node with the lobby to the database about loans, on a thread of their own.
//!
//! The thread that reads the bus says every 50 ms that its node is alive. It may not wait for the
//! database: after 1.5 s of silence all other nodes would give their tournaments up. So it only
//! hands questions over here, and looks for answers.

use crate::engine::links::LostNode;
use agon_store::PostgresLog;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

/// How often to look for an answer while the database has a question.
const ANSWER_PAUSE: Duration = Duration::from_millis(5);

/// A question to the database.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Question {
    /// Lend a node a cell. The node has tried so many times to get one.
    Lend { node: String, attempt: u64 },
    /// Take the cell of a lost node back.
    TakeBack { node: String, engine: u16 },
    /// Take the orders of operators to move tournaments.
    TakeMoves,
}

/// The database's answer. A question that failed has none, and is asked again later.
pub(super) enum Answer {
    /// A node has a cell under this epoch, which is the number of its link.
    Lent { node: String, attempt: u64, link: u64 },
    /// A lost node cannot write any more.
    TakenBack(LostNode),
    /// The tournaments to move, each with its next node.
    Moves(Vec<(String, String)>),
}

/// The thread that asks the database.
pub(super) struct Loans {
    questions: Sender<Question>,
    answers: Receiver<(Question, Option<Answer>)>,
    /// The questions that are not answered yet. None is asked twice at a time.
    open: BTreeSet<Question>,
}

impl Loans {
    /// Starts the thread. It ends when this is dropped.
    pub(super) fn start(log: Arc<PostgresLog>) -> Loans {
        let (questions, asked) = channel::<Question>();
        let (answered, answers) = channel();
        thread::spawn(move || {
            for question in asked {
                let answer = ask(&log, &question);
                if answered.send((question, answer)).is_err() {
                    return;
                }
            }
        });
        Loans { questions, answers, open: BTreeSet::new() }
    }

    /// Lends a node a cell. A later loan would replace an earlier one that is on its way.
    pub(super) fn lend(&mut self, node: String, attempt: u64) {
        let is_same =
            |open: &Question| matches!(open, Question::Lend { node: to, .. } if *to == node);
        if !self.open.iter().any(is_same) {
            self.ask(Question::Lend { node, attempt });
        }
    }

    /// Takes the cell of a lost node back.
    pub(super) fn take_back(&mut self, lost: &LostNode) {
        self.ask(Question::TakeBack { node: lost.node.clone(), engine: lost.engine.0 });
    }

    /// Takes the orders of operators.
    pub(super) fn take_moves(&mut self) {
        self.ask(Question::TakeMoves);
    }

    fn ask(&mut self, question: Question) {
        if self.open.insert(question.clone()) {
            // The thread ends only when the sender is dropped.
            let _ = self.questions.send(question);
        }
    }

    /// How long a thread that also waits for something else may wait.
    pub(super) fn pause(&self, other: Duration) -> Duration {
        if self.open.is_empty() { other } else { other.min(ANSWER_PAUSE) }
    }

    /// The next answer, if there is one.
    pub(super) fn answer(&mut self) -> Option<Answer> {
        loop {
            let (question, answer) = self.answers.try_recv().ok()?;
            self.open.remove(&question);
            if answer.is_some() {
                return answer;
            }
        }
    }
}

fn ask(log: &PostgresLog, question: &Question) -> Option<Answer> {
    match question {
        Question::Lend { node, attempt } => {
            let link = log.lend(node).ok()??;
            Some(Answer::Lent { node: node.clone(), attempt: *attempt, link })
        }
        Question::TakeBack { node, engine } => {
            log.take_back(Some(node)).ok()?;
            let engine = crate::engine::EngineId(*engine);
            Some(Answer::TakenBack(LostNode { node: node.clone(), engine }))
        }
        Question::TakeMoves => log.take_moves().ok().map(Answer::Moves),
    }
}
