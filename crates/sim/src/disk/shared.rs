//! The disk as a database that several nodes share, with the rules of PostgreSQL and of
//! `agon-store`'s log in it.
//!
//! ```text
//!   node: queue ─▶ group ── link ─▶ transaction: lock, check owner and epoch, commit, replicate
//!                    ▲                                                            │
//!                    └───────────────── link ── answer ◀──────────────────────────┘
//! ```
//!
//! A node writes one group at a time. If its connection is lost, nobody knows whether the group was
//! committed, so the node sends it again, and that transaction counts records that exist as
//! written. A commit is answered when the standby has it. A promotion of the standby loses what the
//! standby does not have. Claims wait for transactions that are not finished.
//!
//! The owner of the log lends other nodes a cell each. A process has one writer for the log, and
//! one for each loan.

use super::State;
use crate::sabotage::Sabotage;
use agon_core::{Millis, Timestamp};
use agon_store::{Append, AppendError, DoneAll, patience};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

/// How long an owner may miss its heartbeats before another node claims the log.
pub(crate) const LEASE_MS: Millis = 1_500;

/// How long a node waits before it connects again.
const RECONNECT_MS: Millis = 50;

/// The most that a message to or from the database takes.
const DELAY_MS_MAX: Millis = 4;

/// A part of the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cell {
    /// The lobby, and every tournament that is not on loan.
    Lobby,
    /// The tournaments on loan to a node.
    Loan(u32),
}

type Results = Vec<Result<u64, AppendError>>;

/// A direction of the traffic between a node and the database.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Direction {
    ToDatabase,
    FromDatabase,
    Both,
}

/// A node's connection to the database.
#[derive(Clone, Copy, Default, Debug)]
struct Link {
    /// Nothing reaches the database until then.
    requests_cut_until: Timestamp,
    /// Nothing reaches the node until then.
    answers_cut_until: Timestamp,
    /// True if the node is stopped, and handles nothing.
    is_stopped: bool,
}

/// A question of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Question {
    /// Renews the lease, and asks whether the node still has a cell with this epoch.
    Renew { cell: Cell, epoch: u64 },
    /// Claims the log, if need be from a node whose lease has expired. A node that has left the bus
    /// has less time.
    Claim { may_steal: bool, absent: Option<u32> },
    /// The owner of the log lends a node its cell.
    Lend { whole: u64, node: u32, epoch: u64 },
    /// The owner of the log takes back the loan of a node, or all loans.
    TakeBack { whole: u64, node: Option<u32> },
}

impl Question {
    /// The asking part: the lease of the log, that of a loan, or the links of the owner.
    fn asker(self) -> Asker {
        match self {
            Question::Renew { cell: Cell::Loan(_), .. } => Asker::Loan,
            Question::Renew { .. } | Question::Claim { .. } => Asker::Node,
            Question::Lend { .. } | Question::TakeBack { .. } => Asker::Links,
        }
    }
}

/// The part of a node that asks a question. It has one question at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Asker {
    /// The node, which stands by or owns the log.
    Node,
    /// The engine of cells on a node that stands by.
    Loan,
    /// The links of the owner to other nodes.
    Links,
}

/// The answer to a question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reply {
    /// The lease is renewed. `is_owner` says whether the epoch is current.
    Renewed { is_owner: bool },
    /// The node owns the log.
    Claimed { epoch: u64 },
    /// Another node owns it.
    Taken { owner: Option<u32> },
    /// True if the cell is lent.
    Lent { is_lent: bool },
    /// The loans are taken back.
    TakenBack,
    /// The connection failed.
    Failed,
}

/// A question or a reply on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<T> {
    pub(crate) node: u32,
    /// When the node asked.
    pub(crate) asked_at: Timestamp,
    arrives_at: Timestamp,
    pub(crate) asker: Asker,
    pub(crate) what: T,
}

/// Where the group of a writer is.
enum Stage {
    Idle,
    /// On its way to the database.
    Sent(Timestamp),
    /// In this transaction.
    InDatabase(u64),
    /// The answer is on its way.
    Answering(Timestamp, Results),
    /// The connection was lost. The node sends the group again at this time.
    Lost(Timestamp),
}

/// The thread of a node that writes.
struct Writer {
    node: u32,
    cell: Cell,
    epoch: u64,
    queue: VecDeque<(Vec<Append>, DoneAll)>,
    group: Vec<Append>,
    /// Callers that wait for the group's results, each with its number of them.
    waiting: Vec<(usize, DoneAll)>,
    stage: Stage,
    /// True if an earlier attempt may have committed the group.
    may_exist: bool,
    /// True if the group before was fenced.
    was_fenced: bool,
    /// True if its process has forgotten it, while a group is still on its way.
    is_gone: bool,
}

struct Transaction {
    id: u64,
    writer: u32,
    cell: Cell,
    epoch: u64,
    group: Vec<Append>,
    is_held: bool,
    may_exist: bool,
    commits_at: Timestamp,
    /// The results, and when the standby has them.
    committed: Option<(Timestamp, Results)>,
}

/// A commit that the standby may not have yet.
struct Unreplicated {
    replicated_at: Timestamp,
    undo: Undo,
}

enum Undo {
    /// Removes so many events from the ends of streams.
    Records(Vec<(String, usize)>),
    /// Gives the log back to its owner before.
    Claim { owner: Option<u32>, epoch: u64 },
    /// Restores the loans.
    Loans(BTreeMap<u32, u64>),
}

/// How often things happened.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct SharedFigures {
    pub(crate) claims: u64,
    pub(crate) fenced: u64,
    pub(crate) ambiguous: u64,
    pub(crate) promotions: u64,
    pub(crate) undone: u64,
    pub(crate) loans: u64,
}

/// The state of the database beside the streams.
pub(crate) struct Shared {
    owner: Option<u32>,
    epoch: u64,
    /// The nodes with loans, and the epochs of these.
    loans: BTreeMap<u32, u64>,
    /// When each epoch began.
    began: BTreeMap<u64, Timestamp>,
    /// The nodes and their last heartbeats.
    renewed: BTreeMap<u32, Timestamp>,
    links: BTreeMap<u32, Link>,
    writers: BTreeMap<u32, Writer>,
    transactions: Vec<Transaction>,
    next_transaction: u64,
    questions: Vec<Call<Question>>,
    replies: Vec<Call<Reply>>,
    unreplicated: VecDeque<Unreplicated>,
    /// A claim holds its lock until then.
    claim_until: Timestamp,
    /// A change of the loans holds its locks until then.
    loans_until: Timestamp,
    /// The database answers nobody until then.
    away_until: Timestamp,
    /// The standby receives nothing until then.
    standby_cut_until: Timestamp,
    /// The version of each stream that the database acknowledged.
    acknowledged: BTreeMap<String, u64>,
    /// A record that was written by a node that did not own the log any more.
    pub(crate) stale: Option<String>,
    /// An acknowledged record that was lost.
    pub(crate) lost: Option<String>,
    pub(crate) figures: SharedFigures,
}

impl Shared {
    pub(super) fn new() -> Shared {
        Shared {
            owner: None,
            epoch: 0,
            loans: BTreeMap::new(),
            began: BTreeMap::new(),
            renewed: BTreeMap::new(),
            links: BTreeMap::new(),
            writers: BTreeMap::new(),
            transactions: Vec::new(),
            next_transaction: 1,
            questions: Vec::new(),
            replies: Vec::new(),
            unreplicated: VecDeque::new(),
            claim_until: Timestamp::default(),
            loans_until: Timestamp::default(),
            away_until: Timestamp::default(),
            standby_cut_until: Timestamp::default(),
            acknowledged: BTreeMap::new(),
            stale: None,
            lost: None,
            figures: SharedFigures::default(),
        }
    }

    /// When a later node claimed the log from the owner of an epoch.
    pub(crate) fn superseded_at(&self, epoch: u64) -> Option<Timestamp> {
        self.began.range(epoch + 1..).next().map(|(_, at)| *at)
    }

    /// Opens a writer of a node for a cell.
    pub(super) fn open(&mut self, writer: u32, node: u32, cell: Cell, epoch: u64) {
        let new = Writer {
            node,
            cell,
            epoch,
            queue: VecDeque::new(),
            group: Vec::new(),
            waiting: Vec::new(),
            stage: Stage::Idle,
            may_exist: false,
            was_fenced: false,
            is_gone: false,
        };
        self.writers.insert(writer, new);
    }

    pub(super) fn submit(&mut self, writer: u32, appends: Vec<Append>, done: DoneAll) {
        if let Some(writer) = self.writers.get_mut(&writer) {
            writer.queue.push_back((appends, done));
        }
    }

    /// Returns whether a node can read now.
    pub(super) fn is_reachable(&self, node: u32, now: Timestamp) -> bool {
        let link = self.link(node);
        now >= self.away_until.max(link.requests_cut_until).max(link.answers_cut_until)
    }

    fn link(&self, node: u32) -> Link {
        self.links.get(&node).copied().unwrap_or_default()
    }

    /// Returns whether any append is not answered.
    pub(super) fn is_busy(&self) -> bool {
        !self.transactions.is_empty() || self.writers.values().any(Writer::is_busy)
    }

    /// Returns whether a group of a node is in a transaction or on its way.
    pub(crate) fn is_writing(&self, node: u32) -> bool {
        self.writers.values().any(|writer| writer.node == node && writer.is_busy())
    }

    /// Returns whether a cell has this epoch.
    pub(crate) fn is_current(&self, cell: Cell, epoch: u64) -> bool {
        match cell {
            Cell::Lobby => self.epoch == epoch,
            Cell::Loan(node) => self.loans.get(&node) == Some(&epoch),
        }
    }

    pub(super) fn next_due(&self) -> Option<Timestamp> {
        let transactions = self.transactions.iter().map(Transaction::next_due);
        let questions = self.questions.iter().map(|call| call.arrives_at);
        let awake = |node: &u32| !self.link(*node).is_stopped;
        let replies = self.replies.iter().filter(|call| awake(&call.node));
        let replies = replies.map(|call| call.arrives_at);
        let writers = self.writers.values().filter_map(|writer| match &writer.stage {
            Stage::Sent(at) => Some(*at),
            _ if writer.is_gone || !awake(&writer.node) => None,
            Stage::Lost(at) | Stage::Answering(at, _) => Some(*at),
            Stage::Idle => (!writer.queue.is_empty()).then(Timestamp::default),
            Stage::InDatabase(_) => None,
        });
        transactions.chain(questions).chain(replies).chain(writers).min()
    }

    /// A process ended. Its transactions go on.
    pub(crate) fn process_ended(&mut self, node: u32, is_clean: bool) {
        let own = self.writers.iter().filter(|(_, writer)| writer.node == node);
        let own: Vec<u32> = own.map(|(id, _)| *id).collect();
        own.into_iter().for_each(|writer| self.writer_ended(writer));
        self.links.remove(&node);
        self.questions.retain(|call| call.node != node);
        self.replies.retain(|call| call.node != node);
        if is_clean {
            self.renewed.remove(&node);
        }
    }

    /// A writer ended. Its transactions go on, and a group of a borrower on its way still arrives.
    pub(crate) fn writer_ended(&mut self, id: u32) {
        let Some(writer) = self.writers.get_mut(&id) else { return };
        writer.is_gone = true;
        writer.queue.clear();
        writer.waiting.clear();
        if !matches!((writer.cell, &writer.stage), (Cell::Loan(_), Stage::Sent(_))) {
            self.writers.remove(&id);
        }
    }

    pub(crate) fn set_stopped(&mut self, node: u32, is_stopped: bool) {
        self.links.entry(node).or_default().is_stopped = is_stopped;
    }

    /// Cuts the traffic of a node until a time.
    pub(crate) fn cut(&mut self, node: u32, direction: Direction, until: Timestamp) {
        let link = self.links.entry(node).or_default();
        if direction != Direction::FromDatabase {
            link.requests_cut_until = link.requests_cut_until.max(until);
        }
        if direction != Direction::ToDatabase {
            link.answers_cut_until = link.answers_cut_until.max(until);
        }
    }

    /// Ends all cuts and outages.
    pub(crate) fn heal(&mut self, now: Timestamp) {
        let nodes: Vec<u32> = self.links.keys().copied().collect();
        nodes.into_iter().for_each(|node| self.heal_link(node, now));
        self.away_until = self.away_until.min(now);
        self.standby_cut_until = self.standby_cut_until.min(now);
        self.claim_until = self.claim_until.min(now);
        self.loans_until = self.loans_until.min(now);
        self.unreplicated.iter_mut().for_each(|one| one.replicated_at = one.replicated_at.min(now));
        for one in &mut self.transactions {
            one.commits_at = one.commits_at.min(now);
            if let Some((replicated_at, _)) = &mut one.committed {
                *replicated_at = (*replicated_at).min(now);
            }
        }
        self.replies.iter_mut().for_each(|call| call.arrives_at = call.arrives_at.min(now));
    }

    /// Ends the cuts of a node. A connection that survived delivers everything now.
    pub(crate) fn heal_link(&mut self, node: u32, now: Timestamp) {
        if let Some(link) = self.links.get_mut(&node) {
            link.requests_cut_until = link.requests_cut_until.min(now);
            link.answers_cut_until = link.answers_cut_until.min(now);
        }
        for writer in self.writers.values_mut().filter(|writer| writer.node == node) {
            if let Stage::Sent(at) | Stage::Answering(at, _) = &mut writer.stage {
                *at = (*at).min(now + 1);
            }
        }
    }

    /// Breaks the connection of a node.
    pub(crate) fn reset(&mut self, node: u32, now: Timestamp) {
        self.writers.retain(|_, writer| writer.node != node || !writer.is_gone);
        for writer in self.writers.values_mut().filter(|writer| writer.node == node) {
            if !matches!(writer.stage, Stage::Idle | Stage::Lost(_)) {
                writer.stage = Stage::Lost(now + RECONNECT_MS);
            }
        }
    }

    /// Delays the transactions that have not committed yet.
    pub(crate) fn stall(&mut self, until: Timestamp) {
        let open = self.transactions.iter_mut().filter(|one| one.committed.is_none());
        open.for_each(|one| one.commits_at = one.commits_at.max(until));
    }

    pub(crate) fn cut_standby(&mut self, until: Timestamp) {
        self.standby_cut_until = until;
    }

    /// A node asks the database.
    pub(crate) fn ask(&mut self, node: u32, now: Timestamp, delay_ms: Millis, what: Question) {
        let (arrives_at, asker) = (now + delay_ms, what.asker());
        self.questions.push(Call { node, asked_at: now, arrives_at, asker, what });
    }

    /// The node that owns the log.
    pub(crate) fn owner(&self) -> Option<u32> {
        self.owner
    }

    /// The first node claims the log before anything else happens.
    pub(crate) fn begin(&mut self, node: u32, now: Timestamp) -> u64 {
        (self.owner, self.epoch) = (Some(node), 1);
        self.began.insert(1, now);
        self.renewed.insert(node, now);
        self.epoch
    }

    /// The replies that have reached nodes that are not stopped.
    pub(crate) fn take_replies(&mut self, now: Timestamp) -> Vec<Call<Reply>> {
        let (mut here, mut later) = (Vec::new(), Vec::new());
        for call in std::mem::take(&mut self.replies) {
            let link = self.link(call.node);
            match call.arrives_at <= now && !link.is_stopped {
                true if now < link.answers_cut_until => {
                    here.push(Call { what: Reply::Failed, ..call });
                }
                true => here.push(call),
                false => later.push(call),
            }
        }
        self.replies = later;
        here
    }
}

impl Writer {
    fn is_busy(&self) -> bool {
        !matches!(self.stage, Stage::Idle) || !self.queue.is_empty()
    }

    /// Takes everything that waits as one group.
    fn begin(&mut self) {
        for (appends, done) in self.queue.drain(..) {
            self.waiting.push((appends.len(), done));
            self.group.extend(appends);
        }
        self.may_exist = false;
    }
}

impl Transaction {
    fn next_due(&self) -> Timestamp {
        self.committed.as_ref().map_or(self.commits_at, |(replicated_at, _)| *replicated_at)
    }
}

/// Results for those who wait for them.
pub(super) type Answered = Vec<(DoneAll, Results)>;

impl State {
    /// Advances the database to `now`.
    pub(super) fn advance_shared(&mut self, shared: &mut Shared) -> Answered {
        let mut answered = Vec::new();
        loop {
            let is_changed = self.commit_due(shared)
                | self.finish_due(shared)
                | self.answer_questions(shared)
                | self.advance_writers(shared, &mut answered);
            if !is_changed {
                break;
            }
        }
        let now = self.now;
        while shared.unreplicated.pop_front_if(|one| one.replicated_at <= now).is_some() {}
        answered
    }

    fn delay_ms(&mut self) -> Millis {
        self.rng.between(0, DELAY_MS_MAX)
    }

    /// When the standby has a commit of now. It receives commits in order.
    fn replicated_at(&mut self, shared: &Shared) -> Timestamp {
        let before = shared.unreplicated.back().map_or(self.now, |one| one.replicated_at);
        (self.now + self.delay_ms()).max(before).max(shared.standby_cut_until)
    }

    fn commit_due(&mut self, shared: &mut Shared) -> bool {
        let now = self.now;
        let due = |one: &Transaction| one.committed.is_none() && one.commits_at <= now;
        let Some(at) = shared.transactions.iter().position(due) else { return false };
        let replicated_at = self.replicated_at(shared);
        let mut written = Vec::new();
        let results: Results = {
            let Transaction { writer, cell, group, is_held, may_exist, .. } =
                &shared.transactions[at];
            let skips_fence = self.sabotage == Some(Sabotage::UnfencedSecond);
            let mut seen = BTreeSet::new();
            let mut results = Vec::new();
            for append in group {
                let is_second = !seen.insert(append.stream.clone());
                let result = match *is_held || (skips_fence && is_second) {
                    true => self.write(*writer, append, *may_exist),
                    false => Err(fenced(append, *cell)),
                };
                if let Ok(true) = result {
                    written.push((append.stream.to_string(), append.lines.len()));
                }
                results.push(result.map(|_| append.version_after()));
            }
            results
        };
        let one = &mut shared.transactions[at];
        // A transaction that writes nothing does not wait for the standby.
        let ends_at = if one.is_held { replicated_at } else { self.now };
        one.committed = Some((ends_at, results));
        if !written.is_empty() {
            let (writer, cell, epoch) = (one.writer, one.cell, one.epoch);
            if !shared.is_current(cell, epoch) {
                let what = format!("{writer} wrote {written:?}, but has lost {cell:?}");
                shared.stale.get_or_insert(what);
            }
            let undo = Undo::Records(written);
            shared.unreplicated.push_back(Unreplicated { replicated_at, undo });
        }
        true
    }

    /// Writes a record, if it is not there already; `true` if it was not.
    fn write(&mut self, node: u32, append: &Append, may_exist: bool) -> Result<bool, AppendError> {
        if may_exist && self.has(append) {
            return Ok(false);
        }
        let actual = self.version(&append.stream);
        if actual != append.expected {
            let (stream, expected) = (append.stream.to_string(), append.expected);
            return Err(AppendError::Conflict { stream, expected, actual });
        }
        let submitted_at = self.submitted_at(node, append);
        for text in &append.lines {
            self.push(&append.stream, text.clone(), node, submitted_at);
        }
        Ok(true)
    }

    /// Returns whether the stream holds exactly this record.
    fn has(&self, append: &Append) -> bool {
        let entries = self.streams.get(&*append.stream).map_or(&[][..], Vec::as_slice);
        let from = append.expected as usize;
        let there = entries.get(from..from + append.lines.len());
        there.is_some_and(|there| there.iter().map(|one| &one.text).eq(&append.lines))
    }

    /// Ends the transactions that the standby has.
    fn finish_due(&mut self, shared: &mut Shared) -> bool {
        let now = self.now;
        let is_done = |one: &Transaction| one.committed.as_ref().is_some_and(|(at, _)| *at <= now);
        let Some(at) = shared.transactions.iter().position(is_done) else { return false };
        let one = shared.transactions.remove(at);
        let arrives_at = now + self.delay_ms();
        if let Some(writer) = shared.writers.get_mut(&one.writer)
            && matches!(writer.stage, Stage::InDatabase(id) if id == one.id)
            && let Some((_, results)) = one.committed
        {
            writer.stage = Stage::Answering(arrives_at, results);
        }
        true
    }

    fn answer_questions(&mut self, shared: &mut Shared) -> bool {
        let now = self.now;
        let due = shared.questions.iter().position(|call| call.arrives_at <= now);
        let Some(at) = due else { return false };
        let mut call = shared.questions.remove(at);
        let is_cut = now < shared.away_until.max(shared.link(call.node).requests_cut_until);
        let (what, arrives_at) = match call.what {
            _ if is_cut => (Reply::Failed, now + self.rng.between(50, 800)),
            Question::Renew { cell, epoch } => {
                shared.renewed.insert(call.node, now);
                let is_owner = shared.is_current(cell, epoch);
                (Reply::Renewed { is_owner }, now + self.delay_ms())
            }
            what => {
                if let Some(until) = self.locked_until(shared, what) {
                    call.arrives_at = until.max(now + 1);
                    shared.questions.push(call);
                    return true;
                }
                match what {
                    Question::Lend { whole, node, epoch } => {
                        let loan = shared.loans.clone().into_iter().chain([(node, epoch)]);
                        let is_lent = self.lend(shared, whole, loan.collect());
                        (Reply::Lent { is_lent }, shared.loans_until.max(now) + self.delay_ms())
                    }
                    Question::TakeBack { whole, node } => {
                        let mut loans = shared.loans.clone();
                        loans.retain(|own, _| node.is_some_and(|node| node != *own));
                        self.lend(shared, whole, loans);
                        (Reply::TakenBack, shared.loans_until.max(now) + self.delay_ms())
                    }
                    Question::Claim { may_steal, absent } => {
                        self.claim(shared, call.node, may_steal, absent)
                    }
                    Question::Renew { .. } => unreachable!("it is answered above"),
                }
            }
        };
        let Call { node, asked_at, asker, .. } = call;
        shared.replies.push(Call { node, asked_at, arrives_at, asker, what });
        true
    }

    /// Until when a claim, or a change of the loans, waits for transactions that have locked a row.
    fn locked_until(&self, shared: &Shared, what: Question) -> Option<Timestamp> {
        let now = self.now;
        let own = (shared.claim_until > now).then_some(shared.claim_until);
        let loans = (shared.loans_until > now).then_some(shared.loans_until);
        let open = shared.transactions.iter().filter(|one| one.is_held);
        let open = open.filter(|_| self.sabotage != Some(Sabotage::NoLock));
        let open = open.filter(|one| match (what, one.cell) {
            (Question::Claim { .. }, cell) => cell == Cell::Lobby,
            (Question::Lend { node, .. }, cell) => cell == Cell::Loan(node),
            (Question::TakeBack { node, .. }, Cell::Loan(own)) => {
                node.is_none_or(|node| node == own)
            }
            _ => false,
        });
        own.into_iter().chain(loans).chain(open.map(Transaction::next_due)).max()
    }

    /// Changes the loans, if their owner still owns the log; returns whether it does.
    fn lend(&mut self, shared: &mut Shared, whole: u64, loans: BTreeMap<u32, u64>) -> bool {
        if shared.epoch != whole {
            return false;
        }
        let replicated_at = self.replicated_at(shared);
        let before = std::mem::replace(&mut shared.loans, loans);
        shared.figures.loans += u64::from(shared.loans.len() > before.len());
        let undo = Undo::Loans(before);
        shared.unreplicated.push_back(Unreplicated { replicated_at, undo });
        shared.loans_until = replicated_at;
        true
    }

    fn claim(
        &mut self,
        shared: &mut Shared,
        node: u32,
        may_steal: bool,
        absent: Option<u32>,
    ) -> (Reply, Timestamp) {
        let now = self.now;
        let lease_ms = match self.sabotage {
            Some(Sabotage::EarlySteal) => LEASE_MS / 2,
            _ => LEASE_MS,
        };
        let is_expired = |owner: u32| {
            let has_left = absent == Some(owner);
            let patience = patience(Duration::from_millis(lease_ms), has_left).as_millis();
            let renewed = shared.renewed.get(&owner);
            (may_steal || has_left)
                && renewed.is_none_or(|renewed| u128::from(now.since(*renewed)) >= patience)
        };
        let is_free = shared.owner.is_none_or(|owner| owner == node || is_expired(owner));
        if !is_free {
            return (Reply::Taken { owner: shared.owner }, now + self.delay_ms());
        }
        let replicated_at = self.replicated_at(shared);
        let undo = Undo::Claim { owner: shared.owner, epoch: shared.epoch };
        shared.unreplicated.push_back(Unreplicated { replicated_at, undo });
        shared.claim_until = replicated_at;
        shared.owner = Some(node);
        shared.epoch += 1;
        shared.began.insert(shared.epoch, now);
        shared.renewed.insert(node, now);
        shared.figures.claims += 1;
        (Reply::Claimed { epoch: shared.epoch }, replicated_at + self.delay_ms())
    }

    fn advance_writers(&mut self, shared: &mut Shared, answered: &mut Answered) -> bool {
        let writers: Vec<u32> = shared.writers.keys().copied().collect();
        let mut is_changed = false;
        for writer in writers {
            is_changed |= self.advance_writer(shared, writer, answered);
        }
        is_changed
    }

    fn advance_writer(&mut self, shared: &mut Shared, id: u32, out: &mut Answered) -> bool {
        let now = self.now;
        let Some(writer) = shared.writers.get(&id) else { return false };
        let link = shared.link(writer.node);
        let reconnects_at = shared.away_until.max(link.requests_cut_until);
        let Some(writer) = shared.writers.get_mut(&id) else { return false };
        match &mut writer.stage {
            Stage::Sent(at) if *at <= now => {
                // The system sends the bytes again as soon as it can.
                match reconnects_at > now {
                    true => *at = reconnects_at,
                    false => self.begin_transaction(shared, id),
                }
                true
            }
            _ if link.is_stopped || writer.is_gone => false,
            Stage::Idle if !writer.queue.is_empty() => {
                writer.begin();
                writer.stage = Stage::Sent(now + self.delay_ms());
                true
            }
            Stage::Lost(at) if *at <= now => {
                match reconnects_at.max(link.answers_cut_until) > now {
                    true => *at = reconnects_at.max(link.answers_cut_until) + RECONNECT_MS,
                    false => {
                        writer.may_exist = true;
                        shared.figures.ambiguous += 1;
                        writer.stage = Stage::Sent(now + self.delay_ms());
                    }
                }
                true
            }
            Stage::Answering(at, _) if *at <= now && link.answers_cut_until > now => {
                *at = link.answers_cut_until;
                true
            }
            Stage::Answering(at, results) if *at <= now => {
                let results = std::mem::take(results);
                self.deliver(shared, id, results, out);
                true
            }
            _ => false,
        }
    }

    /// A group arrives: the database locks the cell and compares the owner.
    fn begin_transaction(&mut self, shared: &mut Shared, id: u32) {
        let now = self.now;
        let Some(writer) = shared.writers.get(&id) else { return };
        let (cell, epoch) = (writer.cell, writer.epoch);
        let unfenced =
            matches!(cell, Cell::Loan(_)) && self.sabotage == Some(Sabotage::UnfencedLoan);
        let is_current = shared.is_current(cell, epoch) || unfenced;
        let Some(writer) = shared.writers.get_mut(&id) else { return };
        // A repeated group writes the row of the cell, so it waits for the first attempt.
        let earlier = shared.transactions.iter().filter(|one| one.writer == id);
        let earlier = earlier.map(Transaction::next_due).max();
        let reads = self.sabotage == Some(Sabotage::ConfirmByRead) && writer.may_exist;
        if reads && writer.group.iter().all(|append| self.has(append)) {
            let results = writer.group.iter().map(|append| Ok(append.version_after())).collect();
            writer.stage = Stage::Answering(now + self.rng.between(0, DELAY_MS_MAX), results);
            return;
        }
        let changing_until = match cell {
            Cell::Lobby => shared.claim_until,
            Cell::Loan(_) => shared.loans_until,
        };
        let changing = (changing_until > now).then_some(changing_until);
        if let Some(until) = earlier.max(changing) {
            writer.stage = Stage::Sent(until.max(now + 1));
            return;
        }
        let skips = self.sabotage == Some(Sabotage::UnfencedSecond) && writer.was_fenced;
        let is_held = is_current || skips;
        writer.was_fenced = !is_held;
        let wait_ms = self.rng.between(0, self.pace.sync_ms_max);
        let number = shared.next_transaction;
        shared.next_transaction += 1;
        writer.stage = Stage::InDatabase(number);
        shared.transactions.push(Transaction {
            id: number,
            writer: id,
            cell,
            epoch,
            group: writer.group.clone(),
            is_held,
            may_exist: writer.may_exist,
            commits_at: if is_held { now + wait_ms } else { now },
            committed: None,
        });
        if writer.is_gone {
            shared.writers.remove(&id);
        }
    }

    /// Hands the results of a group to those who wait for them.
    fn deliver(&mut self, shared: &mut Shared, id: u32, results: Results, out: &mut Answered) {
        let Some(writer) = shared.writers.get_mut(&id) else { return };
        for (append, result) in writer.group.drain(..).zip(&results) {
            match result {
                Ok(version) => {
                    let known = shared.acknowledged.entry(append.stream.to_string()).or_default();
                    *known = (*known).max(*version);
                }
                Err(_) => shared.figures.fenced += 1,
            }
        }
        let mut results = results.into_iter();
        for (count, done) in writer.waiting.drain(..) {
            out.push((done, results.by_ref().take(count).collect()));
        }
        writer.stage = Stage::Idle;
    }

    /// The database restarts: connections break, and open transactions end. Commits stay, even
    /// those that the standby does not have.
    pub(super) fn restart_database(&mut self, shared: &mut Shared, away_ms: Millis) {
        shared.transactions.clear();
        (shared.claim_until, shared.loans_until) = (self.now, self.now);
        shared.away_until = self.now + away_ms;
        let now = self.now;
        let nodes: BTreeSet<u32> = shared.writers.values().map(|writer| writer.node).collect();
        nodes.into_iter().for_each(|node| shared.reset(node, now));
        // A claim whose commit waits for the standby gets no answer.
        for call in shared.replies.iter_mut().filter(|call| call.arrives_at > now) {
            (call.what, call.arrives_at) = (Reply::Failed, now + RECONNECT_MS);
        }
    }

    /// The standby is promoted. Commits that it does not have are lost.
    pub(super) fn promote_standby(&mut self, shared: &mut Shared, away_ms: Millis) {
        let now = self.now;
        self.restart_database(shared, away_ms);
        shared.standby_cut_until = now;
        shared.figures.promotions += 1;
        while let Some(last) = shared.unreplicated.pop_back_if(|one| one.replicated_at > now) {
            shared.figures.undone += 1;
            match last.undo {
                Undo::Claim { owner, epoch } => {
                    shared.began.remove(&shared.epoch);
                    (shared.owner, shared.epoch) = (owner, epoch);
                }
                Undo::Loans(loans) => shared.loans = loans,
                Undo::Records(records) => {
                    for (stream, count) in records.into_iter().rev() {
                        let entries = self.streams.entry(stream).or_default();
                        entries.truncate(entries.len().saturating_sub(count));
                    }
                }
            }
        }
        self.index_again();
        for (stream, version) in &shared.acknowledged {
            let actual = self.version(stream);
            if actual < *version {
                let what =
                    format!("{stream} had {version} acknowledged events, and now has {actual}");
                shared.lost.get_or_insert(what);
            }
        }
    }
}

fn fenced(append: &Append, cell: Cell) -> AppendError {
    AppendError::Fenced { stream: append.stream.to_string(), cell: format!("{cell:?}") }
}
