//! Changes to a log, as an input says: first of records, which are then renumbered, and then of the
//! text of lines. No checksums stand in the way: the reader of a log checks them before it
//! verifies, and a forger makes new ones.

use super::played::Streams;
use crate::forge::{Leaf, change, leaves, records, renumbered, without};
use crate::input::Input;

/// The most changes of one input.
const CHANGES_MAX: usize = 6;

/// Values that follow from the rules. Verification must find them changed even if they change
/// everywhere at once.
const EVERYWHERE: [&str; 9] =
    ["scores", "ranks", "halves", "drawn", "how", "end", "secret", "commitment", "counts_from"];

/// A log that is being forged.
pub(crate) struct Forgery {
    pub(crate) streams: Streams,
    /// The changes so far, as text.
    pub(crate) done: Vec<String>,
    /// Changes of text, which follow those of the records.
    text: Vec<[usize; 4]>,
}

/// The log that an input makes of this one.
pub(crate) fn forged(log: &Streams, input: &mut Input<'_>) -> Forgery {
    let mut forgery = Forgery { streams: log.clone(), done: Vec::new(), text: Vec::new() };
    for _ in 0..CHANGES_MAX {
        if input.is_empty() {
            break;
        }
        let kind = input.byte();
        let place = [input.below(256), input.number(), input.number(), input.number()];
        match kind {
            0..=99 => forgery.text.push([usize::from(kind), place[0], place[1], place[2]]),
            100..=219 => forgery.change_records(usize::from(kind) % 7, place),
            _ => forgery.change_streams(usize::from(kind) % 4, place),
        }
    }
    for [kind, stream, line, leaf] in std::mem::take(&mut forgery.text) {
        forgery.change_text(kind, stream, line, leaf);
    }
    forgery
}

impl Forgery {
    fn name(&self, at: usize) -> Option<String> {
        self.streams.keys().nth(at % self.streams.len().max(1)).cloned()
    }

    fn change_records(&mut self, kind: usize, place: [usize; 4]) {
        let Some(name) = self.name(place[0]) else { return };
        let mut all = records(&self.streams[&name]);
        if all.is_empty() {
            return;
        }
        let (at, to) = (place[1] % all.len(), place[2] % all.len());
        let what = match kind {
            0 => {
                all.remove(at);
                "dropped"
            }
            1 => {
                all.insert(to, all[at].clone());
                "copied"
            }
            2 => {
                let record = all.remove(at);
                all.insert(to, record);
                "moved"
            }
            3 => {
                all.swap(at, to);
                "swapped"
            }
            4 => {
                let line = place[3] % all[at].len();
                all[at].remove(line);
                all.retain(|record| !record.is_empty());
                "one line less"
            }
            5 => {
                // A line of one record moves into another.
                let line = all[at][place[3] % all[at].len()].clone();
                all[to].push(line);
                "one line more"
            }
            _ => {
                all.truncate(at);
                "cut off"
            }
        };
        self.done.push(format!("{name}: record {at} {what} ({to})"));
        self.streams.insert(name, renumbered(&all));
    }

    fn change_streams(&mut self, kind: usize, place: [usize; 4]) {
        let (Some(one), Some(other)) = (self.name(place[0]), self.name(place[1])) else { return };
        // A log without a lobby is a different case, which other tests cover.
        if one == other || one == "lobby" || other == "lobby" {
            return;
        }
        self.done.push(format!("{one} and {other}: {kind}"));
        let of = |name: &str, as_name: &str| -> Vec<String> {
            let (old, new) =
                (format!("\"stream\":\"{name}\""), format!("\"stream\":\"{as_name}\""));
            self.streams[name].iter().map(|line| line.replacen(&old, &new, 1)).collect()
        };
        match kind {
            0 => drop(self.streams.remove(&one)),
            1 => {
                let copy = of(&one, &other);
                self.streams.insert(other, copy);
            }
            2 => {
                let (first, second) = (of(&one, &other), of(&other, &one));
                self.streams.insert(other, first);
                self.streams.insert(one, second);
            }
            _ => {
                // Truncate to before the end; the lobby then knows nothing of the end either.
                for name in ["lobby", "tournament/t"] {
                    let mut all = records(self.streams.get(name).map_or(&[][..], Vec::as_slice));
                    all.pop();
                    self.streams.insert(name.to_owned(), renumbered(&all));
                }
            }
        }
    }

    fn change_text(&mut self, kind: usize, stream: usize, line: usize, leaf: usize) {
        let Some(name) = self.name(stream) else { return };
        let lines = &self.streams[&name];
        if lines.is_empty() {
            return;
        }
        let at = line % lines.len();
        let old = lines[at].clone();
        // An earlier change of this input may have made the line unreadable.
        if serde_json::from_str::<serde_json::Value>(&old).is_err() {
            return;
        }
        let all = leaves(&old);
        let chosen = &all[leaf % all.len()];
        let new = match kind {
            0..=9 => without(&old, chosen),
            10..=59 => change(&old, chosen, kind),
            60..=74 => self.as_another(&old, chosen, kind + leaf),
            75..=84 => return self.change_everywhere(&old, chosen, kind),
            _ => {
                let mut bytes = old.clone().into_bytes();
                let place = leaf % bytes.len();
                bytes[place] ^= 1 << (kind % 7);
                String::from_utf8_lossy(&bytes).into_owned()
            }
        };
        if new != old {
            self.done.push(format!("{name}, line {}: {}\n  {old}\n  {new}", at + 1, chosen.path));
            self.streams.get_mut(&name).expect("the entry exists")[at] = new;
        }
    }

    /// The line with a value from the same place of another line of its kind.
    fn as_another(&self, line: &str, leaf: &Leaf, pick: usize) -> String {
        let tag = |text: &str| {
            let (_, rest) = text.split_once("\"type\":\"")?;
            rest.split_once('"').map(|(tag, _)| tag.to_owned())
        };
        let same = self.streams.values().flatten().filter(|other| {
            tag(other) == tag(line) && serde_json::from_str::<serde_json::Value>(other).is_ok()
        });
        let values: Vec<String> = same
            .filter_map(|other| {
                let found = leaves(other).into_iter().find(|found| found.path == leaf.path)?;
                Some(other[found.from..found.to].to_owned())
            })
            .collect();
        let value = values.get(pick % values.len().max(1)).map_or("null", String::as_str);
        format!("{}{value}{}", &line[..leaf.from], &line[leaf.to..])
    }

    /// Changes a value that follows from the rules wherever it occurs, in all streams.
    fn change_everywhere(&mut self, line: &str, leaf: &Leaf, pick: usize) {
        let key = |path: &str| {
            path.split('.').rev().find(|part| part.parse::<u32>().is_err()).map(str::to_owned)
        };
        let Some(name) = key(&leaf.path).filter(|name| EVERYWHERE.contains(&name.as_str())) else {
            return;
        };
        let value = line[leaf.from..leaf.to].to_owned();
        let changed = change(line, leaf, pick);
        let new = changed[leaf.from..changed.len() - (line.len() - leaf.to)].to_owned();
        self.done.push(format!("{name} {value} becomes {new} everywhere"));
        for text in self.streams.values_mut().flatten() {
            if serde_json::from_str::<serde_json::Value>(text).is_err() {
                continue;
            }
            let all = leaves(text);
            for found in all.iter().rev() {
                let same = text[found.from..found.to] == value;
                if same && key(&found.path).as_deref() == Some(&name) {
                    text.replace_range(found.from..found.to, &new);
                }
            }
        }
    }
}
