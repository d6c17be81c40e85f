//! Nodes of different versions over one log, as in a rolling upgrade.

use crate::nodes::{Cluster, Node};
use crate::support::{Client, until};
use agon_core::LOG_VERSION;
use serde_json::Value;

/// A tournament that players may enter while it runs. Nobody answers in this test.
const CUP: &str = r#"{"id": "cup", "preset": "yahtzee-queue",
    "policy": {"format": {"kind": "swiss", "rounds": 3}, "match": {"ties": "share"}},
    "selection": {"by": "named", "players": ["ann", "bob"]}}"#;

/// An order of the operator; returns the status and the reply.
fn order(cluster: &Cluster, node: &Node, path: &str, body: &str) -> (u16, String) {
    let token = std::fs::read_to_string(cluster.place.path("operator.token")).expect("a token");
    node.order(&format!("/api/v1/tournaments{path}"), body, token.trim()).expect("an answer")
}

/// Has the operator enter a player into the cup.
fn enter(cluster: &Cluster, node: &Node) -> (u16, String) {
    let late = r#"{"player": "house:greedy", "why": "a late entry"}"#;
    order(cluster, node, "/cup/enter", late)
}

/// The status of all nodes.
fn status(cluster: &Cluster) -> Value {
    let (_, said) = cluster.place.agon(&["cluster", "status", "--json", "--store", &cluster.url]);
    serde_json::from_str(&said).expect("a status")
}

#[test]
fn new_kinds_of_events_wait_until_every_node_reads_them_and_old_nodes_never_play_then() {
    let cluster = Cluster::new("operator_token_file = \"operator.token\"\n");
    let mut old = cluster.node_of_version("old", 1);
    old.await_ready();
    let mut new = cluster.node("new");
    new.await_standby();
    let name = || {
        let nodes = status(&cluster)["nodes"].as_array().cloned().unwrap_or_default();
        let found = nodes.into_iter().find(|node| node["log_version"] == LOG_VERSION)?;
        found["node"].as_str().map(str::to_owned)
    };
    until("the new node is listed", || name().is_some());
    let name = name().expect("a name");
    let args = ["cluster", "move", "lobby", &name, "--store", &cluster.url];
    assert_eq!(cluster.place.agon(&args).0, Some(0));
    new.await_ready();
    old.await_standby();
    let _players = ["ann", "bob"].map(|name| Client::logged_in(&new.tcp, name));
    let (code, said) = order(&cluster, &new, "", CUP);
    assert_eq!(code, 201, "{said}");
    until("the cup runs", || !cluster.events("tournament/cup").is_empty());
    // The old node stands by, and could not read the record.
    assert_eq!(status(&cluster)["log_version"], 1);
    let (code, said) = enter(&cluster, &new);
    assert!(code == 409 && said.contains("older version"), "{code} {said}");
    old.kill();
    until("the operator may enter a player", || enter(&cluster, &new).0 == 204);
    assert_eq!(status(&cluster)["log_version"], LOG_VERSION);
    until("the entry is recorded", || {
        let mut events = cluster.events("tournament/cup").into_iter();
        events.any(|(_, event)| event["type"] == "player-entered")
    });
    // The old node is started again, and the new one is killed: the old one must not take over.
    let old = cluster.start_again(old);
    until("the old node says why", || cluster.said_by(&old).contains("cannot read"));
    new.kill();
    let new = cluster.start_again(new);
    new.await_ready();
    assert!(!old.is_ready());
    let (_, said) = cluster.place.agon(&["cluster", "status", "--store", &cluster.url]);
    assert!(said.contains("up to version 3, which these nodes cannot read"), "{said}");
}
