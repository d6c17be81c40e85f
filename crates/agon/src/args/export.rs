//! The arguments of `agon export`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

const EXPORT_HELP: &str = "\
docs/protocol/record.md documents the records and the tables.

Examples:
    agon export cup > cup.txt
    agon export cup --match r1m1 --game 2
    agon export cup --what strengths --out strengths.csv
    agon export data --tournament spring --what pairs --json";

#[derive(Args, Debug)]
#[command(after_help = EXPORT_HELP)]
pub(crate) struct ExportArgs {
    /// The folder of a run or a server, its database, or the log of one match.
    #[arg(value_name = "LOG")]
    pub(crate) path: PathBuf,
    /// The table to export, or the records of games.
    #[arg(long, value_enum, default_value_t = ExportTable::Records)]
    pub(crate) what: ExportTable,
    /// Only this tournament.
    #[arg(long, value_name = "ID")]
    pub(crate) tournament: Option<String>,
    /// Only this match, such as r1m1.
    #[arg(long = "match", value_name = "ID")]
    pub(crate) match_id: Option<String>,
    /// Only this game of each match; for records.
    #[arg(long, value_name = "N")]
    pub(crate) game: Option<u32>,
    /// Write JSON instead of text or CSV.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write to this file instead of stdout.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ExportTable {
    /// Every finished game as a text record.
    Records,
    /// The standings of tournaments.
    Standings,
    /// The strength of every player, with its 95 % interval, and their performance.
    Strengths,
    /// Every two players against each other: score, Elo difference, superiority.
    Pairs,
    /// The points of every player against every other.
    CrossTable,
    /// One row per game.
    Games,
    /// The players in the first places, and how sure it is that they are the strongest.
    Podium,
    /// The points per game with and without luck, and the costs of decisions.
    Luck,
    /// The ratings of all players after all tournaments of the log, for each game.
    Ladders,
}
