//! JSON Schemas (draft 2020-12) of a game's messages, derived from its types.

use crate::Game;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// The schemas of a game: `Question` and `View` as they are written, `Answer` and `Config` as they
/// are read.
pub(crate) fn of_game<G: Game>() -> Value {
    let mut written = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let question = written.subschema_for::<G::Question>();
    let view = written.subschema_for::<G::View>();
    let read = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut read = read.for_deserialize().into_generator();
    let answer = read.subschema_for::<G::Answer>();
    let config = read.subschema_for::<G::Config>();
    let mut defs: Map<String, Value> = written.take_definitions(true);
    // A type without a name of its own (a number, a list) gets this one.
    defs.entry("Question").or_insert(question.into());
    defs.entry("View").or_insert(view.into());
    defs.insert("Answer".into(), without_default(answer.into()));
    defs.insert("Config".into(), without_default(config.into()));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": G::NAME,
        "description": "`$defs` has Question and View, which Agon sends, and Answer and Config, \
            which it reads.",
        "$defs": defs,
    })
}

/// Removes defaults, which may be as large as a map; the game's documentation states them.
fn without_default(mut schema: Value) -> Value {
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        for property in properties.values_mut().filter_map(Value::as_object_mut) {
            property.remove("default");
        }
    }
    schema
}
