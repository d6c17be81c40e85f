//! `agon join`: a house player or a program plays on a server.
//!
//! The client library holds the connection; this module runs the player. A program runs as long as
//! its tournament and does not notice a lost connection: what it answers meanwhile is sent when the
//! server repeats the request.

mod player;
mod program;
mod receipt;

use crate::args::JoinArgs;
use crate::command::login;
use crate::exit::{Exit, Misuse};
use agon_bots::Houses;
use agon_client::{
    Address, Client, ClientError, ClientEvent, ClientSettings, Notice, Refused, Running,
};
use agon_core::{Age, Nonce, TournamentId};
use agon_games::Registry;
use agon_wire::native::{self, FromPlayer};
use anyhow::{Context, Result, bail};
use player::{Player, TournamentPlayer};
use receipt::ReceiptWriter;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// How often a program may be started in one tournament, if it ends too early.
const STARTS_MAX: u32 = 4;
/// How many lines from players may wait.
const SAID_MAX: usize = 256;

/// Output of the player of a tournament, with what a program wrote to stderr before it. The number
/// of the start tells an old process from a new one.
enum Said {
    Line { tournament: String, start: u32, line: String, stderr: String },
    Ended { tournament: String, start: u32, stderr: String },
}

struct Join<'a> {
    args: &'a JoinArgs,
    player: Arc<Player>,
    client: Client,
    said: mpsc::Sender<Said>,
    /// Tournaments that are over.
    over: u64,
    running: Running,
    /// How many replies to invitations the server has not confirmed yet.
    replies: u32,
    players: BTreeMap<String, TournamentPlayer>,
    /// Players whose tournament is over, and whose program may take a moment to end.
    ending: JoinSet<()>,
    receipt: Option<ReceiptWriter>,
}

pub(crate) fn join(args: &JoinArgs) -> Result<Exit> {
    let Some(login) = login::given(&args.login)? else {
        login::check_unused_token(&args.login)?;
        let why = "give the password with --password-file FILE or in AGON_PASSWORD, or a token \
                   with --token-file FILE or in AGON_TOKEN";
        return Err(Misuse(why.into()).into());
    };
    let server = Address::parse(&args.server).map_err(|error| Misuse(error.to_string()))?;
    let mut player = Player::new(args)?;
    super::solve::use_cache(None);
    let mut settings = ClientSettings::new(server, login);
    settings.name = concat!("agon-join/", env!("CARGO_PKG_VERSION")).into();
    settings.tries_max = u32::MAX;
    let runtime = super::single_thread()?;
    (settings.nonce, settings.proposal, settings.history) =
        runtime.block_on(player.introduction(args))?;
    let mut receipt = args.receipt.as_deref().map(ReceiptWriter::open).transpose()?;
    if receipt.is_some() && settings.nonce.is_none() {
        settings.nonce = Some(new_nonce()?);
    }
    let nonce = settings.nonce.clone();
    runtime.block_on(async {
        let client = Client::connect(settings).await.map_err(explained)?;
        login::check_account(&args.login, client.account())?;
        eprintln!("agon: logged in as {} on {}", client.account(), args.server);
        player.name = client.account().clone();
        if let Some(receipt) = &mut receipt {
            receipt.hello(&player.name, nonce.as_ref())?;
        }
        let (said, mut heard) = mpsc::channel(SAID_MAX);
        let (player, players) = (Arc::new(player), BTreeMap::new());
        let (running, over, replies) = (Running::default(), 0, 0);
        let ending = JoinSet::new();
        let mut join =
            Join { args, player, client, said, over, running, replies, players, ending, receipt };
        let exit = join.run(&mut heard).await;
        // Further output of players is ignored.
        drop(heard);
        for playing in std::mem::take(&mut join.players).into_values() {
            join.ending.spawn(playing.end(None));
        }
        while join.ending.join_next().await.is_some() {}
        exit
    })
}

/// A random nonce.
fn new_nonce() -> Result<Nonce> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        anyhow::anyhow!(
            "failed to get random bytes: \
        {error}"
        )
    })?;
    let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Nonce::new(&text).expect("hexadecimal digits"))
}

/// An error with what to do about it.
pub(super) fn explained(error: ClientError) -> anyhow::Error {
    let next = match &error {
        ClientError::Unreachable { .. } => "check that the server runs there",
        ClientError::Login(refused) if refused.code == "wrong-credentials" => {
            "--register creates a new account"
        }
        _ => return error.into(),
    };
    let words = format!("{error}; {next}");
    anyhow::Error::new(error).context(words)
}

impl Join<'_> {
    async fn run(&mut self, heard: &mut mpsc::Receiver<Said>) -> Result<Exit> {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        self.enter().await?;
        if let Some(tournament) = &self.args.sign_up {
            let age = self.args.age.map(Age);
            self.client.sign_up(&TournamentId::from(tournament.as_str()), age).await?;
        }
        while self.goes_on() {
            tokio::select! {
                event = self.client.next() => self.happened(event.map_err(explained)?).await?,
                Some(said) = heard.recv() => match said {
                    Said::Line { tournament, start, line, stderr } => {
                        self.record_stderr(&tournament, &line, stderr)?;
                        self.said(&tournament, start, line).await?;
                    }
                    Said::Ended { tournament, start, stderr } => {
                        self.record_stderr(&tournament, "", stderr)?;
                        self.ended(&tournament, start)?;
                    }
                },
                _ = interrupt.recv() => return Ok(Exit::Stopped),
                _ = terminate.recv() => return Ok(Exit::Stopped),
            }
        }
        Ok(Exit::Success)
    }

    /// Returns whether there is more to play, or to record in the receipt.
    fn goes_on(&self) -> bool {
        let noted = self.receipt.as_ref().is_none_or(ReceiptWriter::is_complete);
        self.times().is_none_or(|times| self.over < times) || !noted
    }

    fn times(&self) -> Option<u64> {
        if self.args.once { Some(1) } else { self.args.times }
    }

    /// Enters the queue, unless none was given or enough tournaments were played.
    async fn enter(&self) -> Result<()> {
        if let Some(queue) = &self.args.queue
            && self.times().is_none_or(|times| self.over < times)
        {
            self.client.enqueue(queue).await?;
        }
        Ok(())
    }

    async fn happened(&mut self, event: ClientEvent) -> Result<()> {
        if let Some(receipt) = &mut self.receipt {
            receipt.heard(&event)?;
        }
        // Tournaments may have ended while the connection was lost.
        for over in self.running.heard(&event) {
            let won = match &event {
                ClientEvent::Notice(notice) if notice.tournament().as_ref() == Some(&over) => {
                    notice.won()
                }
                _ => None,
            };
            self.is_over(&over, won).await?;
        }
        match event {
            ClientEvent::Request(request) => {
                let tournament = request.in_match.tournament.as_str();
                if let Some(playing) = self.players.get_mut(tournament) {
                    playing.ask(request.id, request.line);
                }
            }
            ClientEvent::Notice(notice) => self.noticed(&notice).await?,
            ClientEvent::Refused(refused) => self.refused(&refused)?,
            ClientEvent::Lost => {
                self.replies = 0;
                eprintln!("agon: the connection is lost; reconnecting");
            }
            ClientEvent::Back { .. } => eprintln!("agon: reconnected to {}", self.args.server),
            ClientEvent::Done(what) if matches!(what.as_str(), "accept" | "ready") => {
                self.replies = self.replies.saturating_sub(1);
            }
            ClientEvent::Again(_) | ClientEvent::Done(_) => {}
        }
        Ok(())
    }

    async fn is_over(&mut self, tournament: &TournamentId, won: Option<bool>) -> Result<()> {
        let word = if won == Some(true) { "won" } else { "over" };
        eprintln!("agon: tournament {tournament}: {word}");
        if let Some(playing) = self.players.remove(tournament.as_str()) {
            self.ending.spawn(playing.end(won));
        }
        self.over += 1;
        self.enter().await
    }

    async fn noticed(&mut self, notice: &Notice) -> Result<()> {
        let tournament = notice.tournament().map(|id| id.as_str().to_owned()).unwrap_or_default();
        match notice.about.as_str() {
            "tournament" => {
                if !self.players.contains_key(&tournament) {
                    let playing =
                        TournamentPlayer::start(&self.player, &notice.data, 1, &self.said)?;
                    self.players.insert(tournament, playing);
                }
            }
            // `agon join` accepts every invitation.
            "invitation" => {
                self.replies += 1;
                self.client.accept(&TournamentId::from(tournament.as_str())).await?;
            }
            "ready-asked" => {
                self.replies += 1;
                self.client.ready(&TournamentId::from(tournament.as_str())).await?;
            }
            // Handled by the client library.
            "tournament-over" | "tournament-ended" | "match-over" | "invitation-over"
            | "called-off" => {}
            _ => {
                let named = |name: &str| tournament.is_empty() || tournament == name;
                let players = self.players.iter_mut().filter(|(name, _)| named(name));
                players.for_each(|(_, playing)| playing.tell(&notice.line));
            }
        }
        Ok(())
    }

    fn refused(&mut self, refused: &Refused) -> Result<()> {
        match refused.code.as_str() {
            "repeated" | "late" | "foreign" | "malformed" => {
                let id = refused.id.as_deref().unwrap_or_default();
                let tournament = id.split_once(':').map(|(tournament, _)| tournament);
                let named = |name: &str| tournament.is_none_or(|tournament| tournament == name);
                let players = self.players.iter_mut().filter(|(name, _)| named(name));
                players.for_each(|(_, playing)| playing.tell(&refused.line));
            }
            // Other players accepted first, or the invitation has ended. Another one may come.
            "refused" if self.replies > 0 => {
                self.replies -= 1;
                eprintln!("agon: not in this tournament: {}", refused.detail);
            }
            // The queue or the sign-up was refused, and no tournament runs.
            "refused" if self.players.is_empty() => bail!(
                "the server refused the queue or sign-up: \
             {}",
                refused.detail
            ),
            _ => eprintln!("agon: the server reports {}: {}", refused.code, refused.detail),
        }
        Ok(())
    }

    /// Records in the receipt what a program wrote to stderr before a line. It belongs to the
    /// request that the line answers, or else to a request that is open.
    fn record_stderr(&mut self, tournament: &str, line: &str, stderr: String) -> Result<()> {
        let Some(receipt) = self.receipt.as_mut().filter(|_| !stderr.is_empty()) else {
            return Ok(());
        };
        let id = match native::decode(line.as_bytes()) {
            Ok(FromPlayer::Answer { id, .. }) => Some(id.as_str().to_owned()),
            _ => self.players.get(tournament).and_then(TournamentPlayer::first_open),
        };
        receipt.stderr(id, stderr)
    }

    /// Forwards a player's line: answers, and lines that are no message.
    async fn said(&mut self, tournament: &str, start: u32, line: String) -> Result<()> {
        let Some(playing) =
            self.players.get_mut(tournament).filter(|playing| playing.start == start)
        else {
            return Ok(());
        };
        match native::decode(line.as_bytes()) {
            Ok(FromPlayer::Hello(_)) => playing.greeted = true,
            Ok(FromPlayer::Answer { id, answer }) if playing.answered(id.as_str()) => {
                if let Some(receipt) = &mut self.receipt {
                    receipt.answer(id.as_str(), &answer)?;
                }
                self.client.answer_line(id.as_str(), line).await?;
            }
            // The server decides whether it is repeated, late or foreign.
            Ok(FromPlayer::Answer { .. }) => self.client.line(line).await?,
            Ok(FromPlayer::Lobby(_)) => eprintln!(
                "agon: ignored a message that a program may not \
                send: {line}"
            ),
            Err(_) if playing.greeted => self.client.line(line).await?,
            // Output before the hello, such as a banner.
            Err(_) => {}
        }
        Ok(())
    }

    /// Restarts a program that ended before its tournament, and repeats its open requests.
    fn ended(&mut self, tournament: &str, start: u32) -> Result<()> {
        let Some(playing) = self.players.remove(tournament) else { return Ok(()) };
        if playing.start != start {
            self.players.insert(tournament.to_owned(), playing);
            return Ok(());
        }
        if start >= STARTS_MAX {
            bail!(
                "the program ended {STARTS_MAX} times in one tournament, so agon gives up; read \
                its stderr for the cause"
            );
        }
        eprintln!("agon: the program ended; restarting it");
        let (about, open) = playing.ended();
        let mut playing = TournamentPlayer::start(&self.player, &about, start + 1, &self.said)
            .context("failed to start the program again")?;
        for (id, line) in open {
            playing.ask(id, line);
        }
        self.players.insert(tournament.to_owned(), playing);
        Ok(())
    }
}

/// Checks that a house player of this name exists in some game.
fn check_house(name: &str) -> Result<()> {
    let (games, houses) = (Registry::standard(), Houses::standard());
    if games.names().iter().any(|game| houses.make(game, name).is_ok()) {
        return Ok(());
    }
    Err(Misuse(format!("no house player {name:?} in any game; see `agon list`")).into())
}
