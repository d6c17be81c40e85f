//! How players are named on a command line: `house:NAME`, a command, or `NAME=` before either.

use agon_core::{BadName, PlayerName};
use serde::{Deserialize, Serialize};

/// The program or house player behind a name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Plays {
    /// A house player.
    House(String),
    /// A program, with its arguments, that speaks the native protocol on stdin and stdout.
    Command(Vec<String>),
}

/// A player and the name it has in the tournament.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlayerSpec {
    /// The name.
    pub name: PlayerName,
    /// The program or house player behind it.
    pub plays: Plays,
}

/// An invalid description of a player.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadSpec {
    /// Nothing to run.
    #[error("{0:?} is not a player; write house:NAME or a command such as \"python3 bot.py\"")]
    Empty(String),
    /// A quote without its partner.
    #[error("{0:?} has an opening quote without a closing one")]
    Quote(String),
    /// A name that is none.
    #[error(transparent)]
    Name(#[from] BadName),
}

/// Reads descriptions and gives every player a name of its own: the one written before `=`, or one
/// made from the description, with a number where several would be the same.
pub fn name_players(specs: &[String]) -> Result<Vec<PlayerSpec>, BadSpec> {
    let mut players: Vec<PlayerSpec> = Vec::with_capacity(specs.len());
    let mut taken = std::collections::HashSet::new();
    for spec in specs {
        let (given, rest) = split_name(spec);
        let plays = parse_plays(rest)?;
        let name = match given {
            Some(name) => PlayerName::new(name)?,
            None => free_name(&default_name(&plays), &taken)?,
        };
        taken.insert(name.clone());
        players.push(PlayerSpec { name, plays });
    }
    Ok(players)
}

/// `NAME=rest`, where NAME has no space, slash or colon (so that `a/b=c` stays a command).
fn split_name(spec: &str) -> (Option<&str>, &str) {
    match spec.split_once('=') {
        Some((name, rest)) if !name.is_empty() && !name.contains([' ', '/', ':', '"', '\'']) => {
            (Some(name), rest)
        }
        _ => (None, spec),
    }
}

fn parse_plays(text: &str) -> Result<Plays, BadSpec> {
    let text = text.trim();
    if let Some(name) = PlayerName::house_in(text) {
        if name.is_empty() {
            return Err(BadSpec::Empty(text.into()));
        }
        return Ok(Plays::House(name.into()));
    }
    let words = split_words(text)?;
    if words.is_empty() {
        return Err(BadSpec::Empty(text.into()));
    }
    Ok(Plays::Command(words))
}

/// Splits a command into words at spaces, with single and double quotes and backslashes as in a
/// shell, and nothing else of a shell.
fn split_words(text: &str) -> Result<Vec<String>, BadSpec> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut chars = text.chars();
    while let Some(next) = chars.next() {
        match (quote, next) {
            (Some(open), _) if next == open => quote = None,
            (Some('\''), _) => word.get_or_insert_default().push(next),
            (_, '\\') => word.get_or_insert_default().extend(chars.next()),
            (Some(_), _) => word.get_or_insert_default().push(next),
            (None, '"' | '\'') => {
                quote = Some(next);
                word.get_or_insert_default();
            }
            (None, _) if next.is_whitespace() => words.extend(word.take()),
            (None, _) => word.get_or_insert_default().push(next),
        }
    }
    if quote.is_some() {
        return Err(BadSpec::Quote(text.into()));
    }
    words.extend(word);
    Ok(words)
}

/// A house player's own name, or the name of the script or program.
fn default_name(plays: &Plays) -> String {
    let words = match plays {
        Plays::House(name) => return name.clone(),
        Plays::Command(words) => words,
    };
    let interpreters =
        ["python", "python3", "node", "ruby", "perl", "bash", "sh", "java", "escript"];
    let stem = |word: &str| {
        let path = std::path::Path::new(word);
        path.file_stem().map_or(word.to_owned(), |stem| stem.to_string_lossy().into_owned())
    };
    let first = stem(&words[0]);
    if let ("agon", [bot, .., name]) = (first.as_str(), &words[1..])
        && bot == "bot"
    {
        return name.clone();
    }
    let script = words[1..].iter().find(|word| !word.starts_with('-'));
    match script {
        Some(script) if interpreters.contains(&first.as_str()) => stem(script),
        _ => first,
    }
}

fn free_name(
    base: &str,
    taken: &std::collections::HashSet<PlayerName>,
) -> Result<PlayerName, BadSpec> {
    let base: String = base.chars().filter(|letter| !letter.is_control()).take(40).collect();
    let base = base.trim();
    for number in 1u64.. {
        let text = if number == 1 { base.to_owned() } else { format!("{base}-{number}") };
        let name = PlayerName::new(&text)?;
        if !taken.contains(&name) {
            return Ok(name);
        }
    }
    unreachable!("numbers do not run out")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(specs: &[&str]) -> Vec<(String, Plays)> {
        let specs: Vec<String> = specs.iter().map(|spec| spec.to_string()).collect();
        let players = name_players(&specs).unwrap();
        players.into_iter().map(|player| (player.name.to_string(), player.plays)).collect()
    }

    #[test]
    fn names_come_from_the_spec_and_differ() {
        let players = named(&[
            "house:greedy",
            "house:greedy",
            "eve=house:search:3",
            "python3 -u bots/my_bot.py --fast",
            "./a.out \"two words\" ''",
            "target/release/agon bot --game fish search:2",
        ]);
        let names: Vec<&str> = players.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["greedy", "greedy-2", "eve", "my_bot", "a", "search:2"]);
        let words = ["./a.out", "two words", ""].map(String::from).to_vec();
        assert_eq!(players[4].1, Plays::Command(words));
    }

    #[test]
    fn nonsense_is_refused_with_a_reason() {
        for (spec, why) in [("", "not a player"), ("house:", "not a player"), ("a 'b", "quote")] {
            let error = name_players(&[spec.to_owned()]).unwrap_err().to_string();
            assert!(error.contains(why), "{spec:?}: {error}");
        }
    }
}
