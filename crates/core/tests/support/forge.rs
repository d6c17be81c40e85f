//! Changes one thing in a log: a value, a line or a record.

/// One scalar of a line of JSON: where it is and how to get there (`data.result.scores.0`).
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    pub(crate) path: String,
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// All scalars of a line, in order. The text must be JSON without white space, as logs are.
pub(crate) fn leaves(text: &str) -> Vec<Leaf> {
    let bytes = text.as_bytes();
    // One frame per open bracket: the key or index at hand, and whether a key comes next.
    let mut stack: Vec<(String, bool)> = Vec::new();
    let (mut at, mut found) = (0, Vec::new());
    while at < bytes.len() {
        match bytes[at] {
            b'{' => stack.push((String::new(), true)),
            b'[' => stack.push(("0".into(), false)),
            b'}' | b']' => drop(stack.pop()),
            b':' => {}
            b',' => next(stack.last_mut().expect("a list or an object")),
            _ => {
                let to = end_of(bytes, at);
                match stack.last_mut() {
                    Some((key, expected @ true)) => {
                        *key = text[at + 1..to - 1].to_owned();
                        *expected = false;
                    }
                    _ => {
                        let path: Vec<&str> = stack.iter().map(|(key, _)| key.as_str()).collect();
                        found.push(Leaf { path: path.join("."), from: at, to });
                    }
                }
                at = to - 1;
            }
        }
        at += 1;
    }
    found
}

/// After a comma: the next index, or the next key.
fn next((key, expected): &mut (String, bool)) {
    match key.parse::<u32>() {
        Ok(index) => *key = (index + 1).to_string(),
        Err(_) => *expected = true,
    }
}

/// One past the scalar at `at`.
fn end_of(bytes: &[u8], at: usize) -> usize {
    let mut to = at + 1;
    if bytes[at] == b'"' {
        while bytes[to] != b'"' {
            to += if bytes[to] == b'\\' { 2 } else { 1 };
        }
        return to + 1;
    }
    while to < bytes.len() && !b",]}".contains(&bytes[to]) {
        to += 1;
    }
    to
}

/// The line with a leaf changed to another value of the same sort; `pick` chooses among those.
pub(crate) fn change(text: &str, leaf: &Leaf, pick: usize) -> String {
    let old = &text[leaf.from..leaf.to];
    let is_hex = |text: &str| text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
    let new = match old {
        "true" => "false".to_owned(),
        "false" => "true".to_owned(),
        "null" => ["1", "\"x\"", "0"][pick % 3].to_owned(),
        _ if old.starts_with('"') => {
            let inner = &old[1..old.len() - 1];
            match is_hex(inner) {
                true => {
                    let last = if inner.ends_with('0') { "1" } else { "0" };
                    format!("\"{}{last}\"", &inner[..63])
                }
                false => match pick % 3 {
                    0 => format!("\"{inner}x\""),
                    1 if inner != "p1" => "\"p1\"".into(),
                    _ if inner != "p2" => "\"p2\"".into(),
                    _ => "\"\"".into(),
                },
            }
        }
        _ => match (pick % 4, old.parse::<i64>()) {
            (0, Ok(number)) => (number + 1).to_string(),
            (1, Ok(number)) if number > 0 => (number - 1).to_string(),
            (2, _) => "18446744073709551615".into(),
            _ => "null".into(),
        },
    };
    format!("{}{new}{}", &text[..leaf.from], &text[leaf.to..])
}

/// The line without a leaf that is an element of a list; elsewhere it stays.
pub(crate) fn without(text: &str, leaf: &Leaf) -> String {
    let last = leaf.path.rsplit('.').next().unwrap_or_default();
    let (before, after) = (&text[..leaf.from], &text[leaf.to..]);
    if last.parse::<u32>().is_err() {
        return text.to_owned();
    }
    match before.strip_suffix(',') {
        Some(before) => format!("{before}{after}"),
        None => format!("{before}{}", after.strip_prefix(',').unwrap_or(after)),
    }
}

/// Splits a stream into its records by what the lines themselves say.
pub(crate) fn records(lines: &[String]) -> Vec<Vec<String>> {
    let mut records: Vec<Vec<String>> = Vec::new();
    let mut more = 0;
    for line in lines {
        match more {
            0 => records.push(vec![line.clone()]),
            _ => records.last_mut().expect("a record is open").push(line.clone()),
        }
        more = envelope(line, "more");
    }
    records
}

/// Numbers records anew, as a careful forger would.
pub(crate) fn renumbered(records: &[Vec<String>]) -> Vec<String> {
    let (mut seq, mut lines) = (0, Vec::new());
    for record in records {
        for (place, line) in record.iter().enumerate() {
            seq += 1;
            let more = (record.len() - 1 - place) as u64;
            let line = with_envelope(line, "seq", seq);
            lines.push(with_envelope(&line, "more", more));
        }
    }
    lines
}

fn place(line: &str, field: &str) -> Leaf {
    leaves(line).into_iter().find(|leaf| leaf.path == field).expect("a field of the envelope")
}

fn envelope(line: &str, field: &str) -> u64 {
    let leaf = place(line, field);
    line[leaf.from..leaf.to].parse().expect("a number")
}

fn with_envelope(line: &str, field: &str, value: u64) -> String {
    let leaf = place(line, field);
    format!("{}{value}{}", &line[..leaf.from], &line[leaf.to..])
}
