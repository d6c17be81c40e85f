//! Bugs that are planted on purpose, to test that the simulator finds them.
//!
//! They sit in the simulated world, at the ports of the server (its log, its clock, its
//! connections, its settings), and never in the server itself.

/// One planted bug.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Sabotage {
    /// The log says that a record is durable before it is.
    SkipSync,
    /// The log forgets a record it had said to be durable.
    LoseDurable,
    /// A record that survived a crash is added a second time.
    DoubleApply,
    /// A torn record is taken for a whole one.
    KeepTorn,
    /// A stream takes records of two servers.
    TwoOwners,
    /// An answer to an older request counts for the open one.
    StaleId,
    /// What one connection says is taken for another's.
    Misroute,
    /// A request tells the tournament's secret.
    LeakSecret,
    /// A request shows the opponent's hidden turn.
    LeakTurn,
    /// Who is not back at once after an outage is missed.
    ChargeOutage,
    /// The server's clock runs fast: players get less time than they were told.
    FastClock,
    /// A notice that was said is never sent.
    LoseNotice,
    /// A reader that reads nothing is never cut off.
    EndlessOutbox,
    /// Two lines are read as one.
    MergeLines,
    /// Who says no to an invitation is taken for who says yes.
    AcceptForOthers,
    /// Who is on the blacklist is let in after a restart.
    ForgetBlacklist,
    /// After a restart a cheat does not look like one: a blacklisting that the crash kept out of the
    /// log was only in memory.
    ForgetCheat,
    /// An operator's order is obeyed twice.
    OrderTwice,
    /// A snapshot is taken for one of a later event.
    StaleSnapshot,
}

impl Sabotage {
    /// All of them.
    pub const ALL: [Sabotage; 19] = [
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
    ];
}
