//! Holds every answer a test gets against the OpenAPI document: a status that is not in it, or a
//! body of another shape, fails the test.

#[path = "../../../wire/tests/schemas/validate.rs"]
mod validate;

use super::http::Reply;
use agon_server::web::openapi;
use serde_json::Value;

/// The path of the document that an address is of; of several, the one with fewest names.
fn template(address: &str) -> Option<&'static str> {
    let path = address.split('?').next().unwrap_or_default();
    let pieces: Vec<&str> = path.split('/').collect();
    let fits = |template: &str| {
        let own: Vec<&str> = template.split('/').collect();
        let mut both = own.iter().zip(&pieces);
        own.len() == pieces.len() && both.all(|(own, piece)| own.starts_with('{') || own == piece)
    };
    let all = openapi()["paths"].as_object().unwrap().keys();
    all.filter(|path| fits(path)).min_by_key(|path| path.matches('{').count()).map(String::as_str)
}

fn operation(method: &str, address: &str) -> Option<&'static Value> {
    openapi()["paths"][template(address)?].get(method.to_ascii_lowercase())
}

/// Checks an answer to a request.
pub(crate) fn check(method: &str, address: &str, reply: &Reply) {
    let status = reply.status;
    let Some(operation) = operation(method, address) else {
        let expected = if template(address).is_some() { 405 } else { 404 };
        assert_eq!(status, expected, "{method} {address} is not in the document: {reply:?}");
        return;
    };
    let answer = operation["responses"].get(status.to_string());
    let answer =
        answer.unwrap_or_else(|| panic!("{method} {address}: no {status} in the document"));
    let Some(content) = answer.get("content") else {
        assert!(reply.body.is_empty(), "{method} {address}: a body: {reply:?}");
        return;
    };
    let media = reply.headers.get("content-type").map_or("", String::as_str);
    let schema = content.get(media).map(|content| &content["schema"]);
    let schema = schema.unwrap_or_else(|| panic!("{method} {address}: no {media:?} in {content}"));
    if media.ends_with("json") {
        fits(&format!("{method} {address}"), schema, &reply.json());
    }
}

/// Checks the data of an event.
pub(crate) fn check_event(address: &str, data: &str) {
    let operation = operation("get", address).expect("events are in the document");
    let schema = &operation["responses"]["200"]["content"]["text/event-stream"]["schema"];
    fits(&format!("an event of {address}"), schema, &serde_json::from_str(data).unwrap());
}

fn fits(what: &str, schema: &Value, value: &Value) {
    let faults = validate::faults(openapi(), schema, value);
    assert!(faults.is_empty(), "{what}: {value}\n{}", faults.join("\n"));
}
