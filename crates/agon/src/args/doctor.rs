//! Arguments of `agon doctor`.

use crate::exit;
use clap::Args as ClapArgs;

const DOCTOR_HELP: &str = "\
The exam plays whole games with the program, asks it about hundreds of different positions, restarts
it at every move, and sends messages in pieces, twice and from later versions. For each failure the
report shows the message, the reply and how to fix it. Examinations:
    hello answers rules positions time stdout restart long same proposal
    pieces notices errors unknown repeat end children
With --listen, agon acts as a server for a program that connects by itself (docs/protocol/native.md,
Over sockets). A command after -- is started for that, with {server} in its arguments replaced:
    connect answers rules positions time stdout pieces notices errors heartbeat unknown
    together cut restart taken-over

Examples:
    agon doctor -- python3 bot.py
    agon doctor --sandbox
    agon doctor --quick --game fish -- ./my-bot --fast
    agon doctor --game yahtzee --listen 127.0.0.1:7300
    agon doctor --game yahtzee --listen 127.0.0.1:0 -- my-bot --connect {server}";

fn doctor_help() -> String {
    format!("{DOCTOR_HELP}\n\n{}", exit::HELP)
}

#[derive(ClapArgs, Debug)]
#[command(after_help = doctor_help())]
pub(crate) struct DoctorArgs {
    /// The game; may be repeated. By default all games whose first question the program can answer.
    #[arg(long, value_name = "NAME")]
    pub(crate) game: Vec<String>,
    /// The game's configuration as JSON; by default many different boards, maps and dice.
    #[arg(long, value_name = "JSON", requires = "game")]
    pub(crate) game_config: Option<String>,
    /// Time limit for an answer, in milliseconds; by default as in the game's preset.
    #[arg(long, value_name = "MS")]
    pub(crate) answer_ms: Option<u64>,
    /// Time limit for the hello, and for reconnecting, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 10_000)]
    pub(crate) hello_ms: u64,
    /// Derive all positions from this number, to repeat an exam.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Act as a server at this address, for a program that connects by itself. Port 0 takes any
    /// free port.
    #[arg(long, value_name = "ADDR", requires = "game")]
    pub(crate) listen: Option<String>,
    /// Show which protections of the sandbox work on this machine, without an exam.
    #[arg(long, conflicts_with_all = ["game", "listen", "program", "quick"])]
    pub(crate) sandbox: bool,
    /// Use fewer positions and restarts.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Print the report as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Do not show progress on stderr.
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// The program and its arguments.
    #[arg(last = true, value_name = "CMD ARGS", required_unless_present_any = ["listen", "sandbox"])]
    pub(crate) program: Vec<String>,
}
