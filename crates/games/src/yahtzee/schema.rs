//! JSON Schemas of the types that Yahtzee serializes by hand.

use super::answer::Answer;
use super::boxes::{Boxes, ScoreBox};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

impl JsonSchema for Boxes {
    fn schema_name() -> Cow<'static, str> {
        "Boxes".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names = ScoreBox::ALL.map(ScoreBox::name);
        let points = json!({"type": ["integer", "null"], "minimum": 0});
        let boxes: Map<String, Value> =
            names.iter().map(|name| ((*name).to_owned(), points.clone())).collect();
        json_schema!({
            "description": "The points in each box, null where it is empty.",
            "type": "object",
            "properties": boxes,
            "required": names,
            "additionalProperties": false,
        })
    }
}

impl JsonSchema for Answer {
    fn schema_name() -> Cow<'static, str> {
        "Answer".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        // The rules reject more dice than a turn has; the schema does not.
        let values = json!({"type": "array", "items": {"type": "integer"}});
        json_schema!({
            "description": "The reply of a seat.",
            "anyOf": [
                {
                    "description": "To `keep`: the dice it keeps, by place or by value.",
                    "type": "object",
                    "properties": {
                        "keep": {
                            "anyOf": [
                                {
                                    "type": "array",
                                    "items": {"type": "boolean"},
                                    "minItems": 5,
                                    "maxItems": 5,
                                },
                                values,
                            ],
                        },
                    },
                    "required": ["keep"],
                    "additionalProperties": false,
                },
                {
                    "description": "To `score`: the box it fills, and what it believes about it.",
                    "type": "object",
                    "properties": {
                        "score": {"enum": ScoreBox::ALL.map(ScoreBox::name)},
                        "dice": values,
                        "points": {"type": "integer"},
                    },
                    "required": ["score"],
                    "additionalProperties": false,
                },
            ],
        })
    }
}
