//! `agon bot`: a house player as a separate program that speaks the native protocol.

use crate::args::BotArgs;
use crate::exit::{Exit, Misuse};
use agon_bots::{HousePlayer, Houses};
use agon_games::{Registry, Seat};
use agon_wire::native::PROTOCOL_VERSION;
use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::io::{BufRead, Write};
use std::time::Duration;

/// The fields of a message that a house player needs. `docs/protocol/native.md` lists all.
#[derive(Deserialize)]
struct Message<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    player: Option<String>,
    game: Option<String>,
    id: Option<&'a str>,
    seat: Option<Seat>,
    deadline_ms: Option<u64>,
    #[serde(borrow)]
    question: Option<&'a RawValue>,
    #[serde(borrow)]
    view: Option<&'a RawValue>,
}

pub(crate) fn bot(args: &BotArgs) -> Result<Exit> {
    check_name(args)?;
    super::solve::use_cache(None);
    let mut stdin = std::io::stdin().lock();
    let mut playing: Option<(String, Box<dyn HousePlayer>)> = None;
    let mut line = String::new();
    loop {
        line.clear();
        if stdin.read_line(&mut line).context("failed to read from stdin")? == 0 {
            return Ok(Exit::Success);
        }
        let message: Message<'_> = serde_json::from_str(&line)
            .with_context(|| format!("failed to read a message: {}", line.trim_end()))?;
        match (message.kind, &mut playing) {
            ("hello", _) => playing = Some(greet(args, message)?),
            ("request", Some((name, player))) => reply(message, name, &mut **player)?,
            ("request", None) => anyhow::bail!("failed to answer: no hello came before"),
            ("end", _) => return Ok(Exit::Success),
            // Notices and errors are for people.
            _ => {}
        }
    }
}

/// Reports an unknown house player before a tournament waits for it.
fn check_name(args: &BotArgs) -> Result<()> {
    let houses = Houses::standard();
    if let Some(game) = &args.game {
        houses.make(game, &args.name)?;
        return Ok(());
    }
    let games = Registry::standard();
    if games.names().iter().any(|game| houses.make(game, &args.name).is_ok()) {
        return Ok(());
    }
    Err(Misuse(format!("no house player {:?} in any game; see `agon list`", args.name)).into())
}

/// Replies to the hello, with the house player's proposal if it has one.
fn greet(args: &BotArgs, message: Message<'_>) -> Result<(String, Box<dyn HousePlayer>)> {
    let name = message.player.context("failed to find the player's name in the hello")?;
    let game = message.game.context("failed to find the game in the hello")?;
    if let Some(own) = args.game.as_ref().filter(|own| **own != game) {
        return Err(Misuse(format!("the tournament plays {game}, but --game says {own}")).into());
    }
    let mut player = Houses::standard().make(&game, &args.name)?;
    let hello = serde_json::json!({
        "type": "hello",
        "protocol": PROTOCOL_VERSION,
        "name": format!("house:{}", args.name),
        "proposal": player.propose(),
        "history": true,
    });
    say(&hello)?;
    Ok((name, player))
}

fn reply(message: Message<'_>, name: &str, player: &mut dyn HousePlayer) -> Result<()> {
    let (id, answer) = answer_to(message, name, player)?;
    say(&answer_message(&id, answer))
}

fn answer_to(
    message: Message<'_>,
    name: &str,
    player: &mut dyn HousePlayer,
) -> Result<(String, agon_games::Json)> {
    let whole = message.id.zip(message.seat).zip(message.question).zip(message.view);
    let (((id, seat), question), view) = whole.context("failed to read a request")?;
    if let Some(limit) = message.deadline_ms {
        player.limit_time(Duration::from_millis(limit));
    }
    let answer = player.answer_text(name, id, seat, question.get(), view.get())?;
    Ok((id.to_owned(), answer))
}

fn answer_message(id: &str, answer: agon_games::Json) -> serde_json::Value {
    serde_json::json!({"type": "answer", "id": id, "answer": answer})
}

/// A house player's reply to a request, for `agon join`; both are lines.
pub(super) fn reply_to(request: &str, name: &str, player: &mut dyn HousePlayer) -> Result<String> {
    let (id, answer) = answer_to(serde_json::from_str(request)?, name, player)?;
    Ok(answer_message(&id, answer).to_string())
}

fn say(message: &serde_json::Value) -> Result<()> {
    super::print(&format!("{message}\n"))?;
    Ok(std::io::stdout().flush()?)
}
