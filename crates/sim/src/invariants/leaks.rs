//! No view leaks: no player is sent a secret, a token, another player's request, or hidden state.

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
    // The end of a tournament reveals its secret; `effects` checks that the tournament is over.
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

/// Of the current turn, a view shows only the player's own half.
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

/// A view shows only the player's own hand and destinations.
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
