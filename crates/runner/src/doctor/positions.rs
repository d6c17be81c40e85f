//! Random positions that differ in what is asked: kinds of questions, early and late, every shape,
//! every last box.

use crate::doctor::shapes::Shape;
use crate::doctor::table::{Case, Maker};
use agon_bots::Dice;
use std::collections::HashSet;

/// How many positions of one game are taken besides those that show something new.
const MORE_PER_GAME: usize = 3;

/// `count` positions, from as many games as that takes.
pub(crate) fn positions(maker: &mut Maker, shapes: &[Shape], count: usize) -> Vec<Case> {
    let mut dice = Dice::new(&maker.seed.to_string(), "positions");
    let (mut seen, mut taken) = (HashSet::new(), Vec::with_capacity(count));
    for game in 0..count {
        let at = game % shapes.len();
        let mut table = maker.table(&shapes[at]);
        let mut cases = Vec::new();
        while let Some(case) = table.next().1 {
            let answer = table.any_answer(&case);
            table.answer(&answer);
            cases.push(case);
        }
        let length = cases.len().max(1);
        let extra: Vec<usize> = (0..MORE_PER_GAME).map(|_| dice.below(length)).collect();
        for (number, case) in cases.into_iter().enumerate() {
            let new = seen.insert(key(at, number * 3 / length, &case));
            if (new || extra.contains(&number)) && taken.len() < count {
                taken.push(case);
            }
        }
        if taken.len() == count {
            break;
        }
    }
    taken
}

/// The special property of a position.
fn key(shape: usize, third: usize, case: &Case) -> (usize, usize, String, String) {
    let legal = case.game.legal(case.seat);
    let last = match &legal[..] {
        // The last box of a card: every one of them once.
        [only] if only.get().contains("score") => only.get().to_owned(),
        [_] => "forced".to_owned(),
        _ => String::new(),
    };
    (shape, third, case.ask(), last)
}
