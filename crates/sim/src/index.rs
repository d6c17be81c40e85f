//! An index of the durable events. The world checks every message of a server against it at once.

use crate::said::Asked;
use agon_core::lobby::Selection;
use agon_core::{Event, Line, PlayerName, Timestamp, TournamentId};
use std::collections::{BTreeMap, BTreeSet};

/// Facts from events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    /// Answers accepted, by stream, game and seat.
    answers: BTreeMap<(String, u32, u8), u32>,
    /// Accepted answers, by stream and request.
    pub(crate) accepted: BTreeMap<(String, String), String>,
    /// The players by seat, by stream and game.
    pub(crate) seats: BTreeMap<(String, u32), Vec<PlayerName>>,
    /// Matches that are over, and when that was decided.
    pub(crate) ended: BTreeMap<String, Timestamp>,
    pub(crate) announced: BTreeSet<String>,
    pub(crate) started: BTreeSet<String>,
    pub(crate) secrets: BTreeSet<String>,
    pub(crate) finished: BTreeMap<String, Vec<PlayerName>>,
    pub(crate) called_off: BTreeSet<String>,
    /// Sign-ups that stay open until somebody signs up: those of a series.
    open_ended: BTreeSet<String>,
    /// Players who are signed up, by tournament and name.
    pub(crate) signed_up: BTreeSet<(String, String)>,
    /// Players who ever were signed up.
    pub(crate) ever_signed_up: BTreeSet<(String, String)>,
    /// Replies to invitations and withdrawals, by request, tournament and name.
    pub(crate) replies: BTreeSet<(&'static str, String, String)>,
    /// How many cheats were charged.
    pub(crate) cheats: u64,
    /// Players who were ever put on the blacklist.
    pub(crate) blacklisted: BTreeSet<String>,
    /// How often each player has entered a queue.
    pub(crate) enqueued: BTreeMap<String, u32>,
    /// The players of tournaments that have started.
    players: BTreeMap<String, Vec<PlayerName>>,
    /// Paired matches by tournament: the round, the match and its players.
    matches: BTreeMap<String, Vec<(u32, String, Vec<PlayerName>)>>,
    paused: BTreeSet<String>,
    /// Tournaments that a restart of the server interrupted.
    interrupted: BTreeSet<String>,
    /// Streams of paused matches, and when the pause became durable.
    pub(crate) resting: BTreeMap<String, Timestamp>,
    /// How often each operator's reason occurs.
    pub(crate) rulings: BTreeMap<String, u32>,
    pub(crate) logged_in: BTreeSet<String>,
    /// Players without further games in a tournament, because they lost, were dropped or it is
    /// over.
    pub(crate) reported: BTreeSet<String>,
    pub(crate) dropped: BTreeSet<String>,
    pub(crate) over: BTreeSet<String>,
}

impl Index {
    /// Adds an event that became durable at `now`.
    pub(crate) fn add(&mut self, line: &Line, now: Timestamp) {
        let stream = || line.stream.to_string();
        let tournament = || line.stream.split('/').nth(1).unwrap_or_default().to_owned();
        if let Some(why) = reason(&line.event) {
            *self.rulings.entry(why).or_default() += 1;
        }
        match &line.event {
            Event::GameStarted(started) => {
                self.seats.insert((stream(), started.game), started.seats.clone());
            }
            Event::AnswerAccepted(accepted) => {
                let request = accepted.request.as_str();
                let asked = Asked::parse(&format!("x:{request}"));
                if let Some(Asked { game, seat, .. }) = asked {
                    *self.answers.entry((stream(), game, seat)).or_default() += 1;
                }
                let answer = accepted.answer.get().to_owned();
                self.accepted.insert((stream(), request.to_owned()), answer);
            }
            Event::MatchEnded(_) => {
                self.resting.remove(&stream());
                self.ended.insert(stream(), line.at);
            }
            Event::PlayerFaulted(faulted) => {
                self.cheats += u64::from(faulted.faulted.fault.is_cheat());
            }
            Event::MatchReported(_) => drop(self.reported.insert(tournament())),
            Event::TournamentEnded(_) | Event::TournamentAborted(_) => {
                self.over.insert(tournament());
            }
            Event::TournamentAnnounced(announced) => {
                let id = announced.announcement.id.to_string();
                if let Selection::SignUp(window) = &announced.announcement.selection
                    && window.repeat
                {
                    self.open_ended.insert(id.clone());
                }
                self.announced.insert(id);
            }
            Event::TournamentStarted(started) => {
                let id = started.plan.id.to_string();
                self.players.insert(id.clone(), started.plan.players.clone());
                self.started.insert(id);
            }
            Event::EntryOrdered(entry) => {
                let players = self.players.entry(entry.tournament.to_string()).or_default();
                players.push(entry.player.clone());
            }
            Event::RoundPaired(paired) => {
                let plans = paired.matches.iter();
                let all =
                    plans.map(|plan| (paired.round, plan.id.to_string(), plan.players.clone()));
                self.matches.entry(tournament()).or_default().extend(all);
            }
            Event::TournamentPaused(_) => drop(self.paused.insert(tournament())),
            Event::TournamentInterrupted(_) => {
                self.paused.insert(tournament());
                self.interrupted.insert(tournament());
            }
            Event::TournamentResumed(_) | Event::TournamentAwarded(_) => {
                self.paused.remove(&tournament());
                self.interrupted.remove(&tournament());
            }
            Event::MatchPaused(_) => drop(self.resting.insert(stream(), now)),
            Event::MatchResumed(_) | Event::MatchCalledOff(_) => {
                self.resting.remove(&stream());
            }
            Event::TournamentFinished(finished) => {
                let (id, winners) = (finished.tournament.to_string(), finished.winners.clone());
                self.finished.insert(id, winners);
            }
            Event::TournamentCalledOff(off) => {
                self.called_off.insert(off.tournament.to_string());
            }
            Event::SecretKept(kept) => drop(self.secrets.insert(kept.tournament.to_string())),
            Event::PlayerSignedUp(signed) => {
                let key = (signed.tournament.to_string(), signed.player.to_string());
                self.ever_signed_up.insert(key.clone());
                self.signed_up.insert(key);
            }
            Event::SignUpWithdrawn(gone) => {
                let key = (gone.tournament.to_string(), gone.player.to_string());
                self.signed_up.remove(&key);
                self.replies.insert(("withdraw", key.0, key.1));
            }
            Event::WithdrawalOrdered(gone) => {
                let key = (gone.tournament.to_string(), gone.player.to_string());
                self.signed_up.remove(&key);
                // The player may still reject once more.
                self.replied("reject", &gone.tournament, &gone.player);
                self.replied("withdraw", &gone.tournament, &gone.player);
            }
            Event::AccountBlacklisted(listed) => {
                let name = listed.account.to_string();
                self.blacklisted.insert(name.clone());
                self.signed_up.retain(|(_, player)| *player != name);
            }
            Event::InvitationAccepted(said) => {
                self.replied("accept", &said.tournament, &said.player)
            }
            Event::InvitationRejected(said) => {
                self.replied("reject", &said.tournament, &said.player);
                self.replied("withdraw", &said.tournament, &said.player);
            }
            Event::PlayerReady(said) => self.replied("ready", &said.tournament, &said.player),
            Event::PlayerDropped(dropped) => {
                let player = dropped.faulted.player.to_string();
                self.dropped.insert(tournament());
                self.replies.insert(("withdraw", tournament(), player));
            }
            Event::PlayerEnqueued(waits) => {
                *self.enqueued.entry(waits.player.to_string()).or_default() += 1;
            }
            Event::AccountLoggedIn(account) => {
                self.logged_in.insert(account.account.to_string());
            }
            _ => {}
        }
    }

    fn replied(&mut self, what: &'static str, tournament: &TournamentId, player: &PlayerName) {
        self.replies.insert((what, tournament.to_string(), player.to_string()));
    }

    fn is_over(&self, id: &str) -> bool {
        self.finished.contains_key(id) || self.called_off.contains(id)
    }

    /// Tournaments that must end and have not. A sign-up of a series may stay open if nobody signs
    /// up.
    pub(crate) fn unfinished(&self) -> impl Iterator<Item = &str> {
        let empty = |id: &str| {
            let waits = self.open_ended.contains(id) && !self.started.contains(id);
            waits && self.signed_up.iter().all(|(of, _)| of != id)
        };
        let announced = self.announced.iter().map(String::as_str);
        announced.filter(move |id| !self.is_over(id) && !empty(id))
    }

    /// Returns whether a player has a place in a tournament that is not over.
    pub(crate) fn plays(&self, name: &str) -> bool {
        let mut live = self.announced.iter().filter(|id| !self.is_over(id));
        live.any(|id| {
            let plays = self.players.get(id).into_iter().flatten().any(|one| one.as_str() == name);
            plays || self.signed_up.contains(&(id.clone(), name.to_owned()))
        })
    }

    /// Running tournaments.
    pub(crate) fn running(&self) -> Vec<TournamentId> {
        let running = self.started.iter().filter(|id| !self.is_over(id));
        running.map(|id| TournamentId::from_text(id)).collect()
    }

    /// Tournaments that wait for players.
    pub(crate) fn open(&self) -> Vec<TournamentId> {
        let open = self.announced.iter().filter(|id| !self.is_over(id));
        let open = open.filter(|id| !self.started.contains(*id));
        open.map(|id| TournamentId::from_text(id)).collect()
    }

    /// Paused tournaments.
    pub(crate) fn paused_tournaments(&self) -> Vec<TournamentId> {
        let paused = self.paused.iter().filter(|id| !self.over.contains(*id));
        paused.map(|id| TournamentId::from_text(id)).collect()
    }

    /// Returns whether a restart interrupted a tournament and no ruling has followed yet.
    pub(crate) fn is_interrupted(&self, id: &TournamentId) -> bool {
        self.interrupted.contains(id.as_str())
    }

    /// The matches of a tournament: the round, the match and its players.
    pub(crate) fn matches_of(&self, id: &TournamentId) -> Vec<(u32, String, Vec<PlayerName>)> {
        self.matches.get(id.as_str()).cloned().unwrap_or_default()
    }

    /// How many answers of a seat were accepted in the game a request belongs to.
    pub(crate) fn answers(&self, asked: &Asked) -> u32 {
        let key = (asked.stream(), asked.game, asked.seat);
        self.answers.get(&key).copied().unwrap_or(0)
    }
}

/// The operator's reason, if this is the first event that states it.
fn reason(event: &Event) -> Option<String> {
    let ruling = match event {
        Event::TournamentPaused(one) => &one.ruling,
        Event::TournamentResumed(one) => &one.ruling,
        Event::ResultOverridden(one) => &one.result.ruling,
        Event::TournamentAwarded(one) => &one.result.ruling,
        Event::ReplayOrdered(one) => &one.ruling,
        Event::RulingUndone(one) => &one.ruling,
        Event::GameVoided(one) => &one.ruling,
        Event::VoidUndone(one) => &one.ruling,
        Event::StartOrdered(one) => &one.ruling,
        Event::CallOffOrdered(one) => &one.ruling,
        Event::WithdrawalOrdered(one) => &one.ruling,
        Event::EntryOrdered(one) => &one.ruling,
        Event::LogOutOrdered(one) => &one.ruling,
        Event::AccountBlacklisted(one) => return one.by.as_ref().map(|_| one.reason.clone()),
        Event::BlacklistLifted(one) => return Some(one.reason.clone()),
        _ => return None,
    };
    Some(ruling.why.to_string())
}
