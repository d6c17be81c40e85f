//! The operator's view of a server: the start page, health checks, and metrics that add up.

#[expect(dead_code, reason = "every test file uses its own part")]
mod support;

use std::collections::BTreeMap;
use std::io::Write;
use support::{Server, Setup, announcement, named, player, until};

/// All metrics, by name and labels.
fn metrics(server: &Server) -> BTreeMap<String, f64> {
    let text = server.http("GET", "/metrics", None, "").expect(200).body;
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let samples = lines.map(|line| {
        let (name, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{line:?}"));
        (name.to_owned(), value.parse().unwrap_or_else(|_| panic!("{line:?}")))
    });
    let samples: Vec<(String, f64)> = samples.collect();
    let (count, samples) = (samples.len(), samples.into_iter().collect::<BTreeMap<_, _>>());
    assert_eq!(samples.len(), count, "every sample once: {text}");
    samples
}

fn sum(metrics: &BTreeMap<String, f64>, name: &str, label: &str) -> f64 {
    let own = metrics.iter().filter(|(key, _)| {
        key.split('{').next() == Some(name) && (label.is_empty() || key.contains(label))
    });
    own.map(|(_, value)| value).sum()
}

/// The protocol page's table of metrics.
fn assert_adds_up(metrics: &BTreeMap<String, f64>) {
    let total = |name: &str| sum(metrics, name, "");
    for what in ["tournaments", "matches"] {
        let ended = total(&format!("agon_{what}_ended_total"));
        let running = total(&format!("agon_{what}_running"));
        assert_eq!(total(&format!("agon_{what}_started_total")), ended + running, "{metrics:?}");
    }
    for transport in ["transport=\"tcp\"", "transport=\"websocket\""] {
        let opened = sum(metrics, "agon_connections_opened_total", transport);
        let closed = sum(metrics, "agon_connections_closed_total", transport);
        let open = sum(metrics, "agon_connections", transport);
        assert_eq!(opened, closed + open, "{metrics:?}");
    }
    let histograms = metrics.keys().filter_map(|key| key.strip_suffix("_count"));
    let mut seen = 0;
    for name in histograms {
        let all = metrics[&format!("{name}_bucket{{le=\"+Inf\"}}")];
        assert_eq!(metrics[&format!("{name}_count")], all, "{name}");
        seen += 1;
    }
    assert_eq!(seen, 8);
}

#[test]
fn counted_metrics_add_up() {
    let server = Server::start();
    let before = metrics(&server);
    assert_adds_up(&before);
    let ann = player(&server, "ann", "greedy");
    let mut cup = announcement("cup", "yahtzee-class", 3, 2);
    cup.selection = named(&["ann", "house:random"]);
    server.announce(cup);
    until("the cup is over", || {
        assert_adds_up(&metrics(&server));
        server.finished("cup").is_some()
    });
    let mut socket = server.connect_websocket();
    socket.say(r#"{"type":"hello","protocol":1,"name":"test"}"#);
    socket.say(r#"{"type":"login","account":"ann","password":"wrong"}"#);
    socket.expect_soon("error");
    let now = metrics(&server);
    assert_eq!(now["agon_tournaments_ended_total"], 1.0);
    assert_eq!(now["agon_matches_ended_total"], 1.0);
    assert_eq!(now["agon_connections{transport=\"tcp\"}"], 1.0);
    assert_eq!(now["agon_connections{transport=\"websocket\"}"], 1.0);
    assert_eq!(now["agon_logins_total{outcome=\"good\"}"], 1.0);
    assert_eq!(now["agon_logins_total{outcome=\"wrong\"}"], 1.0);
    // Every decision was a record that was committed, and a message that waited for the engine.
    assert!(now["agon_decisions_total"] > 50.0, "{now:?}");
    assert!(now["agon_commit_records_sum"] >= now["agon_decisions_total"] / 2.0, "{now:?}");
    assert!(now["agon_commit_seconds_sum"] > 0.0, "{now:?}");
    assert!(now["agon_commit_seconds_count"] == now["agon_commit_records_count"]);
    assert!(now["agon_inbox_wait_seconds_count"] > 25.0, "{now:?}");
    assert!(now["agon_turn_seconds_count"] > 20.0, "{now:?}");
    assert_eq!(sum(&now, "agon_faults_total", ""), 0.0);
    assert_eq!(now["agon_commit_refused_total"], 0.0);
    drop(ann);
    until("she is gone", || {
        metrics(&server)
            .get("agon_connections_closed_total{transport=\"tcp\",reason=\"left\"}")
            .is_some_and(|count| *count == 1.0)
    });
}

/// A connection that is logged in.
fn logged_in(server: &Server, name: &str) -> support::Client {
    let mut client = server.connect();
    client.say(r#"{"type":"hello","protocol":1,"name":"test"}"#);
    client.say(&format!(
        r#"{{"type":"login","account":"{name}","password":"the pw of all","register":true}}"#
    ));
    client.expect("welcome", name);
    client
}

#[test]
fn why_connections_end_is_counted() {
    let mut setup = Setup::default();
    setup.limits.login_ms_max = 100;
    let server = Server::with(setup);
    let ended = |server: &Server, why: &str| {
        sum(&metrics(server), "agon_connections_closed_total", &format!("reason=\"{why}\""))
    };
    let mut silent = server.connect();
    while silent.hear().is_some() {}
    until("it took too long", || ended(&server, "login-timeout") == 1.0);
    let mut setup = Setup::default();
    (setup.limits.lines_per_second_max, setup.limits.lines_burst_max) = (100, 20);
    let server = Server::with(setup);
    let mut first = logged_in(&server, "ann");
    let mut second = logged_in(&server, "ann");
    while first.hear().is_some() {}
    until("it was taken over", || ended(&server, "taken-over") == 1.0);
    second.say(r#"{"type":"logout"}"#);
    while second.hear().is_some() {}
    until("it logged out", || ended(&server, "logged-out") == 1.0);
    let mut flood = server.connect();
    (0..200).for_each(|_| drop(flood.to.write_all(b"garbage\n")));
    while flood.hear().is_some() {}
    until("it was too much", || ended(&server, "flood") == 1.0);
    let now = metrics(&server);
    assert_eq!(now["agon_connections_slowed_total"], 1.0);
    assert_adds_up(&now);
}

#[test]
fn faults_are_counted_by_kind() {
    let server = Server::start();
    let mut ann = logged_in(&server, "ann");
    let mut duel = announcement("duel", "yahtzee-class", 1, 2);
    duel.selection = named(&["ann", "house:greedy"]);
    server.announce(duel);
    while ann.hear().expect("a message")["type"] != "request" {}
    ann.say("garbage");
    until("it is counted", || metrics(&server)["agon_faults_total{kind=\"malformed\"}"] == 1.0);
    assert_eq!(sum(&metrics(&server), "agon_faults_total", ""), 1.0);
    assert_adds_up(&metrics(&server));
}

#[test]
fn the_start_page_shows_what_runs_and_loads_nothing_from_elsewhere() {
    let server = Server::start();
    let page = server.http("GET", "/", None, "").expect(200);
    assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
    let policy = &page.headers["content-security-policy"];
    assert!(policy.starts_with("default-src 'self';"), "{policy}");
    assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"), "{policy}");
    assert!(page.body.contains("There are none yet"), "{}", page.body);
    for inside in ["http://", "https://", "<script>", "style=", "onclick=", "javascript:"] {
        assert!(!page.body.contains(inside), "{inside} in {}", page.body);
    }
    let mut cup = announcement("cup", "yahtzee-class", 1, 2);
    cup.selection = named(&["house:greedy", "house:random"]);
    server.announce(cup);
    until("the cup is on the page", || {
        let page = server.http("GET", "/", None, "").expect(200).body;
        page.contains("/api/v1/tournaments/cup") && page.contains(" won</td>")
    });
    // Every link leads somewhere.
    let page = server.http("GET", "/", None, "").expect(200).body;
    let links = |what: &str| -> Vec<String> {
        page.split(what).skip(1).filter_map(|rest| Some(rest.split('"').next()?.into())).collect()
    };
    let (mut links, files) = (links("href=\""), links("src=\""));
    links.retain(|link| !link.starts_with('#'));
    links.extend(files);
    assert!(links.len() > 8 && links.contains(&"/web/app.js".into()), "{links:?}");
    for link in links {
        let found = server.http("GET", &link, None, "").expect(200);
        assert!(!found.body.is_empty(), "{link}");
    }
    assert!(server.http("GET", "/docs/http.md", None, "").expect(200).body.contains("# The HTTP"));
    server.http("GET", "/docs/..%2FCargo.toml", None, "").expect(404);
    server.http("GET", "/docs/nothing", None, "").expect(404);
    server.http("GET", "/web/lib/..%2Fapp.js", None, "").expect(404);
    server.http("GET", "/web/nothing.js", None, "").expect(404);
}

#[test]
fn signs_of_life() {
    let server = Server::start();
    for path in ["/healthz", "/healthz?ready"] {
        let health = server.http("GET", path, None, "").expect(200).json();
        assert_eq!((&health["status"], &health["ready"]), (&"ok".into(), &true.into()));
        assert!(health["uptime_ms"].is_u64() && health["version"].is_string(), "{health}");
    }
    server.http("GET", "/healthz?redy", None, "").expect(422);
    server.handle.stop();
    server.http("GET", "/healthz?ready", None, "").expect(503);
}
