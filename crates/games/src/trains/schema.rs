//! JSON Schemas of the types that Trains serializes by hand.

use super::{Color, Map, NAME_LEN_MAX, Name};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;

impl JsonSchema for Name {
    fn schema_name() -> Cow<'static, str> {
        "Name".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The name of a city.",
            "type": "string",
            "minLength": 1,
            "maxLength": NAME_LEN_MAX,
            "pattern": "^[a-zA-Z0-9 .,]+$",
        })
    }
}

impl JsonSchema for Map {
    fn schema_name() -> Cow<'static, str> {
        "Map".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let name = generator.subschema_for::<Name>();
        let size = |most| json_schema!({"type": "integer", "minimum": 0, "maximum": most});
        let spot = json_schema!({
            "type": "array",
            "items": size(800),
            "minItems": 2,
            "maxItems": 2,
        });
        let lengths = json_schema!({
            "type": "object",
            "propertyNames": {"enum": Color::ALL},
            "additionalProperties": {"type": "integer", "minimum": 3, "maximum": 5},
        });
        let targets = json_schema!({"type": "object", "additionalProperties": lengths});
        json_schema!({
            "description": "A map: cities with their places, and connections by city, city, colour.",
            "type": "object",
            "properties": {
                "width": size(800),
                "height": size(800),
                "cities": {
                    "type": "array",
                    "items": {
                        "type": "array",
                        "prefixItems": [name, spot],
                        "minItems": 2,
                        "maxItems": 2,
                    },
                },
                "connections": {"type": "object", "additionalProperties": targets},
            },
            "required": ["width", "height", "cities", "connections"],
            "additionalProperties": false,
        })
    }
}
