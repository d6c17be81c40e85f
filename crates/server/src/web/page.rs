//! Long lists, a page at a time: what comes after a name, up to a limit.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// Entries of a page unless asked otherwise.
const LIMIT: usize = 100;

/// The most entries of a page.
const LIMIT_MAX: usize = 1_000;

/// Which page.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Page {
    /// The `next` of the page before.
    #[serde(default)]
    after: Option<String>,
    /// How many entries, 1 to 1,000; 100 unless said.
    #[serde(default)]
    limit: Option<usize>,
}

impl Page {
    pub(super) fn new(after: Option<String>, limit: Option<usize>) -> Page {
        Page { after, limit }
    }

    /// The page of a list that is sorted by name; `next` is what to ask for the one after it.
    pub(super) fn of<'a, T>(
        &self,
        what: &str,
        all: impl Iterator<Item = (&'a str, T)>,
        shown: impl Fn(&'a str, T) -> Value,
    ) -> Value {
        let after = self.after.as_deref().unwrap_or("");
        let limit = self.limit.unwrap_or(LIMIT).clamp(1, LIMIT_MAX);
        let mut rest = all.skip_while(|(name, _)| *name <= after);
        let (mut entries, mut last) = (Vec::new(), None);
        for (name, entry) in rest.by_ref().take(limit) {
            last = Some(name);
            entries.push(shown(name, entry));
        }
        let next = last.filter(|_| rest.next().is_some());
        json!({what: entries, "next": next})
    }
}
