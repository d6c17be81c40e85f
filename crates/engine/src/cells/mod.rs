//! The cell side: tournaments, their matches, their records and their spectators.
//!
//! A cell is a tournament with its secret and all its matches: the streams `tournament/ID`,
//! `secret/ID` and `match/ID/*`. It knows no socket, no session and no lobby. Cells and the seats
//! of players exchange the messages of `port.rs`. News for the lobby (a tournament ended, a player
//! cheated) goes out as a follow-up.
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
mod play_clock;
mod programs;
mod tournaments;
mod translated;
pub mod watch;

use crate::MatchKey;
use crate::journal::StreamKey;
use crate::port::FromSeat;
use crate::services::{Context, Services};
use crate::show::ShownTournament;
use crate::timers::Timer;
use agon_core::{
    Match, Millis, PlayerName, RecoveredMatch, Secret, Secrets, Timestamp, Tournament,
    TournamentId, TournamentPlan,
};
use delay::HeldBack;
use live_match::Matches;
pub(crate) use matches::RejectedAnswer;
pub(crate) use operator::notice_of;
pub(crate) use peer_observers::OBSERVERS_MAX;
use peer_observers::PeerObservers;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use tournaments::LiveTournament;
use watch::Watchers;

/// Games since the engine was opened. Every game that starts ends in one of two ways or still runs:
/// `started = finished + void + running` at every moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct GameTotals {
    /// Started, or resumed from the log.
    pub started: u64,
    /// Ended with a result.
    pub finished: u64,
    /// Ended without a result.
    pub void: u64,
    /// In progress.
    pub running: u64,
}

impl GameTotals {
    /// The sum of two counts.
    pub(crate) fn plus(self, other: GameTotals) -> GameTotals {
        GameTotals {
            started: self.started + other.started,
            finished: self.finished + other.finished,
            void: self.void + other.void,
            running: self.running + other.running,
        }
    }
}

/// Counts since the start.
#[derive(Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct CellCounts {
    /// Answers that were accepted.
    pub(crate) decisions: u64,
    /// Running games are counted on demand.
    games: GameTotals,
    pub(crate) tournament_records: u64,
    pub(crate) tournaments_started: u64,
    pub(crate) tournaments_ended: u64,
    pub(crate) matches_started: u64,
    pub(crate) matches_ended: u64,
}

impl CellCounts {
    /// The sum of two counts.
    pub(crate) fn plus(self, other: &CellCounts) -> CellCounts {
        CellCounts {
            decisions: self.decisions + other.decisions,
            games: self.games.plus(other.games),
            tournament_records: self.tournament_records + other.tournament_records,
            tournaments_started: self.tournaments_started + other.tournaments_started,
            tournaments_ended: self.tournaments_ended + other.tournaments_ended,
            matches_started: self.matches_started + other.matches_started,
            matches_ended: self.matches_ended + other.matches_ended,
        }
    }

    /// The counts of an engine that is lost. Its matches go on elsewhere, and are counted there
    /// as resumed.
    pub(crate) fn ended(mut self) -> CellCounts {
        self.games.void += self.games().running;
        self.tournaments_ended = self.tournaments_started;
        self.matches_ended = self.matches_started;
        self
    }

    /// The counts of games.
    pub(crate) fn games(&self) -> GameTotals {
        let GameTotals { started, finished, void, .. } = self.games;
        GameTotals { running: started.saturating_sub(finished + void), ..self.games }
    }
}

/// How long an engine collects accepted answers before it reports their count. It reports other
/// changes at once.
const REPORT_MS: Millis = 50;

/// The state of an engine's cells, for the lobby's engine.
#[derive(Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct CellReport {
    pub(crate) counts: CellCounts,
    pub(crate) tournaments: usize,
    pub(crate) matches: usize,
    /// The tournaments that are paused, and whether a restart interrupted them.
    resting: BTreeMap<TournamentId, bool>,
}

impl CellReport {
    /// Returns whether a tournament is paused, and whether it is interrupted.
    pub(crate) fn rests(&self, id: &TournamentId) -> (bool, bool) {
        let interrupted = self.resting.get(id);
        (interrupted.is_some(), interrupted == Some(&true))
    }
}

/// The last report to the lobby's engine.
#[derive(Default)]
struct Reported {
    counts: CellCounts,
    tournaments: usize,
    /// When answers may be reported again, once a timer is set for that.
    due: Option<Timestamp>,
}

/// All cells of this server.
#[derive(Default)]
pub(crate) struct Cells {
    tournaments: HashMap<TournamentId, LiveTournament>,
    /// Tournaments that start: their secret is being looked up, or is not durable yet.
    starting: HashMap<TournamentId, TournamentPlan>,
    /// Tournaments that are being read from the log, each with the number of the reading: another
    /// engine may have the tournament in between.
    resuming: HashMap<TournamentId, u64>,
    /// How many tournaments were read since the start.
    readings: u64,
    matches: Matches,
    watchers: Watchers,
    held_back: HashMap<MatchKey, HeldBack>,
    /// Players who let a request time out, which counts as a crash of their process, and who have
    /// sent nothing since.
    silent: BTreeSet<PlayerName>,
    /// Observers on the wires of other systems.
    observers: PeerObservers,
    /// Players who were connected before this start, cannot reconnect by themselves and have not
    /// returned.
    cut_off: BTreeSet<PlayerName>,
    counted: CellCounts,
    /// Live matches that were folded when their tournament was read, and are not resumed yet.
    folded_ahead: HashMap<MatchKey, RecoveredMatch>,
    /// Matches that other engines play.
    handed_out: BTreeSet<MatchKey>,
    /// The counts that were reported to the lobby's engine last.
    reported: Reported,
    /// The buffer for the request that is being written, reused to save allocations.
    line: Vec<u8>,
}

impl Cells {
    /// Handles a message from a player's seat. Returns an error if it is an answer that is
    /// rejected.
    pub(crate) fn receive(
        &mut self,
        cx: &mut Context<'_>,
        player: &PlayerName,
        message: FromSeat,
    ) -> Result<(), RejectedAnswer> {
        match message {
            FromSeat::Arrive => self.player_is_here(cx, player),
            FromSeat::Leave(fault) => self.player_is_gone(cx, player, &fault),
            FromSeat::CutOff(conn) => self.player_is_cut_off(cx, player, conn),
            FromSeat::Heard => self.hear_from(cx, player),
            FromSeat::Malformed { why, line } => self.charge_malformed(cx, player, &why, &line),
            FromSeat::Answer(answer) => return self.answer(cx, player, answer),
            FromSeat::Delivered { conn, ask, at } => self.delivered(conn, &ask, at),
        }
        Ok(())
    }

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
        self.starting.remove(id);
        self.resuming.remove(id);
        self.folded_ahead.retain(|key, _| key.tournament != *id);
        for key in self.matches.in_tournament(id) {
            let sent = self.matches.remove(&key).map_or_else(Vec::new, |live| live.sent);
            sent.iter().for_each(|sent| sent.recall(services, &key));
            self.held_back.remove(&key);
        }
        self.end_watches_in(services, id);
        self.observers.forget_tournament(id);
    }

    /// Drops a tournament that another engine resumes, and counts what runs in it as ended here.
    pub(crate) fn release(&mut self, services: &mut Services, id: &TournamentId) {
        for key in self.matches.in_tournament(id) {
            let has_game = self.live_match(&key).is_some_and(|live| live.referee().is_some());
            self.counted.games.void += u64::from(has_game);
            self.counted.matches_ended += 1;
        }
        self.counted.tournaments_ended += u64::from(self.tournaments.contains_key(id));
        self.drop_cell(services, id);
    }

    /// Returns whether a tournament plays here, or is about to. The lobby decides that a tournament
    /// runs a moment before the record of it is durable, and no cell knows of it until then.
    pub(crate) fn has_begun(&self, services: &Services, id: &TournamentId) -> bool {
        self.tournaments.contains_key(id)
            || self.starting.contains_key(id)
            || self.resuming.contains_key(id)
            || services.journals.has_begun(id)
    }

    /// Handles a timer of a cell that was due at `now`.
    pub(crate) fn due(&mut self, cx: &mut Context<'_>, timer: Timer, now: Timestamp) {
        match timer {
            Timer::Match(key) => self.match_due(cx, &key, now),
            Timer::Greeting(tournament) => self.greeting_due(cx, &tournament),
            Timer::PlayTime(tournament) => {
                self.play_time_due(cx, &tournament);
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
    pub(crate) fn game_counts(&self) -> GameTotals {
        let running =
            self.matches.iter().filter(|(_, live)| live.played.referee().is_some()).count();
        GameTotals { running: running as u64, ..self.counted.games }
    }

    /// The state of the cells for the lobby's engine, if there is something to report. An error is
    /// the time at which accepted answers are to be reported.
    pub(crate) fn new_report(&mut self, now: Timestamp) -> Result<Option<CellReport>, Timestamp> {
        let Reported { counts, tournaments, due } = &mut self.reported;
        let rest = CellCounts { decisions: counts.decisions, ..self.counted };
        if (rest, self.tournaments.len()) == (*counts, *tournaments) {
            match *due {
                _ if self.counted.decisions == counts.decisions => return Ok(None),
                None => return Err(*due.insert(now + REPORT_MS)),
                Some(due) if now < due => return Ok(None),
                Some(_) => {}
            }
        }
        let (counts, tournaments) = (self.counted, self.tournaments.len());
        self.reported = Reported { counts, tournaments, due: None };
        let resting = self.tournaments.iter().filter(|(_, live)| live.machine.paused().is_some());
        let resting = resting.map(|(id, live)| (id.clone(), live.machine.interrupted().is_some()));
        let resting = resting.collect();
        Ok(Some(CellReport { counts, tournaments, matches: self.matches.len(), resting }))
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
    use crate::port::{Answer, GivenAnswer};
    use crate::recover::read_tournaments;
    use crate::seats::PlayerSeat;
    use crate::{AskId, ConnId, Effect, Effects, HousePlayers, LobbySnapshot, ReadError};
    use crate::{SeatKind, Settings, StreamReader, Wire};
    use agon_core::lobby::Lobby;
    use agon_core::{Preset, Raw, Rejection, RequestId, SecretKept, StreamEnd, Timing};
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
        let lines =
            StreamEnd::unchained("secret/cup".to_owned(), 0).record(Timestamp::default(), &[kept]);
        let (reader, houses) = (Box::new(OneSecret(lines)), Box::new(AnyHouse));
        let games = Registry::standard();
        Services::new(
            reader,
            games,
            houses,
            Settings::default(),
            [1; 32],
            Timestamp::from_ms(1_000),
        )
    }

    fn house_plan(games: &Registry) -> TournamentPlan {
        plan(games, ["greedy", "random"].map(|name| PlayerName::of_house(name).unwrap()))
    }

    fn plan(games: &Registry, players: [PlayerName; 2]) -> TournamentPlan {
        let preset = Preset::named("yahtzee-referee").unwrap();
        TournamentPlan {
            id: "cup".into(),
            preset: Some(preset.name.into()),
            game: preset.game.into(),
            config: Raw(games.kind(preset.game).unwrap().check_config(preset.config).unwrap()),
            policy: preset.policy,
            players: players.into(),
        }
    }

    const FIRST: &str = "cup:r1m1.1.0.0";

    /// A cell in which ann and bob, on other machines, were sent their first requests. The requests
    /// have a time limit of 10 seconds.
    fn cell_of_two() -> (Cells, Services, LobbyCell, PlayerName) {
        let (mut services, lobby, mut cells) = (services(), LobbyCell::default(), Cells::default());
        let players = ["ann", "bob"].map(|name| PlayerName::new(name).unwrap());
        for (player, conn) in players.iter().zip(1..) {
            let seat = SeatKind::native(Wire::Tcp);
            services
                .present
                .arrive(player, PlayerSeat::of_connection(ConnId(conn), seat, false, None));
        }
        let mut plan = plan(&services.games, players.clone());
        plan.policy.rules.time.answer_ms = 10_000;
        let cx = &mut Context { services: &mut services, accounts: lobby.accounts() };
        take_up(&mut cells, cx, plan);
        settle(&mut cells, &mut services, &lobby);
        let [ann, _] = players;
        (cells, services, lobby, ann)
    }

    fn answer(timing: Option<Timing>, at: Timestamp) -> FromSeat {
        let text = r#"{"keep":[true,true,true,true,true]}"#.to_owned();
        let given = GivenAnswer::Plain(RequestId::from_text(FIRST), text);
        FromSeat::Answer(Answer { given, timing, at })
    }

    /// The receipt of the first request of ann.
    fn delivered(at: u64) -> FromSeat {
        let key = MatchKey::new("cup".into(), "r1m1".into());
        let ask = AskId::Match(key, RequestId::from_text("r1m1.1.0.0"));
        FromSeat::Delivered { conn: ConnId(1), ask, at: Timestamp::from_ms(at) }
    }

    #[test]
    fn seat_measures_an_answer_and_the_cell_believes_it() {
        let (mut cells, mut services, lobby, ann) = cell_of_two();
        let cx = &mut Context { services: &mut services, accounts: lobby.accounts() };
        // The receipt came at once, and the answer was on its way for an hour.
        assert!(cells.receive(cx, &ann, delivered(1_000)).is_ok());
        let in_time = Timing { took_ms: 400, is_late: false };
        assert!(
            cells.receive(cx, &ann, answer(Some(in_time), Timestamp::from_ms(3_601_000))).is_ok()
        );
        assert_eq!(cells.counts().decisions, 1);
    }

    #[test]
    fn answer_that_is_late_by_its_seat_is_rejected() {
        let (mut cells, mut services, lobby, ann) = cell_of_two();
        let cx = &mut Context { services: &mut services, accounts: lobby.accounts() };
        assert!(cells.receive(cx, &ann, delivered(1_000)).is_ok());
        let late = Timing { took_ms: 10_000, is_late: true };
        let rejected =
            cells.receive(cx, &ann, answer(Some(late), Timestamp::from_ms(2_000))).unwrap_err();
        assert_eq!(rejected.rejection, Rejection::Late);
    }

    #[test]
    fn answer_that_the_seat_measured_for_an_earlier_sending_is_not_late() {
        let late = Timing { took_ms: 10_000, is_late: true };
        // The request is sent again, for example after a pause. The player answers before the seat
        // has written it, and the receipt comes before or after the answer.
        for receipt in [None, Some(delivered(2_000))] {
            let (mut cells, mut services, lobby, ann) = cell_of_two();
            let cx = &mut Context { services: &mut services, accounts: lobby.accounts() };
            if let Some(receipt) = receipt {
                assert!(cells.receive(cx, &ann, receipt).is_ok());
            }
            let said = cells.receive(cx, &ann, answer(Some(late), Timestamp::from_ms(2_000)));
            assert!(said.is_ok());
            assert_eq!(cells.counts().decisions, 1);
        }
    }

    #[test]
    fn cell_charges_a_timeout_if_the_seat_reports_nothing() {
        let (mut cells, mut services, lobby, ann) = cell_of_two();
        let key = MatchKey::new("cup".into(), "r1m1".into());
        let cx = &mut Context { services: &mut services, accounts: lobby.accounts() };
        assert!(cells.receive(cx, &ann, delivered(1_000)).is_ok());
        cx.services.time = crate::Time::at(Timestamp::from_ms(20_000));
        cells.due(cx, Timer::Match(key.clone()), Timestamp::from_ms(20_000));
        let faults = cells.live_match(&key).unwrap().faults().iter();
        let faults: Vec<_> = faults.map(|one| (one.player.to_string(), one.fault.kind)).collect();
        assert_eq!(faults, [("ann".to_owned(), agon_core::FaultKind::Timeout)]);
    }

    /// Resumes a tournament from the log.
    fn take_up(cells: &mut Cells, cx: &mut Context<'_>, plan: TournamentPlan) {
        let ids = [plan.id.clone()];
        let mut stored = read_tournaments(&*cx.reader, &cx.games, &ids).unwrap();
        cells.take_up(cx, plan, stored.remove(0)).unwrap();
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
        let (mut cells, plan) = (Cells::default(), house_plan(&services.games));
        let accounts = lobby.accounts();
        let cx = &mut Context { services: &mut services, accounts };
        take_up(&mut cells, cx, plan);
        let asked = settle(&mut cells, &mut services, &lobby);
        assert_eq!(asked, ["house:greedy", "house:random"]);
        assert_eq!((cells.tournament_count(), cells.match_count()), (1, 1));
        assert_eq!(lobby.state(), &Lobby::default(), "the lobby took no part");
    }
}
