//! How a tournament processes commands, and how its events change it.

use super::{
    Entrant, NextRound, Phase, Round, Tournament, TournamentCommand, TournamentRejection, paired,
};
use crate::event::{
    ConfigChosen, Event, FarewellConfirmed, LuckRenewed, MatchReported, PlayTimeCounted,
    PlayTimeEnded, PlayerDropped, PlayerEntered, PlayerGreeted, RoundsEnded, TournamentAborted,
};
use crate::fault::{Fault, FaultKind, Faulted};
use crate::ids::{PlayerName, Raw, RequestId};
use crate::match_::ApplyError;
use crate::policy::{Farewell, Greeting, Pairing};
use agon_games::{Luck, Proposal, Seed};
use std::collections::HashSet;
use std::sync::Arc;

impl Tournament {
    /// Decides a command and applies its consequences. A rejected command changes nothing.
    pub fn step(&mut self, command: TournamentCommand) -> Result<Vec<Event>, TournamentRejection> {
        // Only a tournament that is read from a log can find out midway that its secret is missing.
        let before = self.secret.is_none().then(|| self.clone());
        let stepped = self.decide(command);
        if let (Err(_), Some(before)) = (&stepped, before) {
            *self = before;
        }
        stepped
    }

    fn decide(&mut self, command: TournamentCommand) -> Result<Vec<Event>, TournamentRejection> {
        if self.is_over() {
            return Err(TournamentRejection::Over);
        }
        let mut events = Vec::new();
        match command {
            TournamentCommand::Answer { player, request, answer } => {
                self.answer(&mut events, player, request, &answer)?;
            }
            TournamentCommand::Drop { player, fault } => {
                let entrant = self.state.entrants.iter().find(|entrant| entrant.player == player);
                if entrant.is_none_or(|entrant| entrant.out) {
                    return Err(TournamentRejection::Stranger(player));
                }
                if self.state.paused.is_some() && fault.kind != FaultKind::Withdrew {
                    return Err(TournamentRejection::Paused);
                }
                self.drop_player(&mut events, player, fault);
            }
            TournamentCommand::Enter { player } => {
                self.may_enter(&player)?;
                self.emit(&mut events, PlayerEntered { player });
            }
            TournamentCommand::Report { id, result, head } => {
                let Some(plan) = self.open_matches().find(|plan| plan.id == id) else {
                    return Err(TournamentRejection::NotOpen(id));
                };
                let mut named = result.winners.iter().chain(&result.out);
                if let Some(player) = named.find(|player| !plan.players.contains(player)) {
                    return Err(TournamentRejection::Stranger(player.clone()));
                }
                self.emit(&mut events, MatchReported { id, result, head });
            }
            TournamentCommand::CountPlayTime { played_ms } => {
                if self.play_ms().is_none() {
                    return Err(TournamentRejection::NoPlayTime);
                }
                if self.state.paused.is_some() {
                    return Err(TournamentRejection::Paused);
                }
                self.emit(&mut events, PlayTimeCounted { played_ms });
            }
            TournamentCommand::EndPlayTime => {
                if self.play_ms().is_none() {
                    return Err(TournamentRejection::NoPlayTime);
                }
                self.emit(&mut events, PlayTimeEnded {});
            }
            TournamentCommand::Interrupt(interruption) => {
                self.interrupt(&mut events, interruption)?;
            }
            TournamentCommand::RenewLuck { commitment } => {
                self.emit(&mut events, LuckRenewed { commitment });
            }
            TournamentCommand::Order { order, ruling } => self.obey(&mut events, order, ruling)?,
        }
        self.advance(&mut events)?;
        Ok(events)
    }

    pub(super) fn emit(&mut self, events: &mut Vec<Event>, event: impl Into<Event>) {
        let event = event.into();
        self.apply(&event).expect("a tournament accepts what it decided");
        events.push(event);
    }

    fn answer(
        &mut self,
        events: &mut Vec<Event>,
        player: PlayerName,
        request: RequestId,
        answer: &str,
    ) -> Result<(), TournamentRejection> {
        let open = self.pending();
        if !open.iter().any(|pending| pending.id == request && pending.player == player) {
            return Err(TournamentRejection::NotAsked);
        }
        let malformed = |detail: &str| Fault::malformed(detail, answer);
        let trimmed = answer.trim();
        match (&self.state.phase, self.plan.policy.greeting) {
            (Phase::Greeting(_), Greeting::Proposal) => match self.read_proposal(answer) {
                Ok(proposal) => {
                    let greeted = PlayerGreeted { player, request, proposing: true, proposal };
                    self.emit(events, greeted);
                }
                Err(fault) => self.drop_player(events, player, fault),
            },
            (Phase::Greeting(_), _) => match trimmed {
                "true" => {
                    let (proposing, proposal) = (false, None);
                    self.emit(events, PlayerGreeted { player, request, proposing, proposal });
                }
                "false" => {
                    let fault = Fault::new(FaultKind::Withdrew, "not-ready", "is not ready");
                    self.drop_player(events, player, fault);
                }
                _ => {
                    let fault = malformed("ready is answered with true or false");
                    self.drop_player(events, player, fault);
                }
            },
            _ if trimmed == "\"ok\"" => self.emit(events, FarewellConfirmed { player, request }),
            _ => self.drop_player(events, player, malformed("the end is confirmed with \"ok\"")),
        }
        Ok(())
    }

    /// The proposal in canonical form, `None` for `null`, or the fault if it is not a proposal.
    fn read_proposal(&self, answer: &str) -> Result<Option<Raw>, Fault> {
        let value: serde_json::Value = serde_json::from_str(answer)
            .map_err(|error| Fault::malformed(error.to_string(), answer))?;
        if value.is_null() {
            return Ok(None);
        }
        let config = self.plan.config.get();
        match self.kind.propose(config, answer, self.seats_max()) {
            Proposal::Refused(refusal) => Err(Fault::refused(&refusal, answer)),
            Proposal::Fits(_) | Proposal::Unfit(_) => Ok(Some(agon_games::json(&value).into())),
        }
    }

    fn drop_player(&mut self, events: &mut Vec<Event>, player: PlayerName, fault: Fault) {
        let open = self.pending().into_iter().find(|pending| pending.player == player);
        let request = open.map(|pending| pending.id);
        let faulted = Faulted { player, game: None, request, fault };
        self.emit(events, PlayerDropped { faulted });
    }

    /// Continues as far as possible.
    fn advance(&mut self, events: &mut Vec<Event>) -> Result<(), TournamentRejection> {
        if self.state.paused.is_some() {
            return Ok(());
        }
        if let Some(awarded) = &self.state.awarded {
            let winners = awarded.winners.clone();
            return match self.round_complete() {
                true => self.end_with(events, winners),
                false => Ok(()),
            };
        }
        match &self.state.phase {
            Phase::Greeting(open) if !open.contains(&true) => {
                if self.plan.policy.greeting == Greeting::Proposal && !self.choose_config(events)? {
                    return Ok(());
                }
                self.next_round(events)
            }
            Phase::Playing if self.round_complete() => self.next_round(events),
            Phase::Farewell(open) if !open.contains(&true) => self.end(events),
            _ => Ok(()),
        }
    }

    /// Chooses among the proposals; `false` if the tournament had to be aborted.
    fn choose_config(&mut self, events: &mut Vec<Event>) -> Result<bool, TournamentRejection> {
        let seats_max = self.seats_max();
        let config = self.plan.config.get();
        let proposals = || {
            let in_play = self.state.entrants.iter().filter(|entrant| !entrant.out);
            in_play.filter_map(|entrant| Some((&entrant.player, entrant.proposal.as_ref()?)))
        };
        let mut unfit = None;
        let chosen = proposals().find_map(|(player, proposal)| {
            match self.kind.propose(config, proposal.get(), seats_max) {
                Proposal::Fits(config) => Some((player.clone(), Raw(config))),
                Proposal::Unfit(why) => {
                    unfit.get_or_insert(why);
                    None
                }
                Proposal::Refused(_) => None,
            }
        });
        if let Some((by, config)) = chosen {
            self.emit(events, ConfigChosen { by, config });
            return Ok(true);
        }
        let reason = match unfit {
            Some(why) => why,
            // Nobody made a valid proposal: the organiser's configuration applies.
            None => match self.kind.set_up(config, seats_max, &Seed::from_number(0)) {
                Ok(_) => return Ok(true),
                Err(error) => error.to_string(),
            },
        };
        let secret = self.secret.clone().ok_or(TournamentRejection::NoSecret)?;
        self.emit(events, TournamentAborted { reason, secret, head: None });
        Ok(false)
    }

    pub(super) fn next_round(
        &mut self,
        events: &mut Vec<Event>,
    ) -> Result<(), TournamentRejection> {
        loop {
            let (stage, pairings, byes) = match self.next()? {
                NextRound::Round(pairings, byes) => (None, pairings, byes),
                NextRound::StageRound(stage, pairings, byes) => (Some(stage), pairings, byes),
                NextRound::Winners(winners) => {
                    self.emit(events, RoundsEnded { winners });
                    return self.advance(events);
                }
            };
            let playable = !pairings.is_empty();
            let round = self.state.rounds.len() as u32 + 1;
            let event = paired(self, round, stage, pairings, byes);
            self.emit(events, event);
            if playable {
                return Ok(());
            }
        }
    }

    fn next(&self) -> Result<NextRound, TournamentRejection> {
        let order = self.seed_order()?;
        Ok(self.plan.policy.format.rules().next_round(&order, &self.field()))
    }

    /// The players in the order for pairings: sign-up order, by rating, or shuffled (label
    /// `pairing`). Players who were out before the first round do not take a slot.
    fn seed_order(&self) -> Result<Vec<PlayerName>, TournamentRejection> {
        let greeted = self.state.faults.iter().filter(|faulted| self.before_rounds(faulted));
        let absent: HashSet<&PlayerName> = greeted.map(|faulted| &faulted.player).collect();
        let present = self.state.entrants.iter().filter(|one| !absent.contains(&one.player));
        let (late, first): (Vec<&Entrant>, Vec<&Entrant>) = present.partition(|one| one.is_late);
        let name = |one: &Entrant| one.player.clone();
        let mut players: Vec<PlayerName> = first.into_iter().map(name).collect();
        match self.plan.policy.pairing {
            Pairing::Order | Pairing::Seeded => {}
            Pairing::Rating => {
                let rating = |player: &PlayerName| self.plan.policy.ratings.get(player);
                players.sort_by_key(|player| std::cmp::Reverse(rating(player)));
            }
            Pairing::Random => {
                let secret = self.secret.as_ref().ok_or(TournamentRejection::NoSecret)?;
                Luck::new(&secret.pairing_seed(&self.plan.id), "pairing").shuffle(0, &mut players);
            }
        }
        // Players who entered late come last, so that they change nobody's seed.
        players.extend(late.into_iter().map(name));
        Ok(players)
    }

    fn before_rounds(&self, faulted: &Faulted) -> bool {
        let start = format!("{}.start.", self.plan.id);
        faulted.request.as_ref().is_some_and(|id| id.as_str().starts_with(&start))
    }

    fn farewell(&self) -> Phase {
        let open = self.state.entrants.iter().map(|entrant| {
            let won = self.state.winners.contains(&entrant.player);
            match self.plan.policy.farewell {
                Farewell::None => false,
                Farewell::Winners => won && !entrant.out,
                Farewell::Everybody => !entrant.out,
            }
        });
        Phase::Farewell(open.collect())
    }

    fn end(&mut self, events: &mut Vec<Event>) -> Result<(), TournamentRejection> {
        let winners = self.state.winners.clone();
        self.end_with(events, winners)
    }

    /// Applies an event of the tournament's own stream.
    pub fn apply(&mut self, event: &Event) -> Result<(), ApplyError> {
        match event {
            Event::PlayerGreeted(greeted) => {
                let at = self.entrant_at(&greeted.player)?;
                self.state.entrants[at].proposal = greeted.proposal.clone();
                self.close_request(at);
            }
            Event::PlayerDropped(dropped) => {
                let at = self.entrant_at(&dropped.faulted.player)?;
                self.state.faults.push(dropped.faulted.clone());
                let entrant = &mut self.state.entrants[at];
                (entrant.dropped, entrant.out) = (true, true);
                if matches!(self.state.phase, Phase::Farewell(_)) {
                    self.state.winners.retain(|winner| *winner != dropped.faulted.player);
                }
                self.close_request(at);
            }
            Event::PlayerEntered(entered) => self.apply_entered(&entered.player),
            Event::ConfigChosen(chosen) => self.state.config = chosen.config.clone(),
            Event::RoundPaired(paired) => {
                self.state.rounds.push(Round::new(paired));
                self.state.phase = Phase::Playing;
            }
            Event::RoundsEnded(ended) => {
                self.state.winners = ended.winners.clone();
                self.state.phase = self.farewell();
            }
            Event::MatchReported(reported) => self.apply_report(reported)?,
            Event::FarewellConfirmed(confirmed) => {
                let at = self.entrant_at(&confirmed.player)?;
                self.close_request(at);
            }
            Event::PlayTimeEnded(_) => self.state.is_time_up = true,
            // Secrets and times come from outside, so they are not part of the state.
            Event::LuckRenewed(_) | Event::PlayTimeCounted(_) => {}
            Event::TournamentEnded(ended) => {
                self.state.winners = ended.winners.clone();
                self.state.phase = Phase::Ended;
            }
            Event::TournamentAborted(aborted) => {
                self.state.phase = Phase::Aborted(aborted.reason.clone());
            }
            _ => return self.apply_order(event),
        }
        Ok(())
    }

    fn apply_entered(&mut self, player: &PlayerName) {
        Arc::make_mut(&mut self.plan).players.push(player.clone());
        let player = player.clone();
        let (proposal, dropped, out) = (None, false, false);
        self.state.entrants.push(Entrant { player, proposal, dropped, out, is_late: true });
        if let Phase::Greeting(open) = &mut self.state.phase {
            open.push(true);
        }
    }

    fn apply_report(&mut self, reported: &MatchReported) -> Result<(), ApplyError> {
        let unknown = || ApplyError::UnknownMatch(reported.id.clone());
        let round = self.state.rounds.last_mut().ok_or_else(unknown)?;
        let at = round.report(reported)?;
        let out = round.results[at].as_ref().map_or_else(Vec::new, |result| result.out.clone());
        for player in &out {
            let at = self.entrant_at(player)?;
            self.state.entrants[at].out = true;
        }
        Ok(())
    }

    fn close_request(&mut self, at: usize) {
        if let Phase::Greeting(open) | Phase::Farewell(open) = &mut self.state.phase {
            open[at] = false;
        }
    }

    fn entrant_at(&self, player: &PlayerName) -> Result<usize, ApplyError> {
        let at = self.state.entrants.iter().position(|entrant| entrant.player == *player);
        at.ok_or_else(|| ApplyError::Stranger(player.clone()))
    }
}
