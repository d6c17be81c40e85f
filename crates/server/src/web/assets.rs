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
use std::collections::BTreeSet;

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
    "account/staff.js",
    "app.js",
    "boards/all.js",
    "boards/board.js",
    "boards/boards.css",
    "boards/fish.js",
    "boards/games.css",
    "boards/load.js",
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
    "lib/changes.js",
    "lib/clipboard.js",
    "lib/csv.js",
    "lib/dom.js",
    "lib/emblem.js",
    "lib/equal.js",
    "lib/fair.js",
    "lib/lines.js",
    "lib/matches.js",
    "lib/moves.js",
    "lib/outcome.js",
    "lib/pace.js",
    "lib/qr.js",
    "lib/receipt.js",
    "lib/replayer.js",
    "lib/rulings.js",
    "lib/saved.js",
    "lib/scrolling.js",
    "lib/show.js",
    "lib/stream.js",
    "lib/styled.js",
    "lib/table.js",
    "lib/title.js",
    "lib/verify.js",
    "lib/wire.js",
    "lib/words.js",
    "lobby/hero.js",
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
    "replay/stderr.js",
    "replay/times.js",
    "rules/fish.js",
    "rules/trains.js",
    "rules/yahtzee.js",
    "start.css",
    "start/demo.js",
    "start/form.js",
    "start/game.js",
    "start/pictures.js",
    "start/recent.js",
    "start/waiting.js",
    "start/welcome.js",
    "style.css",
    "theme.js",
    "tournament/coming.js",
    "tournament/comparison.js",
    "tournament/lists.js",
    "tournament/luck.js",
    "tournament/match.js",
    "tournament/progress.js",
    "tournament/rulings.js",
    "tournament/series.js",
    "tournament/sharing.js",
    "tv/choose.js",
    "tv/scenes.js",
    "tv/tv.css",
    "views.css",
    "views/account.js",
    "views/archive.js",
    "views/bot.js",
    "views/demo.js",
    "views/docs.js",
    "views/formats.js",
    "views/game.js",
    "views/leaderboard.js",
    "views/lobby.js",
    "views/new.js",
    "views/play.js",
    "views/player.js",
    "views/replay.js",
    "views/rules.js",
    "views/tournament.js",
    "views/tv.js",
];

/// The bots that the page shows: the examples of the Python client.
const EXAMPLES: &[Asset] = &[
    Asset {
        path: "examples/fish.py",
        text: include_str!("../../../../clients/python/examples/fish.py"),
    },
    Asset {
        path: "examples/trains.py",
        text: include_str!("../../../../clients/python/examples/trains.py"),
    },
    Asset {
        path: "examples/yahtzee.py",
        text: include_str!("../../../../clients/python/examples/yahtzee.py"),
    },
];

pub(super) const SCRIPT: &str = "text/javascript; charset=utf-8";
pub(super) const STYLE: &str = "text/css; charset=utf-8";
pub(super) const PICTURE: &str = "image/svg+xml";

/// The page itself, with a placeholder for the content without scripts.
///
/// A comment names the modules that the first view starts from. Links take its place, so that the
/// browser loads all modules at once and not one import after another.
pub(super) fn index() -> String {
    let page =
        latest(&Asset { path: "index.html", text: include_str!("../../../../web/index.html") });
    let (start, end) = ("<!-- modules: ", " -->");
    let Some((before, rest)) = page.split_once(start) else { return page.into_owned() };
    let Some((entries, after)) = rest.split_once(end) else { return page.into_owned() };
    let links = modules(entries.split(' ')).into_iter();
    let links = links.map(|path| format!("<link rel=\"modulepreload\" href=\"/web/{path}\">\n"));
    format!("{before}{}{}", links.collect::<String>(), after.trim_start())
}

/// These modules, and all that they import.
fn modules<'a>(entries: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open: Vec<String> = entries.map(str::to_owned).collect();
    while let Some(path) = open.pop() {
        let Some(asset) = ASSETS.iter().find(|asset| asset.path == path) else { continue };
        let text = latest(asset);
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        if found.insert(path.clone()) {
            open.extend(imports(&text).map(|import| resolved(folder, import)));
        }
    }
    found
}

/// The relative addresses that a module imports.
fn imports(text: &str) -> impl Iterator<Item = &str> {
    let ends = text.lines().filter_map(|line| line.split_once(" from \"")?.1.split('"').next());
    ends.filter(|import| import.starts_with('.'))
}

/// The path of an import, seen from a folder of the page.
fn resolved(folder: &str, import: &str) -> String {
    match import.strip_prefix("../") {
        Some(path) => path.to_owned(),
        None if folder.is_empty() => import.trim_start_matches("./").to_owned(),
        None => format!("{folder}/{}", import.trim_start_matches("./")),
    }
}

pub(super) async fn file(Path(file): Path<String>) -> Answer {
    serve(&file)
}

pub(super) async fn file_of_folder(Path((folder, file)): Path<(String, String)>) -> Answer {
    serve(&format!("{folder}/{file}"))
}

fn serve(path: &str) -> Answer {
    let Some(asset) = ASSETS.iter().chain(EXAMPLES).find(|asset| asset.path == path) else {
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
        Some("py") => "text/plain; charset=utf-8",
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
    fn first_view_loads_all_its_modules_at_once() {
        let page = index();
        for module in ["app.js", "views/lobby.js", "lib/dom.js", "lib/api.js", "lobby/known.js"] {
            let link = format!("<link rel=\"modulepreload\" href=\"/web/{module}\">");
            assert!(page.contains(&link), "{module} is not in {page}");
        }
        assert!(!page.contains("<!-- modules"), "{page}");
    }

    #[test]
    fn nothing_but_the_files_is_served() {
        for path in ["index.html", "../Cargo.toml", "lib/../app.js", "lib", "", "lib/types.js"] {
            assert!(serve(path).is_err(), "{path}");
        }
    }
}
