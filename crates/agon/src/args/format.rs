//! The arguments of `agon format`.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct FormatArgs {
    #[command(subcommand)]
    pub(crate) command: FormatCommand,
}

#[derive(Subcommand, Debug)]
pub(crate) enum FormatCommand {
    /// Simulate tournaments between players of known strength: how often does the best one win?
    Simulate(SimulateArgs),
}

const SIMULATE_HELP: &str = "\
A rating list is a CSV file with the columns `player` and `rating`, or the answer of
/api/v1/ladders/GAME.

Examples:
    agon format simulate --strengths 200 100 50 0 -50 -100
    agon format simulate --ratings list.csv --format swiss round-robin --best-of 1 3 --want 90
    agon format simulate --strengths 90 60 30 0 -30 -60 --format 'groups:size=3 -> bracket' 'swiss -> top 4'
    agon format simulate --strengths 100 0 0 0 --format bracket:slots=8 --pairing rating --json";

#[derive(Args, Debug)]
#[command(after_help = SIMULATE_HELP)]
pub(crate) struct SimulateArgs {
    /// The strengths of the players in Elo.
    #[arg(long, value_name = "ELO", num_args = 2.., allow_negative_numbers = true,
        required_unless_present = "ratings")]
    pub(crate) strengths: Vec<f64>,
    /// A file with the ratings of the players.
    #[arg(long, value_name = "FILE", conflicts_with = "strengths")]
    pub(crate) ratings: Option<PathBuf>,
    /// A format with its options, or as JSON; by default all formats.
    #[arg(long, value_name = "FORMAT", num_args = 1..)]
    pub(crate) format: Vec<String>,
    /// Simulate matches that are a best of K games; give several to compare them.
    #[arg(long, value_name = "K", num_args = 1.., default_values_t = [1, 3, 5])]
    pub(crate) best_of: Vec<u32>,
    /// Recommend the cheapest format in which the best player wins this often, in percent.
    #[arg(long, value_name = "PERCENT", default_value_t = 80.0)]
    pub(crate) want: f64,
    /// The order in which players enter a format: by lot, or as seeds by their strength.
    #[arg(long, value_enum, default_value = "random")]
    pub(crate) pairing: SeedingArg,
    /// The game; it decides how many players a match may have.
    #[arg(long, value_name = "NAME", default_value = "yahtzee")]
    pub(crate) game: String,
    /// The chance of a draw between equal players.
    #[arg(long, value_name = "CHANCE", default_value_t = 0.0)]
    pub(crate) draws: f64,
    /// The number of tournaments per format.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub(crate) runs: u32,
    /// How long a game takes, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    pub(crate) game_seconds: f64,
    /// The number of matches at a time.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) concurrency: usize,
    /// The same seed gives the same answer.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print the answer as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the table as CSV.
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
    /// Do not show progress on stderr.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SeedingArg {
    /// By lot.
    Random,
    /// As seeds by strength, as if everybody's rating were right.
    Rating,
}
