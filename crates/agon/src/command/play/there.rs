//! A person on a server: logs in, waits for a game, and answers until a tournament is over.

use super::keyboard::{Keyboard, Typed};
use super::prompt::{Prompt, Wish};
use super::say;
use crate::args::PlayArgs;
use crate::command::join::explained;
use crate::command::login::{self, Quiet};
use crate::exit::{Exit, Misuse};
use agon_client::{Address, Client, ClientEvent, ClientSettings, Login, Notice, Request, Running};
use agon_core::{Age, TournamentId};
use anyhow::Result;
use std::collections::{BTreeSet, VecDeque};

/// How many questions may wait, one per match.
const WAITING_MAX: usize = 256;

struct Seated {
    client: Client,
    prompt: Prompt,
    /// The question that is shown.
    current: Option<Request>,
    waiting: VecDeque<Request>,
    tournaments: BTreeSet<TournamentId>,
    running: Running,
}

pub(super) async fn play(args: &PlayArgs, server: &str, colour: bool) -> Result<Exit> {
    let server = Address::parse(server).map_err(|error| Misuse(error.to_string()))?;
    let login = match login::given(&args.login)? {
        Some(login) => login,
        None => match asked(args).await? {
            Ok(login) => login,
            Err(exit) => return Ok(exit),
        },
    };
    let mut settings = ClientSettings::new(server, login.person());
    settings.history = true;
    settings.name = concat!("agon-play/", env!("CARGO_PKG_VERSION")).into();
    let client = Client::connect(settings).await.map_err(explained)?;
    login::check_account(&args.login, client.account())?;
    say(&format!("You are {}. Waiting for a game; `quit` leaves.\n", client.account()))?;
    if let Some(queue) = &args.queue {
        client.enqueue(queue).await?;
    }
    if let Some(tournament) = &args.sign_up {
        client.sign_up(&TournamentId::from(tournament.as_str()), args.age.map(Age)).await?;
    }
    let (waiting, tournaments) = (VecDeque::new(), BTreeSet::new());
    let prompt = Prompt::new(colour, true);
    let running = Running::default();
    Seated { client, prompt, current: None, waiting, tournaments, running }.run().await
}

/// Asks for a password and hides what is typed.
async fn asked(args: &PlayArgs) -> Result<Result<Login, Exit>> {
    let account = args.login.account.clone();
    let Some(account) = account else {
        return Err(Misuse(
            "no account was given; name yours with --account NAME, or give a \
            token"
                .into(),
        )
        .into());
    };
    let quiet = Quiet::start();
    let typing = tokio::task::spawn_blocking(move || login::ask(&account));
    let password = tokio::select! {
        typed = typing => typed??,
        _ = tokio::signal::ctrl_c() => {
            eprintln!();
            return Ok(Err(Exit::Stopped));
        }
    };
    drop(quiet);
    match password {
        Some(password) => Ok(Ok(login::by_password(&args.login, password)?)),
        None => Err(Misuse("no password was given; put it into AGON_PASSWORD".into()).into()),
    }
}

impl Seated {
    async fn run(mut self) -> Result<Exit> {
        let mut keyboard = Keyboard::start()?;
        loop {
            tokio::select! {
                event = self.client.next() => {
                    let over = self.happened(event.map_err(explained)?).await?;
                    if over {
                        return Ok(Exit::Success);
                    }
                }
                typed = keyboard.next(self.current.is_some()) => match typed {
                    Typed::Line(line) => {
                        let wish = self.prompt.typed(&line)?;
                        let over = self.wished(wish).await?;
                        if over {
                            return Ok(Exit::Success);
                        }
                    }
                    Typed::End => {
                        say("\nYou left.\n")?;
                        return Ok(Exit::Success);
                    }
                    Typed::Stop => {
                        say("\nYou left. Reconnect in time to continue the game.\n")?;
                        return Ok(Exit::Stopped);
                    }
                },
            }
        }
    }

    /// Carries out what the person typed; returns whether they leave.
    async fn wished(&mut self, wish: Wish) -> Result<bool> {
        match wish {
            Wish::Nothing => Ok(false),
            Wish::Leave => {
                say("You left.\n")?;
                Ok(true)
            }
            Wish::Forfeit => {
                for tournament in std::mem::take(&mut self.tournaments) {
                    self.client.withdraw(&tournament).await?;
                    self.withdrawn().await?;
                }
                say("You forfeited the game and left.\n")?;
                Ok(true)
            }
            Wish::Answer(answer) => {
                if let Some(request) = self.current.take() {
                    self.client.answer(&request.id, &answer).await?;
                }
                self.turn_over()?;
                Ok(false)
            }
        }
    }

    /// Waits until the server has confirmed the withdrawal. A person who disconnects earlier may
    /// not have withdrawn.
    async fn withdrawn(&mut self) -> Result<()> {
        loop {
            match self.client.next().await.map_err(explained)? {
                ClientEvent::Done(what) if what == "withdraw" => return Ok(()),
                ClientEvent::Refused(refused) if refused.id.is_none() => {
                    return say(&format!("The server reports: {}\n", refused.detail));
                }
                ClientEvent::Notice(notice) if notice.about == "tournament-over" => return Ok(()),
                _ => {}
            }
        }
    }

    /// Handles an event from the server; returns whether a tournament is over.
    async fn happened(&mut self, event: ClientEvent) -> Result<bool> {
        let (said, over): (Vec<_>, Vec<_>) =
            self.running.heard(&event).into_iter().partition(|id| is_said(&event, id));
        self.ended_meanwhile(&over)?;
        match event {
            ClientEvent::Request(request) => self.asked(request)?,
            ClientEvent::Again(request) => {
                if self.current.as_ref().is_some_and(|current| current.id == request.id) {
                    self.prompt.renew(request.deadline_ms)?;
                }
            }
            // The server may repeat the end of an earlier tournament.
            ClientEvent::Notice(notice) if notice.about == "tournament-over" && said.is_empty() => {
            }
            ClientEvent::Notice(notice) => return self.noticed(&notice).await,
            ClientEvent::Refused(refused) => {
                say(&format!("\nThe server reports: {} ({})\n", refused.detail, refused.code))?;
            }
            ClientEvent::Lost => say("\nThe connection is lost; reconnecting …\n")?,
            ClientEvent::Back { .. } => say("Back.\n")?,
            ClientEvent::Done(_) => {}
        }
        Ok(!over.is_empty() && self.tournaments.is_empty())
    }

    /// Reports tournaments that ended while the connection was lost.
    fn ended_meanwhile(&mut self, over: &[TournamentId]) -> Result<()> {
        for id in over {
            say(&format!("\nTournament {id} ended while you were away.\n"))?;
            self.tournaments.remove(id);
            self.waiting.retain(|request| request.in_match.tournament != *id);
            if self.current.as_ref().is_some_and(|request| request.in_match.tournament == *id) {
                self.current = None;
                self.prompt.clear();
            }
        }
        Ok(())
    }

    fn asked(&mut self, request: Request) -> Result<()> {
        // A seat has one open question at a time, so an earlier question of this match is closed.
        let same = |other: &Request| {
            other.in_match.tournament == request.in_match.tournament
                && other.in_match.id == request.in_match.id
        };
        self.waiting.retain(|other| !same(other));
        if self.current.as_ref().is_some_and(same) {
            self.current = None;
            self.prompt.clear();
            say("\nThat question is closed.\n")?;
        }
        if self.waiting.len() < WAITING_MAX {
            self.waiting.push_back(request);
        }
        match self.current {
            None => self.turn_over(),
            Some(_) => say("\n(It is also your turn in another match; answer this one first.)\n"),
        }
    }

    /// Shows the next question.
    fn turn_over(&mut self) -> Result<()> {
        let Some(request) = self.waiting.pop_front() else { return Ok(()) };
        let own = self.client.account();
        let names = request.names_by_seat(own);
        let place = &request.in_match;
        let won: Vec<String> = place.won.iter().map(ToString::to_string).collect();
        let head = format!(
            "{} · {} · game {} · {} · {}",
            place.tournament,
            place.id,
            place.game,
            names.join(" against "),
            if place.best_of > 1 { format!("won {}", won.join(":")) } else { "one game".into() },
        );
        let (question, view) = (request.question.clone(), request.view.clone());
        self.prompt.ask(&head, &request.game, question, view, names, Some(request.deadline_ms))?;
        self.current = Some(request);
        Ok(())
    }

    async fn noticed(&mut self, notice: &Notice) -> Result<bool> {
        let tournament = notice.tournament();
        match (notice.about.as_str(), tournament) {
            ("tournament", Some(id)) => {
                let game = notice.data["game"].as_str().unwrap_or_default();
                say(&format!("\nTournament {id} of {game} has started.\n"))?;
                self.tournaments.insert(id);
            }
            ("match-over", Some(id)) => {
                let match_id = notice.data["match"].as_str().unwrap_or_default().to_owned();
                let word = if notice.won() == Some(true) { "won" } else { "lost" };
                say(&format!("\nMatch {match_id} of {id}: {word}.\n"))?;
                let own = |request: &Request| {
                    request.in_match.tournament == id && request.in_match.id.as_str() == match_id
                };
                self.waiting.retain(|request| !own(request));
                if self.current.as_ref().is_some_and(own) {
                    self.current = None;
                    self.prompt.clear();
                    self.turn_over()?;
                }
            }
            ("tournament-over", Some(id)) => {
                let word = if notice.won() == Some(true) {
                    "You won it"
                } else {
                    "It is over for \
                    you"
                };
                say(&format!("\nTournament {id}: {word}.\n"))?;
                self.tournaments.remove(&id);
                return Ok(self.tournaments.is_empty());
            }
            // `agon play` accepts every invitation.
            ("invitation", Some(id)) if notice.data["reply"] == "open" => {
                let by = notice.data["by"].as_str().unwrap_or("the server");
                say(&format!("\n{by} invites you to {id}: accepted.\n"))?;
                self.client.accept(&id).await?;
            }
            ("ready-asked", Some(id)) => self.client.ready(&id).await?,
            ("invitation-over" | "called-off", Some(id)) => {
                let reason = notice.data["reason"].as_str().unwrap_or_default();
                say(&format!("\nTournament {id}: {reason}.\n"))?;
            }
            ("told", _) => say(&format!("\nNotice: {}\n", notice_text(&notice.data)))?,
            _ => {}
        }
        Ok(false)
    }
}

/// Returns whether an event itself announces the end of a tournament.
fn is_said(event: &ClientEvent, id: &TournamentId) -> bool {
    matches!(event, ClientEvent::Notice(notice)
        if notice.about == "tournament-over" && notice.tournament().as_ref() == Some(id))
}

/// The contents of a notice, without quotes and braces.
fn notice_text(data: &serde_json::Value) -> String {
    let Some(fields) = data.as_object() else { return data.to_string() };
    let shown = fields.iter().map(|(name, value)| {
        let value = value.to_string().replace(['"', '[', ']'], "").replace(',', ", ");
        if name == "ask" { value.replace('-', " ") } else { value }
    });
    shown.collect::<Vec<_>>().join(" ")
}
