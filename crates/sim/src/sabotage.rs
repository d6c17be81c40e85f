//! Bugs that are planted on purpose, to test that the simulator finds them.
//!
//! They sit in the simulated world, at the ports of the server (its log, its clock, its
//! connections, its settings), and never in the server itself.

/// One planted bug.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Sabotage {
    /// The log acknowledges a record before it is durable.
    SkipSync,
    /// The log forgets an acknowledged record.
    LoseDurable,
    /// A record that survived a crash is added a second time.
    DoubleApply,
    /// A torn record counts as whole.
    KeepTorn,
    /// A stream accepts records from two servers.
    TwoOwners,
    /// An answer to an older request counts for the open one.
    StaleId,
    /// Input of one connection is attributed to another.
    Misroute,
    /// A request reveals the tournament's secret.
    LeakSecret,
    /// A request shows the opponent's hidden turn.
    LeakTurn,
    /// Players who do not reconnect at once after an outage are charged as absent.
    ChargeOutage,
    /// The server's clock runs fast, so players get less time than their requests say.
    FastClock,
    /// A notice is dropped.
    LoseNotice,
    /// A client that reads nothing is never disconnected.
    EndlessOutbox,
    /// Two lines are read as one.
    MergeLines,
    /// Rejecting an invitation counts as accepting it.
    AcceptForOthers,
    /// A restart forgets the blacklist.
    ForgetBlacklist,
    /// A restart does not recognise a cheat, so a blacklisting that the crash lost stays lost.
    ForgetCheat,
    /// An operator's order is carried out twice.
    OrderTwice,
    /// A snapshot counts as one of a later event.
    StaleSnapshot,
    /// An engine reports the results of a tournament to the lobby only when it decides them. An
    /// engine that resumes the tournament, after a start or for a node that was lost, does not
    /// derive those that were lost from the log.
    EffectInMemory,
    /// An append compares the owner of the log without a lock, so a claim may come in between.
    NoLock,
    /// Of the records of a group for one stream, only the first is fenced.
    UnfencedSecond,
    /// A node claims the log from an owner whose lease has not expired.
    EarlySteal,
    /// A node that does not know whether its group was committed looks whether it is there.
    ConfirmByRead,
    /// A node uses the clock of its machine, not the database's.
    OwnClock,
    /// Appends of a node with tournaments on loan are not fenced.
    UnfencedLoan,
    /// A gap in the frames of a link is ignored.
    IgnoreGap,
    /// A frame that arrives twice counts twice.
    TakeTwice,
}

impl Sabotage {
    /// All of them.
    pub const ALL: [Sabotage; 28] = [
        Sabotage::SkipSync,
        Sabotage::LoseDurable,
        Sabotage::DoubleApply,
        Sabotage::KeepTorn,
        Sabotage::TwoOwners,
        Sabotage::StaleId,
        Sabotage::Misroute,
        Sabotage::LeakSecret,
        Sabotage::LeakTurn,
        Sabotage::ChargeOutage,
        Sabotage::FastClock,
        Sabotage::LoseNotice,
        Sabotage::EndlessOutbox,
        Sabotage::MergeLines,
        Sabotage::AcceptForOthers,
        Sabotage::ForgetBlacklist,
        Sabotage::ForgetCheat,
        Sabotage::OrderTwice,
        Sabotage::StaleSnapshot,
        Sabotage::EffectInMemory,
        Sabotage::NoLock,
        Sabotage::UnfencedSecond,
        Sabotage::EarlySteal,
        Sabotage::ConfirmByRead,
        Sabotage::OwnClock,
        Sabotage::UnfencedLoan,
        Sabotage::IgnoreGap,
        Sabotage::TakeTwice,
    ];
}
