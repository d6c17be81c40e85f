//! A node that dies, hangs or stops is followed by another one. Nothing accepted is lost or doubled,
//! and nobody is charged.

use crate::nodes::Cluster;
use crate::support::{Client, until};
use rustix::process::Signal;
use serde_json::Value;
use std::time::Instant;

/// A cup that starts when its players are there.
fn cup(players: u32, best_of: u32) -> String {
    format!(
        "reconnect_ms = 120000\n[[tournament]]\nname = \"cup\"\npreset = \"yahtzee-queue\"\n\
         players = {players}\nbest_of = {best_of}\nstart = \"when-ready\"\n"
    )
}

/// Prints how long something takes. No test depends on it.
struct Gap(&'static str, Instant);

impl Gap {
    fn begin(what: &'static str) -> Gap {
        Gap(what, Instant::now())
    }

    fn end(self) {
        eprintln!("{}: {:.2} s", self.0, self.1.elapsed().as_secs_f64());
    }
}

fn grow(cluster: &Cluster, events: u64) {
    let limit = cluster.log_len() + events;
    until("the log has grown", || cluster.log_len() >= limit || cluster.is_over("cup"));
}

#[test]
fn cup_survives_killed_and_stopped_nodes_and_a_restarted_database() {
    let mut cluster = Cluster::new(&cup(4, 5));
    let mut a = cluster.node("a");
    a.await_ready();
    let mut b = cluster.node("b");
    b.await_standby();
    let bots = ["greedy", "random", "greedy", "random"];
    let names = ["p0", "p1", "p2", "p3"];
    let mut players: Vec<_> =
        names.iter().zip(bots).map(|(name, bot)| cluster.player(&[&a, &b], name, bot)).collect();
    until("the cup has begun", || !cluster.events("match/cup").is_empty());
    grow(&cluster, 60);
    let gap = Gap::begin("the other node plays after a kill");
    a.kill();
    b.await_ready();
    gap.end();
    grow(&cluster, 60);
    cluster.server.kill();
    cluster.server.resume();
    let gap = Gap::begin("play goes on after the database is up again");
    grow(&cluster, 1);
    gap.end();
    grow(&cluster, 60);
    let a = cluster.start_again(a);
    a.await_standby();
    let gap = Gap::begin("the other node plays after a stop");
    b.process().signal(Signal::TERM);
    assert_eq!(b.process().code(), Some(0), "a polite stop");
    a.await_ready();
    gap.end();
    until("the cup is over", || cluster.is_over("cup"));
    for player in &mut players {
        assert_eq!(player.code(), Some(0));
    }
    let answers = cluster.check();
    names.iter().for_each(|name| cluster.has_all_answers(name, &answers));
    let (_, metrics) = a.get("/metrics").expect("metrics");
    assert!(metrics.contains("agon_cells_owned 1") && metrics.contains("agon_takeover_seconds "));
}

#[test]
fn player_gets_the_same_request_from_the_next_node_and_the_old_one_is_silent() {
    let cluster = Cluster::new(&cup(2, 1));
    let mut a = cluster.node("a");
    a.await_ready();
    let b = cluster.node("b");
    b.await_standby();
    let mut clients = ["ann", "eve"].map(|name| Client::logged_in(&a.tcp, name));
    until("the cup has begun", || !cluster.events("match/cup").is_empty());
    let request = clients[0].hear_until("request");
    // The machine hangs. The other node takes over, and the player logs in there.
    let gap = Gap::begin("the other node plays after the first one hangs");
    a.process().signal(Signal::STOP);
    b.await_ready();
    gap.end();
    let mut again = Client::logged_in(&b.tcp, "ann");
    assert_eq!(again.hear_until("request")["id"], request["id"]);
    // The player answers the node that hangs as well. Once it wakes up it must not act on that.
    let answer = serde_json::json!({"type": "answer", "id": request["id"], "answer": {}});
    clients[0].say(&answer.to_string());
    let before = cluster.log_len();
    a.process().signal(Signal::CONT);
    let last_words = clients[0].rest();
    let is_goodbye =
        |message: &Value| message["type"] == "notice" && message["about"] == "stopping";
    assert!(last_words.iter().all(is_goodbye), "{last_words:?}");
    a.await_standby();
    let rejected = Client::connect(&a.tcp).rest();
    assert_eq!(rejected[0]["code"], "standby", "{rejected:?}");
    assert!(cluster.said_by(&a).contains("another node has taken over"));
    assert_eq!(cluster.log_len(), before, "the old node wrote nothing");
    cluster.check();
}

/// The name of the node in a role, as `agon cluster status` shows it.
fn node_that(cluster: &Cluster, role: &str) -> Option<String> {
    let (_, said) = cluster.place.agon(&["cluster", "status", "--json", "--store", &cluster.url]);
    let said: Value = serde_json::from_str(&said).ok()?;
    let found = said["nodes"].as_array()?.iter().find(|node| node["role"] == role)?;
    found["node"].as_str().map(str::to_owned)
}

#[test]
fn operator_chooses_the_node_that_plays() {
    let cluster = Cluster::new("");
    let a = cluster.node("a");
    a.await_ready();
    let mut b = cluster.node("b");
    b.await_standby();
    until("both nodes are listed", || node_that(&cluster, "stands by").is_some());
    let order = |args: &[&str]| {
        let (code, said) =
            cluster.place.agon(&[&["cluster"], args, &["--store", &cluster.url]].concat());
        (code, said)
    };
    let (code, said) = order(&["move", "nobody"]);
    assert!(code == Some(2) && said.contains("agon cluster status"), "{said}");
    let (playing, waiting) = (node_that(&cluster, "plays"), node_that(&cluster, "stands by"));
    let first = playing.expect("a node");
    let (code, said) = order(&["drain", &first]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.starts_with(&format!("{} takes over.\n", waiting.expect("a node"))), "{said}");
    b.await_ready();
    // The drained node starts again, is still drained, and takes no work.
    a.await_standby();
    until("the node is drained", || {
        node_that(&cluster, "drained").is_some_and(|drained| drained != first)
    });
    let (playing, drained) = (node_that(&cluster, "plays"), node_that(&cluster, "drained"));
    let (code, said) = order(&["drain", playing.as_deref().expect("a node")]);
    assert!(code == Some(2) && said.contains("start another one first"), "{said}");
    let (code, said) = order(&["move", drained.as_deref().expect("a node")]);
    assert!(code == Some(2) && said.contains("is drained"), "{said}");
    assert_eq!(order(&["drain", drained.as_deref().expect("a node")]).0, Some(0), "it is already");
    assert_eq!(order(&["undrain", drained.as_deref().expect("a node")]).0, Some(0));
    let waiting = node_that(&cluster, "stands by");
    assert_eq!(waiting, drained);
    assert!(b.is_ready());
    let (code, said) = order(&["move", &playing.expect("a node")]);
    assert!(code == Some(0) && said.contains("plays already"), "{said}");
    assert_eq!(order(&["move", &waiting.expect("a node")]).0, Some(0));
    a.await_ready();
    b.await_standby();
    b.process().signal(Signal::TERM);
    assert_eq!(b.process().code(), Some(0), "a node that stands by ends at once");
    assert!(!cluster.said_by(&b).contains("panicked"));
}

#[test]
fn cup_survives_the_promotion_of_a_standby_of_the_database() {
    let mut cluster = Cluster::new(&cup(2, 5));
    let standby = cluster.server.standby();
    let (first, second) = (cluster.server.port().to_string(), standby.port());
    cluster.url = cluster.url.replace(&first, &format!("{first},127.0.0.1:{second}"));
    let a = cluster.node("a");
    a.await_ready();
    assert!(!cluster.said_by(&a).contains("no synchronous standby"));
    let mut players = ["p0", "p1"]
        .map(|name| cluster.player(&[&a], name, "greedy"))
        .into_iter()
        .collect::<Vec<_>>();
    until("the cup has begun", || !cluster.events("match/cup").is_empty());
    grow(&cluster, 60);
    cluster.server.kill();
    standby.promote();
    until("the cup is over", || cluster.is_over("cup"));
    for player in &mut players {
        assert_eq!(player.code(), Some(0));
    }
    let answers = cluster.check();
    ["p0", "p1"].iter().for_each(|name| cluster.has_all_answers(name, &answers));
}

#[test]
fn wrong_clock_of_a_node_changes_no_time_in_the_log() {
    let cluster = Cluster::new(&cup(2, 3));
    let mut a = cluster.node_with_clock("a", "-1h");
    a.await_ready();
    let b = cluster.node_with_clock("b", "+1h");
    b.await_standby();
    let mut players = ["p0", "p1"].map(|name| cluster.player(&[&a, &b], name, "greedy"));
    until("the cup has begun", || !cluster.events("match/cup").is_empty());
    grow(&cluster, 60);
    a.kill();
    until("the cup is over", || cluster.is_over("cup"));
    for player in &mut players {
        assert_eq!(player.code(), Some(0));
    }
    cluster.check();
    let times = cluster.events("").into_iter().filter_map(|(_, event)| event["at"].as_u64());
    let (first, last) =
        times.fold((u64::MAX, 0), |(first, last), at| (first.min(at), last.max(at)));
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = now.expect("a time after 1970").as_millis() as u64;
    let half_an_hour = 30 * 60 * 1000;
    assert!(last - first < half_an_hour, "from {first} to {last}");
    assert!(now.abs_diff(last) < half_an_hour, "{last} is not about {now}");
}
