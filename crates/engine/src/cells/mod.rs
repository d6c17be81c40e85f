//! The cell side: tournaments, their matches, their records and their spectators.
//!
//! A cell is a tournament with its secret and all its matches: the streams `tournament/ID`,
//! `secret/ID` and `match/ID/*`. It knows no socket, no session and no lobby. The seat side tells
//! it who arrives, leaves and answers, and when a request was delivered. A cell speaks to players
//! by name, through effects. What the lobby must know (a tournament ended, a player cheated) goes
//! out as a follow-up.
//!
//! ```text
//!   start, arrive, leave, answer,          follow-ups   Blacklist, Conclude
//!   delivered, order, watch        ──▶ cells ──▶
//!   durable, due                           effects      Append, Ask, Call, Send, AskHouse, Show
//! ```

mod away;
mod blacklist;
pub mod delay;
mod house;
mod interrupt;
mod live_match;
mod local;
mod matches;
mod operator;
mod peer_observers;
mod programs;
mod tournaments;
mod translated;
pub mod watch;

use crate::MatchKey;
use crate::journal::StreamKey;
use crate::services::{Context, Services};
use crate::show::ShownTournament;
use crate::timers::Timer;
use agon_core::{
    Match, Millis, PlayerName, RecoveredMatch, Secret, Secrets, Tournament, TournamentCommand,
    TournamentId,
};
use delay::HeldBack;
use live_match::Matches;
pub(crate) use matches::{GivenAnswer, RejectedAnswer};
pub(crate) use operator::notice_of;
pub(crate) use peer_observers::OBSERVERS_MAX;
use peer_observers::PeerObservers;
use std::collections::{BTreeSet, HashMap};
use tournaments::LiveTournament;
use watch::Watchers;

/// Games since the engine was opened. Every game that starts ends in one of two ways or still runs:
/// `started = finished + void + running` at every moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GameCounts {
    /// Started, or resumed from the log.
    pub started: u64,
    /// Ended with a result.
    pub finished: u64,
    /// Ended without a result.
    pub void: u64,
    /// In progress.
    pub running: u64,
}

/// Counts since the start.
#[derive(Clone, Copy, Default)]
pub(crate) struct CellCounts {
    /// Answers that were accepted.
    pub(crate) decisions: u64,
    /// Running games are counted on demand.
    games: GameCounts,
    pub(crate) tournament_records: u64,
    pub(crate) tournaments_started: u64,
    pub(crate) tournaments_ended: u64,
    pub(crate) matches_started: u64,
    pub(crate) matches_ended: u64,
}

/// All cells of this server.
#[derive(Default)]
pub(crate) struct Cells {
    tournaments: HashMap<TournamentId, LiveTournament>,
    matches: Matches,
    watchers: Watchers,
    held_back: HashMap<MatchKey, HeldBack>,
    /// Observers on the wires of other systems.
    observers: PeerObservers,
    /// Players who were connected before this start, cannot reconnect by themselves and have not
    /// returned.
    cut_off: BTreeSet<PlayerName>,
    counted: CellCounts,
    /// Live matches that were folded at the start and are not resumed yet.
    folded_ahead: HashMap<MatchKey, RecoveredMatch>,
    /// The buffer for the request that is being written, reused to save allocations.
    line: Vec<u8>,
}

impl Cells {
    /// Continues after the latest record of a stream became durable.
    pub(crate) fn durable(&mut self, cx: &mut Context<'_>, stream: StreamKey) {
        self.keep_for_later(cx, &stream);
        self.show_watchers(cx, &stream);
        match stream {
            StreamKey::Match(key) => self.speak_now(cx, &key),
            StreamKey::Tournament(id) => self.go_on(cx, &id),
            StreamKey::Lobby | StreamKey::Secret(_) => {}
        }
    }

    /// Drops a tournament and its matches: the log refused a record, so this server does not own
    /// them. Players and spectators are told nothing, because nothing more is known here.
    pub(crate) fn drop_cell(&mut self, services: &mut Services, id: &TournamentId) {
        self.tournaments.remove(id);
        for key in self.matches.in_tournament(id) {
            self.matches.remove(&key);
            self.held_back.remove(&key);
        }
        self.end_watches_in(services, id);
        self.observers.forget_tournament(id);
    }

    /// Handles a timer of a cell that was due at `now`.
    pub(crate) fn due(&mut self, cx: &mut Context<'_>, timer: Timer, now: Millis) {
        match timer {
            Timer::Match(key) => self.match_due(cx, &key, now),
            Timer::Greeting(tournament) => self.greeting_due(cx, &tournament),
            Timer::PlayTime(tournament) => {
                self.step_tournament(cx, &tournament, TournamentCommand::EndPlayTime);
            }
            Timer::Resumed(tournament) => self.miss_after_pause(cx, &tournament),
            Timer::Watch(topic) => self.show_late(cx, &topic),
            Timer::HousePace(key, request) => self.pace_due(cx, &key, &request),
            _ => {}
        }
    }

    /// Counts a durable record.
    pub(crate) fn count_record(&mut self, stream: &StreamKey) {
        let of_tournament = matches!(stream, StreamKey::Tournament(_));
        self.counted.tournament_records += u64::from(of_tournament);
    }

    /// The counts since the start.
    pub(crate) fn counts(&self) -> &CellCounts {
        &self.counted
    }

    /// The counts of games.
    pub(crate) fn game_counts(&self) -> GameCounts {
        let running =
            self.matches.iter().filter(|(_, live)| live.played.referee().is_some()).count();
        GameCounts { running: running as u64, ..self.counted.games }
    }

    /// How many tournaments run.
    pub(crate) fn tournament_count(&self) -> usize {
        self.tournaments.len()
    }

    /// How many matches run.
    pub(crate) fn match_count(&self) -> usize {
        self.matches.len()
    }

    /// A running tournament.
    pub(crate) fn tournament(&self, id: &TournamentId) -> Option<&Tournament> {
        self.tournaments.get(id).map(|live| &live.machine)
    }

    /// A running tournament, as everybody may see it.
    pub(crate) fn shown_tournament(&self, id: &TournamentId) -> Option<ShownTournament> {
        let live = self.tournaments.get(id)?;
        Some(ShownTournament::live(&live.machine, live.began_at))
    }

    /// A running match.
    pub(crate) fn live_match(&self, key: &MatchKey) -> Option<&Match> {
        self.matches.get(key).map(|live| &live.played)
    }

    /// The matches that run, each with the secret of its tournament.
    pub(crate) fn live_matches(&self) -> impl Iterator<Item = (&MatchKey, &Match, &Secret)> {
        self.matches.iter().filter_map(|(key, live)| {
            let tournament = self.tournaments.get(&key.tournament)?;
            Some((key, &live.played, &tournament.secret))
        })
    }

    /// The running matches of a player.
    pub(crate) fn matches_of(&self, player: &PlayerName) -> impl Iterator<Item = &MatchKey> {
        self.matches.keys_of(player)
    }

    /// The secrets that the games of a running match are drawn from. Use them to fold its log;
    /// never show them.
    pub(crate) fn match_secrets(&self, key: &MatchKey) -> Option<Secrets> {
        let live = self.tournaments.get(&key.tournament).filter(|_| self.matches.is_live(key))?;
        Some(Secrets::Known(live.secret.of_match(&key.id)))
    }

    /// Keeps matches that were folded ahead, until their tournaments resume.
    pub(crate) fn fold_ahead(&mut self, folded: HashMap<MatchKey, RecoveredMatch>) {
        self.folded_ahead = folded;
    }

    /// Ends a start: all tournaments that ran before are resumed.
    pub(crate) fn all_resumed(&mut self) {
        self.folded_ahead.clear();
        self.note_cut_off_before();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lobby::LobbyCell;
    use crate::{Effect, Effects, HousePlayers, LobbySnapshot, ReadError, Settings, StreamReader};
    use agon_core::lobby::Lobby;
    use agon_core::{Preset, Raw, SecretKept, StreamEnd, TournamentPlan};
    use agon_games::Registry;

    /// A log that has the secret of one tournament and nothing else.
    struct OneSecret(Vec<String>);

    impl StreamReader for OneSecret {
        fn load(&self, stream: &str, _: u64) -> Result<Vec<String>, ReadError> {
            Ok(if stream == "secret/cup" { self.0.clone() } else { Vec::new() })
        }

        fn latest(&self) -> Option<String> {
            None
        }

        fn snapshot(&self) -> Result<Option<LobbySnapshot>, ReadError> {
            Ok(None)
        }
    }

    struct AnyHouse;

    impl HousePlayers for AnyHouse {
        fn names(&self, _: &str) -> Vec<String> {
            Vec::new()
        }

        fn check(&self, _: &str, _: &str) -> Result<(), String> {
            Ok(())
        }

        fn proposal(&self, _: &str, _: &str) -> Option<String> {
            None
        }
    }

    fn services() -> Services {
        let (tournament, secret) = ("cup".into(), Secret::from_seed_number(1));
        let kept = SecretKept { tournament, secret }.into();
        let lines = StreamEnd::unchained("secret/cup".to_owned(), 0).record(0, &[kept]);
        let (reader, houses) = (Box::new(OneSecret(lines)), Box::new(AnyHouse));
        let games = Registry::standard();
        Services::new(reader, games, houses, Settings::default(), [1; 32], 1_000)
    }

    fn plan(games: &Registry) -> TournamentPlan {
        let preset = Preset::named("yahtzee-referee").unwrap();
        let players = ["greedy", "random"].map(|name| PlayerName::of_house(name).unwrap());
        TournamentPlan {
            id: "cup".into(),
            preset: Some(preset.name.into()),
            game: preset.game.into(),
            config: Raw(games.kind(preset.game).unwrap().check_config(preset.config).unwrap()),
            policy: preset.policy,
            players: players.into(),
        }
    }

    /// Runs a cell until it appends nothing more; returns the players that were asked.
    fn settle(cells: &mut Cells, services: &mut Services, lobby: &LobbyCell) -> Vec<String> {
        let (mut effects, mut asked) = (Effects::default(), Vec::new());
        loop {
            std::mem::swap(&mut services.effects, &mut effects);
            let list = effects.take();
            let done = list.is_empty();
            for effect in list {
                match effect {
                    Effect::Append(record) => {
                        assert_eq!(record.stream.tournament(), Some(&"cup".into()));
                        services.journals.committed(&record.stream);
                        if services.is_durable(&record.stream) {
                            let accounts = lobby.accounts();
                            let cx = &mut Context { services: &mut *services, accounts };
                            cells.durable(cx, record.stream);
                        }
                    }
                    Effect::AskHouse(question) => asked.push(question.player.to_string()),
                    _ => {}
                }
            }
            effects.clear(Vec::new());
            if done {
                return asked;
            }
        }
    }

    #[test]
    fn cell_plays_without_accounts_and_without_sessions() {
        let (mut services, lobby) = (services(), LobbyCell::default());
        let (mut cells, plan) = (Cells::default(), plan(&services.games));
        let accounts = lobby.accounts();
        let cx = &mut Context { services: &mut services, accounts };
        cells.take_up(cx, plan).unwrap();
        let asked = settle(&mut cells, &mut services, &lobby);
        assert_eq!(asked, ["house:greedy", "house:random"]);
        assert_eq!((cells.tournament_count(), cells.match_count()), (1, 1));
        assert_eq!(lobby.state(), &Lobby::default(), "the lobby took no part");
    }
}
