//! Who thinks in one tournament: a house player on a thread, or a program with pipes.

use super::{Event, check_house};
use crate::args::JoinArgs;
use crate::command::bot;
use crate::exit::Misuse;
use agon_core::PlayerName;
use agon_games::{Json, Registry};
use agon_players::Houses;
use agon_wire::native::PROTOCOL_VERSION;
use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Sender, SyncSender, channel};
use std::time::{Duration, Instant};

/// Answers that are kept to be sent again.
const ANSWERS_MAX: usize = 64;
/// How long a program may take to end after it was told to.
const END_MS_MAX: u64 = 500;

/// Who plays, for all tournaments.
pub(super) struct Player {
    pub(super) name: PlayerName,
    plays: Plays,
}

enum Plays {
    House(String),
    Program(Vec<String>),
}

impl Player {
    pub(super) fn new(name: PlayerName, args: &JoinArgs) -> Result<Player> {
        let plays = match (&args.bot, &args.program[..]) {
            (Some(bot), _) => {
                let house = bot.strip_prefix("house:").unwrap_or(bot);
                check_house(house)?;
                Plays::House(house.to_owned())
            }
            (None, [_, ..]) => Plays::Program(args.program.clone()),
            (None, []) => {
                let why = "say who plays: --bot house:NAME, or a program after --";
                return Err(Misuse(why.into()).into());
            }
        };
        Ok(Player { name, plays })
    }

    /// What a house player proposes where a tournament asks for it.
    pub(super) fn proposal(&self) -> Option<Json> {
        let Plays::House(house) = &self.plays else { return None };
        let (games, houses) = (Registry::standard(), Houses::standard());
        let made = games.names().into_iter().filter_map(|game| houses.make(game, house).ok());
        made.into_iter().find_map(|mut player| player.propose())
    }
}

/// The player of one tournament.
pub(super) struct Mind {
    /// How often it was started.
    pub(super) start: u32,
    pub(super) greeted: bool,
    /// What the server said of the tournament.
    about: Value,
    /// Requests without an answer.
    open: BTreeMap<String, String>,
    /// The latest answers, and over which connection they went.
    answers: VecDeque<(String, String, u64)>,
    hands: Hands,
}

enum Hands {
    House(Sender<String>),
    Program { child: Child, stdin: Option<ChildStdin> },
}

impl Mind {
    pub(super) fn start(
        player: &Arc<Player>,
        about: &Value,
        start: u32,
        events: &SyncSender<Event>,
    ) -> Result<Mind> {
        let tournament = about["tournament"].as_str().unwrap_or_default().to_owned();
        let game = about["game"].as_str().unwrap_or_default();
        let events = events.clone();
        let hands = match &player.plays {
            Plays::House(house) => {
                let mut house = Houses::standard().make(game, house)?;
                let (sender, requests) = channel::<String>();
                let name = player.name.clone();
                std::thread::spawn(move || {
                    for request in requests {
                        let reply = bot::reply_to(&request, name.as_str(), &mut *house);
                        let Ok(line) = reply else { continue };
                        let tournament = tournament.clone();
                        if events.send(Event::Said { tournament, start, line }).is_err() {
                            return;
                        }
                    }
                });
                Hands::House(sender)
            }
            Plays::Program(words) => program(words, &player.name, tournament, start, events)?,
        };
        let (open, answers) = (BTreeMap::new(), VecDeque::new());
        let greeted = matches!(hands, Hands::House(_));
        let mut mind = Mind { start, greeted, about: about.clone(), open, answers, hands };
        let hello = json!({
            "type": "hello",
            "protocol": PROTOCOL_VERSION,
            "server": concat!("agon/", env!("CARGO_PKG_VERSION")),
            "player": player.name,
            "tournament": about["tournament"],
            "game": game,
            "commitment": about["commitment"],
        });
        mind.tell(&hello.to_string());
        Ok(mind)
    }

    /// Passes a message on; a house player needs none but requests.
    pub(super) fn tell(&mut self, line: &str) {
        if let Hands::Program { stdin: Some(stdin), .. } = &mut self.hands {
            // If the program has ended, its reader says so.
            let _ = stdin.write_all(format!("{line}\n").as_bytes());
        }
    }

    /// Passes a request on, unless it was answered over an earlier connection: then that answer is
    /// to be sent again. One that is being thought about is not asked twice.
    pub(super) fn ask(&mut self, id: &str, line: &str, connection: u64) -> Option<String> {
        let known =
            self.answers.iter().find(|(answered, _, over)| answered == id && *over < connection);
        if let Some((_, answer, _)) = known {
            let answer = answer.clone();
            self.answered(id, &answer, connection);
            return Some(answer);
        }
        if self.open.insert(id.to_owned(), line.to_owned()).is_some() {
            return None;
        }
        match &self.hands {
            Hands::House(requests) => drop(requests.send(line.to_owned())),
            Hands::Program { .. } => self.tell(line),
        }
        None
    }

    pub(super) fn answered(&mut self, id: &str, line: &str, connection: u64) {
        self.open.remove(id);
        self.answers.retain(|(answered, _, _)| answered != id);
        self.answers.push_back((id.to_owned(), line.to_owned(), connection));
        if self.answers.len() > ANSWERS_MAX {
            self.answers.pop_front();
        }
    }

    /// The tournament is over.
    pub(super) fn end(mut self, won: Option<bool>) {
        let mut end = json!({"type": "end", "reason": "the tournament is over"});
        if let Some(won) = won {
            end["won"] = won.into();
        }
        self.tell(&end.to_string());
        if let Hands::Program { child, stdin } = &mut self.hands {
            drop(stdin.take());
            let deadline = Instant::now() + Duration::from_millis(END_MS_MAX);
            while matches!(child.try_wait(), Ok(None)) && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
        self.kill();
    }

    /// The program is gone: what it was about, and what it did not answer.
    pub(super) fn ended(mut self) -> (Value, BTreeMap<String, String>) {
        self.kill();
        (self.about, self.open)
    }

    /// Kills whatever is left of the program, with everything it started.
    fn kill(&mut self) {
        if let Hands::Program { child, .. } = &mut self.hands {
            if let Some(group) = Pid::from_raw(child.id() as i32) {
                let _ = kill_process_group(group, Signal::KILL);
            }
            let _ = child.wait();
        }
    }
}

/// Starts a program, and a thread that reads what it says.
fn program(
    words: &[String],
    name: &PlayerName,
    tournament: String,
    start: u32,
    events: SyncSender<Event>,
) -> Result<Hands> {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env("AGON_PLAYER", name.as_str()).process_group(0);
    command.env_remove("AGON_PASSWORD");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("failed to start {:?}", words[0]))?;
    let stdin = child.stdin.take();
    let stdout = child.stdout.take().context("failed to read from the program")?;
    std::thread::spawn(move || {
        let mut stdout = BufReader::new(stdout);
        let mut line = Vec::new();
        while let Ok(1..) = stdout.read_until(b'\n', &mut line) {
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            line.clear();
            let tournament = tournament.clone();
            if events.send(Event::Said { tournament, start, line: text }).is_err() {
                return;
            }
        }
        let _ = events.send(Event::Ended { tournament, start });
    });
    Ok(Hands::Program { child, stdin })
}
