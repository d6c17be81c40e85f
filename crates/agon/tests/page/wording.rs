//! Words that a text for people must not contain.

/// Words of HTTP and of parsers that a person cannot act on.
const FOREIGN: [&str; 14] = [
    "GET ",
    "POST ",
    "PUT ",
    "DELETE ",
    "HTTP",
    "JSON",
    "json",
    " body",
    " header",
    " column ",
    " line ",
    "at_least",
    "at_most",
    "status of",
];

/// True if a text has none of the words that only a programmer understands.
pub(crate) fn is_plain(text: &str) -> bool {
    !text.is_empty() && FOREIGN.iter().all(|word| !text.contains(word))
}
