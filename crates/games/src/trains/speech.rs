//! Trains for people: questions as text, and the answers that a person may type.

use super::player_state::PlayerState;
use super::{Answer, Color, Connection, KEEP_LEN, OFFER_LEN, Pair, Question, Trains, View};
use crate::Game;

pub(super) fn ask(question: &Question, view: &View) -> String {
    match question {
        Question::Setup { rails, cards } => {
            format!("You begin with {rails} rails and {}. Ready?", names(cards))
        }
        Question::Pick { destinations } => {
            let list: Vec<String> = destinations.iter().map(ToString::to_string).collect();
            format!("Which two of these do you want to join? {}", list.join("; "))
        }
        Question::Play {} => match view.deck {
            0 => "Your turn: build a connection? The deck is used up.".into(),
            _ => "Your turn: take two cards, or build a connection?".into(),
        },
        Question::More { cards } => format!("You draw {}.", names(cards)),
    }
}

pub(super) fn examples(question: &Question) -> &'static str {
    match question {
        Question::Setup { .. } | Question::More { .. } => "ok",
        Question::Pick { .. } => "keep Boston-Rome, Paris-Rome",
        Question::Play {} => "take · build Boston-Rome red 3",
    }
}

pub(super) fn phrase(answer: &Answer, question: &Question) -> String {
    match (answer, question) {
        (Answer::Ok, _) => "ok".into(),
        (Answer::MoreCards, _) => "take".into(),
        (Answer::Acquire(connection), _) => format!(
            "build {}-{} {} {}",
            connection.pair.first(),
            connection.pair.second(),
            connection.color,
            connection.length.segments()
        ),
        (Answer::Return(back), Question::Pick { destinations }) => {
            let kept = destinations.iter().filter(|pair| !back.contains(pair));
            format!("keep {}", kept.map(typed).collect::<Vec<_>>().join(", "))
        }
        (Answer::Return(_), _) => crate::json(answer).to_string(),
    }
}

pub(super) fn understand(text: &str, question: &Question, view: &View) -> Result<Answer, String> {
    let text = plain(text);
    match question {
        Question::Setup { .. } | Question::More { .. } => Ok(Answer::Ok),
        Question::Pick { destinations } => understand_pick(&text, destinations),
        Question::Play {} => match text.as_str() {
            "take" | "take cards" | "draw" | "cards" | "more" | "more cards" => {
                Ok(Answer::MoreCards)
            }
            _ => understand_build(&text, question, view),
        },
    }
}

/// The pairs that are named, one after the other.
fn understand_pick(text: &str, offered: &[Pair; OFFER_LEN]) -> Result<Answer, String> {
    let list = text.strip_prefix("keep").unwrap_or(text);
    let mut rest = list.trim().to_owned();
    let mut kept = Vec::new();
    // Longest first: a name may begin with another one.
    let mut spelled: Vec<(String, Pair)> = offered
        .iter()
        .flat_map(|pair| {
            let (one, other) = (pair.first(), pair.second());
            [(plain(&format!("{one}-{other}")), *pair), (plain(&format!("{other}-{one}")), *pair)]
        })
        .collect();
    spelled.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
    for (text, pair) in spelled {
        if let Some(at) = rest.find(&text) {
            rest.replace_range(at..at + text.len(), ",");
            kept.push(pair);
        }
    }
    let rest = rest.replace("and", "");
    let rest = rest.trim_matches([',', ';', ' ', '&']);
    if !rest.is_empty() {
        return Err(format!("{rest:?} is none of the five; say `keep A-B, C-D`"));
    }
    if kept.len() != KEEP_LEN || kept[0] == kept[1] {
        return Err(format!("two different ones are kept, not {}", kept.len()));
    }
    Ok(Answer::Return(offered.iter().copied().filter(|pair| !kept.contains(pair)).collect()))
}

fn understand_build(text: &str, question: &Question, view: &View) -> Result<Answer, String> {
    let verb = ["build", "acquire", "buy"].iter().find_map(|verb| text.strip_prefix(verb));
    let what = verb.unwrap_or(text).trim();
    let how = "say `take`, or `build CITY-CITY COLOUR LENGTH`";
    let Some((one, rest)) = what.split_once('-').or_else(|| what.split_once(" to ")) else {
        return Err(how.into());
    };
    let (one, rest) = (one.trim(), rest.trim());
    let cities = view.map.cities().iter().map(|city| plain(city.name.as_str()));
    let cities: Vec<String> = cities.collect();
    if !cities.iter().any(|city| city == one) {
        return Err(format!("there is no city {one:?}"));
    }
    let ends = |city: &&String| {
        let after = rest.strip_prefix(city.as_str());
        after.is_some_and(|after| after.is_empty() || after.starts_with(' '))
    };
    let Some(other) = cities.iter().filter(ends).max_by_key(|city| city.len()) else {
        return Err(format!("there is no city {rest:?}"));
    };
    let (mut color, mut length) = (None, None);
    for word in rest[other.len()..].split_whitespace() {
        match (Color::from_name(word), word.parse::<u8>()) {
            (Some(named), _) => color = Some(named),
            (None, Ok(segments)) => length = Some(segments),
            (None, Err(_)) => return Err(format!("{word:?} is neither a colour nor a length")),
        }
    }
    let joins = |connection: &&Connection| {
        let ends = [connection.pair.first(), connection.pair.second()].map(|n| plain(n.as_str()));
        (ends[0] == one && ends[1] == *other || ends[1] == one && ends[0] == *other)
            && color.is_none_or(|color| connection.color == color)
            && length.is_none_or(|length| connection.length.segments() == length)
    };
    let meant: Vec<&Connection> = view.map.connections().iter().filter(joins).collect();
    choose(&meant, question, view)
}

/// The connection that was meant: the only one, or the only one that can be had.
fn choose(meant: &[&Connection], question: &Question, view: &View) -> Result<Answer, String> {
    let legal = Trains::legal_in(question, view);
    let answers = meant.iter().map(|connection| Answer::Acquire(**connection));
    let had: Vec<Answer> = answers.filter(|answer| legal.contains(answer)).collect();
    let state = view.you.and_then(|seat| view.player_state(seat));
    match (&had[..], meant, state) {
        ([answer], _, _) => Ok(answer.clone()),
        ([_, _, ..], _, _) => {
            let ways: Vec<String> = had.iter().map(|answer| phrase(answer, question)).collect();
            Err(format!("which one: {}?", ways.join(", or ")))
        }
        ([], [], _) => Err("there is no such connection on the map".into()),
        ([], [connection, ..], Some(state)) => Err(why_not(connection, &state)),
        ([], _, None) => Err("nothing can be built yet".into()),
    }
}

fn why_not(connection: &Connection, state: &PlayerState) -> String {
    let price = u64::from(connection.length.segments());
    let cards = state.this.cards.get(&connection.color).map_or(0, |count| count.0);
    if state.is_held(connection) {
        return format!("{connection} is taken");
    }
    if cards < price {
        let color = connection.color;
        return format!("{connection} costs {price} {color} cards, and you have {cards}");
    }
    format!("{connection} takes {price} rails, and you have {}", state.this.rails.0)
}

fn typed(pair: &Pair) -> String {
    format!("{}-{}", pair.first(), pair.second())
}

fn names(cards: &[Color]) -> String {
    let names: Vec<&str> = cards.iter().map(|color| color.name()).collect();
    names.join(", ")
}

/// Small letters, single spaces, and a plain dash without spaces around it.
fn plain(text: &str) -> String {
    let text = text.to_lowercase().replace('–', "-");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.replace(" -", "-").replace("- ", "-")
}

#[cfg(test)]
mod tests;
