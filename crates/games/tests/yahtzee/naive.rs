//! Yahtzee written a second time, as plainly as possible, to hold the real one against.
//!
//! It follows the rules' wording: lists of dice, cards as maps from names, every condition spelled
//! out. It shares no code with the crate but the luck that dice come from. The benchmark compares
//! against it, too.

use agon_games::{Luck, Seed};
use std::collections::BTreeMap;

/// The boxes in the order of the card.
pub(crate) const BOXES: [&str; 13] = [
    "aces",
    "twos",
    "threes",
    "fours",
    "fives",
    "sixes",
    "three-of-a-kind",
    "four-of-a-kind",
    "full-house",
    "small-straight",
    "large-straight",
    "yahtzee",
    "chance",
];

/// One player.
#[derive(Clone, Debug, Default)]
pub(crate) struct Player {
    pub(crate) dice: Vec<u8>,
    unused: Vec<u8>,
    choices: usize,
    scored: bool,
    pub(crate) card: BTreeMap<&'static str, u64>,
    pub(crate) bonuses: u64,
}

/// Two players and the dice to come.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    rule: String,
    turns: [Vec<Vec<u8>>; 2],
    turn: usize,
    pub(crate) players: [Player; 2],
}

/// The fifteen dice of each of thirteen turns.
pub(crate) fn sequences(seed: &Seed, label: &str) -> Vec<Vec<u8>> {
    let mut luck = Luck::new(seed, label);
    (0..13)
        .map(|turn| {
            let mut rest = luck.below(turn, 6u64.pow(15));
            (0..15)
                .map(|_| {
                    let die = 1 + rest % 6;
                    rest /= 6;
                    die as u8
                })
                .collect()
        })
        .collect()
}

impl Table {
    pub(crate) fn new(rule: &str, turns: [Vec<Vec<u8>>; 2]) -> Table {
        let mut table = Table {
            rule: rule.to_owned(),
            turns,
            turn: 0,
            players: [Player::default(), Player::default()],
        };
        table.start_turn();
        table
    }

    /// Returns whether a player may keep now, or has to score; `None` if it waits or the game is
    /// over.
    pub(crate) fn may_keep(&self, seat: usize) -> Option<bool> {
        let player = &self.players[seat];
        if self.turn == 13 || player.scored { None } else { Some(player.choices < 2) }
    }

    pub(crate) fn keep(&mut self, seat: usize, keep: [bool; 5]) {
        let player = &mut self.players[seat];
        for (die, keep) in player.dice.iter_mut().zip(keep) {
            if !keep {
                *die = player.unused.remove(0);
            }
        }
        player.choices += if keep == [true; 5] { 2 } else { 1 };
    }

    /// The boxes a player may fill now.
    pub(crate) fn open(&self, seat: usize) -> Vec<&'static str> {
        let player = &self.players[seat];
        let empty: Vec<&str> =
            BOXES.into_iter().filter(|name| !player.card.contains_key(name)).collect();
        let five_alike = player.dice.iter().all(|die| *die == player.dice[0]);
        if self.rule != "forced-joker" || !five_alike || empty.contains(&"yahtzee") {
            return empty;
        }
        let own = BOXES[player.dice[0] as usize - 1];
        if empty.contains(&own) {
            return vec![own];
        }
        let lower: Vec<&str> =
            empty.iter().copied().filter(|name| BOXES[6..].contains(name)).collect();
        if lower.is_empty() { empty } else { lower }
    }

    /// Fills a box; gives the points in it and the bonus.
    pub(crate) fn score(&mut self, seat: usize, name: &'static str) -> (u64, u64) {
        let player = &mut self.players[seat];
        let points = worth(&self.rule, &player.card, &player.dice, name);
        let five_alike = player.dice.iter().all(|die| *die == player.dice[0]);
        let bonus = five_alike && player.card.get("yahtzee") == Some(&50);
        player.bonuses += u64::from(bonus);
        assert!(player.card.insert(name, points).is_none(), "{name} is filled");
        player.scored = true;
        if self.players.iter().all(|player| player.scored) {
            self.turn += 1;
            if self.turn < 13 {
                self.start_turn();
            }
        }
        (points, if bonus { 100 } else { 0 })
    }

    pub(crate) fn total(&self, seat: usize) -> u64 {
        let player = &self.players[seat];
        let upper: u64 = BOXES[..6].iter().filter_map(|name| player.card.get(name)).sum();
        let all: u64 = player.card.values().sum();
        all + if upper >= 63 { 35 } else { 0 } + 100 * player.bonuses
    }

    fn start_turn(&mut self) {
        for (player, turns) in self.players.iter_mut().zip(&self.turns) {
            player.dice = turns[self.turn][..5].to_vec();
            player.unused = turns[self.turn][5..].to_vec();
            player.choices = 0;
            player.scored = false;
        }
    }
}

/// The score of dice in an empty box of a card.
fn worth(rule: &str, card: &BTreeMap<&str, u64>, dice: &[u8], name: &str) -> u64 {
    let mut sorted = dice.to_vec();
    sorted.sort_unstable();
    let count = |value: u8| dice.iter().filter(|die| **die == value).count();
    let sum: u64 = dice.iter().map(|die| u64::from(*die)).sum();
    let alike = |many: usize| (1..=6).any(|value| count(value) >= many);
    let has_all = |values: &[u8]| values.iter().all(|value| dice.contains(value));
    let five_alike = sorted[0] == sorted[4];
    let joker = five_alike
        && card.contains_key(BOXES[dice[0] as usize - 1])
        && match rule {
            "tournament" => card.get("yahtzee") == Some(&50),
            _ => card.contains_key("yahtzee"),
        };
    let full_house = (1..=6).any(|value| count(value) == 3) && (1..=6).any(|v| count(v) == 2);
    let small = [[1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]].iter().any(|run| has_all(run));
    let large = sorted == [1, 2, 3, 4, 5] || sorted == [2, 3, 4, 5, 6];
    let points = |good: bool, points: u64| if good { points } else { 0 };
    match name {
        "three-of-a-kind" => points(alike(3), sum),
        "four-of-a-kind" => points(alike(4), sum),
        "full-house" => points(full_house || joker, 25),
        "small-straight" => points(small || joker, 30),
        "large-straight" => points(large || joker, 40),
        "yahtzee" => points(five_alike, 50),
        "chance" => sum,
        upper => {
            let value = BOXES.iter().position(|name| *name == upper).unwrap() as u8 + 1;
            u64::from(value) * count(value) as u64
        }
    }
}
