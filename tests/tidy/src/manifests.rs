//! Promises about the manifests for Kubernetes: they are well-formed, and what they name exists.
//!
//! This knows the part of YAML that the manifests use: mappings and lists by indentation, and flow
//! mappings and lists on one line.

use crate::assert_none;
use crate::tree::{File, files};

/// The manifests, without their comments: each line with its number, grouped into documents.
fn documents(file: &File) -> Vec<Vec<(usize, &str)>> {
    let mut all = vec![Vec::new()];
    for (number, line) in (1..).zip(file.text.lines()) {
        match line.trim_start() {
            "---" => all.push(Vec::new()),
            "" => {}
            comment if comment.starts_with('#') => {}
            _ => all.last_mut().expect("there is one").push((number, line)),
        }
    }
    all
}

fn manifests() -> Vec<File> {
    let all = files(".yaml").into_iter().filter(|file| file.path.starts_with("packaging/k8s/"));
    all.collect()
}

/// The depth of a line, and the depth of what it opens if it is a list item.
fn depth(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// A key is written without spaces, and its value comes after a colon and a space, or below.
fn is_entry(text: &str) -> bool {
    let Some((key, value)) = text.split_once(':') else { return false };
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || "._-/".contains(letter);
    !key.is_empty() && key.chars().all(is_word) && (value.is_empty() || value.starts_with(' '))
}

fn is_balanced(text: &str) -> bool {
    let (mut open, mut is_quoted) = (Vec::new(), false);
    for letter in text.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            '{' | '[' if !is_quoted => open.push(letter),
            '}' if !is_quoted && open.pop() != Some('{') => return false,
            ']' if !is_quoted && open.pop() != Some('[') => return false,
            _ => {}
        }
    }
    open.is_empty() && !is_quoted
}

/// The problem of a line behind the line before it.
fn problem(before: Option<&str>, line: &str) -> Option<&'static str> {
    let text = line.trim_start();
    let (content, inner) = match text.strip_prefix("- ") {
        Some(item) => (item, depth(line) + 2),
        None => (text, depth(line)),
    };
    if line.contains('\t') || !depth(line).is_multiple_of(2) {
        return Some("indent with two spaces");
    }
    if !is_balanced(content) {
        return Some("a bracket or a quote is not closed");
    }
    let is_flow = content.starts_with(['{', '"', '[']);
    if !is_flow && !is_entry(content) && text.len() == content.len() {
        return Some("neither an entry nor a list item");
    }
    let before = before?;
    let deepest = match before.trim_start().strip_prefix("- ") {
        Some(item) if item.ends_with(':') => depth(before) + 4,
        Some(_) => depth(before) + 2,
        None if before.ends_with(':') => depth(before) + 2,
        None => depth(before),
    };
    (inner.min(depth(line)) > deepest).then_some("deeper than what it belongs to")
}

#[test]
fn manifests_are_well_formed_and_name_their_objects() {
    let mut complaints = Vec::new();
    let manifests = manifests();
    assert!(manifests.len() >= 3, "Agon, its database and its bus");
    for file in &manifests {
        for document in documents(file) {
            let mut before = None;
            for (number, line) in &document {
                if let Some(problem) = problem(before, line) {
                    complaints.push(format!("{}:{number}: {problem}", file.path));
                }
                before = Some(line);
            }
            let has = |start: &str| document.iter().any(|(_, line)| line.starts_with(start));
            for field in ["apiVersion: ", "kind: ", "metadata:", "  name: ", "spec:"] {
                if !has(field) {
                    complaints.push(format!("{}: a document without `{field}`", file.path));
                }
            }
        }
    }
    assert_none(&complaints);
}

/// The words that follow a text, up to a character that ends a name.
fn after<'a>(text: &'a str, start: &str) -> Vec<&'a str> {
    let ends = |letter: char| !(letter.is_ascii_alphanumeric() || letter == '-');
    text.split(start).skip(1).filter_map(|rest| rest.split(ends).next()).collect()
}

#[test]
fn everything_that_manifests_refer_to_exists() {
    let mut complaints = Vec::new();
    let manifests = manifests();
    let services: Vec<String> = manifests
        .iter()
        .flat_map(documents)
        .filter(|document| document.iter().any(|(_, line)| *line == "kind: Service"))
        .filter_map(|document| {
            let name = document.iter().find_map(|(_, line)| line.strip_prefix("  name: "));
            name.map(str::to_owned)
        })
        .collect();
    for file in &manifests {
        let text = &file.text;
        let declared: Vec<&str> = text
            .lines()
            .filter(|line| line.contains("containerPort:"))
            .flat_map(|line| after(line, "name: "))
            .collect();
        let named = ["targetPort: ", "port: "].iter().flat_map(|start| after(text, start));
        let named = named.filter(|port| port.parse::<u16>().is_err() && !port.is_empty());
        for port in named.filter(|port| !declared.contains(port)) {
            // A network policy names the ports of the pods that it protects.
            complaints.push(format!("{}: no container has a port {port}", file.path));
        }
        let hosts = after(text, "nats://").into_iter().chain(after(text, "PASSWORD@"));
        for host in hosts.filter(|host| !services.iter().any(|service| service == host)) {
            complaints.push(format!("{}: there is no service {host}", file.path));
        }
        for secret in after(text, "secretKeyRef: { name: ") {
            if !text.contains(&format!("create secret generic {secret}")) {
                complaints.push(format!("{}: how to make the secret {secret}?", file.path));
            }
        }
    }
    assert_none(&complaints);
}

#[test]
fn broken_manifests_are_noticed() {
    assert_eq!(problem(None, "spec: { a: 1"), Some("a bracket or a quote is not closed"));
    assert_eq!(problem(Some("spec:"), "   a: 1"), Some("indent with two spaces"));
    assert_eq!(problem(Some("spec: 1"), "  a: 1"), Some("deeper than what it belongs to"));
    assert_eq!(problem(Some("spec:"), "  a word"), Some("neither an entry nor a list item"));
    assert_eq!(problem(Some("  - name: a"), "    image: b"), None);
    assert_eq!(problem(Some("spec:"), "  - { name: a, port: 1 }"), None);
}
