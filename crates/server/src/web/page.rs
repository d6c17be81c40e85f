//! Long lists, one page at a time: the entries after a name, up to a limit.

use crate::engine::query::ListWindow;
use schemars::JsonSchema;
use serde::Deserialize;

/// The default number of entries of a page.
const LIMIT: usize = 100;

/// The largest number of entries of a page.
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

    /// The requested part of the list.
    pub(super) fn window(self) -> ListWindow {
        let limit = self.limit.unwrap_or(LIMIT).clamp(1, LIMIT_MAX);
        ListWindow { after: self.after.unwrap_or_default(), limit }
    }
}
