//! Nodes that share the work: one has the lobby and the players, and all of them own tournaments.
//! Whichever node dies, and whatever happens to the bus, nothing accepted is lost or doubled, and
//! nobody is charged.

use crate::nodes::{Cluster, Node};
use crate::support::{Client, Process, until};
use rustix::process::Signal;
use serde_json::Value;

/// Three matches of two players each.
const CUPS: [(&str, [&str; 2]); 3] =
    [("cup-a", ["p0", "p1"]), ("cup-b", ["p2", "p3"]), ("cup-c", ["p4", "p5"])];

/// Tournaments that start when their players are there.
fn cups(best_of: u32) -> String {
    let cup = |(name, [one, other]): (&str, [&str; 2])| {
        format!(
            "[[tournament]]\nname = \"{name}\"\npreset = \"yahtzee-queue\"\n\
             named = [\"{one}\", \"{other}\"]\nbest_of = {best_of}\n"
        )
    };
    format!("reconnect_ms = 120000\n{}", CUPS.map(cup).concat())
}

/// Three nodes, of which the first has the lobby and the others have joined it.
pub(crate) fn three_nodes(cluster: &Cluster) -> [Node; 3] {
    let a = cluster.node("a");
    a.await_ready();
    let others = ["b", "c"].map(|name| cluster.node(name));
    until("two nodes have joined", || joins(cluster, &a) == 2);
    let [b, c] = others;
    [a, b, c]
}

/// How many nodes have joined the lobby of a node.
fn joins(cluster: &Cluster, node: &Node) -> usize {
    cluster.said_by(node).matches("a node joins").count()
}

/// Players for all cups.
fn players(cluster: &Cluster, nodes: &[Node; 3]) -> Vec<Process> {
    let nodes: Vec<&Node> = nodes.iter().collect();
    let names = CUPS.iter().flat_map(|(_, players)| players);
    names.map(|name| cluster.player(&nodes, name, "greedy")).collect()
}

fn begin(cluster: &Cluster) {
    for (cup, _) in CUPS {
        let stream = format!("match/{cup}");
        until("all cups have begun", || !cluster.events(&stream).is_empty());
    }
}

/// Waits until every cup has grown by so many events, or is over.
fn grow(cluster: &Cluster, events: usize) {
    for (cup, _) in CUPS {
        let stream = format!("match/{cup}");
        let limit = cluster.events(&stream).len() + events;
        until("the cup has grown", || {
            cluster.events(&stream).len() >= limit || cluster.is_over(cup)
        });
    }
}

/// Waits for the ends of all cups, and checks that no answer is lost and nobody is charged.
fn finish(cluster: &Cluster, players: &mut [Process]) {
    for (cup, _) in CUPS {
        until("the cup is over", || cluster.is_over(cup));
    }
    for player in players {
        assert_eq!(player.code(), Some(0));
    }
    let answers = cluster.check();
    for (_, players) in CUPS {
        players.iter().for_each(|name| cluster.has_all_answers(name, &answers));
    }
}

#[test]
fn every_node_plays_tournaments_and_each_of_them_may_die() {
    let cluster = Cluster::with_bus(&cups(15));
    let mut nodes = three_nodes(&cluster);
    let mut players = players(&cluster, &nodes);
    begin(&cluster);
    let owners = cluster.owners();
    assert_eq!(owners.len(), 3, "{owners:?}");
    assert!(owners.values().all(|own| own.len() == 1), "one tournament each: {owners:?}");
    grow(&cluster, 20);
    for node in &nodes[1..] {
        let (_, metrics) = node.get("/metrics").expect("the node answers");
        assert!(metrics.contains("agon_cells_owned 1\n"), "{metrics}");
        assert!(metrics.contains("agon_fenced_total 0\n"), "{metrics}");
        let count = metrics.lines().find_map(|line| line.strip_prefix("agon_decisions_total "));
        assert!(count.is_some_and(|count| count != "0"), "{metrics}");
    }
    // A node with a tournament loses power. The lobby's node goes on with its tournament.
    nodes[1].kill();
    grow(&cluster, 20);
    let owners = cluster.owners();
    assert!(!owners[&nodes[0].tcp].is_empty(), "{owners:?}");
    // The node with the lobby loses power. Another one takes it over.
    nodes[0].kill();
    nodes[2].await_ready();
    grow(&cluster, 20);
    finish(&cluster, &mut players);
}

#[test]
fn stopped_node_gives_its_tournaments_back() {
    let cluster = Cluster::with_bus(&cups(15));
    let mut nodes = three_nodes(&cluster);
    let mut players = players(&cluster, &nodes);
    begin(&cluster);
    grow(&cluster, 20);
    nodes[1].process().signal(Signal::TERM);
    assert_eq!(nodes[1].process().code(), Some(0), "a polite stop");
    let said = cluster.said_by(&nodes[1]);
    assert!(!said.contains("panicked") && !said.contains("ERROR"), "{said}");
    grow(&cluster, 20);
    // The node hangs, and wakes up when its tournament has another owner.
    nodes[2].process().signal(Signal::STOP);
    grow(&cluster, 20);
    nodes[2].process().signal(Signal::CONT);
    finish(&cluster, &mut players);
}

#[test]
fn lost_bus_costs_nobody_anything() {
    let mut cluster = Cluster::with_bus(&cups(15));
    let nodes = three_nodes(&cluster);
    let mut players = players(&cluster, &nodes);
    begin(&cluster);
    grow(&cluster, 20);
    cluster.bus().kill();
    // Without a bus the lobby's node plays alone.
    grow(&cluster, 20);
    cluster.bus().resume();
    until("both nodes have joined again", || joins(&cluster, &nodes[0]) >= 4);
    cluster.bus().kill();
    cluster.bus().resume();
    finish(&cluster, &mut players);
}

#[test]
fn node_that_joins_later_gets_running_tournaments_until_the_load_is_even() {
    let cluster = Cluster::with_bus(&cups(17));
    let a = cluster.node("a");
    a.await_ready();
    let nodes = [&a];
    let names = CUPS.iter().flat_map(|(_, players)| players);
    let mut players: Vec<_> = names.map(|name| cluster.player(&nodes, name, "greedy")).collect();
    begin(&cluster);
    assert_eq!(cluster.owners()[&a.tcp].len(), 3);
    let late = cluster.node("late");
    until("a tournament moves to the new node", || {
        cluster.owners().get(&late.tcp).is_some_and(|own| !own.is_empty())
    });
    assert!(cluster.said_by(&a).contains("moves to a node with less to do"));
    finish(&cluster, &mut players);
}

#[test]
fn refused_record_drops_its_tournament_and_nothing_else() {
    let cluster = Cluster::new(&cups(7));
    let a = cluster.node("a");
    a.await_ready();
    let names = CUPS.iter().flat_map(|(_, players)| players);
    let mut players: Vec<_> = names.map(|name| cluster.player(&[&a], name, "greedy")).collect();
    begin(&cluster);
    // Somebody who is no node writes into the log of a match, where its next record belongs.
    let database = cluster.url.rsplit('/').next().expect("a name");
    let foreign = "
        INSERT INTO agon.records (stream, first_seq, count, cell, epoch, checksum, lines)
        SELECT stream, first_seq + count, 1, cell, epoch, checksum, lines FROM agon.records
        WHERE stream LIKE 'match/cup-a/%' ORDER BY first_seq DESC LIMIT 1";
    until("the record is there", || cluster.server.try_in(database, foreign));
    until("the tournament is dropped", || cluster.said_by(&a).contains("drops the tournament"));
    for (cup, names) in &CUPS[1..] {
        until("the cup is over", || cluster.is_over(cup));
        for number in names.map(|name| name[1..].parse::<usize>().expect("a number")) {
            assert_eq!(players[number].code(), Some(0));
        }
    }
    assert!(a.is_ready() && !cluster.is_over("cup-a"));
}

#[test]
fn drained_node_gives_everything_back_and_takes_no_work_until_it_is_undrained() {
    let cluster = Cluster::with_bus(&cups(17));
    let nodes = three_nodes(&cluster);
    let mut players = players(&cluster, &nodes);
    begin(&cluster);
    // A player who is connected to the node that will be drained.
    let mut guest = Client::logged_in(&nodes[1].tcp, "guest");
    let name = name_of(&cluster, &nodes[1]);
    let order = |what: &str| cluster.place.agon(&["cluster", what, &name, "--store", &cluster.url]);
    let (code, said) = order("drain");
    assert_eq!(code, Some(0), "{said}");
    let last = guest.rest();
    assert!(last.iter().any(|message| message["about"] == "stopping"), "{last:?}");
    assert!(cluster.owners()[&nodes[1].tcp].is_empty());
    until("load balancers send nobody there", || !nodes[1].is_ready());
    grow(&cluster, 20);
    assert!(cluster.owners()[&nodes[1].tcp].is_empty(), "{:?}", cluster.owners());
    let joined = joins(&cluster, &nodes[0]);
    assert_eq!(order("undrain").0, Some(0));
    until("the node joins again", || joins(&cluster, &nodes[0]) > joined);
    nodes[1].await_ready();
    finish(&cluster, &mut players);
}

#[test]
fn slow_question_to_the_database_costs_no_link() {
    let cluster = Cluster::with_bus(&cups(15));
    let nodes = three_nodes(&cluster);
    let mut players = players(&cluster, &nodes);
    begin(&cluster);
    let database = cluster.url.rsplit('/').next().expect("a name");
    // The node with the lobby looks for orders of operators, and gets no answer for longer than any
    // link lasts without a word.
    let words = || nodes.each_ref().map(|node| cluster.said_by(node)).concat();
    let lost = || {
        let said = words();
        ["the link to a node is lost", "owns no tournaments"].map(|word| said.matches(word).count())
    };
    // A busy machine may lose a link at any time; a thread that waits loses it every time.
    let is_kept = (0..4).any(|_| {
        let before = lost();
        let mut orders = cluster.server.lock(database, "agon.moves");
        orders.wait_until_blocked(3_000);
        drop(orders);
        grow(&cluster, 20);
        lost() == before
    });
    assert!(is_kept, "{}", words());
    finish(&cluster, &mut players);
}

/// The name of a node, as operators use it.
fn name_of(cluster: &Cluster, node: &Node) -> String {
    let (_, said) = cluster.place.agon(&["cluster", "status", "--json", "--store", &cluster.url]);
    let said: Value = serde_json::from_str(&said).expect("the nodes");
    let mut nodes = said["nodes"].as_array().into_iter().flatten();
    let found = nodes.find(|one| one["address"] == node.tcp.as_str()).expect("the node");
    found["node"].as_str().expect("a name").to_owned()
}

/// The node that has a cup, by its address.
fn home(cluster: &Cluster, cup: &str) -> Option<String> {
    let has = |(_, own): &(String, Vec<String>)| own.iter().any(|id| id == cup);
    cluster.owners().into_iter().find(has).map(|(node, _)| node)
}

#[test]
fn operator_moves_a_tournament_to_another_node_and_back() {
    let cluster = Cluster::with_bus(&cups(49));
    let nodes = three_nodes(&cluster);
    let mut players = players(&cluster, &nodes);
    begin(&cluster);
    let order = |cell: &str, node: &str| {
        cluster.place.agon(&["cluster", "move", cell, node, "--store", &cluster.url])
    };
    let (code, said) = order("nothing", &name_of(&cluster, &nodes[1]));
    assert!(code == Some(2) && said.contains("agon cluster status"), "{said}");
    let (code, said) = order("cup-a", "nobody");
    assert!(code == Some(2) && said.contains("agon cluster status"), "{said}");
    let first = home(&cluster, "cup-a").expect("cup-a runs");
    let (from, to) = match nodes.iter().position(|node| node.tcp == first) {
        Some(0) => (&nodes[0], &nodes[1]),
        Some(at) => (&nodes[at], &nodes[0]),
        None => panic!("{first} is none of the nodes"),
    };
    for (node, address) in [(to, &to.tcp), (from, &from.tcp), (to, &to.tcp)] {
        let name = name_of(&cluster, node);
        assert_eq!(order("cup-a", &name), (Some(0), format!("cup-a moves to {name}.\n")));
        until("the cup is there", || home(&cluster, "cup-a").as_ref() == Some(address));
    }
    finish(&cluster, &mut players);
}
