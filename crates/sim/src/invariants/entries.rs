//! Every player in a tournament has a right to their place: they signed up, accepted, waited in the
//! queue or were connected, and are not on the blacklist. And every player whom an operator entered
//! has a place. Counted without the lobby's code.

use super::Streams;
use crate::world::World;
use agon_core::lobby::{Announcement, Selection};
use agon_core::{Event, PlayerName, TournamentId};
use std::collections::{BTreeMap, BTreeSet};

/// The contents of the lobby's stream, as plain sets.
#[derive(Default)]
struct Lobby<'a> {
    blacklist: BTreeSet<&'a PlayerName>,
    here: BTreeSet<&'a PlayerName>,
    announced: BTreeMap<&'a TournamentId, &'a Announcement>,
    /// Players with a place, in order: they signed up, or accepted and have not rejected since.
    coming: BTreeMap<&'a TournamentId, Vec<&'a PlayerName>>,
    ready: BTreeSet<(&'a TournamentId, &'a PlayerName)>,
    /// Players whom draws have invited.
    drawn: BTreeSet<(&'a TournamentId, &'a PlayerName)>,
    /// Players who were not connected when a tournament was drawn.
    passed_over: BTreeSet<(&'a TournamentId, &'a PlayerName)>,
    /// How often each player waits in a queue.
    queued: BTreeMap<(String, &'a PlayerName), u32>,
    /// Tournaments that an operator started.
    ordered: BTreeSet<&'a TournamentId>,
}

pub(super) fn check(world: &World, streams: &Streams) -> Result<(), String> {
    let mut lobby = Lobby::default();
    for entry in streams.get("lobby").into_iter().flatten() {
        let found = lobby.apply(world, &entry.line.event);
        found.map_err(|what| format!("lobby, event {}: {what}", entry.line.seq))?;
        if let Event::EntryOrdered(ordered) = &entry.line.event {
            check_entered(streams, &ordered.tournament, &ordered.player)?;
        }
    }
    Ok(())
}

/// A tournament that was played to its end took in the player whom an operator entered.
fn check_entered(streams: &Streams, id: &TournamentId, player: &PlayerName) -> Result<(), String> {
    let lines = streams.get(&format!("tournament/{id}"));
    let has = |wanted: &dyn Fn(&Event) -> bool| {
        lines.into_iter().flatten().any(|entry| wanted(&entry.line.event))
    };
    let is_played = has(&|event| matches!(event, Event::TournamentEnded(_)))
        && !has(&|event| matches!(event, Event::TournamentAwarded(_)));
    let entered =
        has(&|event| matches!(event, Event::PlayerEntered(entered) if entered.player == *player));
    match is_played && !entered {
        true => Err(format!("{player} was entered into {id} and never took part")),
        false => Ok(()),
    }
}

impl<'a> Lobby<'a> {
    fn apply(&mut self, world: &World, event: &'a Event) -> Result<(), String> {
        let asked = |player: &PlayerName, what: &str, id: &str| {
            let bot = world.bots.iter().find(|bot| bot.name == *player);
            let key = (what.to_owned(), id.to_owned());
            bot.is_none_or(|bot| bot.record.asked.contains(&key))
        };
        match event {
            Event::AccountBlacklisted(listed) => {
                self.blacklist.insert(&listed.account);
                self.coming.values_mut().for_each(|all| all.retain(|one| **one != listed.account));
                self.queued.retain(|(_, player), _| **player != listed.account);
            }
            Event::BlacklistLifted(lifted) => drop(self.blacklist.remove(&lifted.account)),
            Event::AccountLoggedIn(account) => drop(self.here.insert(&account.account)),
            Event::AccountLoggedOut(account) => drop(self.here.remove(&account.account)),
            Event::LogOutOrdered(ordered) => drop(self.here.remove(&ordered.account)),
            Event::TournamentAnnounced(announced) => {
                let announcement = &announced.announcement;
                let id = &announcement.id;
                self.announced.insert(id, announcement);
                self.passed_over.extend(announced.passed_over.iter().map(|player| (id, player)));
                if let Selection::Draw(draw) = &announcement.selection {
                    let first = announced.draw_order.iter().take(draw.at_most as usize);
                    self.drawn.extend(first.map(|player| (id, player)));
                }
            }
            Event::PlayersDrawn(more) => {
                self.drawn.extend(more.players.iter().map(|player| (&more.tournament, player)));
            }
            Event::PlayerSignedUp(one) => {
                let (id, player) = (&one.tournament, &one.player);
                let series = world.plan.peers.as_ref().map(|peers| peers.series.id.as_str());
                let of_series = series.is_some_and(|series| id.as_str().starts_with(series));
                if !of_series && !asked(player, "sign-up", id.as_str()) {
                    return Err(format!("{player} never signed up for {id}"));
                }
                self.comes(id, player)?;
            }
            Event::InvitationAccepted(one) => {
                let (id, player) = (&one.tournament, &one.player);
                if !asked(player, "accept", id.as_str()) {
                    return Err(format!("{player} never accepted {id}"));
                }
                let invited = match self.announced.get(id).map(|one| &one.selection) {
                    Some(Selection::Invitation(terms)) => terms.players.contains(player),
                    Some(Selection::Draw(_)) => self.drawn.contains(&(id, player)),
                    _ => false,
                };
                if !invited {
                    return Err(format!("{player} accepted {id} and was never invited"));
                }
                self.comes(id, player)?;
            }
            Event::PlayerReady(one) => {
                if !asked(&one.player, "ready", one.tournament.as_str()) {
                    return Err(format!("{} never was ready for {}", one.player, one.tournament));
                }
                self.ready.insert((&one.tournament, &one.player));
            }
            Event::SignUpWithdrawn(gone) => self.goes(&gone.tournament, &gone.player),
            Event::InvitationRejected(gone) => self.goes(&gone.tournament, &gone.player),
            Event::WithdrawalOrdered(gone) => self.goes(&gone.tournament, &gone.player),
            Event::EntryOrdered(entry) => {
                self.allowed(&entry.player)
                    .map_err(|what| format!("an operator's entry: {what}"))?;
            }
            Event::PlayerEnqueued(waits) => {
                self.allowed(&waits.player)?;
                let queue = waits.queue.as_str().to_owned();
                if !asked(&waits.player, "enqueue", &queue) {
                    return Err(format!("{} never wanted to wait in {queue}", waits.player));
                }
                *self.queued.entry((queue, &waits.player)).or_default() += 1;
            }
            Event::PlayerDequeued(waits) => {
                self.leaves_queue(waits.queue.as_str().to_owned(), &waits.player)?;
            }
            Event::StartOrdered(ordered) => drop(self.ordered.insert(&ordered.tournament)),
            Event::TournamentStarted(started) => {
                let plan = &started.plan;
                self.start(&plan.id, &plan.players).map_err(|what| {
                    format!("{} starts with {:?}, but {what}", plan.id, plan.players)
                })?;
            }
            _ => {}
        }
        Ok(())
    }

    fn allowed(&self, player: &PlayerName) -> Result<(), String> {
        match self.blacklist.contains(player) {
            true => Err(format!("{player} is on the blacklist")),
            false => Ok(()),
        }
    }

    fn comes(&mut self, id: &'a TournamentId, player: &'a PlayerName) -> Result<(), String> {
        self.allowed(player)?;
        let coming = self.coming.entry(id).or_default();
        if coming.contains(&player) {
            return Err(format!("{player} has a place in {id} already"));
        }
        coming.push(player);
        Ok(())
    }

    fn goes(&mut self, id: &TournamentId, player: &PlayerName) {
        if let Some(coming) = self.coming.get_mut(id) {
            coming.retain(|one| *one != player);
        }
        self.ready.retain(|(of, one)| *of != id || *one != player);
    }

    fn leaves_queue(&mut self, queue: String, player: &'a PlayerName) -> Result<(), String> {
        match self.queued.get_mut(&(queue, player)) {
            Some(count @ 1..) => {
                *count -= 1;
                Ok(())
            }
            _ => Err(format!("{player} does not wait there")),
        }
    }

    fn start(&mut self, id: &'a TournamentId, players: &'a [PlayerName]) -> Result<(), String> {
        players.iter().try_for_each(|player| self.allowed(player))?;
        let mut seen = BTreeSet::new();
        if let Some(twice) = players.iter().find(|player| !seen.insert(*player)) {
            return Err(format!("{twice} plays twice"));
        }
        if let Some(absent) = players.iter().find(|one| self.passed_over.contains(&(id, *one))) {
            return Err(format!("{absent} was not connected"));
        }
        let announcement = *self.announced.get(id).ok_or("it was never announced")?;
        let count = players.len() as u32;
        let coming = self.coming.remove(id).unwrap_or_default();
        let ordered = self.ordered.contains(id);
        let must = |holds: bool, what: &str| if holds { Ok(()) } else { Err(what.to_owned()) };
        match &announcement.selection {
            Selection::Named { players: named } => must(players == named, "others were named"),
            Selection::SignUp(window) => {
                let due: Vec<&PlayerName> = coming;
                must(players.iter().eq(due), "others have signed up")?;
                let fewest = window.second_at_least.max(1);
                must(ordered || (fewest..=window.at_most).contains(&count), "that is not enough")
            }
            Selection::Invitation(terms) => {
                let house = |player: &PlayerName| player.house().is_some();
                let said = |player: &&PlayerName| coming.contains(player) || house(player);
                must(players.iter().all(|player| said(&player)), "not all of them accepted")?;
                let asked = terms.ready_ms > 0 && !ordered;
                let ready = |player: &PlayerName| self.ready.contains(&(id, player));
                let all = players.iter().all(|player| house(player) || ready(player));
                must(!asked || all, "not all of them were ready")?;
                must(ordered || count >= terms.at_least, "that is not enough")
            }
            Selection::Draw(draw) => {
                let accepted = players.iter().all(|player| coming.contains(&player));
                must(accepted, "not all of them accepted")?;
                must(ordered || (draw.at_least..=draw.at_most).contains(&count), "wrong number")
            }
            Selection::Queue { queue, at_most } => {
                must(count <= *at_most, "that is too many")?;
                let queue = queue.as_str().to_owned();
                players.iter().try_for_each(|player| self.leaves_queue(queue.clone(), player))
            }
            Selection::Line { at_most }
            | Selection::Age { at_most }
            | Selection::Random { at_most } => {
                let here = players.iter().all(|player| self.here.contains(player));
                must(here && count <= *at_most, "not all of them were here")
            }
        }
    }
}
