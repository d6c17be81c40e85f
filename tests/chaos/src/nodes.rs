//! Several nodes over one database and one bus. Each node has its own link to the database. A
//! balancer spreads players over the nodes that are ready, as a load balancer with a health check
//! does.

use crate::history::{History, Ms};
use crate::link::Link;
use crate::log::LogPlace;
use crate::server::{Alive, ClusterAddresses, Places, Server};
use agon_client::http::Http;
use agon_servers::{Nats, Postgres};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::block_in_place;

/// How often the balancer asks the nodes, and how long one may take to answer.
const ASK: (Duration, Duration) = (Duration::from_millis(50), Duration::from_millis(400));
/// How long a node may take until it plays: far beyond what a loaded machine needs.
const START: Duration = Duration::from_secs(120);

/// The nodes of a run.
pub(crate) struct Nodes {
    agon: PathBuf,
    pub(crate) all: Vec<Server>,
    /// The way of each node to the database.
    pub(crate) links: Vec<Link>,
    /// The way of each node to the bus.
    pub(crate) bus_links: Vec<Link>,
    pub(crate) database: Database,
    pub(crate) bus: Nats,
    balancer: Balancer,
    pub(crate) operator: String,
}

impl Nodes {
    /// Starts a database with a standby, a bus, and `count` nodes.
    pub(crate) async fn start(
        agon: &Path,
        dir: &Path,
        config: &str,
        count: usize,
        history: &Arc<History>,
    ) -> Result<Nodes> {
        let database = block_in_place(Database::start);
        let bus = block_in_place(Nats::start);
        let bus_place = watch::Sender::new(SocketAddr::from(([127, 0, 0, 1], bus.port())));
        let (mut all, mut links, mut bus_links) = (Vec::new(), Vec::new(), Vec::new());
        for number in 1..=count {
            let dir = dir.join(format!("node{number}"));
            std::fs::create_dir(&dir)?;
            let link = Link::open(database.place.subscribe()).await?;
            let bus_link = Link::open(bus_place.subscribe()).await?;
            let store = format!("postgres://agon@{}/{}", link.address, database.name);
            let cluster = ClusterAddresses { store, bus: format!("nats://{}", bus_link.address) };
            all.push(Server::new(agon, &dir, config, Some(cluster))?);
            links.push(link);
            bus_links.push(bus_link);
        }
        let first = all.first_mut().context("there is at least one node")?;
        first.start().await?;
        let operator = first.operator.clone();
        for node in &mut all[1..] {
            node.launch()?;
        }
        let balancer = Balancer::start(&all, Arc::clone(history));
        let agon = agon.to_owned();
        let nodes = Nodes { agon, all, links, bus_links, database, bus, balancer, operator };
        nodes.await_play().await?;
        Ok(nodes)
    }

    pub(crate) fn places(&self) -> Places {
        Places { tcp: self.balancer.tcp.subscribe(), http: self.balancer.http.subscribe() }
    }

    /// Where a player connects. All kinds of players are spread over all nodes.
    pub(crate) fn places_of(&self, player: usize) -> Places {
        let groups = &self.balancer.groups;
        let group = &groups[(player + player / 3) % groups.len()];
        Places { tcp: group.tcp.subscribe(), http: group.http.subscribe() }
    }

    /// The pid of the node that plays.
    pub(crate) fn alive(&self) -> Alive {
        self.balancer.alive.clone()
    }

    pub(crate) fn log(&self) -> LogPlace {
        LogPlace::Database(self.database.url())
    }

    /// The number of the node that plays, if one does.
    pub(crate) fn playing(&self) -> Option<usize> {
        *self.balancer.playing.borrow()
    }

    /// A node that stands by.
    pub(crate) fn standby(&self) -> usize {
        (self.playing().unwrap_or(0) + 1) % self.all.len()
    }

    /// Waits until every node is ready for players.
    pub(crate) async fn await_all(&self) -> Result<()> {
        let (mut ready, all) = (self.balancer.ready.subscribe(), self.all.len());
        let waiting = ready.wait_for(|ready| *ready == all);
        tokio::time::timeout(START, waiting).await.context("a node does not become ready")??;
        Ok(())
    }

    /// Waits until some node plays.
    pub(crate) async fn await_play(&self) -> Result<()> {
        let mut playing = self.balancer.playing.subscribe();
        let waiting = playing.wait_for(Option::is_some);
        tokio::time::timeout(START, waiting).await.context("no node plays")??;
        Ok(())
    }

    /// Has another node take over, as `agon cluster move` does.
    pub(crate) fn move_log(&self) -> Result<()> {
        let said = self.cluster(&["status", "--json"])?;
        let said: Value = serde_json::from_str(&said).context("agon cluster status")?;
        let nodes = said["nodes"].as_array().context("a list of nodes")?;
        let others = nodes.iter().filter(|node| node["role"] == "stands by");
        for name in others.filter_map(|node| node["node"].as_str()) {
            match self.cluster(&["move", name]) {
                // It was killed a moment ago.
                Err(error) if error.to_string().contains("no node") => {}
                moved => return moved.map(drop),
            }
        }
        // With every other node down there is nothing to move to.
        Ok(())
    }

    fn cluster(&self, args: &[&str]) -> Result<String> {
        let mut command = Command::new(&self.agon);
        command.arg("cluster").args(args).args(["--store", &self.database.url()]);
        let output = block_in_place(|| command.stdin(Stdio::null()).output())?;
        if !output.status.success() {
            bail!("agon cluster {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(String::from_utf8(output.stdout)?)
    }
}

/// The database: a primary, and a standby that confirms every commit.
pub(crate) struct Database {
    primary: Postgres,
    standby: Option<Postgres>,
    /// The name of the database in either of them.
    name: String,
    place: watch::Sender<SocketAddr>,
}

impl Database {
    fn start() -> Database {
        let primary = Postgres::start();
        let url = primary.database();
        let name = url.rsplit('/').next().unwrap_or_default().to_owned();
        let standby = Some(primary.standby());
        let place = watch::Sender::new(Database::place_of(&primary));
        Database { primary, standby, name, place }
    }

    fn place_of(server: &Postgres) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], server.port()))
    }

    /// The address of the log, not through any link.
    fn url(&self) -> String {
        self.primary.address(&self.name)
    }

    /// Kills the primary; nothing answers until [`resume`](Database::resume).
    pub(crate) fn kill(&mut self) {
        block_in_place(|| self.primary.kill());
    }

    pub(crate) fn resume(&mut self) {
        block_in_place(|| self.primary.resume());
    }

    /// Kills the primary for good. Its standby takes its place and gets a standby of its own.
    pub(crate) fn promote(&mut self) {
        block_in_place(|| {
            let Some(next) = self.standby.take() else { return };
            self.primary.kill();
            next.promote();
            self.primary = next;
            self.place.send_replace(Database::place_of(&self.primary));
            self.standby = Some(self.primary.standby());
        });
    }
}

/// Points every player to a ready node, and the operator to the node that plays. Notes when there
/// is none.
#[derive(Clone)]
struct Balancer {
    tcp: watch::Sender<SocketAddr>,
    http: watch::Sender<SocketAddr>,
    /// The node of each group of players: their own one, or the next that is ready.
    groups: Vec<Group>,
    alive: Alive,
    playing: watch::Sender<Option<usize>>,
    /// How many nodes are ready for players.
    ready: watch::Sender<usize>,
}

#[derive(Clone)]
struct Group {
    tcp: watch::Sender<SocketAddr>,
    http: watch::Sender<SocketAddr>,
}

/// The role of a node for players.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    Nothing,
    /// It carries connections to the node that plays.
    Relays,
    Plays,
}

impl Balancer {
    fn start(nodes: &[Server], history: Arc<History>) -> Balancer {
        let places: Vec<(Places, Alive)> =
            nodes.iter().map(|node| (node.places(), node.alive.clone())).collect();
        let to = |places: &Places| {
            let (tcp, http) = (*places.tcp.borrow(), *places.http.borrow());
            Group { tcp: watch::Sender::new(tcp), http: watch::Sender::new(http) }
        };
        let Group { tcp, http } = to(&places[0].0);
        let balancer = Balancer {
            tcp,
            http,
            groups: places.iter().map(|(places, _)| to(places)).collect(),
            alive: Alive::default(),
            playing: watch::Sender::new(None),
            ready: watch::Sender::new(0),
        };
        tokio::spawn(balancer.clone().balance(places, history));
        balancer
    }

    async fn balance(self, nodes: Vec<(Places, Alive)>, history: Arc<History>) {
        // When the node that plays last said that it is ready.
        let mut ready_at: Ms = history.now();
        loop {
            let asked_at = history.now();
            let before = *self.playing.borrow();
            let roles = roles(&nodes).await;
            let now = before.filter(|number| roles[*number] == Role::Plays);
            let now = now.or_else(|| roles.iter().position(|role| *role == Role::Plays));
            if let Some(number) = now {
                let (places, alive) = &nodes[number];
                self.alive.set(alive.pid());
                if before != now {
                    self.tcp.send_replace(*places.tcp.borrow());
                    self.http.send_replace(*places.http.borrow());
                    history.outage(ready_at);
                }
                ready_at = asked_at;
            }
            let ready = roles.iter().filter(|role| **role != Role::Nothing).count();
            self.ready.send_replace(ready);
            for (number, group) in self.groups.iter().enumerate() {
                let mut preferred = (0..roles.len()).map(|step| (number + step) % roles.len());
                if let Some(node) = preferred.find(|node| roles[*node] != Role::Nothing) {
                    let places = &nodes[node].0;
                    group.tcp.send_replace(*places.tcp.borrow());
                    group.http.send_replace(*places.http.borrow());
                }
            }
            if before != now {
                self.playing.send_replace(now);
            }
            tokio::time::sleep(ASK.0).await;
        }
    }
}

/// Returns the role of each node.
async fn roles(nodes: &[(Places, Alive)]) -> Vec<Role> {
    let asked: Vec<_> = nodes
        .iter()
        .map(|(places, _)| {
            let place = *places.http.borrow();
            tokio::spawn(tokio::time::timeout(ASK.1, role(place)))
        })
        .collect();
    let mut roles = Vec::new();
    for answer in asked {
        roles.push(answer.await.ok().and_then(Result::ok).flatten().unwrap_or(Role::Nothing));
    }
    roles
}

async fn role(place: SocketAddr) -> Option<Role> {
    let (http, _) = Http::parse(&format!("http://{place}")).ok()?;
    if http.send("GET", "/healthz?ready", None).await.ok()?.status != 200 {
        return None;
    }
    let metrics = http.send("GET", "/metrics", None).await.ok()?.body;
    let relays = String::from_utf8_lossy(&metrics).contains("agon_relay_up");
    Some(if relays { Role::Relays } else { Role::Plays })
}
