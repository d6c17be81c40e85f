//! Checks all streams of a world, as somebody would who has only the files.

use super::Played;
use agon_core::Secret;
use agon_core::verify::{self, Finding, MatchCheck, RunningMatchCheck};
use agon_games::Registry;
use std::collections::BTreeMap;

/// Verifies the tournament, its matches, and that they agree.
pub(crate) fn verify_all(
    streams: &BTreeMap<String, Vec<String>>,
    games: &Registry,
) -> Result<(), Finding> {
    let (tournaments, matches): (Vec<_>, Vec<_>) =
        streams.iter().partition(|(name, _)| name.starts_with("tournament/"));
    let (name, lines) = tournaments[0];
    let checked = verify::verify_tournament(&verify::read(lines)?, games, None)?;
    let disagree = |stream: &str, what: &str| {
        let (stream, event, what) = (stream.to_owned(), "none".to_owned(), what.to_owned());
        Err(Finding { stream, seq: 0, event, what })
    };
    if checked.secret.is_none() {
        return disagree(name, "it is not over");
    }
    let mut results = BTreeMap::new();
    for (name, lines) in matches {
        let check = verify_both_ways(name, lines, games, checked.secret.as_ref())?;
        if let Err(what) = checked.agrees(&check) {
            return disagree(name, what);
        }
        results.insert(check.plan.id.clone(), check.result);
    }
    for id in checked.reported.keys() {
        if results.get(id).and_then(Option::as_ref).is_none() {
            return disagree(id.as_str(), "it is reported and not over");
        }
    }
    if checked.reported.len() != checked.matches.len() {
        return disagree(name, "a match is not reported");
    }
    Ok(())
}

/// Verifies a match whole and while it is read. Both must agree.
fn verify_both_ways(
    name: &str,
    lines: &[String],
    games: &Registry,
    secret: Option<&Secret>,
) -> Result<MatchCheck, Finding> {
    let whole = verify::read(lines).and_then(|lines| verify::verify_match(&lines, games, secret));
    if let Some(secret) = secret {
        let running = RunningMatchCheck::new(name, games, secret).of_lines(lines);
        let due = whole.as_ref().ok().filter(|check| !check.predates_chain);
        assert_eq!(running.as_ref(), due, "{name}: {:?}", whole.as_ref().err());
    }
    whole
}

impl Played {
    /// Panics with the finding if the logs do not verify.
    pub(crate) fn assert_verifies(&self) {
        if let Err(finding) = verify_all(&self.streams, &Registry::standard()) {
            panic!("{finding}");
        }
    }
}
