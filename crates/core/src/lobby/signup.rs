//! Sign-ups: for which tournament, how long they wait, and which players they take.

use super::{Draw, QueueName, Terms};
use crate::ids::{Age, Millis, PlayerName, Raw, Timestamp, TournamentId};
use crate::plan::TournamentPlan;
use crate::policy::{AgeOrder, Policy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How long a sign-up waits for how many players.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// The fewest players that end the first wait well.
    pub at_least: u32,
    /// The most players; the last of them starts the tournament at once.
    pub at_most: u32,
    /// How long the first wait is.
    pub wait_ms: Millis,
    /// How long the second wait is, where the first found too few; 0: there is none.
    pub second_wait_ms: Millis,
    /// The fewest players that end the second wait well.
    pub second_at_least: u32,
    /// True if another sign-up like this one opens when it is over, as long as there is room for
    /// tournaments. The wait of such a sign-up begins when the first player signs up, so that
    /// nothing happens while nobody comes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeat: bool,
}

impl Window {
    /// Checks that the numbers are consistent.
    pub fn check(&self) -> Result<(), String> {
        let Window { at_least, at_most, second_at_least, .. } = *self;
        check_bounds(at_least, at_most)?;
        if second_at_least > at_least {
            return Err(format!(
                "the second wait needs {second_at_least} players, and the first {at_least}; \
                 it cannot need more, so lower its minimum"
            ));
        }
        Ok(())
    }
}

/// Checks the fewest and the most players.
pub(super) fn check_bounds(least: u32, most: u32) -> Result<(), String> {
    if least == 0 {
        return Err("the minimum is 0 players; raise it to at least 1".into());
    }
    match least > most {
        true => Err(format!(
            "the minimum of {least} players is above the maximum of {most}; change one of them"
        )),
        false => Ok(()),
    }
}

/// The selection of a tournament's players.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Selection {
    /// The first of those logged in, who then move to the end of the line.
    Line {
        /// The most players.
        at_most: u32,
    },
    /// Those logged in whose accounts are oldest.
    Age {
        /// The most players.
        at_most: u32,
    },
    /// Some of those logged in, by a fair draw from the tournament's secret.
    Random {
        /// The most players.
        at_most: u32,
    },
    /// Those who wait in a queue, everybody once.
    Queue {
        /// Which queue.
        queue: QueueName,
        /// The most players.
        at_most: u32,
    },
    /// Exactly these.
    Named {
        /// The players.
        players: Vec<PlayerName>,
    },
    /// Those who sign up in time.
    SignUp(Window),
    /// Those of the invited who come.
    Invitation(Terms),
    /// Connected players, asked to come in an order that is drawn by lot.
    Draw(Draw),
}

impl Selection {
    /// Returns whether luck decides whom the tournament takes, so that it needs its secret at once.
    pub fn is_by_lot(&self) -> bool {
        matches!(self, Selection::Random { .. } | Selection::Draw(_))
    }
}

/// A tournament that an account asked for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Announcement {
    /// Its name.
    pub id: TournamentId,
    /// The preset it is made from, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// The game.
    pub game: String,
    /// The game's configuration, in full.
    pub config: Raw,
    /// The policy.
    pub policy: Policy,
    /// How players are selected.
    pub selection: Selection,
    /// The account that asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<PlayerName>,
}

impl Announcement {
    /// The plan with these players.
    pub fn plan(&self, players: Vec<PlayerName>) -> TournamentPlan {
        TournamentPlan {
            id: self.id.clone(),
            preset: self.preset.clone(),
            game: self.game.clone(),
            config: self.config.clone(),
            policy: self.policy.clone(),
            players,
        }
    }
}

/// A tournament that waits for players.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignUp {
    /// The announced tournament.
    pub announcement: Announcement,
    /// The players who signed up, in order.
    pub players: Vec<PlayerName>,
    /// The ages that players gave.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) ages: BTreeMap<PlayerName, Age>,
    /// When the wait ends.
    pub closes_at: Timestamp,
    /// True if this is the second wait.
    pub extended: bool,
    pub(super) window: Window,
    /// The first tournament of its series: its own name if it is the first or alone.
    pub(super) series: TournamentId,
}

impl SignUp {
    /// Returns whether the wait has not begun: the sign-up repeats, and nobody has signed up yet.
    pub(super) fn rests(&self) -> bool {
        self.window.repeat && self.players.is_empty()
    }

    /// Extends the wait by an outage, but not beyond the length of a new wait.
    pub(super) fn prolong(&mut self, now: Timestamp, away_ms: Millis) {
        if self.rests() {
            return;
        }
        let wait_ms = match self.extended {
            false => self.window.wait_ms,
            true => self.window.second_wait_ms,
        };
        self.closes_at = prolonged(self.closes_at, wait_ms, now, away_ms);
    }

    /// Adds a player at the end.
    pub(super) fn add(&mut self, player: PlayerName, age: Option<Age>) {
        if let Some(age) = age {
            self.ages.insert(player.clone(), age);
        }
        self.players.push(player);
    }

    /// Removes a player.
    pub(super) fn remove(&mut self, player: &PlayerName) {
        self.ages.remove(player);
        self.players.retain(|one| one != player);
    }

    /// The players in playing order. Players without an age keep the places that the order of
    /// sign-up gives them. Players with an age share the other places by age; those of the same age
    /// keep the order of sign-up.
    pub fn in_playing_order(&self) -> Vec<PlayerName> {
        let mut aged: Vec<(Age, &PlayerName)> = self
            .players
            .iter()
            .filter_map(|player| Some((*self.ages.get(player)?, player)))
            .collect();
        match self.announcement.policy.age_order {
            AgeOrder::Ignored => return self.players.clone(),
            AgeOrder::YoungestFirst => aged.sort_by_key(|(age, _)| *age),
            AgeOrder::OldestFirst => aged.sort_by_key(|(age, _)| std::cmp::Reverse(*age)),
        }
        let mut aged = aged.into_iter().map(|(_, player)| player);
        let ordered = self.players.iter().map(|player| match self.ages.contains_key(player) {
            true => aged.next().expect("as many players as have an age").clone(),
            false => player.clone(),
        });
        ordered.collect()
    }

    /// The number of the next tournament of the series; the first is 1.
    pub(super) fn next_number(&self) -> u64 {
        let tail = self.announcement.id.as_str().strip_prefix(self.series.as_str());
        // A number beyond `u32` was not counted up: no series gets that far.
        let number = tail.and_then(|tail| tail.strip_prefix('-')?.parse::<u32>().ok());
        u64::from(number.unwrap_or(1)) + 1
    }
}

/// The end of a wait that is extended by `away_ms`, but not beyond the length of a new wait.
pub(super) fn prolonged(
    ends_at: Timestamp,
    wait_ms: Millis,
    now: Timestamp,
    away_ms: Millis,
) -> Timestamp {
    let longest = ends_at.max(now.saturating_add(wait_ms));
    ends_at.saturating_add(away_ms).min(longest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preset::Preset;

    fn window(at_least: u32, at_most: u32, second_at_least: u32) -> Window {
        let (wait_ms, second_wait_ms, repeat) = (30, 20, false);
        Window { at_least, at_most, wait_ms, second_wait_ms, second_at_least, repeat }
    }

    fn sign_up(id: &str, series: &str) -> SignUp {
        let preset = Preset::named("fish").unwrap();
        let window = window(1, 2, 1);
        let announcement = Announcement {
            id: id.into(),
            preset: None,
            game: preset.game.into(),
            config: Raw::parse(preset.config).unwrap(),
            policy: preset.policy,
            selection: Selection::SignUp(window.clone()),
            by: None,
        };
        let (players, ages, series) = (Vec::new(), BTreeMap::new(), series.into());
        let (closes_at, extended) = (100, false);
        SignUp {
            announcement,
            players,
            ages,
            closes_at: Timestamp::from_ms(closes_at),
            extended,
            window,
            series,
        }
    }

    #[test]
    fn numbers_of_a_window_agree() {
        for (least, most, second) in [(1, 1, 0), (1, 1, 1), (5, 10, 5), (5, 5, 2)] {
            assert_eq!(window(least, most, second).check(), Ok(()));
        }
        let none = "the minimum is 0 players; raise it to at least 1";
        let above = "the minimum of 6 players is above the maximum of 5; change one of them";
        for (least, most, due) in [(0, 5, none), (6, 5, above), (0, 0, none)] {
            assert_eq!(window(least, most, 0).check(), Err(due.to_owned()));
        }
        let why = window(5, 10, 6).check().unwrap_err();
        let due = "the second wait needs 6 players, and the first 5; it cannot need more, so lower \
                   its minimum";
        assert_eq!(why, due);
    }

    #[test]
    fn outage_extends_a_wait_but_not_beyond_a_new_one() {
        for (ends_at, now, away_ms, due) in [
            (100, 90, 5, 105),
            (100, 90, 20, 120),
            (100, 90, 21, 120), // a new one would end at 120
            (100, 90, u64::MAX, 120),
            (200, 90, 5, 200), // it was longer before: it stays
            (u64::MAX, 90, 5, u64::MAX),
        ] {
            assert_eq!(
                prolonged(Timestamp::from_ms(ends_at), 30, Timestamp::from_ms(now), away_ms),
                Timestamp::from_ms(due),
                "{ends_at} {now} {away_ms}"
            );
        }
        let mut waiting = sign_up("cup", "cup");
        waiting.prolong(Timestamp::from_ms(90), 7);
        assert_eq!(waiting.closes_at, Timestamp::from_ms(107));
        waiting.extended = true;
        waiting.prolong(Timestamp::from_ms(90), 7);
        assert_eq!(waiting.closes_at, Timestamp::from_ms(110), "the second wait is shorter");
        // Nobody has signed up, so the wait has not begun.
        waiting.window.repeat = true;
        assert!(waiting.rests());
        waiting.prolong(Timestamp::from_ms(100), 7);
        assert_eq!(waiting.closes_at, Timestamp::from_ms(110));
        waiting.players.push(PlayerName::new("ann").unwrap());
        assert!(!waiting.rests());
        waiting.prolong(Timestamp::from_ms(100), 7);
        assert_eq!(waiting.closes_at, Timestamp::from_ms(117));
    }

    #[test]
    fn ages_order_players_and_players_without_one_keep_their_places() {
        let mut waiting = sign_up("cup", "cup");
        for (name, age) in
            [("ann", Some(40)), ("bob", None), ("cat", Some(20)), ("dan", Some(30)), ("eve", None)]
        {
            waiting.add(PlayerName::new(name).unwrap(), age.map(Age));
        }
        waiting.add(PlayerName::new("fay").unwrap(), Some(Age(20)));
        let order = |waiting: &SignUp, order| {
            let mut waiting = waiting.clone();
            waiting.announcement.policy.age_order = order;
            let names = waiting.in_playing_order();
            names.iter().map(PlayerName::as_str).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(order(&waiting, AgeOrder::YoungestFirst), "cat bob fay dan eve ann");
        assert_eq!(order(&waiting, AgeOrder::OldestFirst), "ann bob dan cat eve fay");
        assert_eq!(order(&waiting, AgeOrder::Ignored), "ann bob cat dan eve fay");
        waiting.remove(&PlayerName::new("cat").unwrap());
        assert_eq!(order(&waiting, AgeOrder::YoungestFirst), "fay bob dan eve ann");
        assert_eq!(waiting.ages.len(), 3);
    }

    #[test]
    fn series_numbers_its_tournaments() {
        let next = |id: &str, series: &str| sign_up(id, series).next_number();
        assert_eq!((next("cup", "cup"), next("cup-2", "cup"), next("cup-41", "cup")), (2, 3, 42));
        assert_eq!((next("cup-2", "cup-2"), next("cup-2-5", "cup-2")), (2, 6));
        assert_eq!(next("cup-4294967295", "cup"), 4_294_967_296);
        assert_eq!(next("cup-18446744073709551615", "cup"), 2);
    }
}
