//! Values held against the JSON Schemas (draft 2020-12) that we publish.

use jsonschema::Validator;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

/// Validators by the text of their schemas: tests check many values against few schemas.
static KNOWN: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);

/// The violations of a schema by a value, with their places. References lead into `root`.
pub(crate) fn faults(root: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let validator = validator(root, schema);
    let errors = validator.iter_errors(value);
    errors.map(|error| format!("{}: {error}", error.instance_path())).collect()
}

fn validator(root: &Value, schema: &Value) -> Arc<Validator> {
    let mut whole = schema.clone();
    for definitions in ["$defs", "components"] {
        if let (Some(found), Some(words)) = (root.get(definitions), whole.as_object_mut()) {
            words.insert(definitions.into(), found.clone());
        }
    }
    let mut known = KNOWN.lock().unwrap();
    let made = || {
        let validator = jsonschema::draft202012::new(&whole);
        Arc::new(validator.unwrap_or_else(|error| panic!("no schema: {error}: {schema}")))
    };
    Arc::clone(known.entry(whole.to_string()).or_insert_with(made))
}
