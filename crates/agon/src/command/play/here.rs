//! A game here and now: one person, house players, and no server.

use super::desk::{Desk, Wish};
use super::keyboard::{Keyboard, Typed};
use super::say;
use crate::args::PlayArgs;
use crate::exit::{Exit, Misuse};
use agon_games::{GameKind, GameState, Registry, Seat, Seed, Viewer};
use agon_players::{HousePlayer, Houses};
use anyhow::{Context, Result};
use std::fmt::Write;

/// The person's seat and name.
const YOU: Seat = Seat(0);
const NAME: &str = "you";

pub(super) async fn play(args: &PlayArgs, colour: bool) -> Result<Exit> {
    let games = Registry::standard();
    let Some(kind) = games.kind(&args.game) else {
        let known = games.names().join(", ");
        return Err(Misuse(format!("no game {:?}; there are: {known}", args.game)).into());
    };
    let mut table = Table::new(args, &**kind)?;
    let mut desk = Desk::new(colour, false);
    let mut keyboard = Keyboard::start()?;
    while table.game.outcome().is_none() {
        table.others()?;
        if !table.game.awaiting().contains(YOU) {
            continue;
        }
        let question = table.game.question(YOU).context("who is awaited is asked")?;
        let view = table.game.view(Viewer::Seat(YOU));
        if table.game.only_tells(YOU) {
            say(&format!("{}\n", kind.ask(question.get(), view.get())?.words))?;
            table.apply(YOU, "\"ok\"")?;
            continue;
        }
        let head = format!("{} · you against {}", args.game, table.names[1..].join(", "));
        desk.ask(&head, &args.game, question, view, table.names.clone(), None)?;
        match wish(&mut desk, &mut keyboard).await? {
            Ok(answer) => table.apply(YOU, answer.get())?,
            Err(exit) => return Ok(exit),
        }
    }
    say(&table.result(colour))?;
    Ok(Exit::Success)
}

/// What the person answers, or how it ends instead.
async fn wish(desk: &mut Desk, keyboard: &mut Keyboard) -> Result<Result<agon_games::Json, Exit>> {
    loop {
        match keyboard.next(true).await {
            Typed::Line(line) => match desk.typed(&line)? {
                Wish::Answer(answer) => return Ok(Ok(answer)),
                Wish::Forfeit | Wish::Leave => {
                    say("You gave up.\n")?;
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

/// The game and who plays it.
struct Table {
    game: Box<dyn GameState>,
    names: Vec<String>,
    /// Those after the person, in the order of seats.
    houses: Vec<Box<dyn HousePlayer>>,
    /// How many answers there were: a house player's request is known by it.
    answers: u64,
}

impl Table {
    fn new(args: &PlayArgs, kind: &dyn GameKind) -> Result<Table> {
        let known = Houses::standard();
        let (mut names, mut houses) = (vec![NAME.to_owned()], Vec::new());
        for given in &args.vs {
            let name = given.strip_prefix("house:").unwrap_or(given);
            houses.push(known.make(kind.name(), name)?);
            names.push(name.to_owned());
        }
        let config = match &args.game_config {
            Some(config) => config.clone(),
            None => kind.default_config().to_string(),
        };
        let seed = match args.seed {
            Some(number) => Seed::from_number(number),
            None => {
                let mut bytes = [0; 32];
                getrandom::fill(&mut bytes)
                    .map_err(|error| anyhow::anyhow!("failed to get entropy: {error}"))?;
                Seed::from_bytes(bytes)
            }
        };
        let game =
            kind.set_up(&config, names.len(), &seed).map_err(|error| Misuse(error.to_string()))?;
        Ok(Table { game, names, houses, answers: 0 })
    }

    /// House players answer whatever they are asked.
    fn others(&mut self) -> Result<()> {
        loop {
            let asked = self.game.awaiting().find(|seat| *seat != YOU);
            let Some(seat) = asked else { return Ok(()) };
            let house = &mut self.houses[seat.index() - 1];
            let (name, key) = (&self.names[seat.index()], format!("{}", self.answers));
            let answer = house.answer(name, &key, seat, &*self.game);
            if self.game.apply(seat, answer.get()).is_err() {
                // house:cheat is there to be caught.
                say(&format!("{name} cheats and is out.\n"))?;
                self.game.remove(seat);
            }
            self.answers += 1;
        }
    }

    fn apply(&mut self, seat: Seat, answer: &str) -> Result<()> {
        self.answers += 1;
        let applied = self.game.apply(seat, answer);
        applied.map(drop).context("failed: an answer that was checked was refused")
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
