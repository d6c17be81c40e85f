//! The solver against a second one that shares nothing with it but the rules: ordered dice, every
//! subset of them, every throw. Too slow for a whole game, so: its last turns.

use agon_bots::yahtzee::{Card, Roll, Rule, Table, solve};
use agon_games::yahtzee::ScoreBox;

const OPEN: Option<u16> = None;
const UPPER_FILLED: [Option<u16>; 6] = [Some(3), Some(6), Some(9), Some(12), Some(15), Some(12)];

/// The content of each box, in the order of the card.
type Scores = [Option<u16>; 13];

/// The values of the 7776 ordered rolls, first die fastest.
type ByRoll = Vec<f64>;

fn dice(mut roll: usize) -> [u8; 5] {
    std::array::from_fn(|_| {
        let face = (roll % 6 + 1) as u8;
        roll /= 6;
        face
    })
}

fn roll_of(dice: &[u8; 5]) -> usize {
    dice.iter().rev().fold(0, |roll, face| roll * 6 + usize::from(*face) - 1)
}

/// The score of dice in a box, including bonuses; `None` if they may not go there.
fn points(rule: Rule, scores: &Scores, index: usize, dice: &[u8; 5]) -> Option<(u16, u16)> {
    let mut sorted = *dice;
    sorted.sort_unstable();
    let [a, b, c, d, e] = sorted;
    let sum: u16 = dice.iter().copied().map(u16::from).sum();
    let yahtzee = a == e;
    let upper_filled = scores[usize::from(a) - 1].is_some();
    let joker = yahtzee
        && upper_filled
        && (scores[11] == Some(50) || (rule != Rule::Tournament && scores[11] == Some(0)));
    let straight = |length: usize| {
        (1..=7 - length).any(|low| (low..low + length).all(|face| dice.contains(&(face as u8))))
    };
    if rule == Rule::ForcedJoker && yahtzee && scores[11].is_some() {
        let lower_open = scores[6..].iter().any(Option::is_none);
        let allowed =
            if !upper_filled { index == usize::from(a) - 1 } else { index >= 6 || !lower_open };
        if !allowed {
            return None;
        }
    }
    let score = match index {
        0..6 => {
            dice.iter().map(|f| if usize::from(*f) == index + 1 { u16::from(*f) } else { 0 }).sum()
        }
        6 if a == c || b == d || c == e => sum,
        7 if a == d || b == e => sum,
        8 if joker || (!yahtzee && a == b && d == e && (b == c || c == d)) => 25,
        9 if joker || straight(4) => 30,
        10 if joker || straight(5) => 40,
        11 if yahtzee => 50,
        12 => sum,
        _ => 0,
    };
    Some((score, if yahtzee && scores[11] == Some(50) { 100 } else { 0 }))
}

/// By rolls left, 0 to 2: what every roll is worth.
fn turn(rule: Rule, scores: &Scores) -> [ByRoll; 3] {
    let mut after = Vec::new();
    let mut best_box = vec![f64::NEG_INFINITY; 7776];
    for index in (0..13).filter(|index| scores[*index].is_none()) {
        for (roll, best) in best_box.iter_mut().enumerate() {
            let Some((score, bonus)) = points(rule, scores, index, &dice(roll)) else { continue };
            let mut next = *scores;
            // Points in a lower box but Yahtzee change nothing later: look up fewer games.
            next[index] = Some(if index < 6 || index == 11 { score } else { 0 });
            let known = after.iter().find(|(scores, _)| *scores == next).map(|(_, value)| *value);
            let rest = known.unwrap_or_else(|| {
                let value = game(rule, &next);
                after.push((next, value));
                value
            });
            *best = best.max(f64::from(score + bonus) + rest);
        }
    }
    let one_left = with_a_throw(&best_box);
    let two_left = with_a_throw(&one_left);
    [best_box, one_left, two_left]
}

/// The points still to come before a turn.
fn game(rule: Rule, scores: &Scores) -> f64 {
    if scores.iter().all(Option::is_some) {
        let upper: u16 = scores[..6].iter().flatten().sum();
        return if upper >= 63 { 35.0 } else { 0.0 };
    }
    let [_, _, two_left] = turn(rule, scores);
    two_left.iter().sum::<f64>() / 7776.0
}

fn with_a_throw(after: &ByRoll) -> ByRoll {
    let mut values = vec![f64::NEG_INFINITY; 7776];
    for roll in (0..7776).filter(|roll| dice(*roll).is_sorted()) {
        values[roll] = (0..32).map(|keep| mean(after, dice(roll), keep)).fold(0.0, f64::max);
    }
    for roll in 0..7776 {
        let mut sorted = dice(roll);
        sorted.sort_unstable();
        values[roll] = values[roll_of(&sorted)];
    }
    values
}

/// The mean over all throws of the dice not in `keep`.
fn mean(after: &ByRoll, mut kept: [u8; 5], keep: u32) -> f64 {
    let thrown: Vec<u32> = (0..5).filter(|die| keep >> die & 1 == 0).collect();
    thrown.iter().for_each(|die| kept[*die as usize] = 1);
    sum(after, roll_of(&kept), &thrown) / 6f64.powi(thrown.len() as i32)
}

/// The sum over all throws of the dice `thrown`, which show 1 in `roll`.
fn sum(after: &ByRoll, roll: usize, thrown: &[u32]) -> f64 {
    let Some((die, others)) = thrown.split_first() else { return after[roll] };
    (0..6).map(|face| sum(after, roll + face * 6usize.pow(*die), others)).sum()
}

fn compare(table: &Table, scores: &Scores) {
    let card = Card::new(scores).unwrap();
    let by_rolls_left = turn(table.rule(), scores);
    let start = by_rolls_left[2].iter().sum::<f64>() / 7776.0;
    let close = |ours: f64, theirs: f64| (ours - theirs).abs() < 1e-9;
    assert!(close(table.value(&card), start), "{:?}: {scores:?}", table.rule());
    for number in (0..7776).step_by(61) {
        let roll = Roll::new(dice(number)).unwrap();
        let best_box = table.best_box(&card, roll).unwrap();
        assert!(close(best_box.value, by_rolls_left[0][number]), "{roll:?}: {best_box:?}");
        for rolls_left in [1, 2] {
            let best = table.best_keepers(&card, roll, rolls_left).unwrap();
            let keep = (0..5).map(|die| u32::from(best.choice.keeps(die)) << die).sum();
            let after = &by_rolls_left[usize::from(rolls_left) - 1];
            assert!(close(best.value, by_rolls_left[usize::from(rolls_left)][number]));
            assert!(close(best.value, mean(after, dice(number), keep)), "{roll:?}: {best:?}");
        }
    }
}

fn scores(upper: [Option<u16>; 6], lower: [Option<u16>; 7]) -> Scores {
    std::array::from_fn(|index| if index < 6 { upper[index] } else { lower[index - 6] })
}

#[test]
fn the_last_turns_are_worth_what_trying_everything_says() {
    let near = [Some(3), Some(6), OPEN, Some(12), Some(15), Some(18)];
    let full = Some(0);
    let cases = [
        // Chance and Yahtzee.
        scores(UPPER_FILLED, [full, full, full, full, full, OPEN, OPEN]),
        // A straight after a Yahtzee, with and without points for it.
        scores(UPPER_FILLED, [full, full, full, full, OPEN, Some(50), OPEN]),
        scores(UPPER_FILLED, [full, full, full, full, OPEN, Some(0), full]),
        // The upper bonus hangs on the threes; a joker of threes is forced there.
        scores(near, [full, full, OPEN, full, full, Some(50), full]),
        scores(near, [full, full, full, full, full, Some(50), full]),
        // Nothing but upper boxes: a forced joker with 0.
        scores(
            [OPEN, full, full, OPEN, full, full],
            [full, full, full, full, full, Some(50), full],
        ),
    ];
    for rule in Rule::ALL {
        let table = solve(rule, &mut |_| ());
        cases.iter().for_each(|case| compare(&table, case));
    }
}

#[test]
fn a_full_card_has_no_choices_left() {
    let table = solve(Rule::Tournament, &mut |_| ());
    let card = Card::new(&scores(UPPER_FILLED, [Some(0); 7])).unwrap();
    let roll = Roll::new([1, 2, 3, 4, 5]).unwrap();
    assert_eq!(table.value(&card), 0.0);
    assert!(table.best_box(&card, roll).is_none() && table.best_keepers(&card, roll, 2).is_none());
}

#[test]
fn obvious_choices_are_made() {
    let table = solve(Rule::Tournament, &mut |_| ());
    let keeps = |faces| {
        let roll = Roll::new(faces).unwrap();
        let best = table.best_keepers(&Card::EMPTY, roll, 2).unwrap();
        best.choice.faces(roll).collect::<Vec<u8>>()
    };
    assert_eq!(keeps([6, 1, 6, 6, 2]), [6, 6, 6]);
    assert_eq!(keeps([4, 4, 4, 4, 4]), [4; 5]);
    assert_eq!(keeps([2, 3, 4, 5, 6]), [2, 3, 4, 5, 6]);
    let yahtzee = table.best_box(&Card::EMPTY, Roll::new([6; 5]).unwrap()).unwrap();
    assert_eq!(yahtzee.choice, ScoreBox::Yahtzee);
}
