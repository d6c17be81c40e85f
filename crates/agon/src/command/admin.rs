//! `agon admin`: an operator's commands over the HTTP interface. It prints the server's answer as a
//! table, or unchanged with `--json`, and an error as one sentence.

mod orders;
mod tables;

use crate::args::{AdminArgs, AdminCommand};
use crate::command::login;
use crate::exit::{Exit, Misuse};
use agon_client::http::{Http, HttpError};
use anyhow::Result;
use orders::Order;
use serde_json::{Value, json};

pub(crate) fn admin(args: &AdminArgs) -> Result<Exit> {
    let (http, _) = Http::parse(&args.server).map_err(|error| Misuse(error.to_string()))?;
    let token = login::token(args.token_file.as_deref(), true)?;
    let admin = Admin { http: http.with_token(token), json: args.json };
    super::single_thread()?.block_on(admin.run(&args.command))?;
    Ok(Exit::Success)
}

struct Admin {
    http: Http,
    json: bool,
}

impl Admin {
    async fn run(&self, command: &AdminCommand) -> Result<()> {
        match command {
            AdminCommand::Status => self.status().await,
            command => match orders::order(command)? {
                Order::Look { path, table } => {
                    let found = self.get(&path).await?;
                    self.show(&found, table)
                }
                Order::List { path, what, table } => {
                    let found = self.list(path, what).await?;
                    self.show(&found, table)
                }
                Order::Do { method, path, body, done } => {
                    self.obey(method, &path, body, &done).await
                }
            },
        }
    }

    async fn get(&self, path: &str) -> Result<Value> {
        self.http.get(path).await.map_err(explained)
    }

    /// Fetches all pages of a list.
    async fn list(&self, path: &str, what: &str) -> Result<Value> {
        let mut all = Vec::new();
        let mut after = String::new();
        loop {
            let page = self.get(&format!("{path}?limit=1000{after}")).await?;
            all.extend(page[what].as_array().cloned().unwrap_or_default());
            match page["next"].as_str() {
                Some(next) => {
                    after = format!("&after={}", agon_client::http::escaped(next));
                }
                None => return Ok(json!({what: all})),
            }
        }
    }

    async fn obey(&self, method: &str, path: &str, body: Option<Value>, done: &str) -> Result<()> {
        let response = self.http.send(method, path, body.as_ref()).await.map_err(explained)?;
        match self.json {
            // An empty body means that the server did it.
            true if response.body.is_empty() => super::print("{}\n"),
            true => super::print(&format!("{}\n", String::from_utf8_lossy(&response.body))),
            false => super::print(&format!("{done}\n")),
        }
    }

    fn show(&self, found: &Value, table: tables::Table) -> Result<()> {
        match self.json {
            true => super::print(&format!("{found}\n")),
            false => super::print(&table(found)),
        }
    }

    async fn status(&self) -> Result<()> {
        let health = self.get("/healthz").await?;
        let metrics = self.http.send("GET", "/metrics", None).await.map_err(explained)?;
        let metrics = String::from_utf8_lossy(&metrics.body).into_owned();
        let numbers = metrics.lines().filter(|line| !line.starts_with('#'));
        let numbers = numbers.filter_map(|line| line.rsplit_once(' '));
        let numbers: serde_json::Map<String, Value> = numbers
            .filter_map(|(name, value)| Some((name.to_owned(), value.parse::<f64>().ok()?.into())))
            .collect();
        let tournaments = self.list("/api/v1/tournaments", "tournaments").await?;
        let status = json!({
            "server": self.http.place(),
            "status": health["status"],
            "metrics": numbers,
            "tournaments": tournaments["tournaments"],
        });
        self.show(&status, tables::status)
    }
}

/// An error with what to do about it.
fn explained(error: HttpError) -> anyhow::Error {
    let next = match &error {
        HttpError::Unreachable { .. } => {
            "check that the server runs there, or name another with \
            --server"
        }
        HttpError::Problem { status: 401, .. } => {
            "put an operator's token into AGON_TOKEN or a --token-file"
        }
        _ => return error.into(),
    };
    let words = format!("{error}; {next}");
    anyhow::Error::new(error).context(words)
}
