//! The JSON Schema (draft 2020-12) of the native protocol, derived from its types.

use crate::native::{Hello, Request, ToLobby, ToPlayer};
use agon_core::RequestId;
use agon_games::Json;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// Messages of a player that are not for the lobby; the codec parses these by hand.
#[derive(JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
#[expect(dead_code, reason = "only its schema is of use")]
enum Played {
    /// Its first line.
    Hello(Hello),
    /// An answer to a request.
    Answer {
        /// The request's id.
        id: RequestId,
        /// The answer; the schema of the game has its form.
        answer: Json,
    },
}

/// The schemas of the protocol's messages: `ToPlayer` is what Agon sends, `FromPlayer` what it reads.
pub fn native() -> Value {
    let mut written = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let sent = [written.subschema_for::<ToPlayer<'_>>(), written.subschema_for::<Request<'_>>()];
    let mut defs = written.take_definitions(true);
    defs.insert(
        "ToPlayer".into(),
        json!({"description": "Messages that Agon sends.", "anyOf": sent}),
    );
    let read = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut read = read.for_deserialize().into_generator();
    let heard = [read.subschema_for::<Played>(), read.subschema_for::<ToLobby>()];
    defs.insert(
        "FromPlayer".into(),
        json!({"description": "Messages that Agon reads.", "anyOf": heard}),
    );
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The native protocol, version 1",
        "description": "`$defs` has ToPlayer, a message that Agon sends, and FromPlayer, one that it \
            reads. Questions, views and answers are those of the game: see its own schema.",
        "$defs": defs,
    })
}
