//! Formats as people write them: `swiss`, `swiss:rounds=7,max=4`, `groups:size=4 -> bracket`,
//! `swiss -> top 8`.
//!
//! A format is its name, and after a colon its options, as in policies. Several formats with `->`
//! between them are stages. `top N` before a format says how many players enter its stage; without a
//! format it is a bracket.

use super::{Format, Stage, Stages};
use serde_json::{Map, Value};
use std::ops::RangeInclusive;

/// Fields of formats that nobody chooses: the name, and the edition of the rules of until-sure.
const NO_OPTIONS: [&str; 2] = ["kind", "pairs"];

impl Format {
    /// Reads a format for games with this many seats; the error says what is wrong.
    pub fn read(text: &str, seats: &RangeInclusive<usize>) -> Result<Format, String> {
        let text = text.replace('→', "->");
        let parts: Vec<&str> = text.split("->").map(str::trim).collect();
        if let [only] = parts[..] {
            return one(only, seats);
        }
        let stages = parts.into_iter().map(|part| stage(part, seats)).collect::<Result<_, _>>()?;
        Ok(Stages { stages }.into())
    }

    /// The format as people write it, with the options that differ from its usual ones. For the
    /// same `seats`, [`Format::read`] gives the format back, unless it is invalid.
    pub fn text(&self, seats: &RangeInclusive<usize>) -> String {
        let Format::Stages(stages) = self else { return self.one_text(seats) };
        let stages = stages.stages.iter().map(|stage| {
            let format = stage.format.one_text(seats);
            match stage.players {
                Some(players) if format == "bracket" => format!("top {players}"),
                Some(players) => format!("top {players} {format}"),
                None => format,
            }
        });
        stages.collect::<Vec<_>>().join(" -> ")
    }

    /// A format without stages as text.
    fn one_text(&self, seats: &RangeInclusive<usize>) -> String {
        let fields = |format: &Format| serde_json::to_value(format).unwrap_or_default();
        let own = fields(self);
        let usual = Format::named(self.name(), seats).map_or(Value::Null, |usual| fields(&usual));
        let changed = self.options().into_iter().filter(|key| own[key] != usual[key]);
        let options: Vec<String> =
            changed.map(|key| format!("{key}={}", write_value(&own[&key]))).collect();
        match options.is_empty() {
            true => self.name().to_owned(),
            false => format!("{}:{}", self.name(), options.join(",")),
        }
    }

    /// Reads several formats with commas between them. A part such as `max=4` is an option of the
    /// format before it.
    pub fn read_list(text: &str, seats: &RangeInclusive<usize>) -> Result<Vec<Format>, String> {
        let mut texts: Vec<String> = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let name = part.split('=').next().unwrap_or(part);
            match texts.last_mut() {
                Some(before) if name.len() < part.len() && !name.contains(':') => {
                    before.push(',');
                    before.push_str(part);
                }
                _ => texts.push(part.to_owned()),
            }
        }
        texts.iter().map(|text| Format::read(text, seats)).collect()
    }

    /// The same format with other options: `KEY=VALUE`, with commas between them.
    pub fn with_options(&self, options: &str) -> Result<Format, String> {
        let mut fields: Map<String, Value> = match serde_json::to_value(self) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        // The formats that ignore unknown options in old logs do not do so here.
        let (name, known) = (self.name(), self.options());
        for option in options.split(',') {
            let (key, value) = option.split_once('=').ok_or_else(|| {
                format!("{option:?} is no option; write KEY=VALUE, such as rounds=7")
            })?;
            let key = key.trim().replace('-', "_");
            if !known.contains(&key) {
                return Err(match known.is_empty() {
                    true => format!("{name} has no options"),
                    false => format!("{name} has no option {key}; there are: {}", known.join(", ")),
                });
            }
            fields.insert(key, read_value(value.trim()));
        }
        let read = serde_json::from_value(Value::Object(fields));
        read.map_err(|error| format!("\"{name}:{options}\": {error}"))
    }

    /// The names of the options of this format, from its schema.
    pub fn options(&self) -> Vec<String> {
        let schema = schemars::schema_for!(Format);
        let kinds = schema.get("oneOf").and_then(Value::as_array).cloned().unwrap_or_default();
        let own = kinds.iter().find(|kind| kind["properties"]["kind"]["const"] == self.name());
        let reference = own.and_then(|own| own["$ref"].as_str());
        let name = reference.and_then(|path| path.rsplit('/').next());
        let defined = name.and_then(|name| schema.get("$defs")?.get(name));
        let fields = |schema: Option<&Value>| -> Vec<String> {
            let fields = schema.and_then(|schema| schema["properties"].as_object());
            fields.into_iter().flat_map(|fields| fields.keys().cloned()).collect()
        };
        let mut names = fields(own);
        names.extend(fields(defined));
        names.retain(|name| !NO_OPTIONS.contains(&name.as_str()));
        names.sort();
        names
    }
}

fn stage(text: &str, seats: &RangeInclusive<usize>) -> Result<Stage, String> {
    let Some(rest) = text.strip_prefix("top ").map(str::trim_start) else {
        return Ok(Stage { format: one(text, seats)?, players: None });
    };
    let (count, format) = rest.split_once(' ').unwrap_or((rest, "bracket"));
    let players = count
        .parse()
        .map_err(|_| format!("{text:?}: `top` needs a number of players, such as \"top 8\""))?;
    Ok(Stage { format: one(format.trim(), seats)?, players: Some(players) })
}

fn one(text: &str, seats: &RangeInclusive<usize>) -> Result<Format, String> {
    let (name, options) = text.split_once(':').unwrap_or((text, ""));
    let usual = Format::named(name.trim(), seats).ok_or_else(|| {
        let known: Vec<&str> = Format::all(seats).iter().map(Format::name).collect();
        format!("there is no format {:?}; there are: {}", name.trim(), known.join(", "))
    })?;
    if options.trim().is_empty() {
        return Ok(usual);
    }
    usual.with_options(options)
}

/// The text from which [`read_value`] reads this value.
fn write_value(value: &Value) -> String {
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match value {
        Value::Array(words) if !words.is_empty() => {
            words.iter().map(word).collect::<Vec<_>>().join("+")
        }
        value => word(value),
    }
}

/// A list of words is written with `+`: `tie_breaks=buchholz+points`. No option is a word alone, so
/// one word is a list as well.
fn read_value(text: &str) -> Value {
    let word = |text: &str| serde_json::from_str(text).unwrap_or(Value::String(text.into()));
    match word(text) {
        Value::String(words) => Value::Array(words.split('+').map(word).collect()),
        value => value,
    }
}
