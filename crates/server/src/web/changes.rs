//! Differences between two JSON values, as a JSON Patch (RFC 6902).
//!
//! Positions of a game follow each other with small changes. A reader who starts from the first one
//! and applies the changes needs a fraction of the bytes.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// One operation of a JSON Patch.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "op", rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum Change {
    /// A field or an element is new. Later elements of the list move up.
    Add { path: String, value: Value },
    /// A field or an element is gone. Later elements of the list move down.
    Remove { path: String },
    /// A value is another one.
    Replace { path: String, value: Value },
}

/// The operations that turn `before` into `after`, to be applied in this order.
pub(super) fn changes(before: &Value, after: &Value) -> Vec<Change> {
    let mut found = Vec::new();
    compare(&mut String::new(), before, after, &mut found);
    found
}

fn compare(path: &mut String, before: &Value, after: &Value, found: &mut Vec<Change>) {
    match (before, after) {
        (Value::Object(old), Value::Object(new)) => {
            for (name, value) in old {
                at(path, name, |path| match new.get(name) {
                    Some(other) => compare(path, value, other, found),
                    None => found.push(Change::Remove { path: path.clone() }),
                });
            }
            for (name, value) in new.iter().filter(|(name, _)| !old.contains_key(*name)) {
                let value = value.clone();
                at(path, name, |path| found.push(Change::Add { path: path.clone(), value }));
            }
        }
        (Value::Array(old), Value::Array(new)) => compare_lists(path, old, new, found),
        (old, new) if old == new => {}
        (_, new) => found.push(Change::Replace { path: path.clone(), value: new.clone() }),
    }
}

/// Compares two lists. Elements usually come and go at one place, such as the top of a deck, so the
/// equal elements before and after that place are left alone.
fn compare_lists(path: &mut String, old: &[Value], new: &[Value], found: &mut Vec<Change>) {
    let shorter = old.len().min(new.len());
    let before = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let after = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let after = after.min(shorter - before);
    let (old, new) = (&old[before..old.len() - after], &new[before..new.len() - after]);
    let both = old.len().min(new.len());
    for (index, (value, other)) in old.iter().zip(new).enumerate() {
        at(path, &(before + index).to_string(), |path| compare(path, value, other, found));
    }
    for index in (both..old.len()).rev() {
        let gone = |path: &mut String| found.push(Change::Remove { path: path.clone() });
        at(path, &(before + index).to_string(), gone);
    }
    for (index, value) in new.iter().enumerate().skip(both) {
        let value = value.clone();
        let fresh = |path: &mut String| found.push(Change::Add { path: path.clone(), value });
        at(path, &(before + index).to_string(), fresh);
    }
}

/// Runs something with a name at the end of the path (RFC 6901).
fn at(path: &mut String, name: &str, run: impl FnOnce(&mut String)) {
    let length = path.len();
    path.push('/');
    path.push_str(&name.replace('~', "~0").replace('/', "~1"));
    run(path);
    path.truncate(length);
}

/// Compares views, each with the one before it.
#[derive(Default)]
pub(super) struct ViewFold {
    before: Option<Value>,
}

impl ViewFold {
    /// The changes since the previous view; `None` for the first one.
    pub(super) fn next(&mut self, view: &str) -> Result<Option<Vec<Change>>, serde_json::Error> {
        let view: Value = serde_json::from_str(view)?;
        let changes = self.before.as_ref().map(|before| changes(before, &view));
        self.before = Some(view);
        Ok(changes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Applies a patch as RFC 6902 says.
    fn applied(mut value: Value, changes: &[Change]) -> Value {
        for change in changes {
            let (path, fresh, inserts) = match change {
                Change::Add { path, value } => (path, Some(value), true),
                Change::Replace { path, value } => (path, Some(value), false),
                Change::Remove { path } => (path, None, false),
            };
            let Some((parent, last)) = path.rsplit_once('/') else {
                value = fresh.expect("a whole value is only replaced").clone();
                continue;
            };
            let last = last.replace("~1", "/").replace("~0", "~");
            match (value.pointer_mut(parent).expect("the parent is there"), fresh) {
                (Value::Object(object), Some(fresh)) => drop(object.insert(last, fresh.clone())),
                (Value::Object(object), None) => drop(object.remove(&last)),
                (Value::Array(list), Some(fresh)) if inserts => {
                    list.insert(last.parse().unwrap(), fresh.clone());
                }
                (Value::Array(list), Some(fresh)) => {
                    list[last.parse::<usize>().unwrap()] = fresh.clone();
                }
                (Value::Array(list), None) => drop(list.remove(last.parse().unwrap())),
                (other, _) => panic!("{path} leads into {other}"),
            }
        }
        value
    }

    #[test]
    fn applied_changes_give_the_later_value() {
        let values = [
            json!({"turn": 0, "hand": {"red": 1, "blue": null}, "moves": [1, 2, 3]}),
            json!({"turn": 1, "hand": {"red": 2, "a/b~c": 1}, "moves": [1, 5]}),
            json!({"turn": 1, "hand": null, "moves": [1, 5, {"x": [0]}, [7]]}),
            json!({"turn": 1, "hand": null, "moves": [1, 5, {"x": [0, 1]}, [7]]}),
            json!({"turn": 1, "hand": null, "moves": [5, {"x": [0, 1]}, [7]]}),
            json!({"turn": 1, "hand": null, "moves": [1, 1, 5, 5, [7], [7]]}),
            json!([]),
            json!(7),
        ];
        for before in &values {
            for after in &values {
                let changes = changes(before, after);
                assert_eq!(applied(before.clone(), &changes), *after, "{changes:?}");
                assert_eq!(changes.is_empty(), before == after);
            }
        }
    }

    #[test]
    fn card_from_the_top_of_a_deck_is_one_change() {
        let changes = changes(&json!({"deck": [3, 1, 2, 2]}), &json!({"deck": [1, 2, 2]}));
        assert_eq!(
            serde_json::to_value(changes).unwrap(),
            json!([{"op": "remove", "path": "/deck/0"}])
        );
    }

    #[test]
    fn small_changes_are_small() {
        let before = json!({"cards": [{"total": 3, "boxes": {"ones": 3, "twos": null}}]});
        let after = json!({"cards": [{"total": 9, "boxes": {"ones": 3, "twos": 6}}]});
        assert_eq!(
            serde_json::to_value(changes(&before, &after)).unwrap(),
            json!([
                {"op": "replace", "path": "/cards/0/boxes/twos", "value": 6},
                {"op": "replace", "path": "/cards/0/total", "value": 9},
            ])
        );
    }
}
