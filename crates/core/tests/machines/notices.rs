//! Requests that only tell something: confirmed in a player's name, within the record that opened
//! them.

use crate::support::bench::Bench;
use crate::support::plan::name;
use agon_core::{
    Event, Match, MatchCommand, Notice, PlayerName, Secret, Secrets, Timestamp, record_lines,
    verify,
};
use agon_games::Registry;

/// A match of Trains or Fish between `ann` and `bob`, who are both there. Returns the records since.
struct Table {
    bench: Bench,
    records: Vec<Vec<Event>>,
    notices: Vec<Notice>,
}

impl Table {
    fn new(preset: &str, confirms_for: fn(&PlayerName) -> bool) -> Table {
        let bench = Bench::absent(preset, 3, |_| {});
        let mut table = Table { bench, records: Vec::new(), notices: Vec::new() };
        for player in ["ann", "bob"] {
            table.step(MatchCommand::Arrive { player: name(player), nonce: None }, confirms_for);
        }
        table
    }

    /// Gives a command, and commits what follows with its confirmations as one record.
    fn step(&mut self, command: MatchCommand, confirms_for: fn(&PlayerName) -> bool) {
        let Bench { live, now, lines } = &mut self.bench;
        let mut events = live.step(*now, command).expect("a legal command");
        self.notices.extend(live.confirm_notices(*now, &mut events, confirms_for));
        let version = lines.len() as u64;
        lines.extend(record_lines("match/t/r1m1", version, *now, &events));
        self.records.push(events);
    }

    /// Answers everything that is open until the match is over.
    fn play(&mut self, confirms_for: fn(&PlayerName) -> bool) {
        while let Some(pending) = self.bench.live.pending().into_iter().next() {
            let player = pending.player.as_str().to_owned();
            let answer = match self.bench.live.notice(&pending) {
                Some(_) => "\"ok\"".to_owned(),
                None => self.bench.legal(&player),
            };
            let (player, request, took_ms) = (pending.player, pending.id, Some(5));
            self.step(MatchCommand::Answer { player, request, answer, took_ms }, confirms_for);
        }
        assert!(self.bench.live.result().is_some());
    }

    fn fold(&self) -> Match {
        let secret = Secret::from_seed_number(3).of_match(&self.bench.live.plan().id);
        let lines = self.bench.read();
        Match::fold(lines.iter(), &Registry::standard(), Secrets::Known(secret)).expect("a log")
    }
}

fn is_confirmation(event: &Event) -> bool {
    match event {
        Event::AnswerAccepted(accepted) => accepted.answer.get() == "\"ok\"",
        event => matches!(event, Event::ResultConfirmed(_)),
    }
}

#[test]
fn decision_with_its_notices_is_one_record_that_folds_and_verifies() {
    for preset in ["fish", "trains"] {
        let mut table = Table::new(preset, |_| true);
        table.play(|_| true);
        let records = &table.records;
        assert!(
            records.iter().all(|record| !is_confirmation(&record[0])),
            "{preset}: no own record"
        );
        let confirmations = records.iter().flatten().filter(|event| is_confirmation(event)).count();
        assert_eq!(confirmations, table.notices.len(), "{preset}: each was told");
        assert!(table.notices.iter().any(|notice| notice.about == "told"), "{preset}");
        assert!(table.fold().same_state(&table.bench.live), "{preset}");
        table.bench.verified();
    }
}

#[test]
fn player_who_confirms_by_itself_is_asked() {
    let others = |player: &PlayerName| player.as_str() != "ann";
    let mut table = Table::new("trains", others);
    let open = |table: &Table| {
        let pending = table.bench.live.pending();
        pending.iter().filter(|one| table.bench.live.notice(one).is_some()).count()
    };
    assert_eq!(open(&table), 1, "setup is open for ann, and confirmed for bob or not open yet");
    table.play(others);
    assert!(table.notices.iter().all(|notice| notice.player.as_str() == "bob"));
    let by_ann = |record: &&Vec<Event>| is_confirmation(&record[0]);
    assert!(table.records.iter().filter(by_ann).count() > 1, "ann's have records of their own");
    table.bench.verified();
}

#[test]
fn absent_player_is_not_confirmed_for() {
    let table = Table::new("trains", |_| false);
    let fault = agon_core::Fault::disconnected("lost");
    let pending = table.bench.live.pending().remove(0);
    assert!(table.bench.live.notice(&pending).is_some());
    let before = table.bench.live.clone();
    let mut events = Vec::new();
    let mut absent = before.clone();
    absent
        .step(
            Timestamp::from_ms(2_000),
            MatchCommand::Leave { player: pending.player.clone(), fault },
        )
        .expect("it leaves");
    let told = absent.confirm_notices(Timestamp::from_ms(2_000), &mut events, |_| true);
    assert!(told.iter().all(|notice| notice.player != pending.player));
}

#[test]
fn forged_confirmation_does_not_verify() {
    let mut table = Table::new("trains", |_| true);
    table.play(|_| true);
    let games = Registry::standard();
    let at = table.bench.lines.iter().position(|line| line.contains(r#""answer":"ok""#));
    let at = at.expect("a confirmation");
    for (from, to) in
        [(r#""took_ms":0"#, r#""took_ms":1"#), (r#""answer":"ok""#, r#""answer":"no""#)]
    {
        let mut forged = table.bench.lines.clone();
        assert!(forged[at].contains(from));
        forged[at] = forged[at].replace(from, to);
        let found = verify::read(&forged)
            .and_then(|lines| verify::verify_match(&lines, &games, None).map(drop));
        assert!(found.is_err(), "{to}");
    }
}
