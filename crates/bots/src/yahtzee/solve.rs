//! Solves the game: the value of every state, from the last turn back to the first.
//!
//! States with the same number of filled boxes do not depend on each other. So the groups of one
//! level are divided among threads: each takes the next group when it has finished one.

use super::card::{Boxes, UPPER_BONUS, UPPER_GOAL};
use super::rule::Rule;
use super::states::{Level, States};
use super::table::Table;
use super::widget::{Value, Widget};
use std::num::NonZero;
use std::sync::Mutex;
use std::thread;
use std::vec;

/// Solves solitaire Yahtzee under `rule` on all available cores.
///
/// Calls `progress` from time to time, on this thread, with the fraction done: 0 to 1, ascending.
pub fn solve(rule: Rule, progress: &mut dyn FnMut(f64)) -> Table {
    solve_on(rule, thread::available_parallelism().map_or(1, NonZero::get), progress)
}

/// Solves on `threads` threads, including this one. Their number does not change the result.
pub fn solve_on(rule: Rule, threads: usize, progress: &mut dyn FnMut(f64)) -> Table {
    let states = States::shared();
    let mut values: Vec<Value> = vec![0.0; states.count()];
    let (full, levels) = states.levels().split_first().expect("fourteen levels");
    for boxes in &full.groups {
        values[states.place(*boxes, UPPER_GOAL)] = Value::from(UPPER_BONUS);
    }
    let mut percent_told = None;
    let mut tell = |solved: usize| {
        let percent = solved * 100 / states.count();
        if percent_told < Some(percent) {
            percent_told = Some(percent);
            progress(percent as f64 / 100.0);
        }
    };
    for level in levels {
        tell(level.range.start);
        let (done, rest) = values.split_at_mut(level.range.start);
        let queue = Mutex::new(jobs(level, rest).into_iter());
        let helpers = threads.min(level.groups.len()) - 1;
        thread::scope(|scope| {
            for _ in 0..helpers {
                scope.spawn(|| work(rule, done, &queue, &mut |_| ()));
            }
            work(rule, done, &queue, &mut |groups_left| {
                let groups = level.groups.len();
                tell(level.range.start + level.range.len() * (groups - groups_left) / groups);
            });
        });
    }
    tell(states.count());
    Table { rule, values }
}

/// A group to solve, and the place for its values.
type Job<'a> = (Boxes, &'a mut [Value]);

/// Splits the values of `level`, which come first in `values`, into those of its groups.
fn jobs<'a>(level: &Level, mut values: &'a mut [Value]) -> Vec<Job<'a>> {
    let job = |boxes: &Boxes| {
        let (own, rest) =
            std::mem::take(&mut values).split_at_mut(States::shared().totals(*boxes).len());
        values = rest;
        (*boxes, own)
    };
    level.groups.iter().map(job).collect()
}

/// Solves groups until none is left. After each, it reports how many remain.
fn work(
    rule: Rule,
    done: &[Value],
    queue: &Mutex<vec::IntoIter<Job<'_>>>,
    tell: &mut dyn FnMut(usize),
) {
    let mut turns = Turns { wide: Widget::new(), half: Widget::new(), narrow: Widget::new() };
    loop {
        let (job, groups_left) = {
            let mut queue = queue.lock().expect("no worker panics");
            (queue.next(), queue.len())
        };
        let Some((boxes, own)) = job else { return };
        turns.solve(rule, boxes, done, own);
        tell(groups_left);
    }
}

/// Widgets of several widths, so that few lanes stay idle.
struct Turns {
    wide: Box<Widget<16>>,
    half: Box<Widget<8>>,
    narrow: Box<Widget<4>>,
}

impl Turns {
    /// Computes the values of the group `boxes` into `own`.
    fn solve(&mut self, rule: Rule, boxes: Boxes, done: &[Value], own: &mut [Value]) {
        let mut totals = States::shared().totals(boxes);
        let mut own = own;
        while !own.is_empty() {
            let (now, later) = own.split_at_mut(match own.len() {
                13.. => own.len().min(16),
                5.. => own.len().min(8),
                short => short,
            });
            match now.len() {
                9.. => now.copy_from_slice(
                    &self.wide.turn(rule, boxes, &first(totals), done)[..now.len()],
                ),
                5.. => now.copy_from_slice(
                    &self.half.turn(rule, boxes, &first(totals), done)[..now.len()],
                ),
                _ => now.copy_from_slice(
                    &self.narrow.turn(rule, boxes, &first(totals), done)[..now.len()],
                ),
            }
            totals = &totals[now.len()..];
            own = later;
        }
    }
}

/// The first `L` totals; the last total repeats if there are fewer.
fn first<const L: usize>(totals: &[u8]) -> [u8; L] {
    std::array::from_fn(|lane| totals[lane.min(totals.len() - 1)])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published optima of the boxed game, and that of our rule, which is not published.
    #[test]
    fn optima_are_the_published_ones() {
        let optimum = |rule| format!("{:.4}", solve(rule, &mut |_| ()).optimum());
        assert_eq!(optimum(Rule::ForcedJoker), "254.5877");
        assert_eq!(optimum(Rule::FreeJoker), "254.5896");
        assert_eq!(optimum(Rule::Tournament), "254.4865");
    }

    #[test]
    fn progress_goes_from_nothing_to_all_and_threads_change_nothing() {
        let mut told = Vec::new();
        let two = solve_on(Rule::Tournament, 2, &mut |fraction| told.push(fraction));
        assert_eq!((told[0], told[told.len() - 1]), (0.0, 1.0));
        assert!(told.len() > 20 && told.is_sorted(), "{told:?}");
        assert!(two == solve_on(Rule::Tournament, 3, &mut |_| ()));
    }
}
