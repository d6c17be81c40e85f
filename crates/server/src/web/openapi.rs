//! The OpenAPI 3.1 document, generated from the list of routes and the types of answers.

use super::problem::{Problem, ProblemDetails};
use super::route::{Access, Route, Shape};
use super::{Answer, Web, routes};
use axum::Json;
use axum::extract::{Path, State};
use axum::response::IntoResponse;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

/// The descriptions of path parameters.
const NAMES: [(&str, &str); 10] = [
    ("name", "The name of an account or a queue."),
    ("id", "The name of a tournament."),
    ("match", "The name of a match: `r2m1` is the first of the second round."),
    ("game", "The name of a game, or the number of one in its match, from 1."),
    ("player", "The name of an account."),
    ("other", "The name of another account."),
    ("schema", "`native`, or the name of a game."),
    ("page", "The name of a page of the documentation, as `native.md`."),
    ("file", "The name of a file of the page, as `app.js`."),
    ("folder", "A folder of the page, as `lib`."),
];

/// The document.
pub fn openapi() -> &'static Value {
    static DOCUMENT: LazyLock<Value> = LazyLock::new(|| document(&routes::all()));
    &DOCUMENT
}

pub(super) async fn show() -> Answer {
    Ok(Json(openapi()).into_response())
}

/// The schemas of the native protocol and of the games.
pub(super) async fn schema(State(web): State<Web>, Path(name): Path<String>) -> Answer {
    if name == "native" {
        return Ok(Json(agon_wire::schema::native()).into_response());
    }
    let games = web.handle.games();
    match games.kind(&name) {
        Some(kind) => Ok(Json(kind.schemas()).into_response()),
        None => {
            let known = games.names().join(", ");
            let detail = format!("there is no schema {name:?}; there are: native, {known}");
            Err(Problem::not_found(detail))
        }
    }
}

fn document(routes: &[Route]) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
    });
    let mut written = settings.for_serialize().into_generator();
    let problem = Value::from(written.subschema_for::<ProblemDetails>());
    let mut paths: Map<String, Value> = Map::new();
    for route in routes {
        let operation = operation(route, &mut written, &problem);
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method] = operation;
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Agon",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Tournaments of turn-based games. docs/protocol/http.md says more. Within \
                /api/v1 fields may be added, and none is removed or changes its meaning.",
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": written.take_definitions(true),
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The token of an account: POST /api/v1/sessions.",
                },
                "operator": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The token of an operator.",
                },
            },
        },
    })
}

fn operation(route: &Route, written: &mut SchemaGenerator, problem: &Value) -> Value {
    let mut answers: Map<String, Value> = Map::new();
    for given in &route.gives {
        let answer = answers.entry(given.status.to_string());
        let answer = answer.or_insert_with(|| json!({"description": given.tells}));
        if let Some((media, shape)) = given.body {
            answer["content"][media] = json!({"schema": shape(written)});
        }
    }
    for status in route.problems() {
        let content = json!({"application/problem+json": {"schema": problem}});
        let answer = json!({"description": meaning(status), "content": content});
        answers.insert(status.to_string(), answer);
    }
    let mut operation = json!({
        "operationId": operation_id(route),
        "summary": route.tells,
        "parameters": parameters(route),
        "responses": answers,
        "security": security(route.access),
    });
    if route.access == Access::Owner {
        operation["x-owner"] = json!(route.names().next());
    }
    if let Some(shape) = route.takes {
        let content = json!({"application/json": {"schema": read(shape)}});
        operation["requestBody"] = json!({"required": route.needs_body, "content": content});
    }
    operation
}

/// A shape for reading. It is inlined, because what is read and what is written may differ.
fn read(shape: Shape) -> Value {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    shape(&mut settings.for_deserialize().into_generator()).into()
}

fn parameters(route: &Route) -> Vec<Value> {
    let in_path = route.names().map(|name| {
        let known = NAMES.iter().find(|(known, _)| *known == name);
        let (_, tells) = known.expect("names in paths are described");
        json!({
            "name": name,
            "in": "path",
            "required": true,
            "description": tells,
            "schema": {"type": "string"},
        })
    });
    let mut all: Vec<Value> = in_path.collect();
    let query = route.query.map(read).unwrap_or_default();
    for (name, schema) in query["properties"].as_object().into_iter().flatten() {
        all.push(json!({"name": name, "in": "query", "required": false, "schema": schema}));
    }
    all
}

fn security(access: Access) -> Value {
    match access {
        Access::Anybody => json!([]),
        Access::PerhapsToken => json!([{}, {"token": []}]),
        Access::Token => json!([{"token": []}]),
        Access::Owner => json!([{"token": []}, {"operator": []}]),
        Access::Operator => json!([{"operator": []}]),
    }
}

/// `get /api/v1/accounts/{name}` is `get-accounts-name`.
fn operation_id(route: &Route) -> String {
    let path = route.path.trim_start_matches("/api/v1").trim_start_matches('/');
    let plain = path.replace(['{', '}'], "").replace(['/', '.'], "-");
    format!("{}-{plain}", route.method)
}

fn meaning(status: u16) -> &'static str {
    match status {
        400 => "The body is not JSON, or the address cannot be read.",
        401 => "No token, or one that is not good (any more); a wrong password.",
        403 => "Known, but not allowed.",
        404 => "There is no such thing.",
        408 => "The body did not arrive in time.",
        409 => "It cannot be done as things stand.",
        413 => "The body is too long.",
        415 => "The body is not sent as application/json.",
        421 => "The server is not known by this name; the setting `hosts` lists its names.",
        422 => "JSON, but not what is needed.",
        426 => "The page speaks WebSocket only.",
        429 => "Too much from one address; `retry-after` says how many seconds to wait.",
        500 => "A fault of the server.",
        503 => "Too many requests, or the server is stopping; try again.",
        other => unreachable!("no route answers with {other}"),
    }
}
