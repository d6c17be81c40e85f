//! Players on any node: those that stand by carry the connections to the node with the lobby.
//! If a node or the bus is lost, nobody is charged, and players who reconnect get the
//! same requests.

use crate::nodes::{Cluster, Node};
use crate::sharing::three_nodes;
use crate::support::{Client, PATIENCE, Process, until};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A cup of four that starts when its players are there.
fn cup(best_of: u32) -> String {
    format!(
        "reconnect_ms = 120000\n[[tournament]]\nname = \"cup\"\npreset = \"yahtzee-queue\"\n\
         players = 4\nbest_of = {best_of}\nstart = \"when-ready\"\n"
    )
}

/// The addresses of a node for players: of its TCP port, or for WebSockets.
fn address(node: &Node, number: usize) -> String {
    match number.is_multiple_of(2) {
        true => node.tcp.clone(),
        false => format!("ws://{}", node.http),
    }
}

/// Four players who each prefer another node, over TCP and WebSocket by turns.
fn players_everywhere(cluster: &Cluster, nodes: &[Node; 3]) -> Vec<Process> {
    let player = |number: usize| {
        let mut at: Vec<String> = nodes.iter().map(|node| address(node, number)).collect();
        at.rotate_left((number + 1) % nodes.len());
        cluster.player_at(&at.join(","), &format!("p{number}"), "greedy")
    };
    (0..4).map(player).collect()
}

fn grow(cluster: &Cluster, events: u64) {
    let limit = cluster.log_len() + events;
    until("the log has grown", || cluster.log_len() >= limit || cluster.is_over("cup"));
}

fn finish(cluster: &Cluster, players: &mut [Process]) {
    until("the cup is over", || cluster.is_over("cup"));
    for player in players.iter_mut() {
        assert_eq!(player.code(), Some(0));
    }
    let answers = cluster.check();
    (0..players.len()).for_each(|number| cluster.has_all_answers(&format!("p{number}"), &answers));
}

/// How many connections a node relays now.
fn relayed(node: &Node) -> u64 {
    let (_, text) = node.get("/metrics").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("agon_relay_connections "));
    line.and_then(|count| count.parse().ok()).unwrap_or(0)
}

#[test]
fn players_on_all_nodes_play_a_cup() {
    let cluster = Cluster::with_bus(&cup(5));
    let nodes = three_nodes(&cluster);
    nodes.iter().for_each(Node::await_ready);
    let mut players = players_everywhere(&cluster, &nodes);
    until("the cup has begun", || !cluster.events("match/cup").is_empty());
    let counts: Vec<u64> = nodes[1..].iter().map(relayed).collect();
    assert!(counts.iter().all(|count| *count >= 1), "{counts:?}");
    finish(&cluster, &mut players);
}

#[test]
fn killed_nodes_cost_players_on_other_nodes_nothing() {
    let cluster = Cluster::with_bus(&cup(31));
    let mut nodes = three_nodes(&cluster);
    nodes.iter().for_each(Node::await_ready);
    let mut players = players_everywhere(&cluster, &nodes);
    until("the cup has begun", || !cluster.events("match/cup").is_empty());
    grow(&cluster, 40);
    // A node that relays players dies, and comes back.
    nodes[1].kill();
    grow(&cluster, 40);
    let [a, b, c] = nodes;
    let mut nodes = [a, cluster.start_again(b), c];
    nodes[1].await_ready();
    // The node with the lobby dies.
    nodes[0].kill();
    grow(&cluster, 40);
    finish(&cluster, &mut players);
}

/// An upgrade restarts the nodes in this order: the node with the lobby is the last.
#[test]
fn rolling_restart_of_all_nodes_costs_nobody_anything() {
    let cluster = Cluster::with_bus(&cup(25));
    let nodes = three_nodes(&cluster);
    nodes.iter().for_each(Node::await_ready);
    let mut players = players_everywhere(&cluster, &nodes);
    until("the cup has begun", || !cluster.events("match/cup").is_empty());
    let mut nodes = VecDeque::from(nodes);
    for _ in 0..3 {
        nodes.rotate_left(1);
        let mut node = nodes.pop_front().expect("there are three nodes");
        node.process().signal(Signal::TERM);
        assert_eq!(node.process().code(), Some(0), "a polite stop");
        let node = cluster.start_again(node);
        node.await_ready();
        nodes.push_front(node);
        grow(&cluster, 20);
    }
    finish(&cluster, &mut players);
}

/// Two players of a cup for two, who answer nothing by themselves.
fn duel(limit_ms: u64) -> String {
    format!(
        "reconnect_ms = 120000\n[[tournament]]\nname = \"cup\"\npreset = \"yahtzee-queue\"\n\
         players = 2\nstart = \"when-ready\"\nanswer_ms = {limit_ms}\n"
    )
}

#[test]
fn reconnecting_player_gets_the_same_request_from_any_node() {
    let cluster = Cluster::with_bus(&duel(600_000));
    let mut nodes = three_nodes(&cluster);
    nodes.iter().for_each(Node::await_ready);
    let mut ann = Client::logged_in(&nodes[1].tcp, "ann");
    let _eve = Client::logged_in(&nodes[2].tcp, "eve");
    let request = ann.hear_until("request");
    nodes[1].kill();
    let mut ann = Client::logged_in(&nodes[2].tcp, "ann");
    assert_eq!(ann.hear_until("request")["id"], request["id"]);
    nodes[0].kill();
    ann.rest();
    nodes[2].await_ready();
    let (mut again, mut clients) = (None, Vec::new());
    until("another node has the lobby", || {
        let mut client = Client::connect(&nodes[2].tcp);
        client.log_in("ann", "swordfish");
        again =
            std::iter::from_fn(|| client.hear_whole()).find(|message| message["type"] == "request");
        // Closing it would be the player's fault.
        clients.push(client);
        again.is_some()
    });
    assert_eq!(again.expect("a request")["id"], request["id"]);
    cluster.check();
}

#[test]
fn stopped_node_says_goodbye_to_its_players() {
    let cluster = Cluster::with_bus(&duel(600_000));
    let mut nodes = three_nodes(&cluster);
    nodes.iter().for_each(Node::await_ready);
    let mut ann = Client::logged_in(&nodes[1].tcp, "ann");
    let mut eve = Client::logged_in(&nodes[0].tcp, "eve");
    let request = ann.hear_until("request");
    nodes[1].process().signal(Signal::TERM);
    let last = ann.rest();
    let is_goodbye = |message: &Value| message["about"] == "stopping";
    assert!(last.iter().any(is_goodbye), "{last:?}");
    assert_eq!(nodes[1].process().code(), Some(0));
    let said = cluster.said_by(&nodes[1]);
    assert!(!said.contains("panicked") && !said.contains("ERROR"), "{said}");
    let mut ann = Client::logged_in(&nodes[2].tcp, "ann");
    assert_eq!(ann.hear_until("request")["id"], request["id"]);
    eve.say(&json!({"type": "ping"}).to_string());
    eve.hear_until("pong");
    cluster.check();
}

#[test]
fn every_node_shows_the_page_and_streams_events() {
    let cluster = Cluster::with_bus("");
    let nodes = three_nodes(&cluster);
    nodes.iter().for_each(Node::await_ready);
    let [a, b, c] = &nodes;
    let (status, page) = c.get("/").expect("the page");
    assert!(status == 200 && page.contains("<html"), "{page}");
    // Questions about the node itself.
    assert_eq!(c.get("/healthz").map(|(status, _)| status), Some(200));
    assert!(c.get("/metrics").expect("metrics").1.contains("agon_relay_up 1"));
    assert!(a.get("/metrics").expect("metrics").1.contains("agon_cells_owned "));
    let mut events = b.lines("/api/v1/events");
    assert!(events.next().expect("a status").contains(" 200 "), "an event stream");
    let body = r#"{"account":"ann","password":"swordfish"}"#;
    let (status, said) = c.send("POST", "/api/v1/accounts", body).expect("an answer");
    assert_eq!(status, 201, "{said}");
    // The stream shows who is in line.
    let _ann = Client::logged_in(&c.tcp, "ann");
    assert!(events.any(|line| line.contains("\"here\":1")), "the stream shows the player");
    let (status, shown) = a.get("/api/v1/accounts/ann").expect("an account");
    assert!(status == 200 && shown.contains("tcp"), "{shown}");
}

#[test]
fn connections_of_an_address_count_across_all_nodes() {
    let cluster = Cluster::with_bus("[limits]\nconnections_per_address_max = 3\n");
    let nodes = three_nodes(&cluster);
    nodes.iter().for_each(Node::await_ready);
    let [a, b, c] = &nodes;
    let held = [&a.tcp, &b.tcp, &c.tcp].map(|at| {
        let mut client = Client::connect(at);
        client.hear_until("greeting");
        client
    });
    for node in [a, b, c] {
        let rejected = Client::connect(&node.tcp).rest();
        assert_eq!(rejected[0]["code"], "too-many-connections", "{rejected:?}");
    }
    // Another address is another client, on any node.
    let other = connect_from([127, 0, 0, 9], &b.tcp);
    Client::over(other).hear_until("greeting");
    drop(held);
}

/// A connection from this address of the machine.
fn connect_from(from: [u8; 4], to: &str) -> TcpStream {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None);
    let socket = socket.expect("a socket");
    let from: SocketAddr = (from, 0).into();
    let to: SocketAddr = to.parse().expect("an address");
    socket.bind(&from.into()).expect("an address of this machine");
    socket.connect(&to.into()).expect("the node is there");
    socket.into()
}

#[test]
fn restarted_bus_costs_relayed_players_nothing() {
    let mut cluster = Cluster::with_bus(&cup(21));
    let nodes = three_nodes(&cluster);
    nodes.iter().for_each(Node::await_ready);
    let mut players = players_everywhere(&cluster, &nodes);
    until("the cup has begun", || !cluster.events("match/cup").is_empty());
    for _ in 0..2 {
        grow(&cluster, 40);
        cluster.bus().kill();
        // Without a bus all players go to the node with the lobby.
        grow(&cluster, 40);
        cluster.bus().resume();
        nodes.iter().for_each(Node::await_ready);
    }
    finish(&cluster, &mut players);
}

#[test]
fn slow_bus_makes_no_answer_late() {
    const LIMIT: Duration = Duration::from_millis(1_000);
    const STALL: Duration = Duration::from_millis(1_200);
    let mut cluster = Cluster::with_bus(&duel(LIMIT.as_millis() as u64));
    let nodes = three_nodes(&cluster);
    nodes.iter().for_each(Node::await_ready);
    let mut players =
        [("ann", &nodes[1]), ("eve", &nodes[2])].map(|(name, at)| Player::new(name, at));
    let mut slowest = Duration::ZERO;
    for _ in 0..4 {
        // Both have a request. They answer at once, and the answers come after the limit.
        let asked = players.each_mut().map(|player| player.hear_request(&nodes));
        let begun = Instant::now();
        let stalled = cluster.bus().stall();
        for (player, request) in players.iter_mut().zip(asked) {
            slowest = slowest.max(player.answer(&request));
        }
        std::thread::park_timeout(STALL.saturating_sub(begun.elapsed()));
        drop(stalled);
    }
    players.iter_mut().for_each(|player| drop(player.hear_request(&nodes)));
    // On a machine that is too busy the players themselves are late.
    if slowest < LIMIT / 2 {
        cluster.check();
    }
}

/// A player made by hand, who reconnects when the connection closes.
struct Player {
    name: &'static str,
    client: Client,
    heard: Instant,
}

impl Player {
    fn new(name: &'static str, at: &Node) -> Player {
        Player { name, client: Client::logged_in(&at.tcp, name), heard: Instant::now() }
    }

    /// The next request, after reconnecting to any node if necessary.
    fn hear_request(&mut self, nodes: &[Node]) -> Value {
        let mut tried = 0;
        loop {
            match self.client.hear_whole() {
                Some(message) if message["type"] == "request" => {
                    self.heard = Instant::now();
                    return message;
                }
                Some(_) => {}
                None => {
                    tried += 1;
                    self.client = Client::connect(&nodes[tried % nodes.len()].tcp);
                    self.client.log_in(self.name, "swordfish");
                }
            }
        }
    }

    /// Answers a request of Yahtzee; returns how long the player had it.
    fn answer(&mut self, request: &Value) -> Duration {
        let answer = match request["question"]["ask"].as_str() {
            Some("keep") => json!({"keep": [true, true, true, true, true]}),
            _ => {
                let seat = request["view"]["seat"].as_u64().expect("a seat") as usize;
                let boxes = request["view"]["cards"][seat]["boxes"].as_object().expect("boxes");
                let free = boxes.iter().find(|(_, points)| points.is_null()).expect("a free box");
                json!({"score": free.0})
            }
        };
        let line = json!({"type": "answer", "id": request["id"], "answer": answer});
        self.client.say(&line.to_string());
        self.heard.elapsed()
    }
}

/// A free port of this machine for a program's system.
fn port() -> String {
    format!("127.0.0.1:{}", agon::free_port(std::net::Ipv4Addr::LOCALHOST.into()).expect("a port"))
}

/// Three nodes with ports for programs; returns the addresses of those.
fn nodes_for_programs(cluster: &Cluster, system: &str) -> ([Node; 3], [String; 3]) {
    let ports = [(); 3].map(|()| port());
    let words = if system == "trains" { "vocabulary = \"memo\"\n" } else { "" };
    let config =
        |number: usize| format!("[{system}]\nlisten = \"{}\"\n{words}{PROGRAMS}", ports[number]);
    let a = cluster.node_with("a", &config(0));
    a.await_ready();
    let [b, c] = [("b", 1), ("c", 2)].map(|(name, at)| cluster.node_with(name, &config(at)));
    [&b, &c].into_iter().for_each(Node::await_ready);
    ([a, b, c], ports)
}

const PROGRAMS: &str = "at_least = 2\nat_most = 2\nanswer_ms = 600000\n";

/// Has the players in Python play a tournament at these addresses; returns what they said.
fn play(system: &str, port: &str, http: &str, args: &[&str]) -> Value {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut command = Command::new("python3");
    command.arg("-B").arg(format!("{examples}/{system}/tournament.py"));
    command.args([port, http, system]).args(args).stdin(Stdio::null());
    let mut players = Process(
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("python3 starts"),
    );
    let code = players.code();
    let said = players.all_output();
    assert_eq!(code, Some(0), "{said}");
    serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said}"))
}

#[test]
fn programs_of_other_systems_play_through_a_node_that_stands_by() {
    let cluster = Cluster::with_bus("reconnect_ms = 120000\nseed = 7\n");
    let (nodes, ports) = nodes_for_programs(&cluster, "fish");
    let said = play("fish", &ports[1], &nodes[2].http, &["eve", "bob,message"]);
    assert_eq!(said["won"].as_object().map(|won| won.len()), Some(2), "{said}");
    cluster.check();
    let cluster = Cluster::with_bus("reconnect_ms = 120000\nseed = 7\n");
    let (nodes, ports) = nodes_for_programs(&cluster, "trains");
    let said = play("trains", &ports[2], &nodes[1].http, &["memo", "a,Hold-10", "b,Buy-Now"]);
    assert_eq!(said["won"].as_object().map(|won| won.len()), Some(2), "{said}");
    cluster.check();
}

/// The JSON values that a program is sent.
fn values(stream: &TcpStream) -> impl Iterator<Item = Value> + use<> {
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let reader = BufReader::new(stream.try_clone().expect("the same connection"));
    let values = serde_json::Deserializer::from_reader(reader).into_iter::<Value>();
    values.map_while(Result::ok)
}

#[test]
fn program_on_a_lost_node_returns_through_another_one() {
    let cluster = Cluster::with_bus("reconnect_ms = 120000\nseed = 7\n");
    let (mut nodes, ports) = nodes_for_programs(&cluster, "fish");
    let sign_up = |port: &str, name: &str| {
        let mut program = TcpStream::connect(port).expect("a connection");
        program.write_all(format!("\"{name}\"").as_bytes()).expect("written");
        program
    };
    let mut ann = sign_up(&ports[1], "ann");
    let mut eve = sign_up(&ports[2], "eve");
    // Both are told that the tournament begins.
    for program in [&mut ann, &mut eve] {
        assert_eq!(values(program).next(), Some(json!(["start", [true]])));
        program.write_all(b"\"void\"").expect("written");
    }
    until("the match has begun", || !cluster.events("match/fish").is_empty());
    nodes[1].kill();
    until("the loss is noticed", || {
        cluster.said_by(&nodes[0]).contains("the link to a node with players is lost")
    });
    // A new process of the program is told everything again.
    let ann = sign_up(&ports[2], "ann");
    assert_eq!(values(&ann).next(), Some(json!(["start", [true]])));
    let players = cluster.events("lobby").into_iter().filter(|(_, event)| {
        event["type"] == "account-registered" && event["data"]["kind"] == "program"
    });
    assert_eq!(players.filter(|(_, event)| event["data"]["account"] == "ann-2").count(), 0);
    assert!(!cluster.is_over("fish"));
    cluster.check();
}
