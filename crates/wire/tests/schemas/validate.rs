//! A validator for the part of JSON Schema (draft 2020-12) that our schemas use. A word it does not
//! know is a failure: nothing passes because nobody looked.

use serde_json::{Map, Value};

/// Words that say something about a schema and nothing about values.
const REMARKS: [&str; 7] =
    ["$schema", "title", "description", "default", "format", "$defs", "examples"];

/// What is wrong with a value, and where; nothing if it fits. References are looked up in `root`.
pub(crate) fn faults(root: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    Place { root, at: "$".into() }.check(schema, value, &mut faults);
    faults
}

struct Place<'a> {
    root: &'a Value,
    at: String,
}

impl Place<'_> {
    fn inner(&self, name: &str) -> Place<'_> {
        Place { root: self.root, at: format!("{}.{name}", self.at) }
    }

    fn fits(&self, schema: &Value, value: &Value) -> Result<(), Vec<String>> {
        let mut faults = Vec::new();
        self.check(schema, value, &mut faults);
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    fn check(&self, schema: &Value, value: &Value, faults: &mut Vec<String>) {
        let words = match schema {
            Value::Bool(true) => return,
            Value::Object(words) => words,
            other => panic!("{other} is no schema"),
        };
        for (word, said) in words {
            let wrong = match word.as_str() {
                word if REMARKS.contains(&word) => None,
                "$ref" => {
                    let path = said.as_str().and_then(|path| path.strip_prefix('#'));
                    let target = path.and_then(|path| self.root.pointer(path));
                    self.check(target.unwrap_or_else(|| panic!("no {said}")), value, faults);
                    None
                }
                "anyOf" | "oneOf" | "allOf" => self.combined(word, said, value),
                "type" | "enum" | "const" => self.is_one(word, said, value),
                _ => {
                    self.measure(word, said, value, faults);
                    self.structure(words, word, said, value, faults)
                }
            };
            faults.extend(wrong.map(|wrong| format!("{}: {wrong}", self.at)));
        }
    }

    fn combined(&self, word: &str, said: &Value, value: &Value) -> Option<String> {
        let all = said.as_array().expect("a list of schemas");
        let tried: Vec<_> = all.iter().map(|schema| self.fits(schema, value)).collect();
        let fit = tried.iter().filter(|tried| tried.is_ok()).count();
        let good = match word {
            "anyOf" => fit > 0,
            "oneOf" => fit == 1,
            _ => fit == all.len(),
        };
        let why: Vec<String> = tried.into_iter().filter_map(Result::err).flatten().collect();
        (!good).then(|| format!("{fit} of {word} fit {value}: {}", why.join("; ")))
    }

    fn is_one(&self, word: &str, said: &Value, value: &Value) -> Option<String> {
        let good = match (word, said) {
            ("type", Value::Array(names)) => names.iter().any(|name| is_of(name, value)),
            ("type", name) => is_of(name, value),
            ("enum", said) => said.as_array().expect("a list of values").contains(value),
            (_, said) => said == value,
        };
        (!good).then(|| format!("{value} is not of {word} {said}"))
    }

    /// Words about lengths and sizes.
    fn measure(&self, word: &str, said: &Value, value: &Value, faults: &mut Vec<String>) {
        let length = || value.as_str().map(|text| text.chars().count() as f64);
        let items = || value.as_array().map(|list| list.len() as f64);
        let measured = match word {
            "minimum" | "maximum" => value.as_f64(),
            "minLength" | "maxLength" => length(),
            "minItems" | "maxItems" => items(),
            _ => return,
        };
        let (Some(measured), Some(said)) = (measured, said.as_f64()) else { return };
        let good = if word.starts_with("min") { measured >= said } else { measured <= said };
        if !good {
            faults.push(format!("{}: {value} against {word} {said}", self.at));
        }
    }

    /// Words about what is inside.
    fn structure(
        &self,
        words: &Map<String, Value>,
        word: &str,
        said: &Value,
        value: &Value,
        faults: &mut Vec<String>,
    ) -> Option<String> {
        let empty = Map::new();
        let known = words.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        match (word, value) {
            ("properties", Value::Object(fields)) => {
                for (name, schema) in known {
                    if let Some(field) = fields.get(name) {
                        self.inner(name).check(schema, field, faults);
                    }
                }
            }
            ("additionalProperties", Value::Object(fields)) => {
                for (name, field) in fields.iter().filter(|(name, _)| !known.contains_key(*name)) {
                    match said {
                        Value::Bool(false) => faults.push(format!("{}: unknown {name}", self.at)),
                        schema => self.inner(name).check(schema, field, faults),
                    }
                }
            }
            ("propertyNames", Value::Object(fields)) => {
                for name in fields.keys() {
                    self.inner(name).check(said, &Value::from(name.as_str()), faults);
                }
            }
            ("required", Value::Object(fields)) => {
                let names = said.as_array().expect("names").iter().filter_map(Value::as_str);
                let missing: Vec<&str> = names.filter(|name| !fields.contains_key(*name)).collect();
                return (!missing.is_empty()).then(|| format!("no {}", missing.join(", ")));
            }
            ("items", Value::Array(list)) => {
                let fixed = words.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
                for (at, item) in list.iter().enumerate().skip(fixed) {
                    match said {
                        Value::Bool(false) => faults.push(format!("{}: too long", self.at)),
                        schema => self.inner(&at.to_string()).check(schema, item, faults),
                    }
                }
            }
            ("prefixItems", Value::Array(list)) => {
                let schemas = said.as_array().expect("a list of schemas");
                for (at, (schema, item)) in schemas.iter().zip(list).enumerate() {
                    self.inner(&at.to_string()).check(schema, item, faults);
                }
            }
            ("pattern", Value::String(text)) => {
                return (!matches(said.as_str().expect("a pattern"), text))
                    .then(|| format!("{text:?} against {said}"));
            }
            (
                "properties"
                | "additionalProperties"
                | "propertyNames"
                | "required"
                | "items"
                | "prefixItems"
                | "pattern"
                | "minimum"
                | "maximum"
                | "minLength"
                | "maxLength"
                | "minItems"
                | "maxItems",
                _,
            ) => {}
            _ => panic!("{}: the validator does not know {word:?}", self.at),
        }
        None
    }
}

fn is_of(name: &Value, value: &Value) -> bool {
    match name.as_str().expect("the name of a type") {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        other => panic!("there is no type {other}"),
    }
}

/// The patterns that are in use: one set of characters, all of the text.
fn matches(pattern: &str, text: &str) -> bool {
    let good: fn(char) -> bool = match pattern {
        "^[a-zA-Z0-9 .,]+$" => |c| c.is_ascii_alphanumeric() || " .,".contains(c),
        "^[0-9a-f]{16}$" => |c| c.is_ascii_digit() || ('a'..='f').contains(&c),
        other => panic!("the validator does not know the pattern {other}"),
    };
    !text.is_empty() && text.chars().all(good)
}
