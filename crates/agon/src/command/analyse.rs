//! `agon analyse`: how much of the finished games was luck, and what each decision cost.

use super::source::{Progress, Source, address_of};
use super::verify::read_lines;
use crate::args::{AnalyseArgs, ExportArgs};
use crate::exit::{Exit, Misuse, Unreadable};
use crate::show;
use agon_analysis::{
    AdjustedStandings, GameAnalysis, Models, RecordedGame, Refused, analyse_game, recorded_games,
};
use agon_core::{Event, MatchId, TournamentId};
use agon_games::Registry;
use agon_store::read_file;
use anyhow::{Context, Result};
use serde::Serialize;
use std::io::IsTerminal;
use std::path::Path;

/// The analysis of all games that were asked for.
#[derive(Serialize)]
pub(crate) struct Analysis {
    /// Raw and luck-adjusted points per game.
    pub(crate) standings: AdjustedStandings,
    pub(crate) games: Vec<GameAnalysis>,
    /// The games without an analysis.
    pub(crate) refused: Vec<RefusedGame>,
}

/// A game that the model does not cover.
#[derive(Serialize)]
pub(crate) struct RefusedGame {
    pub(crate) tournament: TournamentId,
    #[serde(rename = "match")]
    pub(crate) match_id: MatchId,
    pub(crate) game: u32,
    pub(crate) why: String,
}

/// Which games to analyse, and how.
struct Wanted<'a> {
    args: &'a AnalyseArgs,
    games: Registry,
}

/// The games of one match: each with its analysis, or why there is none.
type MatchAnalysis = Vec<(RecordedGame, Result<GameAnalysis, Refused>)>;

pub(crate) fn analyse(args: &AnalyseArgs) -> Result<Exit> {
    super::solve::use_cache(None);
    let wanted = Wanted { args, games: Registry::standard() };
    let analysis = wanted.of_path(&args.path)?;
    if analysis.games.is_empty() {
        return Err(nothing(args, &analysis).into());
    }
    let text = match args.json {
        true => serde_json::to_string(&analysis)? + "\n",
        false => {
            let colour = show::colour(std::io::stdout().is_terminal());
            show::analysis(&analysis, args.steps || args.game.is_some(), colour)
        }
    };
    super::print(&text)?;
    Ok(Exit::Success)
}

/// Raw and luck-adjusted points of a finished run; `None` if its game has no complete analysis.
pub(crate) fn standings(folder: &Path) -> Result<Option<AdjustedStandings>> {
    let args = AnalyseArgs {
        path: folder.to_owned(),
        tournament: None,
        match_id: None,
        game: None,
        steps: false,
        json: true,
        quiet: true,
    };
    let wanted = Wanted { args: &args, games: Registry::standard() };
    let standings = wanted.of_path(folder)?.standings;
    Ok((!standings.players.is_empty()).then_some(standings))
}

/// The points and costs of the games that an export names.
pub(super) fn standings_of(export: &ExportArgs) -> Result<AdjustedStandings> {
    super::solve::use_cache(None);
    let args = AnalyseArgs {
        path: export.path.clone(),
        tournament: export.tournament.clone(),
        match_id: export.match_id.clone(),
        game: export.game,
        steps: false,
        json: true,
        quiet: true,
    };
    let wanted = Wanted { args: &args, games: Registry::standard() };
    Ok(wanted.of_path(&args.path)?.standings)
}

/// Why there is nothing to show.
fn nothing(args: &AnalyseArgs, analysis: &Analysis) -> Misuse {
    Misuse(match (analysis.refused.first(), &args.match_id) {
        (Some(refused), _) => {
            format!(
                "game {} of {} is not analysed: {}",
                refused.game, refused.match_id, refused.why
            )
        }
        (None, Some(id)) => match args.game {
            Some(game) => format!("there is no finished game {game} in match {id:?}"),
            None => format!("there is no match {id:?} with a finished game"),
        },
        (None, None) => "the log has no finished game".into(),
    })
}

impl Wanted<'_> {
    fn of_path(&self, path: &Path) -> Result<Analysis> {
        let sqlite = path.extension().is_some_and(|end| end == "sqlite");
        if !path.is_dir() && !sqlite && address_of(path).is_none() {
            let stream = read_file(path)?;
            return Ok(self.gather([self.of_match(&stream.lines, 1)?]));
        }
        let source = Source::open(path)?;
        let mut names = source.names()?.matches;
        names.retain(|name| self.has_name(name));
        let progress = Progress::new("analysing", names.len(), self.args.quiet);
        let found = source.each(&names, &progress, |_, name, lines| {
            self.of_match(lines, names.len()).with_context(|| format!("failed to analyse {name}"))
        });
        let found: Result<Vec<MatchAnalysis>> = found.into_values().collect();
        Ok(self.gather(found?))
    }

    /// Returns whether a stream is a match that was asked for: `match/TOURNAMENT/ID`.
    fn has_name(&self, name: &str) -> bool {
        let mut parts = name.split('/');
        let is = |part: Option<&str>, wanted: &Option<String>| {
            wanted.as_deref().is_none_or(|wanted| part == Some(wanted))
        };
        parts.next() == Some("match")
            && is(parts.next(), &self.args.tournament)
            && is(parts.next_back(), &self.args.match_id)
    }

    /// Analyses one of `matches` matches.
    fn of_match(&self, lines: &[impl AsRef<str>], matches: usize) -> Result<MatchAnalysis> {
        let lines = read_lines(lines)?;
        if !matches!(lines.first().map(|line| &line.event), Some(Event::MatchCreated(_))) {
            return Err(Unreadable("the log is not the log of a match".into()).into());
        }
        let mut games =
            recorded_games(&lines, &self.games).map_err(|error| Unreadable(error.to_string()))?;
        games.retain(|game| self.args.game.is_none_or(|only| only == game.result.game));
        let models = Models::standard().among(matches * games.len());
        let analysed = games.into_iter().map(|game| {
            let mut analysis = analyse_game(&game, &models);
            if let (Ok(analysis), false) = (&mut analysis, self.keeps_steps()) {
                analysis.steps = Vec::new();
            }
            (game, analysis)
        });
        Ok(analysed.collect())
    }

    fn keeps_steps(&self) -> bool {
        self.args.steps || self.args.game.is_some()
    }

    fn gather(&self, matches: impl IntoIterator<Item = MatchAnalysis>) -> Analysis {
        let (mut games, mut refused) = (Vec::new(), Vec::new());
        for (game, analysis) in matches.into_iter().flatten() {
            match analysis {
                Ok(analysis) => games.push(analysis),
                Err(why) => refused.push(RefusedGame {
                    tournament: game.tournament,
                    match_id: game.match_id,
                    game: game.result.game,
                    why: why.to_string(),
                }),
            }
        }
        Analysis { standings: AdjustedStandings::of(&games), games, refused }
    }
}
