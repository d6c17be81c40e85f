//! What every hand is worth in every box before jokers, worked out by the compiler.
//!
//! Five dice in any order are one of 252 hands. A hand is found through the number its dice spell
//! in base six, and its worth is one lookup more.

/// Ordered rolls of five dice: 6^5.
pub(super) const ROLLS: usize = 7776;

/// The hand of a roll, by the number its dice spell in base six.
pub(super) static HAND_OF_ROLL: [u8; ROLLS] = hands().0;

/// By hand: the points in each of the thirteen boxes, then the value of five alike or 0.
pub(super) static POINTS: [[u8; 16]; 256] = points();

/// Where [`POINTS`] has the value of five alike.
pub(super) const ALIKE: usize = 13;

/// The five dice that number `roll` spells in base six, three bits each, as value minus one.
pub(super) static DICE_OF_ROLL: [u16; ROLLS] = {
    let mut table = [0; ROLLS];
    let mut roll = 0;
    while roll < ROLLS {
        let mut at = 0;
        let mut rest = roll;
        while at < 5 {
            table[roll] |= ((rest % 6) as u16) << (3 * at);
            rest /= 6;
            at += 1;
        }
        roll += 1;
    }
    table
};

/// By both choices of keepers (five bits for the first, five for the second): which dice of the
/// sequence lie on the table at the end. Six bits per place: three times the die's number.
pub(super) static SOURCES: [u32; 1024] = {
    let mut table = [0; 1024];
    let mut kept = 0;
    while kept < 1024 {
        let mut source = [0, 1, 2, 3, 4];
        let mut next = 5;
        let mut at = 0;
        while at < 10 {
            if kept & (1 << at) == 0 {
                source[at % 5] = next;
                next += 1;
            }
            at += 1;
        }
        at = 0;
        while at < 5 {
            table[kept] |= (3 * source[at]) << (6 * at);
            at += 1;
        }
        kept += 1;
    }
    table
};

/// The members of every set of seven, lowest first, four bits each, with their number in the top
/// four bits.
pub(super) static MEMBERS: [u32; 128] = {
    let mut table = [0; 128];
    let mut set = 0;
    while set < 128 {
        let mut count = 0;
        let mut member = 0;
        while member < 7 {
            if set & (1 << member) != 0 {
                table[set] |= member << (4 * count);
                count += 1;
            }
            member += 1;
        }
        table[set] |= count << 28;
        set += 1;
    }
    table
};

/// How many dice of each value a hand has; index 0 is unused.
type Counts = [u8; 7];

/// The hand of every roll, and the counts of every hand.
const fn hands() -> ([u8; ROLLS], [Counts; 256]) {
    let mut of_roll = [u8::MAX; ROLLS];
    let mut counts = [[0; 7]; 256];
    let mut hands = 0;
    let mut roll = 0;
    while roll < ROLLS {
        let mut have: Counts = [0; 7];
        let mut rest = roll;
        let mut at = 0;
        while at < 5 {
            have[rest % 6 + 1] += 1;
            rest /= 6;
            at += 1;
        }
        // The lowest roll of a hand has its highest dice first; it stands for the others.
        let lowest = lowest_roll(&have);
        if lowest == roll {
            of_roll[roll] = hands as u8;
            counts[hands] = have;
            hands += 1;
        } else {
            of_roll[roll] = of_roll[lowest];
        }
        roll += 1;
    }
    assert!(hands == 252);
    (of_roll, counts)
}

const fn lowest_roll(counts: &Counts) -> usize {
    let mut roll = 0;
    let mut value = 1;
    while value <= 6 {
        let mut left = counts[value];
        while left > 0 {
            roll = roll * 6 + value - 1;
            left -= 1;
        }
        value += 1;
    }
    roll
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
