//! The points of every hand in every box before jokers, computed at compile time.
//!
//! Five dice in any order are one of 252 hands. The sum of its dice's weights identifies a hand,
//! and one more lookup gives its points.

/// By a die's value minus one: its weight. No two hands of five dice weigh the same.
pub(super) const WEIGHTS: [u8; 6] = [0, 1, 6, 31, 177, 254];

/// The value that has a weight; 1 where none has.
pub(super) const DIE_OF_WEIGHT: [u8; 256] = {
    let mut dice = [1; 256];
    let mut at = 0;
    while at < WEIGHTS.len() {
        dice[WEIGHTS[at] as usize] = at as u8 + 1;
        at += 1;
    }
    dice
};

/// The hand of five dice by the sum of their weights, at most 5 * 254.
pub(super) static HAND_OF_WEIGHT: [u8; 2048] = hands().0;

/// By hand: the points in each of the thirteen boxes, then the value of five alike or 0.
pub(super) static POINTS: [[u8; 16]; 256] = points();

/// Where [`POINTS`] has the value of five alike.
pub(super) const ALIKE: usize = 13;

/// The weights of the four dice that a number spells in base six, from the lowest digit up.
pub(super) static WEIGHTS_OF_FOUR: [[u8; 4]; 1296] = {
    let mut table = [[0; 4]; 1296];
    let mut number = 0;
    while number < 1296 {
        let mut at = 0;
        let mut rest = number;
        while at < 4 {
            table[number][at] = WEIGHTS[rest % 6];
            rest /= 6;
            at += 1;
        }
        number += 1;
    }
    table
};

/// By both choices of keepers (five bits for the second, then five for the first): a mask of the
/// fifteen dice of the sequence that lie on the table at the end.
pub(super) static USED: [[u8; 16]; 1024] = {
    let mut table = [[0; 16]; 1024];
    let mut kept = 0;
    while kept < 1024 {
        let first = kept >> 5;
        let mut source = [0, 1, 2, 3, 4];
        let mut next = 5;
        let mut at = 0;
        while at < 10 {
            let keep = if at < 5 { first } else { kept };
            if keep & (1 << (at % 5)) == 0 {
                source[at % 5] = next;
                next += 1;
            }
            at += 1;
        }
        at = 0;
        while at < 5 {
            table[kept][source[at]] = u8::MAX;
            at += 1;
        }
        kept += 1;
    }
    table
};

/// How many dice of each value a hand has; index 0 is unused.
type Counts = [u8; 7];

/// The hand of every weight, and the counts of every hand.
const fn hands() -> ([u8; 2048], [Counts; 256]) {
    let mut of_weight = [u8::MAX; 2048];
    let mut counts = [[0; 7]; 256];
    let mut hands = 0;
    let mut roll = 0;
    while roll < 6usize.pow(5) {
        let mut have: Counts = [0; 7];
        let (mut rest, mut weight, mut last, mut sorted) = (roll, 0, 5, true);
        let mut at = 0;
        while at < 5 {
            let die = rest % 6;
            have[die + 1] += 1;
            weight += WEIGHTS[die] as usize;
            sorted &= die <= last;
            last = die;
            rest /= 6;
            at += 1;
        }
        // One order of its dice stands for the hand.
        if sorted {
            assert!(of_weight[weight] == u8::MAX, "two hands weigh the same");
            of_weight[weight] = hands as u8;
            counts[hands] = have;
            hands += 1;
        }
        roll += 1;
    }
    assert!(hands == 252);
    (of_weight, counts)
}

const fn points() -> [[u8; 16]; 256] {
    let counts = hands().1;
    let mut table = [[0; 16]; 256];
    let mut hand = 0;
    while hand < 252 {
        table[hand] = points_of(&counts[hand]);
        hand += 1;
    }
    table
}

const fn points_of(counts: &Counts) -> [u8; 16] {
    let mut points = [0; 16];
    let (mut sum, mut most, mut pair) = (0, 0, false);
    let (mut run, mut longest) = (0, 0);
    let mut value = 1;
    while value <= 6 {
        let count = counts[value];
        points[value - 1] = count * value as u8;
        sum += count * value as u8;
        pair |= count == 2;
        if count > most {
            most = count;
        }
        run = if count > 0 { run + 1 } else { 0 };
        if run > longest {
            longest = run;
        }
        if count == 5 {
            points[ALIKE] = value as u8;
        }
        value += 1;
    }
    points[6] = if most >= 3 { sum } else { 0 };
    points[7] = if most >= 4 { sum } else { 0 };
    points[8] = if most == 3 && pair { 25 } else { 0 };
    points[9] = if longest >= 4 { 30 } else { 0 };
    points[10] = if longest >= 5 { 40 } else { 0 };
    points[11] = if most == 5 { 50 } else { 0 };
    points[12] = sum;
    points
}
