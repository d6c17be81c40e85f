//! The benchmarked server: started as an operator would start it, in its own folder, on a real log.

use super::child::{Child, CpuTime};
use crate::args::BenchArgs;
use agon_client::http::Http;
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The answer deadline. It is long, because players are held back while other things are measured.
const ANSWER_MS: u64 = 3_600_000;

/// How long a second node may take until it is linked to the first one.
const RELAY_MAX: Duration = Duration::from_secs(60);

/// The file with everything that a server writes on stderr.
const WORDS: &str = "serve.stderr";

/// The games of a match: more than a run has time for.
const BEST_OF: u32 = 99;

/// A temporary folder of the run.
pub(super) struct Folder {
    path: PathBuf,
    keep: bool,
}

impl Folder {
    /// Creates a private folder in `dir`.
    pub(super) fn make(dir: &Path, keep: bool) -> Result<Folder> {
        use std::os::unix::fs::DirBuilderExt;
        let path = dir.join(format!("agon-bench-{}", std::process::id()));
        let made = std::fs::DirBuilder::new().mode(0o700).create(&path);
        made.with_context(|| format!("failed to make the folder {}", path.display()))?;
        Ok(Folder { path, keep })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.keep {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

/// The operator of a server.
#[derive(Clone)]
pub(super) struct Operator {
    http: SocketAddr,
    token: String,
}

/// A server in a folder.
pub(super) struct Server {
    pub(super) process: Child,
    pub(super) tcp: SocketAddr,
    pub(super) http: SocketAddr,
    /// Where programs of the Fish system connect.
    pub(super) fish: SocketAddr,
    /// Where the server listens as an Erlang node.
    pub(super) erlang: SocketAddr,
    folder: PathBuf,
    pub(super) operator: Operator,
    /// The node that carries the bytes of the players, if they connect to another node.
    remote: Option<Child>,
}

impl Server {
    /// Starts a server on a log with accounts for these tokens, the operator's first. Returns it
    /// with the tokens of the players.
    pub(super) async fn start(
        folder: &Path,
        ip: IpAddr,
        mut tokens: Vec<String>,
        args: &BenchArgs,
    ) -> Result<(Server, Vec<String>)> {
        let token = tokens.remove(0);
        let players = tokens.len();
        // All players connect from one address.
        let (erlang, epmd) = (free_place(ip)?, free_place(ip)?);
        let setting = |name: &str, value: &Option<String>| {
            value.as_ref().map_or(String::new(), |value| format!("{name} = {value:?}\n"))
        };
        let store = setting("store", &args.store) + &setting("bus", &args.bus);
        let config = format!(
            "reconnect_ms = 120000\nengine_threads = {3}\n{store}[limits]\nconnections_max = {0}\n\
             connections_per_address_max = {0}\nlogin_ms_max = 60000\n\
             watchers_per_address_max = {0}\nsign_ups_per_minute_max = {0}\n\
             http_requests_per_address_max = 256\n\
             [fish]\nlisten = \"{1}\"\nat_least = {0}\nat_most = {0}\nwait_ms = 86400000\n\
             [erlang]\ncookie = \"{2}\"\nlisten = \"{erlang}\"\nepmd = \"{epmd}\"\n\
             accept_ms = {ANSWER_MS}\n",
            2 * players + args.watchers.unwrap_or(0) + 1_000,
            SocketAddr::from((ip, 0)),
            super::nodes::COOKIE,
            args.engine_threads
        );
        std::fs::write(folder.join("agon.toml"), config).context("failed to write a file")?;
        let any = SocketAddr::from((ip, 0));
        let (process, [tcp, http, fish]) = launch(folder, any, any).await?;
        let (folder, operator) = (folder.to_owned(), Operator { http, token });
        let remote = None;
        let mut server = Server { process, tcp, http, fish, erlang, folder, operator, remote };
        if args.remote {
            server.relay(ip).await?;
        }
        Ok((server, tokens))
    }

    /// Starts a second node, where players connect from now on.
    async fn relay(&mut self, ip: IpAddr) -> Result<()> {
        let folder = self.folder.join("second");
        std::fs::create_dir(&folder).context("failed to make a folder")?;
        (self.tcp, self.http, self.fish) = (free_place(ip)?, free_place(ip)?, free_place(ip)?);
        let config = std::fs::read_to_string(self.folder.join("agon.toml"))?;
        let (config, _) = config.split_once("[erlang]").context("the table of the Erlang port")?;
        let any = SocketAddr::from((ip, 0)).to_string();
        let config =
            config.replace(&format!("listen = \"{any}\""), &format!("listen = \"{}\"", self.fish));
        std::fs::write(folder.join("agon.toml"), config).context("failed to write a file")?;
        self.remote = Some(spawn(&folder, self.tcp, self.http)?);
        let (http, _) = Http::parse(&format!("http://{}", self.http))?;
        let started = Instant::now();
        loop {
            let asked = http.send("GET", "/healthz?ready", None).await;
            if asked.is_ok_and(|answer| answer.status == 200) {
                return Ok(());
            }
            if started.elapsed() > RELAY_MAX {
                let words = std::fs::read_to_string(folder.join(WORDS)).unwrap_or_default();
                bail!("failed: the second node has no link to the first one: {}", words.trim());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The processor time of all nodes.
    pub(super) fn cpu(&self) -> Result<CpuTime> {
        let own = self.process.cpu()?;
        Ok(match &self.remote {
            Some(remote) => own.and(remote.cpu()?),
            None => own,
        })
    }

    /// Restarts the server at the same addresses.
    pub(super) async fn start_again(&mut self) -> Result<()> {
        let (process, [_, _, fish]) = launch(&self.folder, self.tcp, self.http).await?;
        (self.process, self.fish) = (process, fish);
        Ok(())
    }

    /// Waits until this many players are connected. Not every protocol notifies its players of
    /// that.
    pub(super) async fn all_in_line(&self, players: usize, patience: Duration) -> Result<()> {
        let (http, _) = Http::parse(&format!("http://{}", self.http))?;
        let started = Instant::now();
        loop {
            let here = http.get("/api/v1/lobby").await?["here"].as_u64().unwrap_or_default();
            if here as usize >= players {
                return Ok(());
            }
            if started.elapsed() > patience {
                bail!("only {here} of {players} players are in line after {patience:?}");
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// A histogram since the start of the server, from reading an answer to writing the next
    /// request: upper bounds in milliseconds, each with a cumulative count.
    pub(super) async fn turns(&self) -> Result<Vec<(f64, u64)>> {
        let metrics = self.metrics().await?;
        let buckets = metrics.lines().filter_map(|line| {
            let (bound, count) =
                line.strip_prefix("agon_turn_seconds_bucket{le=\"")?.split_once("\"} ")?;
            let bound = bound.parse::<f64>().unwrap_or(f64::INFINITY);
            Some((bound * 1_000.0, count.parse().ok()?))
        });
        Ok(buckets.collect())
    }

    /// How many faults the server has charged since its start.
    pub(super) async fn faults(&self) -> Result<u64> {
        let metrics = self.metrics().await?;
        let counts = metrics.lines().filter(|line| line.starts_with("agon_faults_total{"));
        let count = |line: &str| line.rsplit(' ').next()?.parse::<u64>().ok();
        counts
            .map(count)
            .sum::<Option<u64>>()
            .context("failed: the server does not tell its faults")
    }

    async fn metrics(&self) -> Result<String> {
        let (status, metrics) = self.operator.request("GET", "/metrics", "").await?;
        if status != 200 {
            bail!("failed: the server does not tell its measures ({status})");
        }
        Ok(metrics)
    }
}

impl Operator {
    /// Starts a tournament with the first `players` players in line. Without the `usual` limits, no
    /// player can be late.
    pub(super) async fn tournament(
        &self,
        id: &str,
        game: &str,
        players: usize,
        usual: bool,
    ) -> Result<()> {
        let (preset, config) = match game {
            // Players that all answer alike would tie every game with the same dice.
            "yahtzee" => ("yahtzee-class", json!({"dice": "independent"})),
            other => (other, json!({})),
        };
        let mut policy = json!({
            "format": {"kind": "round-robin"},
            "greeting": "none",
            "farewell": "none",
            "match": {
                "best_of": BEST_OF,
                "ties": "share",
                "confirm_result": false,
            },
        });
        if !usual {
            policy["match"]["time"] = json!({"answer_ms": ANSWER_MS, "wait_ms": ANSWER_MS});
        }
        let body = json!({
            "id": id,
            "preset": preset,
            "config": config,
            "policy": policy,
            "selection": {"by": "line", "at_most": players},
        });
        let (status, answer) = self.post("/api/v1/tournaments", &body).await?;
        if status != 201 {
            bail!("failed: the server does not start a tournament ({status}): {answer}");
        }
        Ok(())
    }

    async fn post(&self, path: &str, body: &Value) -> Result<(u16, String)> {
        self.request("POST", path, &body.to_string()).await
    }

    async fn request(&self, method: &str, path: &str, body: &str) -> Result<(u16, String)> {
        let mut stream = TcpStream::connect(self.http).await.context("failed to connect")?;
        let (host, token) = (self.http, &self.token);
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.context("failed to read the server's answer")?;
        let (head, body) = answer.split_once("\r\n\r\n").context("failed: no HTTP answer")?;
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        Ok((status.context("failed: an HTTP answer without a status")?, body.to_owned()))
    }
}

/// An address without a listener.
fn free_place(ip: IpAddr) -> Result<SocketAddr> {
    let port = crate::free_port(ip).context("failed to find a free port")?;
    Ok(SocketAddr::from((ip, port)))
}

/// Starts a server on a folder.
fn spawn(folder: &Path, tcp: SocketAddr, http: SocketAddr) -> Result<Child> {
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let (data, config) = (path("data"), path("agon.toml"));
    let (tcp, http) = (tcp.to_string(), http.to_string());
    let args = ["serve", "--data", &data, "--config", &config, "--tcp", &tcp, "--http", &http];
    let args = [&args[..], &["--json"]].concat();
    Child::start_with_log(&args, &folder.join(WORDS))
}

/// Starts a server and waits until it listens.
async fn launch(
    folder: &Path,
    tcp: SocketAddr,
    http: SocketAddr,
) -> Result<(Child, [SocketAddr; 3])> {
    let mut process = spawn(folder, tcp, http)?;
    let line = process.line().await.map_err(|error| {
        let words = std::fs::read_to_string(folder.join(WORDS)).unwrap_or_default();
        error.context(format!("failed to start a server: {}", words.trim()))
    })?;
    let said: Value = serde_json::from_str(&line).context("failed: the server says no JSON")?;
    let place = |value: &Value| value.as_str().and_then(|text| text.parse().ok());
    let players = &said["players"];
    match (place(&players["tcp"]), place(&said["http"]), place(&players["fish"])) {
        (Some(tcp), Some(http), Some(fish)) => Ok((process, [tcp, http, fish])),
        _ => bail!("failed: the server does not say where it listens: {line}"),
    }
}
