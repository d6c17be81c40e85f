//! Which node may act on a log that several nodes share: rules without a clock and a database.
//!
//! ```text
//!   stands by ── LeaseCandidate: may it steal? ──▶ claims ──▶ owns ── LogStanding, Doubt ──▶ falls silent
//! ```
//!
//! The database decides about claims and appends, by its own clock. These rules decide when a node
//! tries to claim the log, and when an owner stops to act. The server and the simulator share them.
//! Every time is the time since some fixed moment, by a clock that also runs while the machine
//! sleeps.

use std::time::Duration;

/// How long an owner without a lease waits for the database before it gives the log up. With a
/// lease of 1.5 s its connections close within 5 s of the loss of the database.
const DOUBT_MAX: Duration = Duration::from_millis(3_400);

/// Heartbeats per lease: a few may be late or lost.
pub const BEATS_PER_LEASE: u32 = 6;

/// The right of a process to act on the contents of a log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogStanding {
    /// No other process writes the log.
    Owner,
    /// The lease has expired, because the database does not answer or this process was stopped.
    /// Another node may own the log now. The process must send nothing until it knows.
    Unsure,
    /// Another node owns the log. The process must forget what it knows.
    Lost,
}

impl LogStanding {
    /// The standing of an owner whose lease has this age. The age counts from when the last
    /// successful heartbeat was begun, so it is never less than the age by the database's clock.
    pub fn of(has_lost: bool, age: Duration, lease: Duration) -> LogStanding {
        match has_lost {
            true => LogStanding::Lost,
            false if age >= lease => LogStanding::Unsure,
            false => LogStanding::Owner,
        }
    }
}

/// How long an owner may miss its heartbeats before others take the log from it: a lease, or two
/// heartbeats if the bus says that it is not connected. A killed node leaves the bus at once.
pub fn patience(lease: Duration, has_left: bool) -> Duration {
    match has_left {
        true => lease * 2 / BEATS_PER_LEASE,
        false => lease,
    }
}

/// A node that stands by.
///
/// While the database was away, the owner could not renew its lease either. So a candidate gives
/// the owner time, from the candidate's own first contact on.
#[derive(Clone, Copy, Default, Debug)]
pub struct LeaseCandidate {
    in_contact_since: Option<Duration>,
}

impl LeaseCandidate {
    /// Returns whether the next claim may take the log from a node without heartbeats for so long.
    pub fn may_steal(&self, now: Duration, patience: Duration) -> bool {
        self.in_contact_since.is_some_and(|since| now.saturating_sub(since) >= patience)
    }

    /// Notes whether the database answered a claim.
    pub fn tried(&mut self, now: Duration, has_answer: bool) {
        self.in_contact_since = has_answer.then(|| self.in_contact_since.unwrap_or(now));
    }
}

/// The step of an owner before its next input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// It acts.
    Act,
    /// It acts again, after a doubt of this length. Its clock continues.
    ActAgain(Duration),
    /// It begins to doubt: it stops its clock, and neither reads nor sends anything.
    FallSilent,
    /// It waits silently.
    Wait,
    /// It ends: another node owns the log.
    TakenOver,
    /// It ends: the database did not answer for so long.
    NoDatabase(Duration),
}

/// The doubt of an owner whose lease has expired.
#[derive(Clone, Copy, Default, Debug)]
pub struct Doubt {
    since: Option<Duration>,
}

impl Doubt {
    /// Decides what an owner does now.
    pub fn turn(&mut self, standing: LogStanding, now: Duration) -> Turn {
        match (standing, self.since) {
            (LogStanding::Owner, None) => Turn::Act,
            (LogStanding::Owner, Some(since)) => {
                self.since = None;
                Turn::ActAgain(now.saturating_sub(since))
            }
            (LogStanding::Lost, _) => Turn::TakenOver,
            (LogStanding::Unsure, None) => {
                self.since = Some(now);
                Turn::FallSilent
            }
            (LogStanding::Unsure, Some(since)) => match now.saturating_sub(since) {
                unanswered if unanswered > DOUBT_MAX => Turn::NoDatabase(unanswered),
                _ => Turn::Wait,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_millis(1500);

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn owner_doubts_as_soon_as_others_may_claim() {
        assert_eq!(LogStanding::of(false, ms(1499), LEASE), LogStanding::Owner);
        assert_eq!(LogStanding::of(false, LEASE, LEASE), LogStanding::Unsure);
        assert_eq!(LogStanding::of(true, ms(0), LEASE), LogStanding::Lost);
    }

    #[test]
    fn candidate_gives_the_owner_a_lease_from_the_first_contact() {
        let mut node = LeaseCandidate::default();
        assert!(!node.may_steal(ms(9_000), LEASE));
        node.tried(ms(10_000), true);
        node.tried(ms(11_000), true);
        assert!(!node.may_steal(ms(11_499), LEASE) && node.may_steal(ms(11_500), LEASE));
        node.tried(ms(11_600), false);
        assert!(!node.may_steal(ms(20_000), LEASE), "the database was away");
    }

    #[test]
    fn owner_in_doubt_is_silent_and_gives_up_after_seconds() {
        let mut doubt = Doubt::default();
        assert_eq!(doubt.turn(LogStanding::Owner, ms(0)), Turn::Act);
        assert_eq!(doubt.turn(LogStanding::Unsure, ms(100)), Turn::FallSilent);
        assert_eq!(doubt.turn(LogStanding::Unsure, ms(3_500)), Turn::Wait);
        assert_eq!(doubt.turn(LogStanding::Owner, ms(3_510)), Turn::ActAgain(ms(3_410)));
        assert_eq!(doubt.turn(LogStanding::Owner, ms(3_520)), Turn::Act);
        assert_eq!(doubt.turn(LogStanding::Unsure, ms(5_000)), Turn::FallSilent);
        assert_eq!(doubt.turn(LogStanding::Unsure, ms(8_401)), Turn::NoDatabase(ms(3_401)));
        assert_eq!(doubt.turn(LogStanding::Lost, ms(8_402)), Turn::TakenOver);
    }

    #[test]
    fn owner_without_a_database_gives_up_within_five_seconds() {
        assert!(LEASE + DOUBT_MAX < ms(5_000));
    }
}
