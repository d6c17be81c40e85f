//! `agon demo fish` and `agon demo trains`: a server for programs of another system, how to connect
//! to it, and, if Python is installed, a tournament between such programs.

use crate::command::{print, single_thread, verify};
use crate::exit::Exit;
use crate::show;
use agon_bench::Child;
use agon_client::http::Http;
use anyhow::{Context, Result};
use serde_json::Value;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How many lines of a player's conversation are shown, and how much of each line.
const LINES_MAX: usize = 14;
const COLUMNS_MAX: usize = 100;

/// The source files of the Python players.
const VALUES: &str = include_str!("../../../../../examples/values.py");
const FISH: [&str; 2] = [
    include_str!("../../../../../examples/fish/players.py"),
    include_str!("../../../../../examples/fish/tournament.py"),
];
const TRAINS: [&str; 2] = [
    include_str!("../../../../../examples/trains/players.py"),
    include_str!("../../../../../examples/trains/tournament.py"),
];

/// A system and its players.
struct Scene {
    name: &'static str,
    settings: &'static str,
    how: &'static str,
    scripts: [&'static str; 2],
    players: &'static [&'static str],
}

const SCENES: [Scene; 2] = [
    Scene {
        name: "fish",
        settings: "at_most = 5\nwait_ms = 600000\nanswer_ms = 3000\n",
        how: "A program sends its name, \"eve\" with the quotes, and answers calls with a value each; \
              or it\nsends {\"type\":\"signup_request\",\"value\":\"eve\"} and gets messages. The fifth \
              player starts a\ntournament. docs/protocol/fish.md has all words.\n",
        scripts: FISH,
        // The players pad, trickle and pretty-print their JSON, and the last one stops answering.
        players: &[
            "ann,call,pad",
            "bob,message",
            "cat,call,trickle",
            "dan,message,pretty",
            "eve,call,plain,take-turn:2,hang",
        ],
    },
    Scene {
        name: "trains",
        settings: "at_most = 4\nwait_ms = 600000\n",
        how: "A program sends its name, \"eve\" with the quotes, and answers calls with a value each; \
              the\nfirst call asks for a map. The fourth player starts a tournament. \
              docs/protocol/trains.md has\nall words.\n",
        scripts: TRAINS,
        players: &["ann,Hold-10,pad", "bob,Buy-Now,trickle", "cat,Buy-Now,pretty", "eve,Cheat"],
    },
];

/// Programs of the Fish system.
pub(super) fn fish() -> Result<Exit> {
    demo(&SCENES[0])
}

/// Programs of the Trains system.
pub(super) fn trains() -> Result<Exit> {
    demo(&SCENES[1])
}

fn demo(scene: &Scene) -> Result<Exit> {
    let folder = std::env::temp_dir().join(format!("agon-demo-{}", std::process::id()));
    std::fs::create_dir_all(&folder).context("failed to make a folder for the demonstration")?;
    let shown = single_thread()?.block_on(async {
        tokio::select! {
            shown = play(scene, &folder) => shown,
            _ = tokio::signal::ctrl_c() => Ok(Exit::Stopped),
        }
    });
    let removed = std::fs::remove_dir_all(&folder);
    let exit = shown?;
    removed.context("failed to remove the demonstration's folder")?;
    Ok(exit)
}

async fn play(scene: &Scene, folder: &Path) -> Result<Exit> {
    let name = scene.name;
    let settings = format!("[{name}]\nlisten = \"127.0.0.1:0\"\n{}", scene.settings);
    let config = folder.join("agon.toml");
    std::fs::write(&config, settings).context("failed to write the server's settings")?;
    let (config, data) = (text(&config), text(&folder.join("data")));
    let args = ["serve", "--config", &config, "--data", &data, "--json", "--tcp", "127.0.0.1:0"];
    let args = [&args[..], &["--http", "127.0.0.1:0"]].concat();
    let mut server = Child::start_with_log(&args, &folder.join("said"))?;
    let said: Value = serde_json::from_str(&server.line().await?)?;
    let at = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (port, http) = (at(&said["players"][name]), at(&said["http"]));
    print(&format!(
        "A server for programs of the {name} system listens at {port}.\n{}\
         Watch it with `agon watch http://{http}/{name}`, or open {}\n\n",
        scene.how,
        at(&said["open"])
    ))?;
    let Some(mut players) = players(scene, folder, &port, &http)? else {
        print("Python 3 is not installed, so nobody plays yet. The server runs until Ctrl-C.\n")?;
        std::future::pending::<()>().await;
        return Ok(Exit::Success);
    };
    players.ended().await?;
    talk(&folder.join("transcript"))?;
    let (page, _) = Http::parse(&format!("http://{http}"))?;
    let found = page.get(&format!("/api/v1/tournaments/{name}")).await?;
    print(&show::tournament(&found, show::colour(std::io::stdout().is_terminal())))?;
    server.stop().await?;
    let paths = vec![PathBuf::from(data)];
    verify::verify(&crate::args::VerifyArgs { paths, ..crate::args::VerifyArgs::default() })
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Starts the players; `None` without Python.
fn players(scene: &Scene, folder: &Path, port: &str, http: &str) -> Result<Option<Child>> {
    let python = |args: &[&str]| {
        let mut command = Command::new("python3");
        command.args(args).stdin(Stdio::null()).stdout(Stdio::null());
        command
    };
    if !python(&["--version"]).status().is_ok_and(|status| status.success()) {
        return Ok(None);
    }
    let scripts = folder.join("players").join(scene.name);
    std::fs::create_dir_all(&scripts).context("failed to make a folder for the players")?;
    let [players, tournament] = scene.scripts;
    let files = [("../values.py", VALUES), ("players.py", players), ("tournament.py", tournament)];
    for (name, text) in files {
        std::fs::write(scripts.join(name), text).context("failed to write the players")?;
    }
    let map = folder.join("map.json");
    let default = agon_games::Registry::standard().kind("trains").map(|kind| kind.default_config());
    let default: Value = serde_json::from_str(default.as_ref().map_or("{}", |json| json.get()))?;
    std::fs::write(&map, format!("{} [] []", default["map"])).context("failed to write a map")?;
    let (script, map) = (text(&scripts.join("tournament.py")), text(&map));
    let mut args = vec!["-B", &script, port, http, scene.name];
    args.extend((scene.name == "trains").then_some(map.as_str()));
    args.extend(scene.players);
    let mut command = python(&args);
    command.env("TRANSCRIPT", folder.join("transcript"));
    Ok(Some(Child::of(command)?))
}

/// Shows the beginning of the first player's conversation.
fn talk(transcript: &Path) -> Result<()> {
    let said = std::fs::read_to_string(transcript).context("failed to read the transcript")?;
    print("What the first player received (>) and sent (<):\n\n")?;
    for line in said.lines().filter(|line| line.starts_with(['<', '>'])).take(LINES_MAX) {
        let mut short: String = line.chars().take(COLUMNS_MAX).collect();
        if short.len() < line.len() {
            short.push('…');
        }
        print(&format!("  {short}\n"))?;
    }
    print("  …\n\n")
}
