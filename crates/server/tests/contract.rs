//! The OpenAPI document against the routes, the pages and who may do what.

#[expect(dead_code, reason = "every test file uses its own part")]
mod support;

use agon_server::web::openapi;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use support::Server;

const METHODS: [&str; 5] = ["get", "post", "put", "delete", "patch"];

/// Every operation: method, path, and what the document says of it.
fn operations() -> Vec<(&'static str, &'static str, &'static Value)> {
    let paths = openapi()["paths"].as_object().unwrap();
    let all = paths.iter().flat_map(|(path, operations)| {
        let operations = operations.as_object().unwrap().iter();
        operations.map(move |(method, operation)| (method.as_str(), path.as_str(), operation))
    });
    all.collect()
}

/// A path with something for every name in it.
fn filled(path: &str) -> String {
    let names = [
        ("{name}", "ann"),
        ("{id}", "cup"),
        ("{match}", "r1m1"),
        ("{game}", "1"),
        ("{player}", "ann"),
        ("{other}", "bob"),
        ("{schema}", "native"),
        ("{page}", "native.md"),
        ("{folder}/{file}", "lib/api.js"),
        ("{file}", "app.js"),
    ];
    let path = names.iter().fold(path.to_owned(), |path, (name, value)| path.replace(name, value));
    assert!(!path.contains('{'), "{path}");
    path
}

fn send(server: &Server, method: &str, path: &str, token: Option<&str>, body: &Value) -> u16 {
    server.http(&method.to_uppercase(), path, token, &body.to_string()).status
}

fn registered(server: &Server, account: &str) -> String {
    let body = json!({"account": account, "password": "the pw of all"});
    assert_eq!(send(server, "post", "/api/v1/accounts", None, &body), 201);
    log_in(server, account)
}

fn log_in(server: &Server, account: &str) -> String {
    let body = json!({"account": account, "password": "the pw of all"}).to_string();
    let reply = server.http("POST", "/api/v1/sessions", None, &body).expect(201);
    reply.json()["token"].as_str().unwrap().to_owned()
}

#[test]
fn the_document_names_exactly_the_methods_the_router_takes() {
    let server = Server::start();
    let served = server.http("GET", "/api/v1/openapi.json", None, "").expect(200).json();
    assert_eq!(served, *openapi());
    assert_eq!(served["openapi"], "3.1.0");
    for (path, operations) in served["paths"].as_object().unwrap() {
        let address = filled(path);
        for method in METHODS {
            // The answer, documented or not, must be the one the document leads to:
            // the client of these tests checks that, 405 included.
            let status = send(&server, method, &address, None, &json!(null));
            let known = operations.get(method).is_some();
            assert_eq!(status != 405, known, "{method} {path}: {status}");
        }
    }
}

/// Routes come from one list, which is the document's as well.
#[test]
fn there_is_one_place_where_routes_are_made() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/web");
    let mut made = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let calls = [".route(", ".nest(", ".merge(", ".fallback(", ".route_service("];
        made += calls.iter().map(|call| text.matches(call).count()).sum::<usize>();
    }
    assert_eq!(made, 1, "routes.rs has all routes");
}

#[test]
fn the_page_and_the_document_tell_of_the_same_routes() {
    let page = include_str!("../../../docs/protocol/http.md");
    // A heading of its own, or a row of a table.
    let on_page = page.lines().filter_map(|line| match line.strip_prefix("### ") {
        Some(heading) => heading.split_once(' '),
        None => line.strip_prefix("| `")?.split_once('`')?.0.split_once(' '),
    });
    let on_page: BTreeSet<(String, String)> = on_page
        .filter(|(_, path)| path.starts_with('/'))
        .map(|(method, path)| (method.to_lowercase(), path.to_owned()))
        .collect();
    let known = operations().into_iter().map(|(method, path, _)| (method.into(), path.into()));
    let known: BTreeSet<(String, String)> = known.collect();
    let missing: Vec<_> = known.difference(&on_page).collect();
    assert!(missing.is_empty(), "not on the page: {missing:?}");
    let gone: Vec<_> = on_page.difference(&known).collect();
    assert!(gone.is_empty(), "on the page, and nowhere else: {gone:?}");
}

/// Every reference leads somewhere, every operation has a name of its own, and no schema uses a
/// word that the validator of these tests does not look at.
#[test]
fn the_document_is_sound() {
    fn references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(Value::as_str).map(str::to_owned));
                fields.values().for_each(|field| references(field, found));
            }
            Value::Array(list) => list.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    references(openapi(), &mut found);
    assert!(found.len() > 50, "{}", found.len());
    for reference in found {
        let path = reference.strip_prefix('#').unwrap_or_default();
        assert!(openapi().pointer(path).is_some(), "{reference} leads nowhere");
    }
    let ids = operations().into_iter().map(|(_, _, operation)| operation["operationId"].as_str());
    let ids: Vec<&str> = ids.map(|id| id.expect("operations have ids")).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{ids:?}");
}

/// The authorisation that the document requires.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Needs {
    Nothing,
    PerhapsToken,
    Token,
    Owner,
    Operator,
}

fn needs(operation: &Value) -> Needs {
    let schemes = operation["security"].as_array().expect("every operation says who may ask");
    let has = |name: &str| schemes.iter().any(|scheme| scheme.get(name).is_some());
    let nobody = schemes.iter().any(|scheme| scheme.as_object().is_some_and(|s| s.is_empty()));
    match (has("token"), has("operator"), nobody) {
        (false, false, false) => Needs::Nothing,
        (true, false, true) => Needs::PerhapsToken,
        (true, false, false) => Needs::Token,
        (true, true, false) => Needs::Owner,
        (false, true, false) => Needs::Operator,
        other => panic!("{other:?}: {operation}"),
    }
}

/// The access rules of every operation in the document: without a token, with a token that never
/// existed, an expired, a revoked, another account's, and the right one.
#[test]
fn routes_accept_only_tokens_with_the_needed_right() {
    let past = Server::with_tokens_for(0);
    let expired = registered(&past, "ann");
    let server = Server::start();
    registered(&server, "ann");
    let revoked = log_in(&server, "ann");
    assert_eq!(send(&server, "delete", "/api/v1/sessions", Some(&revoked), &json!(null)), 204);
    registered(&server, "bob");
    server.register_operator("olga", "the pw of all");
    let mut counts = [0; 5];
    for (method, path, operation) in operations() {
        let (address, needs) = (filled(path), needs(operation));
        counts[needs as usize] += 1;
        let ask = |server: &Server, token: Option<&str>| {
            let status = send(server, method, &address, token, &json!({}));
            (status, format!("{method} {path} ({needs:?}): {status}"))
        };
        let (status, what) = ask(&server, None);
        let open = matches!(needs, Needs::Nothing | Needs::PerhapsToken);
        // Logging in is open, and says 401 to who does not: never to an empty form.
        assert_eq!(status != 401, open, "{what}");
        let ignored = needs == Needs::Nothing;
        for (server, bad) in
            [(&past, expired.as_str()), (&server, revoked.as_str()), (&server, "nonsense")]
        {
            let (status, what) = ask(server, Some(bad));
            assert_eq!(status != 401, ignored, "with a bad token, {what}");
        }
        // Tokens that are good, made anew: some operations revoke them.
        let (status, what) = ask(&server, Some(&log_in(&server, "bob")));
        let refused = matches!(needs, Needs::Owner | Needs::Operator);
        assert_eq!([401, 403].contains(&status), refused, "with another's token, {what}");
        assert!(!refused || status == 403, "{what}");
        let (status, what) = ask(&server, Some(&log_in(&server, "olga")));
        assert!(![401, 403].contains(&status), "with an operator's token, {what}");
        if needs == Needs::Owner {
            let (status, what) = ask(&server, Some(&log_in(&server, "ann")));
            assert!(![401, 403].contains(&status), "with its own token, {what}");
        }
    }
    assert!(counts[Needs::Nothing as usize] > 10 && counts[Needs::Token as usize] > 5);
    assert!(counts[Needs::Operator as usize] > 10, "{counts:?}");
}

#[test]
fn schemas_are_served() {
    let server = Server::start();
    for name in ["native", "yahtzee", "fish", "trains"] {
        let path = format!("/api/v1/schemas/{name}");
        let served = server.http("GET", &path, None, "").expect(200).json();
        let kept = format!("../../docs/protocol/schemas/{name}.json");
        let kept = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(kept);
        let kept: Value = serde_json::from_str(&std::fs::read_to_string(kept).unwrap()).unwrap();
        assert_eq!(served, kept);
    }
    server.http("GET", "/api/v1/schemas/chess", None, "").expect(404);
}
