//! Several nodes over one database. Each node has its own link to the database. A balancer sends
//! players to the node that plays, as a load balancer with a health check does.

use crate::history::{History, Ms};
use crate::link::Link;
use crate::log::LogPlace;
use crate::server::{Alive, Places, Server};
use agon_client::http::Http;
use agon_servers::Postgres;
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
    pub(crate) database: Database,
    balancer: Balancer,
    pub(crate) operator: String,
}

impl Nodes {
    /// Starts a database with a standby, and `count` nodes.
    pub(crate) async fn start(
        agon: &Path,
        dir: &Path,
        config: &str,
        count: usize,
        history: &Arc<History>,
    ) -> Result<Nodes> {
        let database = block_in_place(Database::start);
        let (mut all, mut links) = (Vec::new(), Vec::new());
        for number in 1..=count {
            let dir = dir.join(format!("node{number}"));
            std::fs::create_dir(&dir)?;
            let link = Link::open(database.place.subscribe()).await?;
            let store = format!("postgres://agon@{}/{}", link.address, database.name);
            all.push(Server::new(agon, &dir, config, Some(store))?);
            links.push(link);
        }
        let first = all.first_mut().context("there is at least one node")?;
        first.start().await?;
        let operator = first.operator.clone();
        for node in &mut all[1..] {
            node.launch()?;
        }
        let balancer = Balancer::start(&all, Arc::clone(history));
        let nodes = Nodes { agon: agon.to_owned(), all, links, database, balancer, operator };
        nodes.await_play().await?;
        Ok(nodes)
    }

    pub(crate) fn places(&self) -> Places {
        Places { tcp: self.balancer.tcp.subscribe(), http: self.balancer.http.subscribe() }
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
        let other = nodes.iter().find(|node| node["role"] == "stands by");
        // With every other node down there is nothing to move to.
        let Some(name) = other.and_then(|node| node["node"].as_str()) else { return Ok(()) };
        self.cluster(&["move", name]).map(drop)
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

/// Points players to a node that is ready, and notes when there is none.
#[derive(Clone)]
struct Balancer {
    tcp: watch::Sender<SocketAddr>,
    http: watch::Sender<SocketAddr>,
    alive: Alive,
    playing: watch::Sender<Option<usize>>,
}

impl Balancer {
    fn start(nodes: &[Server], history: Arc<History>) -> Balancer {
        let places: Vec<(Places, Alive)> =
            nodes.iter().map(|node| (node.places(), node.alive.clone())).collect();
        let first = &places[0].0;
        let balancer = Balancer {
            tcp: watch::Sender::new(*first.tcp.borrow()),
            http: watch::Sender::new(*first.http.borrow()),
            alive: Alive::default(),
            playing: watch::Sender::new(None),
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
            let now = self.find(&nodes, before).await;
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
            if before != now {
                self.playing.send_replace(now);
            }
            tokio::time::sleep(ASK.0).await;
        }
    }

    /// The node that is ready; the same as before, if it still is.
    async fn find(&self, nodes: &[(Places, Alive)], before: Option<usize>) -> Option<usize> {
        let others = (0..nodes.len()).filter(|number| Some(*number) != before);
        for number in before.into_iter().chain(others) {
            let place = *nodes[number].0.http.borrow();
            if tokio::time::timeout(ASK.1, is_ready(place)).await.is_ok_and(|ready| ready) {
                return Some(number);
            }
        }
        None
    }
}

async fn is_ready(place: SocketAddr) -> bool {
    let Ok((http, _)) = Http::parse(&format!("http://{place}")) else { return false };
    let asked = http.send("GET", "/healthz?ready", None).await;
    asked.is_ok_and(|answer| answer.status == 200)
}
