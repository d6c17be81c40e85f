//! A bracket as text: rounds from left to right, every match between those it came from.

use super::paint;
use agon_core::{MatchReport, PlayerName, Results};

/// How many letters of a name are shown.
const NAME_MAX: usize = 20;

/// The drawing under construction: lines of letters, and where the winner's name stands.
#[derive(Default)]
struct Canvas {
    lines: Vec<Vec<char>>,
    marks: Vec<(usize, std::ops::Range<usize>)>,
}

/// Draws the bracket.
pub(crate) fn draw(results: &Results, colour: bool) -> String {
    let rounds = results.rounds.len();
    let widest = results.standings.iter().map(|s| s.player.as_str().chars().count()).max();
    let width = widest.unwrap_or(4).clamp(4, NAME_MAX) + 4;
    let slots = 1usize << rounds;
    let lines = vec![Vec::new(); (slots * 2).saturating_sub(1).max(1)];
    let mut canvas = Canvas { lines, marks: Vec::new() };
    let champion = results.winners.first();
    let first = first_slots(results, slots);
    for (slot, player) in first.iter().enumerate() {
        let score = player.as_ref().and_then(|player| score_in(results, 1, player));
        write_at(&mut canvas, slot * 2, 0, &entry(player.as_ref(), score, width));
        if player.is_some() && player.as_ref() == champion {
            canvas.mark(slot * 2, 0, champion);
        }
    }
    for round in 1..=rounds {
        let spread = 1usize << (round + 1);
        let x = round * (width + 4);
        for at in 0..slots >> round {
            let y = at * spread + (spread / 2 - 1);
            join(&mut canvas, y, x - 4, spread / 4);
            let winner = winner_of(results, round as u32, at as u32 + 1);
            let score = winner.as_ref().and_then(|p| score_in(results, round as u32 + 1, p));
            write_at(&mut canvas, y, x, &entry(winner.as_ref(), score, width));
            if winner.is_some() && winner.as_ref() == champion {
                canvas.mark(y, x, champion);
            }
        }
    }
    canvas.finish(colour)
}

impl Canvas {
    /// Marks the champion's name at this place.
    fn mark(&mut self, y: usize, x: usize, champion: Option<&PlayerName>) {
        let length = champion.map_or(0, |name| shown(name).chars().count());
        self.marks.push((y, x..x + length));
    }

    fn finish(self, colour: bool) -> String {
        let Canvas { lines, marks } = self;
        let mut out = String::new();
        for (y, line) in lines.iter().enumerate() {
            let mut text = String::new();
            let mut from = 0;
            for (_, mark) in marks.iter().filter(|(at, _)| *at == y) {
                text.extend(&line[from..mark.start]);
                let name: String = line[mark.clone()].iter().collect();
                text.push_str(&paint(&name, "1;32", colour));
                from = mark.end;
            }
            text.extend(&line[from..]);
            if !text.trim_end().is_empty() {
                out.push_str(text.trim_end());
                out.push('\n');
            }
        }
        out
    }
}

/// A name as it is drawn: a long one is cut.
fn shown(name: &PlayerName) -> String {
    let name = name.as_str();
    match name.chars().count() <= NAME_MAX {
        true => name.to_owned(),
        false => name.chars().take(NAME_MAX - 1).chain(['…']).collect(),
    }
}

/// The players by slot, from the first round's matches and byes.
fn first_slots(results: &Results, slots: usize) -> Vec<Option<PlayerName>> {
    let mut first = vec![None; slots];
    let Some(round) = results.rounds.first() else { return first };
    let mut free: Vec<usize> = (0..slots / 2).collect();
    for report in &round.matches {
        let at = number_of(report) - 1;
        free.retain(|place| *place != at);
        for (side, player) in report.players.iter().take(2).enumerate() {
            first[at * 2 + side] = Some(player.clone());
        }
    }
    // Byes are listed in the order of their places.
    for (place, bye) in free.into_iter().zip(&round.byes) {
        first[place * 2] = bye.player.clone();
    }
    first
}

fn number_of(report: &MatchReport) -> usize {
    let number = report.id.as_str().rsplit('m').next().and_then(|number| number.parse().ok());
    number.unwrap_or(1)
}

/// The winner of a place of a round.
fn winner_of(results: &Results, round: u32, number: u32) -> Option<PlayerName> {
    let played = results.rounds.get(round as usize - 1)?;
    let report = played.matches.iter().find(|report| number_of(report) == number as usize);
    match report {
        Some(report) => report.result.winners.first().cloned(),
        None => {
            let busy: Vec<usize> = played.matches.iter().map(number_of).collect();
            let places = (1..).filter(|place| !busy.contains(place));
            let mut byes = places.zip(&played.byes);
            byes.find(|(place, _)| *place == number as usize)
                .and_then(|(_, bye)| bye.player.clone())
        }
    }
}

/// The games a player won in their match of a round.
fn score_in(results: &Results, round: u32, player: &PlayerName) -> Option<String> {
    let played = results.rounds.get(round as usize - 1)?;
    let report = played.matches.iter().find(|report| report.players.contains(player))?;
    let side = report.players.iter().position(|name| name == player)?;
    let counted = report.result.games.iter().filter(|game| game.game >= report.result.counts_from);
    match results.best_of {
        1 => {
            let game = counted.clone().next_back()?;
            let seat = game.seats.iter().position(|name| name == player)?;
            Some(game.scores[seat].to_string())
        }
        _ => Some((report.result.halves[side] / 2).to_string()),
    }
}

fn entry(player: Option<&PlayerName>, score: Option<String>, width: usize) -> String {
    let name = player.map_or_else(|| "–".to_owned(), shown);
    let score = score.unwrap_or_default();
    let pad = width.saturating_sub(name.chars().count() + score.chars().count() + 1).max(1);
    format!("{name}{}{score}", " ".repeat(pad))
}

/// The lines from two places into one.
fn join(canvas: &mut Canvas, y: usize, x: usize, reach: usize) {
    let reach = reach.max(1);
    for line in y - reach + 1..y + reach {
        write_at(canvas, line, x + 1, "│");
    }
    write_at(canvas, y - reach, x, "─┐");
    write_at(canvas, y + reach, x, "─┘");
    write_at(canvas, y, x + 1, "├─");
}

fn write_at(canvas: &mut Canvas, y: usize, x: usize, text: &str) {
    let Some(line) = canvas.lines.get_mut(y) else { return };
    let end = x + text.chars().count();
    if line.len() < end {
        line.resize(end, ' ');
    }
    for (at, letter) in text.chars().enumerate() {
        line[x + at] = letter;
    }
}
