//! No view leaks: nobody is sent a secret, a token, another's request, or what a game hides.

use super::Spoken;
use crate::index::Index;
use crate::said::Asked;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;

/// How long secrets and tokens are, in hexadecimal digits.
const HEX_DIGITS: usize = 64;

pub(super) fn check(spoken: &Spoken<'_>, index: &Index) -> Result<(), String> {
    let Spoken { player, said, text, secrets, .. } = spoken;
    // A tournament that is over has revealed its secret; that it is over is checked by `effects`.
    if said.about.as_deref() == Some("tournament-ended") {
        return Ok(());
    }
    let digits = text.split(|letter: char| !letter.is_ascii_hexdigit());
    for run in digits.filter(|run| run.len() >= HEX_DIGITS) {
        if secrets.iter().any(|secret| run.contains(secret.as_str())) {
            return Err(format!("{player} was sent a secret: {text}"));
        }
    }
    if said.kind != "request" {
        return Ok(());
    }
    let id = said.id.as_deref().unwrap_or_default();
    let asked = Asked::parse(id).ok_or_else(|| format!("a request called {id:?}"))?;
    let seats = index.seats.get(&(asked.stream(), asked.game));
    let own = seats.and_then(|seats| seats.get(asked.seat as usize));
    if own.is_none_or(|own| own.as_str() != *player) || said.seat != Some(asked.seat) {
        return Err(format!("{player} was sent {id}, a request of {own:?}"));
    }
    let view = said.view.as_ref().map_or("null", |view| view.get());
    let hidden = if view.contains(r#""cards":["#) && view.contains(r#""history":"#) {
        yahtzee(view, asked.seat)
    } else if view.contains(r#""destinations""#) || view.contains(r#""deck":"#) {
        trains(view, asked.seat)
    } else {
        Ok(())
    };
    hidden.map_err(|what| format!("{player} was shown {what} with {id}"))
}

#[derive(Deserialize)]
struct Card {
    boxes: BTreeMap<String, Option<i64>>,
}

#[derive(Deserialize)]
struct Yahtzee {
    turn: usize,
    cards: Vec<Card>,
    history: Vec<IgnoredAny>,
    now: Vec<Option<IgnoredAny>>,
    #[serde(default)]
    sequences: Option<IgnoredAny>,
}

/// Of the turn that is played, only one's own half is shown.
fn yahtzee(view: &str, seat: u8) -> Result<(), String> {
    let view: Yahtzee = serde_json::from_str(view).map_err(|error| error.to_string())?;
    let other = usize::from(seat ^ 1);
    let filled = view.cards.get(other).map_or(0, |card| card.boxes.values().flatten().count());
    if view.now.get(other).is_some_and(Option::is_some) {
        return Err("the opponent's turn".into());
    }
    if filled >= view.turn.max(1) || view.history.len() >= view.turn.max(1) {
        return Err("what the opponent scored in this turn".into());
    }
    match view.sequences {
        Some(_) => Err("dice to come".into()),
        None => Ok(()),
    }
}

#[derive(Deserialize)]
struct Traveller {
    hand: Option<IgnoredAny>,
    destinations: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Trains {
    players: Vec<Traveller>,
}

/// Hands and destinations are one's own.
fn trains(view: &str, seat: u8) -> Result<(), String> {
    let view: Trains = serde_json::from_str(view).map_err(|error| error.to_string())?;
    let others = view.players.iter().enumerate().filter(|(at, _)| *at != usize::from(seat));
    for (at, player) in others {
        if player.hand.is_some() || player.destinations.is_some() {
            return Err(format!("the hand or the destinations of seat {at}"));
        }
    }
    Ok(())
}
