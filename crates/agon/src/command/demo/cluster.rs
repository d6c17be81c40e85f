//! `agon demo cluster`: three nodes over PostgreSQL and NATS on this machine. The node that plays
//! is killed in the middle of a cup, another one takes over, and the log is verified.

use crate::command::{print, single_thread, verify};
use crate::exit::{Exit, NotHeld};
use crate::show;
use agon_bench::Child;
use agon_client::http::Http;
use agon_store::{Log, PostgresLog};
use anyhow::{Context, Result};
use rustix::process::geteuid;
use serde_json::Value;
use std::io::IsTerminal;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How many events the log has at least when the node is killed.
const EVENTS_BEFORE_KILL: u64 = 300;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// The house players of the cup.
const PLAYERS: [(&str, &str); 4] =
    [("ann", "optimal"), ("bob", "greedy"), ("cat", "greedy"), ("dan", "random")];

const CUP: &str = "[[tournament]]\nname = \"cup\"\npreset = \"yahtzee-queue\"\nplayers = 4\n\
                   best_of = 7\nstart = \"when-ready\"\n";

pub(super) fn demo() -> Result<Exit> {
    let folder = std::env::temp_dir().join(format!("agon-demo-{}", std::process::id()));
    std::fs::create_dir_all(&folder).context("failed to make a folder for the demonstration")?;
    let shown = single_thread()?.block_on(async {
        tokio::select! {
            shown = play(&folder) => shown,
            _ = tokio::signal::ctrl_c() => Ok(Exit::Stopped),
        }
    });
    let removed = std::fs::remove_dir_all(&folder);
    let exit = shown?;
    removed.context("failed to remove the demonstration's folder")?;
    Ok(exit)
}

async fn play(folder: &Path) -> Result<Exit> {
    // Both programs must be there before one of them starts.
    let bus =
        program("nats-server", "NATS is not installed; install it (apt install nats-server)")?;
    let (mut database, store) = start_postgres(folder).await?;
    let (mut nats, bus) = start_nats(bus).await?;
    std::fs::write(folder.join("agon.toml"), CUP).context("failed to write the settings")?;
    let ports: Vec<u16> = (0..6).map(|_| free_port()).collect::<Result<_>>()?;
    let mut nodes = Vec::new();
    for pair in ports.chunks(2) {
        let number = nodes.len() + 1;
        nodes.push(Node::start(folder, [&store, &bus], [pair[0], pair[1]], number)?);
        // The first node creates the tables and plays.
        if nodes.len() == 1 {
            nodes[0].process.line().await?;
        }
    }
    for node in &nodes[1..] {
        until("every node has a link to node 1", async || Ok(node.is_ready().await)).await?;
    }
    let mut players: Vec<&str> = nodes.iter().map(|node| node.players.as_str()).collect();
    print(&format!(
        "Three nodes share one PostgreSQL and one NATS. Node 1 has the lobby; all play tournaments.\n\
         Players connect to {}.\nSee for yourself: agon cluster status --store {store}\n\n",
        players.join(", ")
    ))?;
    let mut bots = Vec::new();
    for (name, bot) in PLAYERS {
        bots.push(join(&players.join(","), name, bot)?);
        // The next player begins with the next node.
        players.rotate_left(1);
    }
    let has_begun = async || {
        let store = store.clone();
        let streams = blocking(move || Ok(PostgresLog::open_read_only(&store)?.streams()?)).await?;
        Ok(streams.iter().map(|(_, count)| count).sum::<u64>() >= EVENTS_BEFORE_KILL)
    };
    until("the cup has begun", has_begun).await?;
    nodes[0].process.kill();
    let killed = Instant::now();
    print("Killed node 1 in the middle of the cup (SIGKILL).\n")?;
    let [_, second, third] = &mut nodes[..] else { unreachable!("there are three") };
    let next = tokio::select! {
        line = second.process.line() => line.map(|_| 2),
        line = third.process.line() => line.map(|_| 3),
        () = tokio::time::sleep(PATIENCE) => anyhow::bail!("no node took over"),
    }?;
    let gap = killed.elapsed().as_secs_f64();
    print(&format!(
        "Node {next} took over after {gap:.1} s. The players reconnect and continue.\n\n"
    ))?;
    for bot in &mut bots {
        bot.ended().await?;
    }
    let (page, _) = Http::parse(&format!("http://{}", nodes[next - 1].http))?;
    let found: Value = page.get("/api/v1/tournaments/cup").await?;
    print(&show::tournament(&found, show::colour(std::io::stdout().is_terminal())))?;
    let paths = vec![PathBuf::from(store)];
    let args = crate::args::VerifyArgs { paths, ..crate::args::VerifyArgs::default() };
    let verified = blocking(move || verify::verify(&args)).await?;
    // The database stops when nobody is connected.
    drop(nodes);
    nats.kill();
    database.stop().await?;
    Ok(verified)
}

/// A node that was started.
struct Node {
    process: Child,
    players: String,
    http: String,
}

impl Node {
    fn start(
        folder: &Path,
        [store, bus]: [&str; 2],
        ports: [u16; 2],
        number: usize,
    ) -> Result<Node> {
        let [players, http] = ports.map(|port| format!("127.0.0.1:{port}"));
        let config = folder.join("agon.toml").to_string_lossy().into_owned();
        let args = ["serve", "--config", &config, "--json", "--store", store, "--bus", bus];
        let args = [&args[..], &["--tcp", &players, "--http", &http]].concat();
        let process = Child::start_with_log(&args, &folder.join(format!("node-{number}.log")))?;
        Ok(Node { process, players, http })
    }

    /// Returns whether players should connect to it.
    async fn is_ready(&self) -> bool {
        let Ok((page, _)) = Http::parse(&format!("http://{}", self.http)) else { return false };
        page.get("/healthz?ready").await.is_ok()
    }
}

/// A house player who plays one tournament.
fn join(players: &str, name: &str, bot: &str) -> Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["join", "--server", players, "--account", name, "--register", "--once"]);
    command.args(["--bot", &format!("house:{bot}")]).env("AGON_PASSWORD", "a demonstration");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Child::of(command)
}

/// Starts NATS, which keeps nothing; returns its process and its address.
async fn start_nats(path: PathBuf) -> Result<(Child, String)> {
    let port = free_port()?;
    let mut command = Command::new(path);
    command.args(["--addr", "127.0.0.1", "--port", &port.to_string()]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let server = Child::of(command)?;
    until("NATS answers", async || Ok(answers(port).await)).await?;
    Ok((server, format!("nats://127.0.0.1:{port}")))
}

/// Starts PostgreSQL in a folder of its own; returns its process and the address of a database.
async fn start_postgres(folder: &Path) -> Result<(Child, String)> {
    let data = folder.join("database");
    std::fs::create_dir_all(&data)?;
    if geteuid().is_root() {
        // PostgreSQL refuses to run as root.
        run(Command::new("chown").arg("postgres").arg(&data))?;
        run(Command::new("chmod").arg("755").arg(folder))?;
    }
    run(postgres("initdb")?
        .args(["--auth=trust", "--username=agon", "--encoding=UTF8", "--no-sync", "--pgdata"])
        .arg(&data))?;
    let port = free_port()?;
    let mut command = postgres("postgres")?;
    command.arg("-D").arg(&data).args(["-p", &port.to_string(), "-h", "127.0.0.1", "-k", ""]);
    let log = std::fs::File::create(folder.join("database.log"))?;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    let server = Child::of(command)?;
    let url = format!("postgres://agon@127.0.0.1:{port}/postgres");
    until("PostgreSQL answers", async || Ok(answers(port).await)).await?;
    Ok((server, url))
}

async fn answers(port: u16) -> bool {
    tokio::net::TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.is_ok()
}

/// A program in the path, or the advice to install it.
fn program(name: &str, advice: &str) -> Result<PathBuf> {
    let in_path = std::env::var_os("PATH").unwrap_or_default();
    let mut in_path = std::env::split_paths(&in_path).map(|folder| folder.join(name));
    let found = in_path.find(|path| path.exists());
    Ok(found.ok_or_else(|| NotHeld(advice.to_owned()))?)
}

/// A program of PostgreSQL. Debian does not put them into the path.
fn postgres(name: &str) -> Result<Command> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        versions.map(|entry| entry.path().join("bin").join(name)).collect();
    found.retain(|path| path.exists());
    found.sort();
    let advice = "PostgreSQL is not installed; install it (apt install postgresql)";
    let path = found.pop().map_or_else(|| program(name, advice), Ok)?;
    if !geteuid().is_root() {
        return Ok(Command::new(path));
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]).arg(path);
    Ok(command)
}

fn run(command: &mut Command) -> Result<()> {
    let done = command.output().context("failed to start a program of PostgreSQL")?;
    anyhow::ensure!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Ok(())
}

/// Reads the log on a thread of its own: the client of the database blocks.
async fn blocking<T: Send + 'static>(
    read: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(read).await.context("failed to read the log")?
}

/// Asks again and again until `done`.
async fn until(what: &str, mut done: impl AsyncFnMut() -> Result<bool>) -> Result<()> {
    let begun = Instant::now();
    while !done().await? {
        anyhow::ensure!(begun.elapsed() < PATIENCE, "waited in vain until {what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

fn free_port() -> Result<u16> {
    crate::free_port(Ipv4Addr::LOCALHOST.into()).context("no port is free")
}
