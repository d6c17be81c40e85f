//! `agon watch`: follows a match, a tournament or a server over server-sent events.

use crate::args::WatchArgs;
use crate::command::play::coloured;
use crate::exit::{Exit, Misuse};
use crate::show;
use agon_client::http::{Http, HttpError, ServerEvent, escaped};
use agon_games::Registry;
use anyhow::{Result, bail};
use serde_json::{Value, json};
use std::io::{BufRead, IsTerminal, Write};
use std::time::Duration;

/// How long to wait before a retry: the first time, and at most.
const WAIT_MS: (u64, u64) = (100, 5_000);
/// The number of consecutive failures after which to give up.
const TRIES_MAX: u32 = 60;
/// How often to check whether something has started.
const LOOK: Duration = Duration::from_secs(1);

pub(crate) fn watch(args: &WatchArgs) -> Result<Exit> {
    let (http, mut parts) = Http::parse(&args.url).map_err(|error| Misuse(error.to_string()))?;
    // URLs of the HTTP interface work as well.
    parts.retain(|part| !matches!(part.as_str(), "tournaments" | "matches" | "events"));
    let terminal = std::io::stdout().is_terminal() && !args.json;
    let (games, colour) = (Registry::standard(), coloured(args.colour));
    let watch = Watch { args, http, games, colour, terminal };
    let runtime = super::single_thread()?;
    runtime.block_on(async {
        tokio::select! {
            watched = watch.run(&parts) => watched.map(|()| Exit::Success),
            _ = tokio::signal::ctrl_c() => Ok(Exit::Stopped),
        }
    })
}

struct Watch<'a> {
    args: &'a WatchArgs,
    http: Http,
    games: Registry,
    colour: bool,
    terminal: bool,
}

/// The tournament or match that is watched.
enum Topic {
    Tournament(String),
    Match(String, String),
}

impl Topic {
    fn page(&self) -> String {
        match self {
            Topic::Tournament(id) => format!("/api/v1/tournaments/{}", escaped(id)),
            Topic::Match(tournament, id) => {
                format!("/api/v1/tournaments/{}/matches/{}", escaped(tournament), escaped(id))
            }
        }
    }
}

impl Watch<'_> {
    async fn run(&self, parts: &[String]) -> Result<()> {
        let topic = match parts {
            [] => match self.pick().await? {
                Some(topic) => topic,
                None => return Ok(()),
            },
            [id] => Topic::Tournament(id.clone()),
            [tournament, id] => Topic::Match(tournament.clone(), id.clone()),
            _ => {
                let why = "the URL has too many parts; use http://HOST:PORT/TOURNAMENT/MATCH";
                return Err(Misuse(why.into()).into());
            }
        };
        self.follow(&topic).await
    }

    /// Lists tournaments, waits until one runs, and picks it; a person at a terminal may choose.
    async fn pick(&self) -> Result<Option<Topic>> {
        let mut shown = false;
        loop {
            let all = self.http.get("/api/v1/tournaments?limit=1000").await.map_err(explained)?;
            let running = self.running(&all["tournaments"]).await?;
            if self.args.json && (!shown || !running.is_empty()) {
                super::print(&format!("{}\n", json!({"event": "list", "data": all})))?;
            } else if !shown || !running.is_empty() {
                super::print(&listed(&all["tournaments"], &running))?;
            }
            shown = true;
            if self.args.once {
                return Ok(None);
            }
            let asks = self.terminal && std::io::stdin().is_terminal() && running.len() > 1;
            if asks && let Some(at) = choose(running.len()).await? {
                return Ok(running.into_iter().nth(at).map(|(topic, _)| topic));
            }
            if !running.is_empty() {
                return Ok(running.into_iter().next().map(|(topic, _)| topic));
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Running tournaments and their matches, with a line about each.
    async fn running(&self, all: &Value) -> Result<Vec<(Topic, String)>> {
        let mut running = Vec::new();
        for one in all.as_array().into_iter().flatten() {
            let (Some(id), Some("running")) = (one["id"].as_str(), one["standing"].as_str()) else {
                continue;
            };
            let topic = Topic::Tournament(id.to_owned());
            let page = self.http.get(&topic.page()).await.map_err(explained)?;
            running.push((topic, format!("{id}, a tournament of {}", one["game"])));
            for pairing in page["pairings"].as_array().into_iter().flatten() {
                if let (Some(name), false) = (pairing["match"].as_str(), pairing["over"] == true) {
                    let topic = Topic::Match(id.to_owned(), name.to_owned());
                    running.push((topic, format!("{id}/{name} {}", pairing["players"])));
                }
            }
        }
        Ok(running)
    }

    /// Shows every event until the end, and reconnects when the connection is lost.
    async fn follow(&self, topic: &Topic) -> Result<()> {
        let path = format!("{}/events", topic.page());
        let (mut last, mut tries, mut shown) = (None::<String>, 0_u32, false);
        loop {
            let error = match self.http.events(&path, last.as_deref()).await {
                Ok(None) => return Ok(()),
                Ok(Some(mut events)) => loop {
                    match events.next().await {
                        Ok(Some(event)) => {
                            (tries, shown) = (0, true);
                            self.show(topic, &event)?;
                            if event.event == "end" || self.args.once {
                                return Ok(());
                            }
                            last = event.id;
                        }
                        Ok(None) => break None,
                        Err(error) => break Some(error),
                    }
                },
                // The tournament waits for players, or was cancelled.
                Err(HttpError::Problem { status: 409, .. }) => {
                    let page = self.http.get(&topic.page()).await.map_err(explained)?;
                    let standing = page["standing"].as_str().unwrap_or_default();
                    let waits = ["open", "inviting", "running"].contains(&standing);
                    if !shown || !waits {
                        let (event, data) = ("snapshot".to_owned(), page.to_string());
                        self.show(topic, &ServerEvent { event, id: None, data })?;
                    }
                    if !waits || self.args.once {
                        return Ok(());
                    }
                    shown = true;
                    tokio::time::sleep(LOOK).await;
                    continue;
                }
                Err(error @ HttpError::Problem { status: 503, .. }) => Some(error),
                Err(error @ HttpError::Unreachable { .. }) if shown => Some(error),
                Err(error) => return Err(explained(error)),
            };
            tries += 1;
            if tries > TRIES_MAX {
                match error {
                    Some(error) => return Err(explained(error)),
                    None => bail!("the server keeps closing the stream of events"),
                }
            }
            let (first, most) = WAIT_MS;
            let wait = first.saturating_mul(1 << tries.min(10)).min(most);
            tokio::time::sleep(Duration::from_millis(wait)).await;
        }
    }

    fn show(&self, topic: &Topic, event: &ServerEvent) -> Result<()> {
        let data: Value = serde_json::from_str(&event.data).unwrap_or(Value::Null);
        let mut text = match (self.args.json, topic) {
            (true, _) => {
                format!("{}\n", json!({"event": event.event, "id": event.id, "data": data}))
            }
            (false, Topic::Tournament(_)) => show::tournament(&data, self.colour),
            (false, Topic::Match(..)) => show::of_match(&data, &self.games, self.colour),
        };
        match (self.terminal, self.args.json) {
            // The whole screen is drawn anew.
            (true, _) => text.insert_str(0, "\x1b[H\x1b[2J"),
            (false, false) => text.push('\n'),
            (false, true) => {}
        }
        super::print(&text)?;
        Ok(std::io::stdout().flush()?)
    }
}

fn listed(all: &Value, running: &[(Topic, String)]) -> String {
    let count = |standing: &str| {
        let all = all.as_array().into_iter().flatten();
        all.filter(|one| one["standing"] == standing).count()
    };
    let mut text = format!(
        "Tournaments: {} running, {} waiting for players, {} over.\n",
        count("running"),
        count("open") + count("inviting"),
        count("over")
    );
    for ((_, line), number) in running.iter().zip(1..) {
        text.push_str(&format!("{number:>4}  {}\n", line.replace(['"', '[', ']'], "")));
    }
    text
}

/// Asks which one to watch; `None` if the answer is not one of the numbers.
async fn choose(count: usize) -> Result<Option<usize>> {
    super::print(&format!("Which one, 1 to {count}? "))?;
    std::io::stdout().flush()?;
    let line = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().lock().read_line(&mut line).map(|_| line)
    });
    let number = line.await??.trim().parse::<usize>().ok();
    Ok(number.and_then(|number| number.checked_sub(1)).filter(|at| *at < count))
}

/// An error with what to do about it.
fn explained(error: HttpError) -> anyhow::Error {
    let next = match &error {
        HttpError::Unreachable { .. } => {
            "check that the server's HTTP interface is at this \
            address"
        }
        _ => return error.into(),
    };
    let words = format!("{error}; {next}");
    anyhow::Error::new(error).context(words)
}
