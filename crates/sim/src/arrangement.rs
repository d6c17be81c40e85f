//! How the server of a run is arranged, and which bug is planted in its world.

use crate::sabotage::Sabotage;

/// How the server of a run is arranged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Arrangement {
    /// One server with one engine. Sometimes a second one starts on the same log.
    Alone,
    /// One server, in which other engines own the tournaments.
    Engines,
    /// Several nodes that share a database. One of them owns the log and plays.
    Nodes,
    /// Several nodes that share a database and a bus. The owner of the log lends the others
    /// tournaments.
    Bus,
}

impl Arrangement {
    /// The arrangement of a seed.
    pub fn of_seed(seed: u64) -> Arrangement {
        match seed % 8 {
            1 => Arrangement::Engines,
            3 => Arrangement::Bus,
            6 | 7 => Arrangement::Nodes,
            _ => Arrangement::Alone,
        }
    }
}

/// A run, which is the same whenever it is repeated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    /// The seed, which determines everything else.
    pub seed: u64,
    /// How the server is arranged.
    pub arrangement: Arrangement,
    /// The planted bug, if there is one.
    pub sabotage: Option<Sabotage>,
}

impl Run {
    /// The run of a seed in its own arrangement.
    pub fn of_seed(seed: u64, sabotage: Option<Sabotage>) -> Run {
        Run { seed, arrangement: Arrangement::of_seed(seed), sabotage }
    }
}
