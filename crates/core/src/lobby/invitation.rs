//! Invitations: who is invited, their replies, and the consequences.
//!
//! First the lobby asks every invited player whether they come (`accept` or `reject`). When enough
//! accept, it asks those players whether they are ready. A player who does not reply in time is
//! left out.
//!
//! A draw invites players in an order drawn by lot: first as many as may play. When a player
//! rejects, the draw invites the next one. When players do not reply for a quarter of the wait, it
//! invites others too; the silent players may still accept while a place is free.

use super::{Announcement, signup};
use crate::ids::{Millis, PlayerName, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The players to invite, how many of them must accept, and how long to wait.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    /// The players, in the order in which they will play.
    pub players: Vec<PlayerName>,
    /// The fewest that have to come.
    pub at_least: u32,
    /// The most that may come: with the last of them nobody else is waited for. Absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<u32>,
    /// How long they have to accept or reject.
    pub wait_ms: Millis,
    /// How long those who accepted then have to say that they are ready; 0: they are not asked.
    #[serde(default = "Terms::ready_ms")]
    pub ready_ms: Millis,
}

impl Terms {
    /// The most players that may be invited.
    pub const PLAYERS_MAX: usize = 1_000;

    fn ready_ms() -> Millis {
        10_000
    }

    /// The most players who may come.
    pub fn most(&self) -> usize {
        self.at_most.map_or(self.players.len(), |most| most as usize)
    }

    /// Checks that the numbers are consistent.
    pub fn check(&self) -> Result<(), String> {
        let (least, most, count) = (self.at_least as usize, self.most(), self.players.len());
        if count > Terms::PLAYERS_MAX {
            return Err(format!("at most {} players can be invited", Terms::PLAYERS_MAX));
        }
        signup::check_bounds(self.at_least, self.at_most.unwrap_or(u32::MAX))?;
        if least > count || most > count {
            let needed = least.max(most);
            return Err(format!(
                "the invitation names only {count} of {needed} players; name more"
            ));
        }
        let mut seen = BTreeSet::new();
        match self.players.iter().find(|player| !seen.insert(*player)) {
            Some(twice) => Err(format!("{twice} is invited twice")),
            None => Ok(()),
        }
    }
}

/// How many players a draw asks to come, and how long they have.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Draw {
    /// The fewest that have to come.
    pub at_least: u32,
    /// The most that may come.
    pub at_most: u32,
    /// How long all of it may take.
    pub wait_ms: Millis,
}

impl Draw {
    /// A draw waits for one reply only this fraction of the whole wait.
    const PATIENCE_PARTS: Millis = 4;

    /// Checks that the numbers are consistent.
    pub fn check(&self) -> Result<(), String> {
        signup::check_bounds(self.at_least, self.at_most)?;
        match self.at_most as usize > Terms::PLAYERS_MAX {
            true => Err(format!(
                "a draw takes at most {} players; lower the maximum",
                Terms::PLAYERS_MAX
            )),
            false => Ok(()),
        }
    }

    /// The terms for inviting these players, in this order.
    pub(super) fn terms(&self, drawn: &[PlayerName]) -> Terms {
        Terms {
            players: drawn.to_vec(),
            at_least: self.at_least,
            at_most: Some(self.at_most.min(drawn.len() as u32)),
            wait_ms: self.wait_ms,
            ready_ms: 0,
        }
    }
}

/// The reply of an invited player so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// Nothing yet.
    Open,
    /// It comes.
    Accepted,
    /// It does not come.
    Rejected,
    /// It is ready.
    Ready,
    /// It said nothing in time.
    Missed,
    /// It is asked if players who were drawn before it do not come.
    Reserve,
    /// It was drawn and has said nothing for a while, so another player is asked too. It may
    /// still accept.
    Silent,
}

/// Open invitations to one tournament.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Invitation {
    /// The announced tournament.
    pub announcement: Announcement,
    /// The invited players in order, each with their reply.
    pub replies: Vec<(PlayerName, Reply)>,
    /// True if the players who accepted are now asked to be ready.
    pub readying: bool,
    /// When the wait ends.
    pub closes_at: Timestamp,
    /// When a draw invites others in place of players who have not replied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) draws_at: Option<Timestamp>,
    pub(super) terms: Terms,
}

/// The next step for invitations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    Wait,
    /// The draw invites these players next.
    Draw(Vec<PlayerName>),
    AskReady,
    Start(Vec<PlayerName>),
    CallOff(String),
}

impl Invitation {
    /// The reply of a player; `None` if they are not invited.
    pub fn reply(&self, player: &PlayerName) -> Option<Reply> {
        self.replies.iter().find(|(name, _)| name == player).map(|(_, reply)| *reply)
    }

    /// The players who have accepted or are ready.
    pub fn coming(&self) -> impl Iterator<Item = &PlayerName> {
        let comes = |reply| matches!(reply, Reply::Accepted | Reply::Ready);
        self.replies.iter().filter(move |(_, reply)| comes(*reply)).map(|(player, _)| player)
    }

    pub(super) fn set(&mut self, player: &PlayerName, reply: Reply) {
        if let Some(own) = self.replies.iter_mut().find(|(name, _)| name == player) {
            own.1 = reply;
        }
    }

    /// Returns whether a draw can still invite others.
    pub(super) fn has_reserve(&self) -> bool {
        self.replies.iter().any(|(_, reply)| *reply == Reply::Reserve)
    }

    /// Sets when a draw next looks for players who have not replied, unless it is set already.
    pub(super) fn wait_for_drawn(&mut self, now: Timestamp) {
        let patience_ms = (self.terms.wait_ms / Draw::PATIENCE_PARTS).max(1);
        self.draws_at = self.draws_at.or(Some(now.saturating_add(patience_ms)));
    }

    /// When the lobby has to decide something at the latest.
    pub fn deadline(&self) -> Timestamp {
        let draws_at = self.draws_at.filter(|_| self.has_reserve());
        draws_at.map_or(self.closes_at, |at| at.min(self.closes_at))
    }

    /// The players who have not replied yet.
    pub(super) fn unanswered(&self) -> Vec<PlayerName> {
        let open = self.replies.iter().filter(|(_, reply)| *reply == Reply::Open);
        open.map(|(player, _)| player.clone()).collect()
    }

    /// Extends the wait by an outage, but not beyond the length of a new wait, and at least until
    /// the invited players can have reconnected.
    pub(super) fn prolong(&mut self, now: Timestamp, away_ms: Millis, answers_until: Timestamp) {
        let wait_ms = if self.readying { self.terms.ready_ms } else { self.terms.wait_ms };
        let closes_at = signup::prolonged(self.closes_at, wait_ms, now, away_ms);
        self.closes_at = closes_at.max(answers_until);
        self.draws_at = self.draws_at.map(|at| at.max(answers_until));
    }

    /// The players of the tournament if the lobby waits for nobody else.
    pub(super) fn there(&self) -> Vec<PlayerName> {
        self.coming().take(self.terms.most()).cloned().collect()
    }

    /// The next step after the replies so far. If the wait is `over`, missing replies are not
    /// waited for.
    pub(super) fn verdict(&self, over: bool) -> Verdict {
        let count = |reply| self.replies.iter().filter(|(_, own)| *own == reply).count();
        let (accepted, ready) = (count(Reply::Accepted), count(Reply::Ready));
        let (least, most) = (self.terms.at_least as usize, self.terms.most());
        let sure = if self.readying { ready } else { ready + accepted };
        let undecided = || [Reply::Open, Reply::Silent, Reply::Reserve].map(count).iter().sum();
        let unsure = if self.readying { accepted } else { undecided() };
        let enough = sure >= least;
        if sure + unsure < least || (over && !enough) {
            let word = if self.readying { "are ready" } else { "accepted" };
            let invited = self.replies.len();
            return Verdict::CallOff(format!(
                "{sure} of {invited} invited {word}, and {least} are needed"
            ));
        }
        if !over && unsure > 0 && (sure < most || self.readying) {
            let free = most.saturating_sub(sure + count(Reply::Open));
            let next = self.replies.iter().filter(|(_, reply)| *reply == Reply::Reserve);
            let next: Vec<_> = next.take(free).map(|(player, _)| player.clone()).collect();
            return if next.is_empty() { Verdict::Wait } else { Verdict::Draw(next) };
        }
        // House players are not asked whether they are ready.
        if !self.readying && self.terms.ready_ms > 0 && accepted > 0 {
            return Verdict::AskReady;
        }
        let asked = self.terms.ready_ms > 0;
        let in_play = |reply: Reply| reply == Reply::Ready || (!asked && reply == Reply::Accepted);
        let players = self.replies.iter().filter(|(_, reply)| in_play(*reply)).take(most);
        Verdict::Start(players.map(|(player, _)| player.clone()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Raw;
    use crate::lobby::Selection;
    use crate::preset::Preset;

    fn players(count: usize) -> Vec<PlayerName> {
        (1..=count).map(|at| PlayerName::new(&format!("p{at}")).unwrap()).collect()
    }

    fn terms(count: usize, at_least: u32, at_most: Option<u32>) -> Terms {
        Terms { players: players(count), at_least, at_most, wait_ms: 60, ready_ms: 10 }
    }

    /// Invitations by reply: `a`ccepted, `r`ejected, read`y`, `m`issed, `s`ilent, not `d`rawn yet,
    /// or still `o`pen.
    fn invitation(said: &str, terms: Terms) -> Invitation {
        let preset = Preset::named("fish").unwrap();
        let announcement = Announcement {
            id: "cup".into(),
            preset: None,
            game: preset.game.into(),
            config: Raw::parse(preset.config).unwrap(),
            policy: preset.policy,
            selection: Selection::Invitation(terms.clone()),
            by: None,
        };
        let reply = |letter: char| match letter {
            'a' => Reply::Accepted,
            'r' => Reply::Rejected,
            'y' => Reply::Ready,
            'm' => Reply::Missed,
            'd' => Reply::Reserve,
            's' => Reply::Silent,
            _ => Reply::Open,
        };
        let replies = terms.players.iter().cloned().zip(said.chars().map(reply)).collect();
        let (readying, closes_at, draws_at) = (false, 100, None);
        Invitation {
            announcement,
            replies,
            readying,
            closes_at: Timestamp::from_ms(closes_at),
            draws_at,
            terms,
        }
    }

    #[test]
    fn numbers_of_an_invitation_agree() {
        for (count, least, most) in
            [(1, 1, None), (3, 1, Some(1)), (3, 3, Some(3)), (1_000, 2, None)]
        {
            assert_eq!(terms(count, least, most).check(), Ok(()));
        }
        assert_eq!((terms(3, 1, None).most(), terms(3, 1, Some(2)).most()), (3, 2));
        for (least, most, due) in [
            (0, None, "the minimum is 0 players; raise it to at least 1"),
            (4, None, "the invitation names only 3 of 4 players; name more"),
            (2, Some(1), "the minimum of 2 players is above the maximum of 1; change one of them"),
            (1, Some(4), "the invitation names only 3 of 4 players; name more"),
        ] {
            assert_eq!(terms(3, least, most).check(), Err(due.to_owned()));
        }
        let why = terms(1_001, 2, None).check().unwrap_err();
        assert_eq!(why, "at most 1000 players can be invited");
        let mut twice = terms(3, 2, None);
        twice.players[2] = twice.players[0].clone();
        assert_eq!(twice.check(), Err("p1 is invited twice".into()));
        let read: Terms =
            serde_json::from_str(r#"{"players":["p1"],"at_least":1,"wait_ms":5}"#).unwrap();
        assert_eq!((read.ready_ms, read.at_most), (10_000, None));
    }

    #[test]
    fn verdict_follows_as_soon_as_replies_decide_it() {
        let wait = || Verdict::Wait;
        let ready = || Verdict::AskReady;
        let off = |sure: usize| {
            Verdict::CallOff(format!("{sure} of 4 invited accepted, and 2 are needed"))
        };
        // Two to three of four: the replies, and the verdict before and at the end of the wait.
        for (said, before, after) in [
            ("oooo", wait(), off(0)),
            ("aooo", wait(), off(1)),
            ("arro", wait(), off(1)),
            ("arrr", off(1), off(1)),
            ("amrr", off(1), off(1)),
            ("aaoo", wait(), ready()),
            ("aarr", ready(), ready()),
            ("aaao", ready(), ready()),
        ] {
            let asked = invitation(said, terms(4, 2, Some(3)));
            assert_eq!((asked.verdict(false), asked.verdict(true)), (before, after), "{said}");
        }
        // House players are ready without being asked.
        let house = invitation("yyrr", terms(4, 2, Some(3)));
        assert_eq!(house.verdict(false), Verdict::Start(players(2)));
        // Where readiness is not asked for, the players who accepted play.
        let quick = invitation("aaaa", Terms { ready_ms: 0, ..terms(4, 2, Some(3)) });
        assert_eq!(quick.verdict(false), Verdict::Start(players(3)));
        assert_eq!(quick.there(), players(3));
        assert!(quick.coming().eq(&players(4)));
    }

    #[test]
    fn draw_asks_the_next_player_for_every_one_who_does_not_come() {
        let next = |numbers: &[usize]| {
            Verdict::Draw(numbers.iter().map(|at| players(5)[at - 1].clone()).collect())
        };
        let start = |numbers: &[usize]| {
            Verdict::Start(numbers.iter().map(|at| players(5)[at - 1].clone()).collect())
        };
        let off = Verdict::CallOff("1 of 5 invited accepted, and 2 are needed".into());
        // Two of five.
        for (said, before, after) in [
            ("aoddd", Verdict::Wait, off.clone()),
            ("arddd", next(&[3]), off.clone()),
            ("asddd", next(&[3]), off.clone()),
            ("asodd", Verdict::Wait, off.clone()),
            ("asrdd", next(&[4]), off.clone()),
            ("asrrs", Verdict::Wait, off.clone()),
            ("arrrr", off.clone(), off),
            ("asadd", start(&[1, 3]), start(&[1, 3])),
            ("aasss", start(&[1, 2]), start(&[1, 2])),
        ] {
            let asked = invitation(said, Terms { ready_ms: 0, ..terms(5, 2, Some(2)) });
            assert_eq!((asked.verdict(false), asked.verdict(true)), (before, after), "{said}");
        }
        let asked = invitation("rrddd", Terms { ready_ms: 0, ..terms(5, 2, Some(2)) });
        assert_eq!(asked.verdict(false), next(&[3, 4]));
    }

    #[test]
    fn draw_looks_for_silent_players_while_others_can_be_asked() {
        let mut asked = invitation("aod", Terms { wait_ms: 40, ..terms(3, 2, Some(2)) });
        assert_eq!(asked.deadline(), Timestamp::from_ms(100));
        asked.wait_for_drawn(Timestamp::from_ms(20));
        asked.wait_for_drawn(Timestamp::from_ms(25));
        assert_eq!(
            (asked.deadline(), asked.unanswered()),
            (Timestamp::from_ms(30), players(2)[1..].to_vec())
        );
        asked.prolong(Timestamp::from_ms(50), 7, Timestamp::from_ms(60));
        assert_eq!(
            asked.deadline(),
            Timestamp::from_ms(60),
            "players who were drawn can be back by then"
        );
        asked.set(&players(3)[2], Reply::Open);
        assert_eq!(asked.deadline(), Timestamp::from_ms(100), "nobody else can be asked");
    }

    #[test]
    fn ready_players_play() {
        let off = |sure: usize| {
            Verdict::CallOff(format!("{sure} of 4 invited are ready, and 2 are needed"))
        };
        let start = |numbers: &[usize]| {
            Verdict::Start(numbers.iter().map(|at| players(4)[at - 1].clone()).collect())
        };
        for (said, before, after) in [
            ("aaar", Verdict::Wait, off(0)),
            ("yaar", Verdict::Wait, off(1)),
            ("yrar", Verdict::Wait, off(1)),
            ("yrrr", off(1), off(1)),
            ("ymmr", off(1), off(1)),
            ("yyar", Verdict::Wait, start(&[1, 2])),
            ("yrym", start(&[1, 3]), start(&[1, 3])),
            ("yyya", Verdict::Wait, start(&[1, 2, 3])),
            ("yyyy", start(&[1, 2, 3]), start(&[1, 2, 3])),
        ] {
            let mut asked = invitation(said, terms(4, 2, Some(3)));
            asked.readying = true;
            assert_eq!((asked.verdict(false), asked.verdict(true)), (before, after), "{said}");
        }
    }

    #[test]
    fn replies_belong_to_their_players_and_outages_extend_waits() {
        let mut asked = invitation("oo", terms(2, 1, None));
        let [one, other] = [players(2)[0].clone(), players(2)[1].clone()];
        asked.set(&other, Reply::Accepted);
        asked.set(&players(3)[2], Reply::Accepted);
        assert_eq!(
            (asked.reply(&one), asked.reply(&other)),
            (Some(Reply::Open), Some(Reply::Accepted))
        );
        assert_eq!(asked.reply(&players(3)[2]), None);
        asked.prolong(Timestamp::from_ms(50), 7, Timestamp::default());
        assert_eq!(asked.closes_at, Timestamp::from_ms(107));
        asked.readying = true;
        asked.prolong(Timestamp::from_ms(99), 7, Timestamp::default());
        assert_eq!(asked.closes_at, Timestamp::from_ms(109), "no longer than a new wait of 10");
        asked.prolong(Timestamp::from_ms(99), 7, Timestamp::from_ms(130));
        assert_eq!(asked.closes_at, Timestamp::from_ms(130), "who is invited can be back by then");
    }
}
