//! The player of one tournament: a house player on a thread, or a program with pipes.

use super::program::{Command, Program};
use super::{Said, check_house};
use crate::args::JoinArgs;
use crate::command::bot;
use crate::exit::Misuse;
use agon_bots::Houses;
use agon_core::{Nonce, PlayerName};
use agon_games::{Json, Registry};
use agon_runner::{Sandbox, SandboxSettings, find_program};
use agon_wire::native::{Hello, PROTOCOL_VERSION};
use anyhow::Result;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use tokio::sync::mpsc;

/// The player of all tournaments.
pub(super) struct Player {
    pub(super) name: PlayerName,
    plays: Plays,
}

enum Plays {
    House(String),
    Program(Command),
}

impl Player {
    pub(super) fn new(args: &JoinArgs) -> Result<Player> {
        let plays = match (&args.bot, &args.program[..]) {
            (Some(bot), _) => {
                let house = PlayerName::house_in(bot).unwrap_or(bot);
                check_house(house)?;
                Plays::House(house.to_owned())
            }
            (None, words @ [first, ..]) => {
                find_program(first).map_err(|why| anyhow::anyhow!("failed to start {why}"))?;
                let sandbox = Sandbox::open(args.sandbox.over(SandboxSettings::default()), None);
                if let Some(warning) = sandbox.warning() {
                    eprintln!("agon: {warning}");
                }
                let (words, sandbox) = (words.to_vec(), Arc::new(sandbox));
                let records_stderr = args.receipt.is_some();
                Plays::Program(Command { words, sandbox, records_stderr })
            }
            (None, []) => {
                let why = "say who plays: --bot house:NAME, or a program after --";
                return Err(Misuse(why.into()).into());
            }
        };
        // With a token, the server says who it is.
        let name = args.login.account.as_deref().unwrap_or("?");
        let name = PlayerName::new(name).map_err(|error| Misuse(error.to_string()))?;
        Ok(Player { name, plays })
    }

    /// The hello to the server: the nonce, the proposal, and whether requests show the history. A
    /// house player has its own; a program is started for its hello and ended again.
    pub(super) async fn introduction(
        &self,
        args: &JoinArgs,
    ) -> Result<(Option<Nonce>, Option<Json>, bool)> {
        match &self.plays {
            Plays::House(house) => {
                let (games, houses) = (Registry::standard(), Houses::standard());
                let made = games.names().into_iter().map(|game| houses.make(game, house));
                let proposal = made.flatten().find_map(|mut player| player.propose());
                Ok((None, proposal, true))
            }
            Plays::Program(command) => {
                let game = args.game.as_deref().unwrap_or_default();
                let about = json!({"tournament": "", "game": game, "commitment": "0".repeat(64)});
                let hello = Program::probe(command, &self.name, &hello(&self.name, &about)).await?;
                let said = |hello: Hello| (hello.nonce, hello.proposal, hello.history);
                Ok(hello.map_or((None, None, false), said))
            }
        }
    }
}

/// The first message to a program.
fn hello(player: &PlayerName, about: &Value) -> String {
    let hello = json!({
        "type": "hello",
        "protocol": PROTOCOL_VERSION,
        "server": concat!("agon/", env!("CARGO_PKG_VERSION")),
        "player": player,
        "tournament": about["tournament"],
        "game": about["game"],
        "commitment": about["commitment"],
    });
    hello.to_string()
}

/// The player of one tournament.
pub(super) struct TournamentPlayer {
    /// How often it was started.
    pub(super) start: u32,
    pub(super) greeted: bool,
    /// The server's announcement of the tournament.
    about: Value,
    /// Requests without an answer.
    open: BTreeMap<String, String>,
    backend: Backend,
}

enum Backend {
    House(Sender<String>),
    Program(Program),
}

impl TournamentPlayer {
    pub(super) fn start(
        player: &Arc<Player>,
        about: &Value,
        start: u32,
        said: &mpsc::Sender<Said>,
    ) -> Result<TournamentPlayer> {
        let tournament = about["tournament"].as_str().unwrap_or_default().to_owned();
        let said = said.clone();
        let backend = match &player.plays {
            Plays::House(house) => {
                let game = about["game"].as_str().unwrap_or_default();
                let mut house = Houses::standard().make(game, house)?;
                let (sender, requests) = channel::<String>();
                let name = player.name.clone();
                std::thread::spawn(move || {
                    for request in requests {
                        let reply = bot::reply_to(&request, name.as_str(), &mut *house);
                        let Ok(line) = reply else { continue };
                        let (tournament, stderr) = (tournament.clone(), String::new());
                        let line = Said::Line { tournament, start, line, stderr };
                        if said.blocking_send(line).is_err() {
                            return;
                        }
                    }
                });
                Backend::House(sender)
            }
            Plays::Program(command) => {
                Backend::Program(Program::start(command, &player.name, tournament, start, said)?)
            }
        };
        let greeted = matches!(backend, Backend::House(_));
        let mut playing = TournamentPlayer {
            start,
            greeted,
            about: about.clone(),
            open: BTreeMap::new(),
            backend,
        };
        playing.tell(&hello(&player.name, about));
        Ok(playing)
    }

    /// Passes a message on; a house player needs none but requests.
    pub(super) fn tell(&mut self, line: &str) {
        if let Backend::Program(program) = &mut self.backend {
            program.tell(line);
        }
    }

    /// Passes a request on.
    pub(super) fn ask(&mut self, id: String, line: String) {
        match &self.backend {
            Backend::House(requests) => drop(requests.send(line.clone())),
            Backend::Program(_) => self.tell(&line),
        }
        self.open.insert(id, line);
    }

    /// The first request without an answer.
    pub(super) fn first_open(&self) -> Option<String> {
        self.open.keys().next().cloned()
    }

    /// Returns whether the request that was answered was open.
    pub(super) fn answered(&mut self, id: &str) -> bool {
        self.open.remove(id).is_some()
    }

    /// The tournament is over.
    pub(super) async fn end(mut self, won: Option<bool>) {
        let mut end = json!({"type": "end", "reason": "the tournament is over"});
        if let Some(won) = won {
            end["won"] = won.into();
        }
        self.tell(&end.to_string());
        if let Backend::Program(program) = self.backend {
            program.end().await;
        }
    }

    /// The program is gone: what it was about, and what it did not answer.
    pub(super) fn ended(self) -> (Value, BTreeMap<String, String>) {
        if let Backend::Program(program) = self.backend {
            program.kill();
        }
        (self.about, self.open)
    }
}
