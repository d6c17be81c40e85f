//! The player that plays for the win: it looks at both cards, not only at its own.
//!
//! It expects the opponent to play for the highest mean score, and with the same dice if the game
//! is played with duplicate dice. For the current turn it draws the dice that are still unknown,
//! plays the opponent's turn with them, and values both cards at the end of the turn: by
//! [`Weights::chance`], or in the last turns by playing the game out. It departs from the choice
//! with the highest mean only where its chance to win clearly rises.

use super::bots::{Optimal, own_card};
use super::card::Card;
use super::lattice::{FIRST_ROLL, Lattice, MULTISETS, ROLLS};
use super::playing::{KeepTable, MeanPlayer, TurnDice, TurnEnd, best_within, ends, roll};
use super::roll::{Keepers, Roll};
use super::rule::Rule;
use super::shared;
use super::table::Table;
use super::widget::Widget;
use super::win_model::{CardFeatures, Weights};
use crate::SplitMix64;
use crate::house::{Ask, Bot};
use agon_games::yahtzee::{Answer, DiceSource, Play, Question, ScoreBox, View, Yahtzee};
use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

/// How many continuations are drawn for a decision, which takes about a millisecond then.
const SAMPLES: usize = 1_000;

/// How many continuations are drawn if the time limit is shorter than [`HURRY`].
const SAMPLES_IN_A_HURRY: usize = 200;

/// A time limit that leaves no room for a busy machine.
const HURRY: Duration = Duration::from_millis(100);

/// The last turns, in which games are played out to their end.
const LATE_TURNS: usize = 4;

/// The rise of the chance to win for which the player departs from the highest mean, in late turns.
/// It is above the noise of the samples.
const LATE_RISE: f64 = 0.005;

/// The same in earlier turns, where the model of the chance has errors of this size.
const EARLY_RISE: f64 = 0.03;

/// The weight of a point of mean score where the chance to win is equal, as in a lost game.
const POINT: f64 = 1e-6;

/// Plays for the win against the opponent's card.
pub struct Champion {
    players: MeanPlayers,
    samples: usize,
}

impl Default for Champion {
    fn default() -> Champion {
        Champion { players: MeanPlayers::default(), samples: SAMPLES }
    }
}

impl Bot<Yahtzee> for Champion {
    fn answer(&mut self, ask: &Ask<'_, Yahtzee>) -> Answer {
        // A request that no game makes can come only from outside; any answer is good enough.
        let position = Position::of(ask);
        let answer = position.and_then(|position| position.answer(self.samples, &mut self.players));
        answer.unwrap_or_else(|| Optimal.answer(ask))
    }

    fn limit_time(&mut self, limit: Duration) {
        self.samples = if limit < HURRY { SAMPLES_IN_A_HURRY } else { SAMPLES };
    }
}

/// The state that the player sees when it is asked.
struct Position {
    table: &'static Table,
    source: DiceSource,
    question: Question,
    roll: Roll,
    own: Card,
    other: Card,
    /// The points of the player minus those of the opponent, without upper bonuses.
    lead: f64,
    /// The dice of this turn that the player has seen, in the order they are used.
    known: Vec<u8>,
}

impl Position {
    /// `None` if the request cannot come from a game.
    fn of(ask: &Ask<'_, Yahtzee>) -> Option<Position> {
        let View { cards, now, .. } = ask.view;
        let seat = ask.seat.index();
        let opponent = 1 - seat.min(1);
        let points = |seat: usize| -> Option<f64> {
            let card = cards.get(seat)?;
            Some(f64::from(card.total) - f64::from(card.upper_bonus))
        };
        let (Question::Keep { dice, .. } | Question::Score { dice }) = *ask.question;
        let known = known_dice(now.get(seat)?.as_ref()?);
        Some(Position {
            table: shared::table(Rule::from(ask.view.rule)),
            source: ask.view.dice,
            question: *ask.question,
            roll: Roll::new(dice)?,
            own: own_card(ask.view, seat)?,
            other: own_card(ask.view, opponent)?,
            lead: points(seat)? - points(opponent)?,
            known: (5..=15).contains(&known.len()).then_some(known)?,
        })
    }

    /// `None` if a card is full.
    fn answer(&self, samples: usize, players: &mut MeanPlayers) -> Option<Answer> {
        let mut outlook = Outlook::of(self, samples, players)?;
        Some(match self.question {
            Question::Score { .. } => Answer::score(outlook.best_box(players)),
            Question::Keep { roll, .. } => {
                let left = if roll == 1 { 2 } else { 1 };
                Answer::keep_places(outlook.best_keepers(left, players).flags())
            }
        })
    }

    /// How many turns follow this one.
    fn turns_after(&self) -> usize {
        12 - self.own.boxes().filled().min(12)
    }

    /// How much the chance to win must rise before the player departs from the highest mean.
    fn threshold(&self) -> f64 {
        match self.turns_after() {
            0 => 0.0,
            1..=LATE_TURNS => LATE_RISE,
            _ => EARLY_RISE,
        }
    }

    /// Draws the dice of the turn that are not known.
    fn draw(&self, count: usize) -> Vec<TurnDice> {
        let mut random = SplitMix64::new(self.seed());
        let draw = |_| -> TurnDice {
            std::array::from_fn(|at| match self.known.get(at) {
                Some(die) => *die,
                None => 1 + random.below(6) as u8,
            })
        };
        (0..count).map(draw).collect()
    }

    /// The same position has the same seed.
    fn seed(&self) -> u64 {
        let cards = [self.own, self.other]
            .map(|card| [card.boxes().bits() as u64, u64::from(card.upper())]);
        let numbers = cards.into_iter().flatten().chain([self.lead.to_bits()]);
        let numbers = numbers.chain(self.known.iter().map(|die| u64::from(*die)));
        numbers.fold(0, |seed, number| SplitMix64::new(seed ^ number).next_word())
    }
}

/// The dice of a turn that a player has seen, in the order they are used.
fn known_dice(play: &Play) -> Vec<u8> {
    let mut known: Vec<u8> = play.rolls.first().map_or_else(Vec::new, |dice| dice.to_vec());
    for (kept, dice) in play.kept.iter().zip(play.rolls.iter().skip(1)) {
        known.extend((0..5).filter(|at| !kept[*at]).map(|at| dice[at]));
    }
    known
}

/// The different ways in which a turn of one card can end.
struct Ends {
    ends: Vec<TurnEnd>,
    /// By box and points: the index in `ends`.
    places: Vec<u8>,
}

/// More than the points of any box with a Yahtzee bonus.
const POINTS_END: usize = 160;

/// Stands for an end that was not seen yet.
const UNSEEN: u8 = u8::MAX;

impl Ends {
    fn new() -> Ends {
        Ends { ends: Vec::new(), places: vec![UNSEEN; ScoreBox::ALL.len() * POINTS_END] }
    }

    /// The index of an end. Box and points determine the card after.
    fn place(&mut self, end: &TurnEnd) -> u8 {
        let place = &mut self.places[end.at.index() * POINTS_END + usize::from(end.points)];
        if *place == UNSEEN {
            *place = self.ends.len() as u8;
            self.ends.push(*end);
        }
        *place
    }
}

/// A drawn continuation of the game.
struct Sample {
    /// The dice of this turn.
    dice: TurnDice,
    /// The index of the opponent's end of this turn.
    other: u8,
    /// The player's own dice of later turns.
    later: Vec<TurnDice>,
    /// The final points of the opponent; only if later turns are played out.
    finally: f64,
}

/// How the turn can end for both players, and the chance to win after each pair of ends.
struct Outlook<'a> {
    position: &'a Position,
    own: Ends,
    samples: Vec<Sample>,
    /// How many different ends the opponent has.
    others: usize,
    /// By own end, then by end of the opponent.
    chances: Vec<f64>,
    /// By multiset of five: the end with the highest mean chance, and that chance.
    best: [u8; MULTISETS],
    worth: [f64; ROLLS],
    /// By sample and own end: the chance to win by playing the game out; not computed if NaN.
    played: Vec<f64>,
}

impl Outlook<'_> {
    /// `None` if a card is full.
    fn of<'a>(
        position: &'a Position,
        count: usize,
        players: &mut MeanPlayers,
    ) -> Option<Outlook<'a>> {
        let mut other = Ends::new();
        let mut counts = vec![0.0; usize::from(UNSEEN)];
        let mut random = SplitMix64::new(position.seed());
        let mut fresh = || -> TurnDice { std::array::from_fn(|_| 1 + random.below(6) as u8) };
        let turns = position.turns_after();
        let turns = if turns <= LATE_TURNS { turns } else { 0 };
        let mut samples = Vec::with_capacity(count);
        for dice in position.draw(count) {
            let is_same = position.source == DiceSource::Duplicate;
            let theirs = if is_same { dice } else { fresh() };
            let end = players.of(position.table, &position.other)?.play(&theirs);
            let place = other.place(&end);
            counts[usize::from(place)] += 1.0 / count as f64;
            let later: Vec<TurnDice> = (0..turns).map(|_| fresh()).collect();
            let theirs = match is_same {
                true => later.clone(),
                false => (0..turns).map(|_| fresh()).collect(),
            };
            let finally = players.play_out(position.table, &end, &theirs);
            samples.push(Sample { dice, other: place, later, finally });
        }
        let mut outlook = Outlook {
            position,
            own: Ends::new(),
            samples,
            others: other.ends.len(),
            chances: Vec::new(),
            best: [0; MULTISETS],
            worth: [0.0; ROLLS],
            played: Vec::new(),
        };
        outlook.value(&other, &counts);
        if turns > 0 {
            outlook.played = vec![f64::NAN; outlook.samples.len() * outlook.own.ends.len()];
        }
        Some(outlook)
    }

    /// Values every pair of ends, and finds the best box for every roll.
    fn value(&mut self, other: &Ends, counts: &[f64]) {
        let Position { table, source, own, lead, .. } = self.position;
        let weights = Weights::of(*source);
        let theirs = other.ends.iter().map(|end| {
            (f64::from(end.points) + table.value(&end.card), CardFeatures::of(&end.card))
        });
        let theirs: Vec<(f64, CardFeatures)> = theirs.collect();
        let mut means: Vec<f64> = Vec::new();
        for number in FIRST_ROLL..MULTISETS {
            let (mut best, mut most) = (0, f64::NEG_INFINITY);
            for end in ends(table.rule(), own, number) {
                let place = self.own.place(&end);
                if usize::from(place) == means.len() {
                    let value = lead + f64::from(end.points) + table.value(&end.card);
                    let features = CardFeatures::of(&end.card);
                    let chances = theirs
                        .iter()
                        .map(|(their, other)| weights.chance(&features, other, value - their));
                    let chances: Vec<f64> = chances.collect();
                    let weighed = chances.iter().zip(counts).map(|(chance, count)| chance * count);
                    means.push(weighed.sum::<f64>() + POINT * value);
                    self.chances.extend(chances);
                }
                if means[usize::from(place)] > most {
                    (best, most) = (place, means[usize::from(place)]);
                }
            }
            (self.best[number], self.worth[number - FIRST_ROLL]) = (best, most);
        }
    }

    /// The chance to win in a sample if the player's turn ends so.
    fn chance(&mut self, sample: usize, own: u8, players: &mut MeanPlayers) -> f64 {
        let Sample { other, later, finally, .. } = &self.samples[sample];
        let own = usize::from(own);
        if self.played.is_empty() {
            return self.chances[own * self.others + usize::from(*other)];
        }
        let chance = &mut self.played[sample * self.own.ends.len() + own];
        if chance.is_nan() {
            let end = &self.own.ends[own];
            let Position { table, lead, .. } = self.position;
            let lead = lead + players.play_out(table, end, later) - finally;
            *chance = if lead > 0.5 {
                1.0
            } else if lead < -0.5 {
                0.0
            } else {
                0.5
            };
        }
        *chance
    }

    fn best_box(&mut self, players: &mut MeanPlayers) -> ScoreBox {
        let Position { table, own, roll, .. } = self.position;
        let number = Lattice::shared().number(roll.faces().into_iter());
        let count = self.samples.len();
        let mut options = Vec::new();
        for end in ends(table.rule(), own, number) {
            let place = self.own.place(&end);
            let sum: f64 = (0..count).map(|sample| self.chance(sample, place, players)).sum();
            let value = f64::from(end.points) + table.value(&end.card);
            options.push((end.at, value, sum / count as f64));
        }
        choose(&options, self.position.threshold())
    }

    fn best_keepers(&mut self, left: u8, players: &mut MeanPlayers) -> Keepers {
        let Position { table, own, roll, source, .. } = self.position;
        let mut widget = Widget::<1>::new();
        widget.set_rolls(&self.worth.map(|worth| [worth]));
        widget.throw();
        let kept_values = |widget: &Widget<1>| -> [f64; MULTISETS] {
            std::array::from_fn(|n| widget.value(n)[0])
        };
        let mut kept = kept_values(&widget);
        let second = best_within(&kept);
        if left > 1 {
            widget.choose();
            widget.throw();
            kept = kept_values(&widget);
            // A player who keeps all dice of the first roll goes straight to scoring.
            kept[FIRST_ROLL..].copy_from_slice(&self.worth);
        }
        let means = table.turn(own).expect("a card that is not full");
        let mut options: Vec<((usize, Keepers), f64, f64)> = Vec::new();
        for keepers in Keepers::every() {
            let number = Lattice::shared().number(keepers.faces(*roll));
            if options.iter().any(|((other, _), _, _)| *other == number) {
                continue;
            }
            let chance = match (source, self.played.is_empty()) {
                (DiceSource::Independent, true) => kept[number],
                _ => self.mean_chance(number, left, &second, players),
            };
            options.push(((number, keepers), means.keep(*roll, keepers, left), chance));
        }
        choose(&options, self.position.threshold()).1
    }

    /// The mean chance over all samples if the player keeps this multiset, and follows `second`
    /// after its second roll.
    fn mean_chance(
        &mut self,
        kept: usize,
        left: u8,
        second: &KeepTable,
        players: &mut MeanPlayers,
    ) -> f64 {
        let used = self.position.known.len();
        let mut sum = 0.0;
        for sample in 0..self.samples.len() {
            let dice = &self.samples[sample].dice;
            let (mut number, used) = roll(kept, dice, used);
            if left > 1 && kept < FIRST_ROLL {
                number = roll(usize::from(second[number]), dice, used).0;
            }
            sum += self.chance(sample, self.best[number], players);
        }
        sum / self.samples.len() as f64
    }
}

/// The option with the highest chance to win, if that is higher by `threshold` than with the
/// highest mean; else the one with the highest mean. Options are choice, mean and chance.
fn choose<C: Copy>(options: &[(C, f64, f64)], threshold: f64) -> C {
    let usual = options.iter().max_by(|a, b| a.1.total_cmp(&b.1)).expect("there is a choice");
    let key = |option: &(C, f64, f64)| option.2 + POINT * option.1;
    let best = options.iter().max_by(|a, b| key(a).total_cmp(&key(b))).expect("there is a choice");
    if key(best) > key(usual) + threshold { best.0 } else { usual.0 }
}

/// Players for the highest mean, by card. Games revisit the same cards, so they are kept.
#[derive(Default)]
struct MeanPlayers {
    all: HashMap<Card, Option<Box<MeanPlayer<'static>>>>,
    rule: Option<Rule>,
}

/// How many players are kept: a few kilobytes each.
const PLAYERS_MAX: usize = 4_000;

impl MeanPlayers {
    /// `None` if the card is full.
    fn of(&mut self, table: &'static Table, card: &Card) -> Option<&mut MeanPlayer<'static>> {
        if self.rule != Some(table.rule()) || self.all.len() > PLAYERS_MAX {
            self.all.clear();
            self.rule = Some(table.rule());
        }
        let player = self.all.entry(*card).or_insert_with(|| MeanPlayer::new(table, card));
        player.as_deref_mut()
    }

    /// The points from the end of a turn to the end of the game, with these dice.
    fn play_out(&mut self, table: &'static Table, end: &TurnEnd, later: &[TurnDice]) -> f64 {
        let (mut points, mut card) = (f64::from(end.points), end.card);
        for dice in later {
            let Some(player) = self.of(table, &card) else { break };
            let end = player.play(dice);
            points += f64::from(end.points);
            card = end.card;
        }
        points + table.value(&card)
    }
}

impl fmt::Debug for Champion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Champion")
    }
}
