//! Names of new accounts: normalized, fully visible, and not similar to the server's own names.
//!
//! Existing accounts keep their names, whatever these are. The engine never checks names in the
//! log.

use agon_core::PlayerName;
use foldhash::fast::RandomState;
use std::collections::HashMap;
use unicode_normalization::UnicodeNormalization;
use unicode_security::confusable_detection::skeleton;

/// A map by names of players. Players choose their names, so the hash has a random seed. Nothing may
/// depend on the order of the map.
pub(crate) type PlayerMap<T> = HashMap<PlayerName, T, RandomState>;

/// The account with all permissions.
const OPERATOR: &str = "operator";

/// A name in the form in which names are stored (NFC).
pub fn normalized(name: &PlayerName) -> PlayerName {
    let text: String = name.as_str().nfc().collect();
    PlayerName::new(&text).unwrap_or_else(|_| name.clone())
}

/// The beginning of every guest's name. A number follows.
const GUEST: &str = "Guest ";

/// The name of a guest.
pub(crate) fn of_guest(number: u64) -> PlayerName {
    PlayerName::new(&format!("{GUEST}{number}")).expect("a short name of visible letters")
}

/// A name that comes just before those of all guests.
pub(crate) fn before_guests() -> PlayerName {
    PlayerName::new(GUEST.trim_end()).expect("a short name of visible letters")
}

/// Returns whether a name has the form of a guest's.
pub(crate) fn is_guest(name: &PlayerName) -> bool {
    let number = name.as_str().strip_prefix(GUEST);
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// Checks that a new account may have this name. The error is a sentence that says why not.
pub fn check_new(name: &PlayerName) -> Result<(), String> {
    let text = name.as_str();
    if let Some(hidden) = text.chars().find(|letter| is_hidden(*letter)) {
        let code = u32::from(hidden);
        return Err(format!("the name holds U+{code:04X}, which cannot be seen; leave it out"));
    }
    let looks_like_guest = PlayerName::new(&capitalized(text)).is_ok_and(|name| is_guest(&name));
    if looks_like_guest {
        return Err("names like \"Guest 1\" are for guests; choose another".into());
    }
    let shape = shape_of(text);
    let house = PlayerName::HOUSE.trim_end_matches(':');
    if shape == shape_of(OPERATOR)
        || shape == shape_of(house)
        || shape.starts_with(&shape_of(PlayerName::HOUSE))
    {
        let why = "the name looks like one of the server's own (operator, house); choose another";
        return Err(why.into());
    }
    Ok(())
}

/// The name with a capital first letter, and the others small.
fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters.map(|letter| letter.to_ascii_lowercase())).collect()
}

/// The visual form of a name: names that look alike have the same form (UTS 39), regardless of
/// case.
fn shape_of(text: &str) -> String {
    let once: String = skeleton(&text.to_lowercase()).collect();
    skeleton(&once.to_lowercase()).collect()
}

/// Returns whether a character is invisible, or changes the order of others.
fn is_hidden(letter: char) -> bool {
    matches!(letter,
        '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
        | '\u{180B}'..='\u{180F}'
        // Zero-width characters, direction marks, line separators.
        | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
        | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}'
        | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> PlayerName {
        PlayerName::new(text).unwrap()
    }

    #[test]
    fn names_of_people_and_programs_are_good() {
        for good in [
            "ann",
            "Zoë <b>",
            "bot-7",
            "日本語",
            "Ольга",
            "محمد",
            "AIClient",
            "p 1",
            "cooperator",
            "housecat",
        ] {
            assert_eq!(check_new(&name(good)), Ok(()), "{good}");
        }
    }

    #[test]
    fn names_with_hidden_letters_are_refused() {
        for bad in
            ["a\u{200B}nn", "\u{202E}nna", "a\u{2066}b", "an\u{FEFF}n", "a\u{E0041}", "a\u{AD}b"]
        {
            let why = check_new(&name(bad)).unwrap_err();
            assert!(why.contains("U+"), "{why}");
        }
    }

    #[test]
    fn names_that_look_like_those_of_the_server_are_refused() {
        for bad in [
            "operator",
            "Operator",
            "OPERATOR",
            "оperator",
            "оpеrаtоr",
            "0perator",
            "ｏｐｅｒａｔｏｒ",
            "house",
            "hοuse",
            "House",
            "hоuse:greedy",
            "house：greedy",
            "HOUSE:x",
        ] {
            assert!(check_new(&name(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn names_of_guests_are_reserved() {
        assert_eq!(of_guest(1_234), name("Guest 1234"));
        assert!(before_guests() < of_guest(0));
        for bad in ["Guest 1", "guest 77", "GUEST 1234"] {
            assert!(check_new(&name(bad)).unwrap_err().contains("guests"), "{bad}");
        }
        for good in ["Guest", "guest-7", "Guest 7b", "Guest star"] {
            assert_eq!(check_new(&name(good)), Ok(()), "{good}");
        }
    }

    #[test]
    fn names_are_stored_in_one_form() {
        assert_eq!(normalized(&name("zoe\u{308}")), name("zoë"));
        assert_eq!(normalized(&name("ann")), name("ann"));
    }
}
