//! A node whose database cannot be reached.

use crate::nodes::Cluster;
use crate::support::{Client, Place, until};

#[test]
fn node_without_its_database_is_not_ready_and_charges_nobody() {
    let mut cluster = Cluster::new("");
    let a = cluster.node("a");
    a.await_ready();
    let mut ann = Client::logged_in(&a.tcp, "ann");
    cluster.server.kill();
    until("the node is not ready", || {
        let answer = a.get("/healthz?ready");
        answer.is_some_and(|(status, body)| status == 503 && body.contains("database"))
    });
    assert_eq!(a.get("/healthz").map(|(status, _)| status), Some(200), "it is alive");
    cluster.server.resume();
    a.await_ready();
    let said = cluster.said_by(&a);
    assert!(said.contains("all clocks stand still"), "{said}");
    // The connection stays open, unless the database took long to start on a busy machine.
    if said.contains("all clocks continue") && !said.contains("closes its connections") {
        ann.say(r#"{"type":"ping"}"#);
        ann.hear_until("pong");
    }
    // After a longer time the node closes its connections, and waits for the database.
    cluster.server.kill();
    ann.rest();
    a.await_standby();
    cluster.server.resume();
    a.await_ready();
    Client::logged_in(&a.tcp, "ann");
    cluster.check();
}

#[test]
fn errors_of_the_database_say_what_to_do() {
    let cluster = Cluster::new("");
    let place = Place::new("");
    let port = cluster.server.port();
    let serve = |url: &str| {
        place.agon(&["serve", "--tcp", "127.0.0.1:0", "--http", "127.0.0.1:0", "--store", url])
    };
    let cases = [
        (format!("postgres://agon@127.0.0.1:{port}/missing"), 5, "createdb"),
        ("postgres://agon:secret@127.0.0.1:1/agon".to_owned(), 1, "start PostgreSQL"),
        ("mysql://agon@127.0.0.1/agon".to_owned(), 2, "postgres://USER"),
    ];
    for (url, code, next) in cases {
        let (ended, said) = serve(&url);
        assert_eq!(ended, Some(code), "{said}");
        assert!(said.contains(next) && !said.contains("secret"), "{said}");
    }
    for (bus, next) in [("nats://127.0.0.1:1", "--store"), ("http://127.0.0.1:1", "nats://HOST")] {
        let (ended, said) = place.agon(&["serve", "--bus", bus]);
        assert!(ended == Some(2) && said.contains(next), "{said}");
    }
    let bus = ["--store", &cluster.url, "--bus", "nats://127.0.0.1:1", "--engine-threads", "2"];
    let (ended, said) = place.agon(&[&["serve"], &bus[..]].concat());
    assert!(ended == Some(2) && said.contains("leave engine_threads out"), "{said}");
}

#[test]
fn node_that_plays_goes_on_when_its_database_is_back() {
    let mut cluster = Cluster::new("");
    let a = cluster.node("a");
    a.await_ready();
    let b = cluster.node("b");
    until("node b knows the owner", || cluster.said_by(&b).contains("this one stands by"));
    let claims = |cluster: &Cluster| {
        let (_, said) =
            cluster.place.agon(&["cluster", "status", "--json", "--store", &cluster.url]);
        serde_json::from_str::<serde_json::Value>(&said).expect("a status")["claims"].clone()
    };
    let before = claims(&cluster);
    cluster.server.kill();
    until("the lease has expired", || cluster.said_by(&a).contains("all clocks stand still"));
    cluster.server.resume();
    a.await_ready();
    b.await_standby();
    // Unless the database took so long that the node gave up its connections.
    if cluster.said_by(&a).contains("all clocks continue") {
        assert_eq!(claims(&cluster), before, "no other node took over");
    }
}
