//! Players of the Fish system: names, and cheap answers to calls.

use agon_games::fish::{Action, State};
use anyhow::{Context, Result};

/// This many names of letters only.
pub(super) fn names(count: usize) -> Vec<String> {
    let letter = |number: usize| char::from(b'a' + (number % 26) as u8);
    let name = |number: usize| [26 * 26 * 26, 26 * 26, 26, 1].map(|unit| letter(number / unit));
    (0..count).map(|number| name(number).iter().collect()).collect()
}

/// Writes the answer to a call and returns how many decisions it holds. Confirmations do not count.
pub(super) fn answer(call: &[u8], out: &mut Vec<u8>) -> Result<u64> {
    if call.starts_with(br#"["setup","#) {
        let (_, (state,)): (&str, (State,)) = serde_json::from_slice(call).context("a call")?;
        let places = state.placements();
        serde_json::to_writer(out, places.first().context("a free tile")?)?;
        return Ok(1);
    }
    if call.starts_with(br#"["take-turn","#) {
        let (_, (state, _)): (&str, (State, Vec<Action>)) =
            serde_json::from_slice(call).context("a call")?;
        let actions = state.actions();
        serde_json::to_writer(out, actions.first().context("a legal move")?)?;
        return Ok(1);
    }
    out.extend_from_slice(br#""void""#);
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_letters_and_differ() {
        let names: std::collections::BTreeSet<String> = names(10_000).into_iter().collect();
        assert_eq!(names.len(), 10_000);
        assert!(names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_lowercase())));
    }

    #[test]
    fn calls_are_answered_and_only_decisions_count() {
        let state =
            r#"{"players":[{"color":"red","score":0,"places":[[0,0]]}],"board":[[1,2],[3,4]]}"#;
        for (call, expected, decisions) in [
            (r#"["playing-as",["red"]]"#.to_owned(), r#""void""#, 0),
            (format!(r#"["setup",[{state}]]"#), "[0,1]", 1),
            (format!(r#"["take-turn",[{state},[]]]"#), "[[0,0],[1,0]]", 1),
        ] {
            let mut out = Vec::new();
            assert_eq!(answer(call.as_bytes(), &mut out).unwrap(), decisions, "{call}");
            assert_eq!(String::from_utf8_lossy(&out), expected);
        }
    }
}
