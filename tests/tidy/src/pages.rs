//! Promises about pages: links lead somewhere, decision pages are numbered, no page or program
//! names a path of somebody's machine.

use crate::assert_none;
use crate::tree::{File, files, top};
use std::collections::BTreeMap;

/// Links of a Markdown text, outside code: the target in `](target)`.
fn links(text: &str) -> Vec<(usize, String)> {
    let (mut found, mut in_code) = (Vec::new(), false);
    for (line, number) in text.lines().zip(1..) {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("``");
        if in_code || line.starts_with("    ") && !line.trim_start().starts_with(['-', '*', '|']) {
            continue;
        }
        for rest in prose.split("](").skip(1) {
            let target = rest.split([')', ' ']).next().unwrap_or_default();
            found.push((number, target.to_owned()));
        }
    }
    found
}

/// The anchors of a page, made from its headings as hosts of repositories make them.
fn anchors(text: &str) -> Vec<String> {
    let mut in_code = false;
    let headings = text.lines().filter(move |line| {
        in_code ^= line.trim_start().starts_with("```");
        !in_code && line.starts_with('#')
    });
    let anchor = |heading: &str| -> String {
        let words = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn links_of_pages_lead_to_files_and_headings() {
    let pages: BTreeMap<String, File> =
        files(".md").into_iter().map(|file| (file.path.clone(), file)).collect();
    let mut complaints = Vec::new();
    for (path, page) in &pages {
        for (line, link) in links(&page.text) {
            if link.contains("://") || link.starts_with("mailto:") || link.starts_with('/') {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let target = if file.is_empty() { path.clone() } else { resolved(folder, file) };
            if !top().join(&target).exists() {
                complaints.push(format!("{path}:{line}: {link} leads nowhere"));
                continue;
            }
            let known = pages.get(&target).is_none_or(|page| {
                anchor.is_empty() || anchors(&page.text).iter().any(|known| known == anchor)
            });
            if !known {
                complaints.push(format!("{path}:{line}: {target} has no heading for #{anchor}"));
            }
        }
    }
    assert_none(&complaints);
}

/// A path from a folder, without `.` and `..`.
fn resolved(folder: &str, file: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in file.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[test]
fn decision_pages_are_numbered_without_gaps_and_headed_by_their_number() {
    let pages = files(".md").into_iter();
    let pages = pages.filter(|file| file.path.starts_with("docs/decisions/"));
    let mut complaints = Vec::new();
    for (file, number) in pages.zip(1..) {
        let name = file.path.trim_start_matches("docs/decisions/");
        if !name.starts_with(&format!("{number:04}-")) {
            complaints.push(format!("{}: number {number:04} is missing before it", file.path));
            break;
        }
        let title = file.text.lines().next().unwrap_or_default();
        if !title.starts_with(&format!("# {number:04}: ")) {
            complaints.push(format!("{}: its heading begins `# {number:04}: `", file.path));
        }
    }
    assert_none(&complaints);
}

#[test]
fn tables_of_the_page_about_scale_are_the_output_of_their_script() {
    let script = std::process::Command::new("python3").arg(top().join("scripts/scale")).output();
    let script = script.expect("python3 runs");
    assert!(script.status.success(), "{}", String::from_utf8_lossy(&script.stderr));
    let page = std::fs::read_to_string(top().join("docs/scale.md")).expect("the page");
    let (_, tables) = page.split_once("## Assumptions and figures\n\n").expect("its tables");
    assert_eq!(tables, String::from_utf8_lossy(&script.stdout), "print them with scripts/scale");
}

#[test]
fn nothing_names_a_path_or_a_registry_of_one_machine() {
    let home = std::env::var("HOME").unwrap_or_default();
    let own = [top().to_string_lossy().into_owned(), format!("{home}/.cargo")];
    let mut complaints = Vec::new();
    for file in files("") {
        for (line, number) in file.text.lines().zip(1..) {
            if own.iter().any(|path| path.len() > 8 && line.contains(path.as_str())) {
                complaints.push(format!("{}:{number}: a path of this machine", file.path));
            }
            let from = line.trim().strip_prefix("source = \"registry+");
            let public = "https://github.com/rust-lang/crates.io-index\"";
            if file.path.ends_with("Cargo.lock") && from.is_some_and(|from| from != public) {
                complaints.push(format!("{}:{number}: not from crates.io", file.path));
            }
        }
    }
    assert_none(&complaints);
}
