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

/// Words that do not belong on a page for people: metaphors, other words for a term, and terms that
/// only a programmer can act on.
const FOREIGN: &[&str] = &[
    "whoever",
    "called off",
    "(status ",
    "status code",
    "request body",
    "the body",
    "header",
    "malformed JSON",
    "line and column",
    "a line.",
    "is told",
    "are told",
    "goes on under",
];

/// The texts in the string literals of a line of a module, and between the tags of a line of HTML.
fn texts_of<'a>(path: &str, line: &'a str) -> Vec<&'a str> {
    let trimmed = line.trim_start();
    if path.ends_with(".html") {
        return line.split('>').filter_map(|part| part.split('<').next()).collect();
    }
    if trimmed.starts_with("//") || trimmed.starts_with('*') || trimmed.starts_with("/*") {
        return Vec::new();
    }
    let mut texts = Vec::new();
    let mut rest = trimmed;
    while let Some(at) = rest.find(['"', '`']) {
        let (mark, after) = (&rest[at..=at], &rest[at + 1..]);
        let Some((text, next)) = after.split_once(mark) else {
            texts.push(after);
            break;
        };
        texts.push(text);
        rest = next;
    }
    texts
}

#[test]
fn texts_of_the_page_are_plain_sentences() {
    let mut complaints = Vec::new();
    let mut count = 0;
    let pages = [".js", ".html"].into_iter().flat_map(files);
    for file in pages.filter(|file| file.path.starts_with("web/")) {
        for (line, number) in file.text.lines().zip(1..) {
            for text in texts_of(&file.path, line).into_iter().filter(|text| text.contains(' ')) {
                count += 1;
                let is_bare = |words: &&str| text.starts_with(&format!("{words} "));
                let bare = BARE.iter().copied().find(is_bare).filter(|_| !text.contains('?'));
                let foreign = FOREIGN.iter().copied().find(|words| text.contains(*words));
                let place = format!("{}:{number}", file.path);
                complaints.extend(bare.map(|it| format!("{place}: “{it} …”: name the subject")));
                complaints
                    .extend(foreign.map(|it| format!("{place}: “{it}” says nothing to people")));
            }
        }
    }
    assert!(count > 500, "only {count} texts were found");
    assert_none(&complaints);
}

#[test]
fn texts_are_found_in_modules_and_in_markup() {
    assert_eq!(
        texts_of("web/a.js", r#"  say("One text.", `two of ${it}`); // "no""#)[..2],
        ["One text.", "two of ${it}"]
    );
    assert!(texts_of("web/a.js", r#"  // say("no")"#).is_empty());
    assert_eq!(texts_of("web/a.html", "<p>One text.</p>")[1], "One text.");
}
