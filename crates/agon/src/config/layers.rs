//! Settings from several sources: flags override environment variables, which override the file.
//!
//! This module tracks the source of each setting. `settings` lists all settings, and `serve`
//! interprets them.

use super::settings::{Kind, SETTINGS};
use crate::exit::Misuse;
use anyhow::Result;
use std::collections::BTreeMap;
use std::ffi::OsString;

/// The prefix of our environment variables.
const PREFIX: &str = "AGON_";

/// Prefixes that only settings have. An unknown variable with such a prefix is an error.
const TABLES: [&str; 3] = ["AGON_ERLANG_", "AGON_LIMITS_", "AGON_TLS_"];

/// Our variables that are not settings of a server.
const OTHERS: [&str; 5] =
    ["AGON_CONFIG", "AGON_CACHE", "AGON_PASSWORD", "AGON_TOKEN", "AGON_SERVER"];

/// Where a setting comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    File,
    Variable(String),
    Flag(String),
}

/// The settings that were found, and their sources.
#[derive(Debug, Default)]
pub(crate) struct Layers {
    /// The file, overridden by the variables.
    pub(crate) table: toml::Table,
    sources: BTreeMap<String, Source>,
    /// Unknown variables with our prefix.
    pub(crate) unknown: Vec<String>,
}

impl Layers {
    /// Starts with the contents of a file.
    pub(crate) fn over(file: toml::Table) -> Layers {
        let mut layers = Layers { table: file, ..Layers::default() };
        for setting in SETTINGS {
            if value_at(&layers.table, setting.path).is_some() {
                layers.sources.insert(setting.path.to_owned(), Source::File);
            }
        }
        layers
    }

    /// Overrides the file by those variables that are settings. `fits` checks a table with one
    /// setting.
    pub(crate) fn take_variables(
        &mut self,
        variables: impl Iterator<Item = (OsString, OsString)>,
        fits: impl Fn(toml::Table) -> Result<(), String>,
    ) -> Result<(), Misuse> {
        let ours = variables.filter_map(|(name, value)| {
            let name = name.into_string().ok().filter(|name| name.starts_with(PREFIX))?;
            (!value.is_empty()).then_some((name, value))
        });
        let mut ours: Vec<(String, OsString)> = ours.collect();
        ours.sort();
        for (name, value) in ours {
            let known = SETTINGS.iter().find(|setting| variable(setting.path) == name);
            let Some((path, kind)) = known.map(|setting| (setting.path, setting.kind)) else {
                if TABLES.iter().any(|table| name.starts_with(table)) {
                    return Err(Misuse(format!(
                        "unknown environment variable {name}: there is no \
                        such setting; unset it"
                    )));
                }
                if !OTHERS.contains(&name.as_str()) {
                    self.unknown.push(name);
                }
                continue;
            };
            let text = value.to_str().ok_or_else(|| {
                Misuse(format!(
                    "invalid environment variable \
                {name}: the value is not UTF-8"
                ))
            })?;
            let value = match kind {
                Kind::Text => toml::Value::String(text.to_owned()),
                Kind::Number => match text.parse::<u64>().ok().and_then(|n| n.try_into().ok()) {
                    Some(number) => toml::Value::Integer(number),
                    None => {
                        return Err(Misuse(format!(
                            "invalid environment variable {name}: \
                        {text:?} is not a whole number"
                        )));
                    }
                },
                Kind::Switch => match text.parse() {
                    Ok(switch) => toml::Value::Boolean(switch),
                    Err(_) => {
                        return Err(Misuse(format!(
                            "invalid environment variable {name}: {text:?} \
                            is neither true nor false"
                        )));
                    }
                },
                Kind::List => {
                    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
                    toml::Value::Array(parts.map(|part| part.to_owned().into()).collect())
                }
            };
            let mut alone = toml::Table::new();
            put(&mut alone, path, value.clone());
            fits(alone).map_err(|why| Misuse(format!("{name}: {}", why.trim_end())))?;
            put(&mut self.table, path, value);
            self.sources.insert(path.to_owned(), Source::Variable(name));
        }
        Ok(())
    }

    /// Records that a flag gave a setting.
    pub(crate) fn flag(&mut self, path: &str, given: bool) {
        if given {
            let flag = format!("--{}", path.replace(['_', '.'], "-"));
            self.sources.insert(path.to_owned(), Source::Flag(flag));
        }
    }

    /// Where a setting comes from; `None` for a default.
    pub(crate) fn source(&self, path: &str) -> Option<&Source> {
        self.sources.get(path)
    }

    /// All settings in the form of a file, with the source of each.
    pub(crate) fn describe(&self, effective: &serde_json::Value) -> String {
        let lines = SETTINGS.map(|setting| {
            let path = setting.path;
            let place = format!("/{}", path.replace('.', "/"));
            let source = match self.source(path) {
                None => "default".to_owned(),
                Some(Source::File) => "file".to_owned(),
                Some(Source::Variable(name) | Source::Flag(name)) => name.clone(),
            };
            match effective.pointer(&place).filter(|value| !value.is_null()) {
                Some(value) => format!("{path} = {value}  # {source}\n"),
                None => format!("# {path} is not set\n"),
            }
        });
        lines.concat()
    }
}

/// The name of the variable for a setting.
pub(crate) fn variable(path: &str) -> String {
    format!("{PREFIX}{}", path.replace('.', "_").to_ascii_uppercase())
}

fn value_at<'a>(table: &'a toml::Table, path: &str) -> Option<&'a toml::Value> {
    match path.split_once('.') {
        None => table.get(path),
        Some((outer, inner)) => table.get(outer)?.as_table()?.get(inner),
    }
}

fn put(table: &mut toml::Table, path: &str, value: toml::Value) {
    let Some((outer, inner)) = path.split_once('.') else {
        table.insert(path.to_owned(), value);
        return;
    };
    let empty = || toml::Value::Table(toml::Table::new());
    let outer = table.entry(outer).or_insert_with(empty);
    if let Some(outer) = outer.as_table_mut() {
        outer.insert(inner.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_named_after_settings() {
        assert_eq!(variable("data"), "AGON_DATA");
        assert_eq!(variable("limits.connections_max"), "AGON_LIMITS_CONNECTIONS_MAX");
    }
}
