//! The console of a person: it shows one question at a time and parses what the person types. It
//! never passes on an illegal answer.

use super::say;
use agon_games::{GameKind, Json, QuestionText, Registry};
use anyhow::{Context, Result};
use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Up to this many answers are listed with a question; `list` shows more.
const LISTED_MAX: usize = 14;

const HELP: &str = "  the number of an answer, where they are listed
  list    all legal answers
  show    the board again
  clock   how much time is left
  quit    leave
";

pub(super) struct Prompt {
    games: Registry,
    colour: bool,
    /// True if the game is on a server, where leaving is not the same as forfeiting.
    remote: bool,
    shown: Option<ShownQuestion>,
    leaving: bool,
}

/// The question on the screen.
struct ShownQuestion {
    kind: Arc<dyn GameKind>,
    question: Json,
    view: Json,
    names: Vec<String>,
    asked: QuestionText,
    until: Option<Instant>,
    listed: bool,
}

/// The meaning of a line that the person typed.
#[derive(Debug)]
pub(super) enum Wish {
    Answer(Json),
    /// Forfeit the game and leave.
    Forfeit,
    /// Leave without forfeiting.
    Leave,
    /// Nothing to do yet.
    Nothing,
}

impl Prompt {
    pub(super) fn new(colour: bool, remote: bool) -> Prompt {
        Prompt { games: Registry::standard(), colour, remote, shown: None, leaving: false }
    }

    /// Shows a question: head line, board, words, and the legal answers where they are few.
    pub(super) fn ask(
        &mut self,
        head: &str,
        game: &str,
        question: Json,
        view: Json,
        names: Vec<String>,
        deadline_ms: Option<u64>,
    ) -> Result<()> {
        let kind = self.games.kind(game);
        let kind = Arc::clone(kind.with_context(|| {
            format!(
                "this version of agon does not know the game \
                {game:?}"
            )
        })?);
        let asked = kind.ask(question.get(), view.get())?;
        let until = deadline_ms.map(|ms| Instant::now() + Duration::from_millis(ms));
        let listed = asked.choices.len() <= LISTED_MAX;
        let shown = ShownQuestion { kind, question, view, names, asked, until, listed };
        let mut text =
            format!("\n{head}\n\n{}\n{}\n", shown.board(self.colour)?, shown.asked.words);
        match listed {
            true => text.push_str(&shown.list()),
            false => {
                let _ = writeln!(text, "  ({}; `help` explains more)", shown.asked.examples);
            }
        }
        text.push_str(&shown.prompt());
        self.shown = Some(shown);
        self.leaving = false;
        say(&text)
    }

    /// The server sent the question again: restarts its clock.
    pub(super) fn renew(&mut self, deadline_ms: u64) -> Result<()> {
        let Some(shown) = &mut self.shown else { return Ok(()) };
        shown.until = Some(Instant::now() + Duration::from_millis(deadline_ms));
        say(&format!("\nThe server repeats the question.\n{}", shown.prompt()))
    }

    /// Removes the question.
    pub(super) fn clear(&mut self) {
        self.shown = None;
    }

    /// Handles a typed line.
    pub(super) fn typed(&mut self, line: &str) -> Result<Wish> {
        let line = line.trim();
        if self.leaving {
            self.leaving = false;
            match line.to_lowercase().as_str() {
                "y" | "yes" => return Ok(Wish::Forfeit),
                "l" | "leave" => return Ok(Wish::Leave),
                _ => {}
            }
            return self.prompt(String::new());
        }
        let Some(shown) = &self.shown else {
            if matches!(line, "quit" | "exit" | "q") {
                return Ok(Wish::Leave);
            }
            say("It is not your turn; `quit` leaves.\n")?;
            return Ok(Wish::Nothing);
        };
        match line.to_lowercase().as_str() {
            "" => self.prompt(String::new()),
            "quit" | "exit" | "q" => {
                self.leaving = true;
                say(match self.remote {
                    true => "Forfeit the game (y), leave without forfeiting (l), or stay (n)? ",
                    false => "Forfeit the game (y), or stay (n)? ",
                })?;
                Ok(Wish::Nothing)
            }
            "help" | "?" => self.prompt(format!("  {}\n{HELP}", shown.asked.examples)),
            "list" => {
                let text = shown.list();
                if let Some(shown) = &mut self.shown {
                    shown.listed = true;
                }
                self.prompt(text)
            }
            "show" => self.prompt(shown.board(self.colour)?),
            "clock" => self.prompt(format!("{}\n", shown.time_left())),
            _ => match shown.read(line) {
                Ok(answer) => {
                    self.shown = None;
                    Ok(Wish::Answer(answer))
                }
                Err(why) => self.prompt(format!("That is not possible: {why}.\n")),
            },
        }
    }

    fn prompt(&self, mut text: String) -> Result<Wish> {
        if let Some(shown) = &self.shown {
            text.push_str(&shown.prompt());
        }
        say(&text)?;
        Ok(Wish::Nothing)
    }
}

impl ShownQuestion {
    fn board(&self, colour: bool) -> Result<String> {
        Ok(self.kind.draw(self.view.get(), &self.names, colour)?)
    }

    fn list(&self) -> String {
        let mut text = String::new();
        for (number, (phrase, _)) in self.asked.choices.iter().enumerate() {
            let _ = writeln!(text, "{:>4}  {phrase}", number + 1);
        }
        text
    }

    fn prompt(&self) -> String {
        match self.until {
            Some(until) => {
                let left = until.saturating_duration_since(Instant::now());
                format!("[{} s] > ", left.as_secs_f32().round())
            }
            None => "> ".into(),
        }
    }

    fn time_left(&self) -> String {
        match self.until.map(|until| until.saturating_duration_since(Instant::now())) {
            None => "There is no time limit.".into(),
            Some(Duration::ZERO) => "Your time is up.".into(),
            Some(left) => format!("You have {:.0} seconds left.", left.as_secs_f32()),
        }
    }

    /// Parses an answer: its number in the list, or words.
    fn read(&self, line: &str) -> Result<Json, String> {
        let numbered = line.parse::<usize>().ok().filter(|_| self.listed);
        if let Some(number) = numbered {
            let choice = number.checked_sub(1).and_then(|at| self.asked.choices.get(at));
            let count = self.asked.choices.len();
            return choice
                .map(|(_, answer)| answer.clone())
                .ok_or_else(|| format!("answers are numbered 1 to {count}"));
        }
        self.kind.understand(line, self.question.get(), self.view.get())
    }
}
