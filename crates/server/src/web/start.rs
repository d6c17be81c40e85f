//! The page as it is first loaded. Its scripts do the rest. Without scripts, it shows the running
//! tournaments and links. It loads nothing from other hosts, and everything on it is public.

use super::docs::PAGES;
use super::html::{self, escaped};
use super::{Answer, Web, assets, lobby};
use crate::engine::query::{Count, Counts, TournamentEntry};
use crate::engine::{EngineStatus, GameTotals};
use axum::extract::State;
use axum::response::IntoResponse;

/// How many tournaments the page shows; the full list has pages of its own.
const TOURNAMENTS_MAX: usize = 30;

/// The placeholder for the content without scripts.
const ROOM: &str = "<!-- start -->";

/// A tournament in the list.
struct Row {
    id: String,
    standing: &'static str,
    game: String,
    players: String,
}

pub(super) async fn page(State(web): State<Web>) -> Answer {
    let Counts { status, games, .. } = web.ask(Count).await?;
    let rows = rows(lobby::look(&web).await?.tournaments);
    let page = assets::index().replacen(ROOM, &plain(&status, &games, &rows), 1);
    Ok((html::HEADERS, page).into_response())
}

/// Running tournaments first, then those open for sign-up, then finished ones.
fn rows(tournaments: Vec<TournamentEntry>) -> Vec<Row> {
    let so_far = |players: usize| format!("{players} so far");
    let rows = tournaments.into_iter().map(|entry| {
        let (rank, standing, id, game, players) = match entry {
            TournamentEntry::Running { id, game, players, .. } => {
                (0, "running", id, game, players.to_string())
            }
            TournamentEntry::Open { id, game, players } => {
                (1, "open for sign-up", id, game, so_far(players))
            }
            TournamentEntry::Inviting { id, game, players } => {
                (1, "by invitation", id, game, so_far(players))
            }
            TournamentEntry::Over { id, winners } => {
                let won: Vec<&str> = winners.iter().map(|name| name.as_str()).collect();
                let players = if won.is_empty() { "–".into() } else { won.join(", ") + " won" };
                (2, "over", id, String::new(), players)
            }
            TournamentEntry::CalledOff { id, .. } => {
                (3, "cancelled", id, String::new(), String::new())
            }
        };
        (rank, Row { id: id.as_str().to_owned(), standing, game, players })
    });
    let mut rows: Vec<(u8, Row)> = rows.collect();
    rows.sort_by(|(rank, row), (other_rank, other)| (rank, &row.id).cmp(&(other_rank, &other.id)));
    rows.into_iter().map(|(_, row)| row).take(TOURNAMENTS_MAX).collect()
}

/// The content without scripts.
fn plain(status: &EngineStatus, games: &GameTotals, rows: &[Row]) -> String {
    let tiles = [
        (status.connections as u64, "players connected"),
        (status.accounts as u64, "accounts, house players among them"),
        (status.tournaments as u64, "tournaments in progress"),
        (games.running, "games in progress"),
        (games.finished, "games finished since the start"),
        (status.decisions, "decisions since the start"),
    ];
    let tiles = tiles.map(|(number, what)| format!("<div><dt>{what}</dt><dd>{number}</dd></div>"));
    let docs = PAGES
        .map(|(name, what, _)| format!("<li><a href=\"/docs/{name}\">{name}</a>: {what}</li>"));
    let (version, tiles, docs) = (env!("CARGO_PKG_VERSION"), tiles.concat(), docs.concat());
    let tournaments = tournaments(rows);
    format!(
        "<h1>Agon {version}</h1>\n\
         <p>Tournaments of turn-based games between programs and people. This \
         server is up.</p>\n<dl class=\"tiles\">{tiles}</dl>\n\
         <h2>Tournaments</h2>\n{tournaments}\n\
         <h2>Play</h2>\n<p>Programs connect over TCP or over WebSocket (<code>/api/v1/play</code>) \
         and speak JSON lines: <code>agon join</code> connects a program, <code>agon play</code> \
         lets you play in a terminal, <code>agon watch</code> shows live games there.</p>\n\
         <h2>Interface</h2>\n<ul>\n\
         <li><a href=\"/api/v1/tournaments\">/api/v1/tournaments</a>: all tournaments</li>\n\
         <li><a href=\"/api/v1/accounts\">/api/v1/accounts</a>: all players</li>\n\
         <li><a href=\"/healthz\">/healthz</a> and <a href=\"/metrics\">/metrics</a>: \
         for monitoring</li>\n</ul>\n\
         <h2>Documentation</h2>\n<ul>{docs}</ul>"
    )
}

fn tournaments(rows: &[Row]) -> String {
    if rows.is_empty() {
        return "<p>There are none yet. An operator announces one with \
                <code>agon admin tournament create</code>.</p>"
            .into();
    }
    let rows = rows.iter().map(|Row { id, standing, game, players }| {
        let (id, game, players) = (escaped(id), escaped(game), escaped(players));
        format!(
            "<tr><td><a href=\"/api/v1/tournaments/{id}\">{id}</a></td><td>{standing}</td>\
             <td>{game}</td><td>{players}</td></tr>"
        )
    });
    let rows: String = rows.collect();
    format!(
        "<div class=\"wide\"><table><tr><th>name</th><th>standing</th><th>game</th>\
         <th>players</th></tr>{rows}</table></div>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_become_markup() {
        let row = Row {
            id: "cup".into(),
            standing: "over",
            game: String::new(),
            players: "<script>alert('x')</script> & \"eve\" won".into(),
        };
        let page = plain(&EngineStatus::default(), &GameTotals::default(), &[row]);
        assert!(page.contains("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &quot;eve"));
        assert!(!page.contains("<script") && !page.contains("http://"), "{page}");
    }
}
