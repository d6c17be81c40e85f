//! `agon demo erlang`: a server with an Erlang node, and how to play on it. If Erlang is installed,
//! players play a cup and the log is verified.

use crate::args::VerifyArgs;
use crate::command::{print, verify};
use crate::exit::Exit;
use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The player; the demonstration prints how to start it by hand.
const PLAYER: &str = include_str!("player.erl");

/// The players of the cup.
const USERS: &str = r#"["ann","bob","cat","dan"]"#;

pub(super) fn demo() -> Result<Exit> {
    let folder = Folder::make()?;
    let server = Server::start(&folder.0)?;
    print(&format!(
        "Agon is the hidden node agon@localhost; EPMD is on port {epmd}. From another terminal:\n\n\
         \x20   cd {folder}\n\
         \x20   ERL_EPMD_PORT={epmd} erl -sname me@localhost -setcookie {cookie}\n\
         \x20   1> c(player), player:start('agon@localhost', \"me\", \"my password\").\n\
         \x20   2> {{yahtzee_manager, 'agon@localhost'}} ! {{request_tournament, self(), {{2, 3}}}}.\n\n\
         Every message is in docs/protocol/erlang.md; results are on {open}\n\n",
        epmd = server.epmd,
        folder = folder.0.display(),
        cookie = server.cookie,
        open = server.open,
    ))?;
    if !is_installed() {
        print("Erlang is not installed here, so nobody plays yet. Ctrl-C ends the server.\n")?;
        let mut server = server;
        server.process.0.wait().context("failed to wait for the server")?;
        return Ok(Exit::Success);
    }
    print("Erlang is installed: four players play a cup, best of three.\n\n")?;
    play(&folder.0, &server)?;
    drop(server);
    let paths = vec![folder.0.join("agon-data")];
    verify::verify(&VerifyArgs { paths, ..VerifyArgs::default() })
}

/// Starts a node with players and waits until their cup is over.
fn play(folder: &Path, server: &Server) -> Result<()> {
    let cup = format!(
        "{{ok, player}} = c:c(player), \
         player:cup('agon@localhost', {USERS}, \"swordfish\", 3), halt(0)."
    );
    let mut erl = Command::new("erl");
    erl.args(["-noshell", "-sname", &format!("demo{}@localhost", std::process::id())]);
    erl.args(["-setcookie", &server.cookie, "-start_epmd", "false", "-eval", &cup]);
    erl.current_dir(folder).stdin(Stdio::null()).env("ERL_EPMD_PORT", server.epmd.to_string());
    let players = erl.spawn().context("failed to start erl")?;
    let status = Process(players).0.wait().context("failed to wait for the players")?;
    match status.success() {
        true => print("\n"),
        false => bail!("the players ended before their cup was over: {status}"),
    }
}

fn is_installed() -> bool {
    let mut erl = Command::new("erl");
    erl.arg("-version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    erl.status().is_ok_and(|status| status.success())
}

/// A folder that is removed after the demonstration.
struct Folder(PathBuf);

impl Folder {
    fn make() -> Result<Folder> {
        let path = std::env::temp_dir().join(format!("agon-demo-{}", std::process::id()));
        std::fs::create_dir(&path).context("failed to make a folder for the demonstration")?;
        let folder = Folder(path);
        std::fs::write(folder.0.join("player.erl"), PLAYER).context("failed to write a file")?;
        Ok(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A process that is killed after the demonstration.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A running server.
struct Server {
    process: Process,
    epmd: u16,
    cookie: String,
    open: String,
}

impl Server {
    fn start(folder: &Path) -> Result<Server> {
        let mut random = [0; 12];
        let filled = getrandom::fill(&mut random);
        filled.map_err(|error| anyhow::anyhow!("failed to get random bytes: {error}"))?;
        let cookie: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        // The demonstration has its own EPMD and leaves the machine's alone.
        let epmd = crate::free_port(Ipv4Addr::LOCALHOST.into());
        let epmd = epmd.context("failed to find a free port")?;
        let config = format!("[erlang]\ncookie = {cookie:?}\nepmd = \"127.0.0.1:{epmd}\"\n");
        std::fs::write(folder.join("agon.toml"), config).context("failed to write a file")?;
        let mut serve = Command::new(std::env::current_exe().context("failed to find agon")?);
        serve.args(["serve", "--config", "agon.toml", "--json", "--log", "warn"]);
        serve.args(["--tcp", "127.0.0.1:0", "--http", "127.0.0.1:0"]);
        serve.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = Process(serve.spawn().context("failed to start a server")?);
        let stdout = process.0.stdout.take().context("failed to read the server's output")?;
        let mut line = String::new();
        BufReader::new(stdout)
            .read_line(&mut line)
            .context("failed to read the server's output")?;
        let said: serde_json::Value =
            serde_json::from_str(&line).context("the server's first line is not JSON")?;
        let open = said["open"].as_str().unwrap_or_default().to_owned();
        Ok(Server { process, epmd, cookie, open })
    }
}
