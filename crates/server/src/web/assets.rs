//! The files of the page in `web/`, embedded in the binary.
//!
//! A debug build reads them from the folder, if it still exists, so that a change shows with the
//! next load; a release build never does.

use super::Answer;
use super::problem::Problem;
use axum::extract::Path;
use axum::http::header;
use axum::response::IntoResponse;
use std::borrow::Cow;

/// A file of the page.
struct Asset {
    path: &'static str,
    text: &'static str,
}

macro_rules! assets {
    ($($path:literal),* $(,)?) => {
        /// Every file of the page. A file that is not listed here is not served.
        const ASSETS: &[Asset] = &[$(Asset {
            path: $path,
            text: include_str!(concat!("../../../../web/", $path)),
        }),*];
    };
}

assets![
    "app.js",
    "boards/all.js",
    "boards/board.js",
    "boards/boards.css",
    "boards/fish.js",
    "boards/games.css",
    "boards/strip.js",
    "boards/trains.js",
    "boards/yahtzee.js",
    "formats/bracket.js",
    "formats/double-elimination.js",
    "formats/formats.css",
    "formats/gauntlet.js",
    "formats/groups.js",
    "formats/index.js",
    "formats/knockout.js",
    "formats/progress.js",
    "formats/round-robin.js",
    "icon.svg",
    "lib/acting.js",
    "lib/api.js",
    "lib/ask.js",
    "lib/chain.js",
    "lib/dom.js",
    "lib/equal.js",
    "lib/fair.js",
    "lib/lines.js",
    "lib/matches.js",
    "lib/moves.js",
    "lib/outcome.js",
    "lib/pace.js",
    "lib/receipt.js",
    "lib/replayer.js",
    "lib/rulings.js",
    "lib/saved.js",
    "lib/show.js",
    "lib/stream.js",
    "lib/styled.js",
    "lib/table.js",
    "lib/title.js",
    "lib/verify.js",
    "lib/wire.js",
    "lib/words.js",
    "lobby/known.js",
    "lobby/lists.js",
    "lobby/people.js",
    "meander.svg",
    "play/bar.js",
    "play/celebration.js",
    "play/options.js",
    "play/play.css",
    "play/session.js",
    "play/signals.js",
    "player/chart.js",
    "player/faults.js",
    "player/lists.js",
    "referees/fish.js",
    "referees/trains.js",
    "referees/yahtzee.js",
    "replay/analysis.css",
    "replay/analysis.js",
    "replay/graph.js",
    "replay/times.js",
    "rules/fish.js",
    "rules/trains.js",
    "rules/yahtzee.js",
    "start.css",
    "start/demo.js",
    "start/form.js",
    "start/game.js",
    "start/pictures.js",
    "start/waiting.js",
    "start/welcome.js",
    "style.css",
    "theme.js",
    "tournament/coming.js",
    "tournament/comparison.js",
    "tournament/lists.js",
    "tournament/match.js",
    "tournament/progress.js",
    "tournament/series.js",
    "tv/choose.js",
    "tv/scenes.js",
    "tv/tv.css",
    "views.css",
    "views/account.js",
    "views/bot.js",
    "views/docs.js",
    "views/formats.js",
    "views/game.js",
    "views/lobby.js",
    "views/new.js",
    "views/play.js",
    "views/player.js",
    "views/replay.js",
    "views/rules.js",
    "views/tournament.js",
    "views/tv.js",
];

pub(super) const SCRIPT: &str = "text/javascript; charset=utf-8";
pub(super) const STYLE: &str = "text/css; charset=utf-8";
pub(super) const PICTURE: &str = "image/svg+xml";

/// The page itself, with a placeholder for the content without scripts.
pub(super) fn index() -> Cow<'static, str> {
    latest(&Asset { path: "index.html", text: include_str!("../../../../web/index.html") })
}

pub(super) async fn file(Path(file): Path<String>) -> Answer {
    serve(&file)
}

pub(super) async fn file_of_folder(Path((folder, file)): Path<(String, String)>) -> Answer {
    serve(&format!("{folder}/{file}"))
}

fn serve(path: &str) -> Answer {
    let Some(asset) = ASSETS.iter().find(|asset| asset.path == path) else {
        return Err(Problem::not_found(format!("the page has no file {path:?}")));
    };
    let headers = [
        (header::CONTENT_TYPE, media(asset.path)),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // An upgraded server must not run with cached scripts of the previous one.
        (header::CACHE_CONTROL, "no-cache"),
    ];
    Ok((headers, latest(asset)).into_response())
}

fn media(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("css") => STYLE,
        Some("svg") => PICTURE,
        _ => SCRIPT,
    }
}

fn latest(asset: &Asset) -> Cow<'static, str> {
    #[cfg(debug_assertions)]
    {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web");
        if let Ok(text) = std::fs::read_to_string(std::path::Path::new(folder).join(asset.path)) {
            return text.into();
        }
    }
    asset.text.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// The names of files below a folder, as URL paths.
    fn files(folder: &Path, within: &str, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{within}{}", entry.file_name().to_str().unwrap());
            match entry.file_type().unwrap().is_dir() {
                true => files(&entry.path(), &format!("{name}/"), found),
                false => drop(found.insert(name)),
            }
        }
    }

    #[test]
    fn every_file_of_the_folder_is_served() {
        let mut there = BTreeSet::new();
        files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web"), "", &mut there);
        // The page itself is at `/`; types and settings are for the type checker only.
        for apart in ["index.html", "lib/types.js", "tsconfig.json"] {
            assert!(there.remove(apart), "{apart}");
        }
        let served: BTreeSet<String> = ASSETS.iter().map(|asset| asset.path.to_owned()).collect();
        assert_eq!(served, there);
    }

    #[test]
    fn nothing_but_the_files_is_served() {
        for path in ["index.html", "../Cargo.toml", "lib/../app.js", "lib", "", "lib/types.js"] {
            assert!(serve(path).is_err(), "{path}");
        }
    }
}
