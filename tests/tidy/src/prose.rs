//! Promises about prose: a sentence names its subject.

use crate::assert_none;
use crate::tree::files;

/// Words that begin a sentence without a subject. Questions may begin with them.
const BARE: &[&str] =
    &["Who", "Whose", "Whoever", "What", "Whatever", "Whether", "The same for", "The same, for"];

/// The marks before the text of a comment, a list or a table, longest first.
const MARKS: &[&str] = &["/**", "///", "//!", "//", "#:", "#", "%%", "%", "*", "-"];

/// The text of a line of prose: a comment, or a line of a page.
fn text_of<'a>(path: &str, line: &'a str) -> Option<&'a str> {
    let line = line.trim_start();
    let marked = MARKS.iter().find_map(|mark| line.strip_prefix(mark));
    marked.or_else(|| path.ends_with(".md").then_some(line)).map(str::trim_start)
}

#[test]
fn sentences_name_their_subject() {
    let mut complaints = Vec::new();
    for kind in [".rs", ".md", ".js", ".py", ".erl", ".toml", ".css"] {
        for file in files(kind) {
            for (line, number) in file.text.lines().zip(1..) {
                let Some(text) = text_of(&file.path, line).filter(|text| !text.contains('?'))
                else {
                    continue;
                };
                let is_bare = |words: &&str| {
                    let rest = text.strip_prefix(*words);
                    rest.is_some_and(|rest| rest.starts_with([' ', ',']))
                };
                if let Some(words) = BARE.iter().copied().find(|words| is_bare(words)) {
                    let path = &file.path;
                    complaints.push(format!("{path}:{number}: “{words} …”: name the subject"));
                }
            }
        }
    }
    assert_none(&complaints);
}
