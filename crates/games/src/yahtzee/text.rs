//! Yahtzee for people: two cards side by side, dice as faces, answers as sentences.

use super::answer::{Answer, Keep, Places};
use super::card::{UPPER_GOAL, YAHTZEE_BONUS};
use super::state::Yahtzee;
use super::view::{CardView, Play, View};
use super::{Dice, ScoreBox, TURNS};
use crate::Seat;
use std::fmt::Write;

/// Columns of a card.
const WIDTH: usize = 14;

const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";
const GREEN: &str = "\x1b[32m";
const PLAIN: &str = "\x1b[0m";

/// The position as a view has it.
pub(super) fn render(view: &View, names: &[String], colour: bool) -> String {
    let paint = |style: &str, text: String| match colour {
        true => format!("{style}{text}{PLAIN}"),
        false => text,
    };
    let names = [0, 1].map(|seat| name_of(names, seat));
    let mut out = match usize::from(view.turn) {
        turn if turn <= TURNS => format!("Yahtzee, turn {turn} of {TURNS}\n"),
        _ => "Yahtzee, all turns played\n".to_owned(),
    };
    let header = format!("{:16}{:>WIDTH$}{:>WIDTH$}", "", names[0], names[1]);
    line(&mut out, &paint(BOLD, header));
    for at in ScoreBox::ALL {
        let cells = [0, 1].map(|seat: usize| box_cell(view, seat, at, &paint));
        line(&mut out, &format!("{at:16}{}{}", cells[0], cells[1]));
        if at == ScoreBox::Sixes {
            let cells = view.cards.each_ref().map(upper_cell);
            let text = format!("{:16}{:>WIDTH$}{:>WIDTH$}", "upper bonus", cells[0], cells[1]);
            line(&mut out, &paint(DIM, text));
        }
    }
    let bonuses = view.cards.each_ref().map(|card| YAHTZEE_BONUS * u16::from(card.yahtzee_bonuses));
    let text = format!("{:16}{:>WIDTH$}{:>WIDTH$}", "yahtzee bonus", bonuses[0], bonuses[1]);
    line(&mut out, &paint(DIM, text));
    let totals = view.cards.each_ref().map(|card| card.total);
    let text = format!("{:16}{:>WIDTH$}{:>WIDTH$}", "total", totals[0], totals[1]);
    line(&mut out, &paint(BOLD, text));
    for (seat, play) in view.now.iter().enumerate() {
        if let Some(play) = play {
            line(&mut out, &format!("{:16}{}", names[seat], play_text(play)));
        }
    }
    for seat in &view.removed {
        line(&mut out, &format!("{} is out", name_of_seat(&names, *seat)));
    }
    out
}

/// One answer as a sentence.
pub(super) fn tell(after: &Yahtzee, before: &Yahtzee, seat: Seat, answer: &Answer) -> String {
    let Some(dice) = before.dice_of(seat) else { return "answers after the end".to_owned() };
    match answer {
        Answer::Keep(keep) => {
            let kept = match keep {
                Keep::Places(places) => Some(*places),
                Keep::Values(values) => Places::of_values(values.as_slice(), dice),
            };
            match kept {
                Some(kept) => tell_keep(kept, dice, after.dice_of(seat).unwrap_or(dice)),
                None => "keeps dice it does not have".to_owned(),
            }
        }
        Answer::NoSuchBox => "fills a box that is not there".to_owned(),
        Answer::Score(score) => {
            let bonus = |game: &Yahtzee| game.sides()[seat.index()].card.view().yahtzee_bonuses;
            let points = after.sides()[seat.index()].card.points(score.at);
            let extra = if bonus(after) > bonus(before) { " and a bonus of 100" } else { "" };
            format!("scores {points} in {} with {}{extra}", score.at, shown(&dice))
        }
    }
}

fn tell_keep(kept: Places, before: Dice, after: Dice) -> String {
    let pick = |dice: Dice, keep: bool| -> Vec<u8> {
        (0..5).filter(|at| kept.has(*at) == keep).map(|at| dice[at]).collect()
    };
    let (held, new) = (pick(before, true), pick(after, false));
    let count = ["", "one die", "two dice", "three dice", "four dice"];
    match new.len() {
        0 => format!("keeps all of {}", shown(&held)),
        5 => format!("rolls all five dice: {}", shown(&new)),
        rolled => format!("keeps {} and rolls {}: {}", shown(&held), count[rolled], shown(&new)),
    }
}

fn line(out: &mut String, text: &str) {
    writeln!(out, "{}", text.trim_end()).expect("a String takes all text");
}

fn name_of(names: &[String], seat: usize) -> String {
    let name = names.get(seat).cloned().unwrap_or_else(|| Seat(seat as u8).to_string());
    name.chars().take(WIDTH - 2).collect()
}

/// A view from elsewhere may name seats that are not there.
fn name_of_seat(names: &[String; 2], seat: Seat) -> String {
    names.get(seat.index()).cloned().unwrap_or_else(|| seat.to_string())
}

/// The points in a box; green where the box was filled in the turn being played.
fn box_cell(
    view: &View,
    seat: usize,
    at: ScoreBox,
    paint: &dyn Fn(&str, String) -> String,
) -> String {
    let fresh = view.now[seat].as_ref().and_then(|play| play.scored);
    match view.cards[seat].boxes.of(at) {
        Some(points) if fresh.is_some_and(|scored| scored.at == at) => {
            paint(GREEN, format!("{points:>WIDTH$}"))
        }
        Some(points) => format!("{points:>WIDTH$}"),
        None => paint(DIM, format!("{:>WIDTH$}", "·")),
    }
}

fn upper_cell(card: &CardView) -> String {
    match card.upper_bonus {
        0 => format!("{} of {UPPER_GOAL}", card.upper),
        bonus => format!("{} (+{bonus})", card.upper),
    }
}

/// The rolls of a turn with an arrow between them, without those where every die was kept.
fn play_text(play: &Play) -> String {
    let rolled = |at: usize| at == 0 || play.kept.get(at - 1) != Some(&[true; 5]);
    let rolls = play.rolls.iter().enumerate().filter(|(at, _)| rolled(*at));
    let rolls = rolls.map(|(_, dice)| faces(dice)).collect::<Vec<_>>().join(" → ");
    match play.scored {
        Some(scored) => format!("{rolls}  {} in {}", scored.points, scored.at),
        None => rolls,
    }
}

/// Dice as faces and digits: the faces are small on many screens.
fn faces(dice: &[u8]) -> String {
    const FACES: [char; 6] = ['⚀', '⚁', '⚂', '⚃', '⚄', '⚅'];
    let faces: String =
        dice.iter().map(|die| FACES[usize::from(die.wrapping_sub(1)) % 6]).collect();
    format!("{faces} {}", shown(dice))
}

fn shown(dice: &[u8]) -> String {
    dice.iter().map(u8::to_string).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yahtzee::Config;
    use crate::{Game, Seed};
    use serde_json::json;

    fn game() -> Yahtzee {
        Yahtzee::new(&Config::default(), 2, &Seed::from_number(7)).unwrap()
    }

    /// A view in which one player has all bonuses, and the other is out.
    fn late() -> View {
        let mut view = serde_json::to_value(game().view(crate::Viewer::Public)).unwrap();
        view["turn"] = json!(14);
        view["removed"] = json!([1]);
        view["now"] = json!([null, null]);
        view["cards"][0]["boxes"]["sixes"] = json!(30);
        view["cards"][0]["upper"] = json!(63);
        view["cards"][0]["upper_bonus"] = json!(35);
        view["cards"][0]["yahtzee_bonuses"] = json!(2);
        view["cards"][0]["total"] = json!(298);
        serde_json::from_value(view).unwrap()
    }

    #[test]
    fn bonuses_and_removed_players_are_shown() {
        let text = render(&late(), &[], false);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "Yahtzee, all turns played");
        assert_eq!(lines[1], "                        seat 0        seat 1");
        assert_eq!(lines[7], "sixes                       30             ·");
        assert_eq!(lines[8], "upper bonus           63 (+35)       0 of 63");
        assert_eq!(lines[16], "yahtzee bonus              200             0");
        assert_eq!(lines[17..], ["total                      298             0", "seat 1 is out"]);
    }

    #[test]
    fn colours_are_for_heads_sums_empty_boxes_and_what_was_just_filled() {
        let mut game = game();
        game.apply(Seat(0), &Answer::keep_places([true; 5])).unwrap();
        game.apply(Seat(0), &Answer::score(ScoreBox::Chance)).unwrap();
        let plain = game.render(&[], false);
        let text = game.render(&[], true);
        let mut stripped = text.clone();
        for style in [BOLD, DIM, GREEN, PLAIN] {
            stripped = stripped.replace(style, "");
        }
        assert!(plain.lines().eq(stripped.lines().map(str::trim_end)));
        let of = |start: &str| text.lines().find(|line| line.contains(start)).unwrap();
        let empty = format!("{DIM}{:>WIDTH$}{PLAIN}", "·");
        assert_eq!(of("aces"), format!("{:16}{empty}{empty}", "aces"));
        let points = game.sides()[0].card.points(ScoreBox::Chance);
        let green = format!("{GREEN}{points:>WIDTH$}{PLAIN}");
        assert_eq!(of("chance"), format!("{:16}{green}{empty}", "chance"));
        assert!(of("upper bonus").starts_with(DIM) && of("yahtzee bonus").starts_with(DIM));
        assert!(of("total").starts_with(BOLD) && of("seat 1").starts_with(BOLD));
        assert!(of("total").ends_with(PLAIN));
    }

    #[test]
    fn illegal_answers_have_a_text() {
        let game = game();
        let told = |json: &str| {
            let answer: Answer = serde_json::from_str(json).unwrap();
            tell(&game, &game, Seat(0), &answer)
        };
        assert_eq!(told(r#"{"keep":[6,6,6,6,6]}"#), "keeps dice it does not have");
        assert_eq!(told(r#"{"score":"nines"}"#), "fills a box that is not there");
        let mut over = game.clone();
        while let Some(seat) = over.awaiting().first() {
            over.apply(seat, &over.playout_answer(seat, 0)).unwrap();
        }
        let answer = Answer::score(ScoreBox::Aces);
        assert_eq!(tell(&over, &over, Seat(0), &answer), "answers after the end");
    }

    #[test]
    fn text_states_how_many_dice_are_rolled() {
        let (before, after) = ([1, 2, 3, 4, 5], [6, 6, 6, 6, 6]);
        let told = [
            "rolls all five dice: 6 6 6 6 6",
            "keeps 1 and rolls four dice: 6 6 6 6",
            "keeps 1 2 and rolls three dice: 6 6 6",
            "keeps 1 2 3 and rolls two dice: 6 6",
            "keeps 1 2 3 4 and rolls one die: 6",
            "keeps all of 1 2 3 4 5",
        ];
        for (kept, told) in told.into_iter().enumerate() {
            let places = Places::of_values(&before[..kept], before).unwrap();
            assert_eq!(tell_keep(places, before, after), told);
        }
    }

    #[test]
    fn rolls_that_kept_every_die_are_left_out() {
        let play = |value| serde_json::from_value::<Play>(value).unwrap();
        let all = [true; 5];
        let some = [true, false, true, false, true];
        let (one, two) = ([1, 2, 3, 4, 5], [1, 6, 3, 6, 5]);
        let (first, second) = ("⚀⚁⚂⚃⚄ 1 2 3 4 5", "⚀⚅⚂⚅⚄ 1 6 3 6 5");
        let rolls = json!([one, two, two]);
        let text = play_text(&play(json!({"rolls": rolls, "kept": [some, all]})));
        assert_eq!(text, format!("{first} → {second}"));
        let text = play_text(&play(json!({"rolls": [one, one, two], "kept": [all, some]})));
        assert_eq!(text, format!("{first} → {second}"));
    }
}
