//! A game without a server: one person against house players and programs.

use super::keyboard::{Keyboard, Typed};
use super::program::Program;
use super::prompt::{Prompt, Wish};
use super::say;
use crate::args::PlayArgs;
use crate::exit::{Exit, Misuse};
use agon_bots::{HousePlayer, Houses};
use agon_core::PlayerName;
use agon_games::{GameKind, GameState, Registry, Seat, Seed, Viewer};
use agon_runner::{Plays, Sandbox, SandboxSettings, name_players};
use anyhow::{Context, Result};
use std::fmt::Write;
use std::sync::Arc;

/// The person's seat and name.
const YOU: Seat = Seat(0);
const NAME: &str = "you";

pub(super) async fn play(args: &PlayArgs, colour: bool) -> Result<Exit> {
    let games = Registry::standard();
    let Some(kind) = games.kind(&args.game) else {
        let known = games.names().join(", ");
        return Err(Misuse(format!("no game {:?}; there are: {known}", args.game)).into());
    };
    let mut table = Table::new(args, &**kind).await?;
    let mut prompt = Prompt::new(colour, false);
    let mut keyboard = Keyboard::start()?;
    while table.game.outcome().is_none() {
        table.others().await?;
        if !table.game.awaiting().contains(YOU) {
            continue;
        }
        let question = table.game.question(YOU).context("an awaited seat has a question")?;
        let view = table.game.view(Viewer::Seat(YOU));
        if table.game.only_tells(YOU) {
            say(&format!("{}\n", kind.ask(question.get(), view.get())?.words))?;
            table.apply(YOU, "\"ok\"")?;
            continue;
        }
        let head = format!("{} · you against {}", args.game, table.names[1..].join(", "));
        prompt.ask(&head, &args.game, question, view, table.names.clone(), None)?;
        match wish(&mut prompt, &mut keyboard).await? {
            Ok(answer) => table.apply(YOU, answer.get())?,
            Err(exit) => return Ok(exit),
        }
    }
    say(&table.result(colour))?;
    Ok(Exit::Success)
}

/// The names of all players, the person first, and the opponents.
async fn rivals(args: &PlayArgs, kind: &dyn GameKind) -> Result<(Vec<String>, Vec<Rival>)> {
    let known = Houses::standard();
    let (mut names, mut rivals) = (vec![NAME.to_owned()], Vec::new());
    let mut sandbox: Option<Arc<Sandbox>> = None;
    for (given, spec) in args.vs.iter().zip(name_players(&args.vs)?) {
        let words = match spec.plays {
            // `house:` may be left out.
            Plays::Command(words) if known.make(kind.name(), given).is_err() => words,
            _ => {
                let name = PlayerName::house_in(given).unwrap_or(given);
                rivals.push(Rival::House(known.make(kind.name(), name)?));
                names.push(name.to_owned());
                continue;
            }
        };
        let sandbox = sandbox.get_or_insert_with(|| {
            let settings = args.sandbox.over(SandboxSettings::default());
            let sandbox = Sandbox::open(settings, None);
            sandbox.warning().iter().for_each(|warning| eprintln!("agon: {warning}"));
            Arc::new(sandbox)
        });
        sandbox.check(&words).map_err(|error| Misuse(error.to_string()))?;
        let program = Program::start(&words, &spec.name, kind.name(), sandbox).await?;
        rivals.push(Rival::Program(Box::new(program)));
        names.push(spec.name.to_string());
    }
    Ok((names, rivals))
}

/// Waits for the person's answer, or for the person to leave.
async fn wish(
    prompt: &mut Prompt,
    keyboard: &mut Keyboard,
) -> Result<Result<agon_games::Json, Exit>> {
    loop {
        match keyboard.next(true).await {
            Typed::Line(line) => match prompt.typed(&line)? {
                Wish::Answer(answer) => return Ok(Ok(answer)),
                Wish::Forfeit | Wish::Leave => {
                    say("You forfeited the game.\n")?;
                    return Ok(Err(Exit::Success));
                }
                Wish::Nothing => {}
            },
            Typed::End => {
                say("\n")?;
                return Ok(Err(Exit::Success));
            }
            Typed::Stop => {
                say("\n")?;
                return Ok(Err(Exit::Stopped));
            }
        }
    }
}

/// The opponents of the person.
enum Rival {
    House(Box<dyn HousePlayer>),
    Program(Box<Program>),
}

/// The game and its players.
struct Table {
    game: Box<dyn GameState>,
    names: Vec<String>,
    /// The opponents, in the order of seats.
    rivals: Vec<Rival>,
    /// The number of answers so far; it identifies requests to house players.
    answers: u64,
}

impl Table {
    async fn new(args: &PlayArgs, kind: &dyn GameKind) -> Result<Table> {
        let (names, rivals) = rivals(args, kind).await?;
        let config = match &args.game_config {
            Some(config) => config.clone(),
            None => kind.default_config().to_string(),
        };
        let seed = match args.seed {
            Some(number) => Seed::from_number(number),
            None => {
                let mut bytes = [0; 32];
                getrandom::fill(&mut bytes)
                    .map_err(|error| anyhow::anyhow!("failed to get random bytes: {error}"))?;
                Seed::from_bytes(bytes)
            }
        };
        let game =
            kind.set_up(&config, names.len(), &seed).map_err(|error| Misuse(error.to_string()))?;
        Ok(Table { game, names, rivals, answers: 0 })
    }

    /// Lets the opponents answer all of their questions.
    async fn others(&mut self) -> Result<()> {
        loop {
            let asked = self.game.awaiting().find(|seat| *seat != YOU);
            let Some(seat) = asked else { return Ok(()) };
            let out = match self.answer_of(seat).await {
                // house:cheat exists to be caught.
                Ok(answer) => self.game.apply(seat, &answer).err().map(|_| "cheats".to_owned()),
                Err(why) => Some(format!("fails ({why:#})")),
            };
            if let Some(why) = out {
                say(&format!("{} {why} and is out of the game.\n", self.names[seat.index()]))?;
                self.game.remove(seat);
            }
            self.answers += 1;
        }
    }

    async fn answer_of(&mut self, seat: Seat) -> Result<String> {
        let (name, key) = (&self.names[seat.index()], format!("{}", self.answers));
        let program = match &mut self.rivals[seat.index() - 1] {
            Rival::House(house) => {
                return Ok(house.answer(name, &key, seat, &*self.game).get().to_owned());
            }
            Rival::Program(program) => program,
        };
        let question = self.game.question(seat).context("an awaited seat has a question")?;
        if self.game.only_tells(seat) {
            program.notice(&question)?;
            return Ok("\"ok\"".to_owned());
        }
        let view = self.game.view(Viewer::Seat(seat));
        let id = format!("r1m1.1.{}.{key}", seat.index());
        program.ask(&id, seat, question, view, &self.names).await
    }

    fn apply(&mut self, seat: Seat, answer: &str) -> Result<()> {
        self.answers += 1;
        let applied = self.game.apply(seat, answer);
        applied.map(drop).context("the game refused an answer that was checked before")
    }

    fn result(&self, colour: bool) -> String {
        let mut text = format!("\n{}\n", self.game.render(&self.names, colour));
        let Some(outcome) = self.game.outcome() else { return text };
        for (seat, name) in self.names.iter().enumerate() {
            let place = match outcome.ranks[seat] {
                Some(rank) => format!("{rank}."),
                None => "out".into(),
            };
            let _ = writeln!(text, "{place:>4}  {name}: {} points", outcome.scores[seat]);
        }
        let won = outcome.ranks[YOU.index()] == Some(1);
        let shared = outcome.ranks.iter().filter(|rank| **rank == Some(1)).count() > 1;
        text.push_str(match (won, shared) {
            (true, false) => "You win.\n",
            (true, true) => "You share first place.\n",
            (false, _) => "You lose.\n",
        });
        text
    }
}
