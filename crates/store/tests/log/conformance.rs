//! The requirements for every log, checked for each of them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;

use agon_store::{Append, AppendError, Log, LogError, ReaderShare, Snapshot, fold_together};

use crate::place::{Place, decision};

macro_rules! conformance {
    ($($test:ident)*) => {
        conformance!(@log memory: $($test)*);
        conformance!(@log file_process: $($test)*);
        conformance!(@log file_always: $($test)*);
        conformance!(@log sqlite: $($test)*);

        /// All of them by name, for a log whose server should start only once.
        pub(crate) const CASES: &[(&str, fn(&Place))] = &[$((stringify!($test), $test)),*];
    };
    (@log $log:ident: $($test:ident)*) => {
        mod $log {
            $(
                #[test]
                fn $test() {
                    super::$test(&crate::place::Place::$log());
                }
            )*
        }
    };
}

conformance! {
    an_append_is_compared_with_the_version
    a_conflict_fails_alone
    racing_writers_win_each_version_once
    many_streams_at_once
    loads_begin_anywhere
    readers_see_whole_decisions
    opened_again_it_is_the_same
    bad_names_are_refused
    bad_lines_are_refused
    several_are_answered_together
    appends_committed_here_keep_their_order_with_submitted_ones
    answers_come_in_order
    an_answer_may_submit
    a_flush_waits_for_answers
    closing_answers_everyone
    snapshots_are_kept_or_there_are_none
    the_latest_event_is_known_or_none_is
    another_reader_reads_the_same_while_the_log_grows
    streams_loaded_together_are_those_loaded_alone
    streams_read_together_are_whole_or_left_out
    streams_folded_together_are_whole_or_left_out
}

fn streams_loaded_together_are_those_loaded_alone(place: &Place) {
    let log = place.open();
    let names: Vec<String> = (0..450).map(|number| format!("m/{number}")).collect();
    // Every third stream is empty.
    for name in names.iter().enumerate().filter(|(at, _)| at % 3 > 0).map(|(_, name)| name) {
        log.append(decision(name, 0, 2, "some text")).unwrap();
        log.append(decision(name, 2, 1, "more")).unwrap();
    }
    let mut asked: Vec<&str> = names.iter().map(String::as_str).collect();
    asked.reverse();
    let together = log.load_together(&asked).unwrap();
    let alone: Vec<_> = asked.iter().map(|name| log.load(name, 0).unwrap()).collect();
    assert_eq!(together, alone);
    assert_eq!(log.load_together(&[]).unwrap().len(), 0);
    assert!(log.load_together(&["m/1", "../m"]).is_err());
}

fn streams_read_together_are_whole_or_left_out(place: &Place) {
    let log = place.open();
    for number in 0..30 {
        log.append(decision("m/old", number, 1, "not asked for")).unwrap();
    }
    for expected in 0..20 {
        for stream in ["m/0", "m/1", "m/2"] {
            log.append(decision(stream, expected * 2, 2, "some text")).unwrap();
        }
    }
    let asked = ["m/2", "m/none", "m/0"];
    for readers in 1..4 {
        let mut shown = vec![(Vec::new(), false); asked.len()];
        for reader in 0..readers {
            log.read_together(&asked, ReaderShare { reader, readers }, &mut |part| {
                let (lines, is_whole) = &mut shown[part.stream];
                assert!(!*is_whole, "nothing follows the last record, and nobody else reads it");
                lines.extend(part.lines.split('\n').map(str::to_owned));
                *is_whole = part.is_last;
            })
            .unwrap();
        }
        for (name, (lines, is_whole)) in asked.iter().zip(&shown) {
            assert!(!is_whole || *lines == log.load(name, 0).unwrap(), "{name}");
        }
        let whole = shown.iter().filter(|(_, is_whole)| *is_whole).count();
        assert!([0, 2].contains(&whole), "a log reads all streams together or none: {whole}");
    }
}

fn streams_folded_together_are_whole_or_left_out(place: &Place) {
    let log = place.open();
    for expected in 0..20 {
        for stream in ["m/0", "m/1", "m/2", "m/3"] {
            log.append(decision(stream, expected * 2, 2, "some text")).unwrap();
        }
    }
    let asked = ["m/3", "m/none", "m/0", "m/2"];
    // The line that does not fit leaves out its stream only.
    let bad = decision("m/0", 10, 2, "some text").lines[1].clone();
    let add = |lines: &mut Vec<String>, line: &str| {
        lines.push(line.to_owned());
        line != bad
    };
    let folded = fold_together(&*log, &asked, |_| Vec::new(), add, Some);
    for (at, lines) in &folded {
        assert_eq!(*lines, log.load(asked[*at], 0).unwrap(), "{}", asked[*at]);
    }
    let mut places: Vec<usize> = folded.into_keys().collect();
    places.sort_unstable();
    assert!(places.is_empty() || places == [0, 3], "{places:?}");
}

fn another_reader_reads_the_same_while_the_log_grows(place: &Place) {
    let log = place.open();
    let streams: Vec<String> = (0..50).map(|number| format!("m/{number}")).collect();
    for expected in 0..20 {
        for stream in &streams {
            log.append(decision(stream, expected, 1, "some text")).unwrap();
        }
    }
    let Some(other) = log.another_reader().unwrap() else { return };
    let same = |version: usize| {
        for stream in &streams {
            let lines = other.load(stream, 0).unwrap();
            assert_eq!((&lines, lines.len()), (&log.load(stream, 0).unwrap(), version));
        }
    };
    same(20);
    streams.iter().for_each(|one| assert_eq!(log.append(decision(one, 20, 1, "more")), Ok(21)));
    same(21);
    let refused = other.append(decision("m/0", 21, 1, "not by a reader"));
    assert!(matches!(refused, Err(AppendError::ReadOnly)), "{refused:?}");
}

fn an_append_is_compared_with_the_version(place: &Place) {
    let log = place.open();
    let conflict = |expected, actual| {
        Err(AppendError::Conflict { stream: "m/1".to_owned(), expected, actual })
    };
    assert_eq!(log.streams().unwrap(), []);
    assert_eq!(log.load("m/1", 0).unwrap(), [""; 0]);
    assert_eq!(log.append(decision("m/1", 1, 1, "")), conflict(1, 0));
    assert_eq!(log.append(decision("m/1", 0, 2, "first")), Ok(2));
    for expected in [0, 1, 3, 1 << 40] {
        assert_eq!(log.append(decision("m/1", expected, 1, "")), conflict(expected, 2));
    }
    assert_eq!(log.append(decision("m/1", 2, 1, "second")), Ok(3));
    let mut due = decision("m/1", 0, 2, "first").lines;
    due.extend(decision("m/1", 2, 1, "second").lines);
    assert_eq!(log.load("m/1", 0).unwrap(), due);
    assert_eq!(log.streams().unwrap(), [("m/1".to_owned(), 3)]);
}

fn a_conflict_fails_alone(place: &Place) {
    let log = place.open();
    let answers = Arc::new(Mutex::new(Vec::new()));
    // Submitted together, so that a log that groups commits has them in one group.
    for (stream, expected) in [("a", 0), ("b", 0), ("a", 0), ("b", 7), ("a", 1), ("b", 1)] {
        let answers = Arc::clone(&answers);
        let done = move |result: Result<u64, _>| answers.lock().unwrap().push(result.ok());
        log.submit(decision(stream, expected, 1, ""), Box::new(done));
    }
    log.flush().unwrap();
    assert_eq!(*answers.lock().unwrap(), [Some(1), Some(1), None, None, Some(2), Some(2)]);
    assert_eq!(log.streams().unwrap(), [("a".to_owned(), 2), ("b".to_owned(), 2)]);
}

fn racing_writers_win_each_version_once(place: &Place) {
    const VERSIONS: u64 = 120;
    let log = place.open();
    let race = |name: &str| {
        let (mut version, mut won) = (0, Vec::new());
        while version < VERSIONS {
            match log.append(decision("m/1", version, 1, name)) {
                Ok(after) => {
                    assert_eq!(after, version + 1);
                    version = after;
                    won.push(after);
                }
                Err(AppendError::Conflict { actual, .. }) => {
                    assert!(actual > version, "a conflict shows a later version");
                    version = actual;
                }
                Err(error) => panic!("{error}"),
            }
        }
        won
    };
    let names = ["w0", "w1", "w2", "w3"];
    let won: Vec<_> = thread::scope(|scope| {
        let writers = names.map(|name| scope.spawn(move || race(name)));
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    let mut all: Vec<_> = won.iter().flatten().copied().collect();
    all.sort_unstable();
    assert_eq!(all, (1..=VERSIONS).collect::<Vec<_>>());
    let events = log.load("m/1", 0).unwrap();
    assert_eq!(events.len() as u64, VERSIONS);
    for (name, won) in names.iter().zip(&won) {
        for version in won {
            let event = &decision("m/1", version - 1, 1, name).lines[0];
            assert_eq!(&events[*version as usize - 1], event);
        }
    }
}

fn many_streams_at_once(place: &Place) {
    let log = place.open();
    let (tx, rx) = channel();
    let names: Vec<_> = (0..300).map(|n| format!("t/{}/m-{n}", n % 7)).collect();
    for round in 0..2 {
        for name in &names {
            let tx = tx.clone();
            log.submit(decision(name, round, 1, ""), Box::new(move |got| tx.send(got).unwrap()));
        }
    }
    log.flush().unwrap();
    assert_eq!(rx.try_iter().filter(Result::is_ok).count(), 2 * names.len());
    let mut due: Vec<_> = names.into_iter().map(|name| (name, 2)).collect();
    due.sort();
    assert_eq!(log.streams().unwrap(), due);
}

fn loads_begin_anywhere(place: &Place) {
    let log = place.open();
    let mut all = Vec::new();
    for count in [1, 4, 2, 1, 3] {
        let decision = decision("m/1", all.len() as u64, count, "é\\n");
        all.extend(decision.lines.clone());
        log.append(decision).unwrap();
    }
    for after in 0..=all.len() + 2 {
        let due = all.get(after..).unwrap_or_default();
        assert_eq!(log.load("m/1", after as u64).unwrap(), due, "after {after}");
    }
    assert_eq!(log.load("m/1", u64::MAX).unwrap(), [""; 0]);
    assert_eq!(log.load("m/2", 0).unwrap(), [""; 0]);
    assert_eq!(log.load("m", 0).unwrap(), [""; 0]);
}

fn readers_see_whole_decisions(place: &Place) {
    let log = place.open();
    let ended = AtomicBool::new(false);
    let accepted = AtomicU64::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            for turn in 0..60 {
                accepted
                    .store(log.append(decision("m/1", turn * 3, 3, "")).unwrap(), Ordering::SeqCst);
            }
            ended.store(true, Ordering::SeqCst);
        });
        while !ended.load(Ordering::SeqCst) {
            let before = accepted.load(Ordering::SeqCst);
            let seen = log.load("m/1", 0).unwrap().len() as u64;
            assert_eq!(seen % 3, 0, "half a decision");
            assert!(seen >= before, "{before} events accepted, {seen} seen");
        }
    });
    assert_eq!(log.streams().unwrap(), [("m/1".to_owned(), 180)]);
}

fn opened_again_it_is_the_same(place: &Place) {
    let log = place.open();
    for (stream, expected, count) in [("a", 0, 2), ("a/b", 0, 1), ("a", 2, 3), ("z.1_2-3", 0, 1)] {
        log.append(decision(stream, expected, count, "x")).unwrap();
    }
    let streams = log.streams().unwrap();
    let events: Vec<_> = streams.iter().map(|(name, _)| log.load(name, 0).unwrap()).collect();
    assert_eq!(events.iter().map(Vec::len).collect::<Vec<_>>(), [5, 1, 1]);
    drop(log);
    let log = place.open();
    let conflict = log.append(decision("a", 4, 1, "x"));
    assert!(matches!(conflict, Err(AppendError::Conflict { actual: 5, .. })), "{conflict:?}");
    assert_eq!(log.streams().unwrap(), streams);
    for ((name, version), events) in streams.iter().zip(events) {
        assert_eq!(log.load(name, 0).unwrap(), events);
        assert_eq!(log.append(decision(name, *version, 1, "y")), Ok(version + 1));
    }
}

fn bad_names_are_refused(place: &Place) {
    let log = place.open();
    let long = "x".repeat(201);
    for name in ["", "/", "..", "a/../b", "a//b", "/etc/passwd", "A", "a b", "a\n", "é", &long] {
        let refused = log.append(decision(name, 0, 1, ""));
        assert!(matches!(refused, Err(AppendError::BadStream { .. })), "{name:?}: {refused:?}");
        let refused = log.load(name, 0);
        assert!(matches!(refused, Err(LogError::BadStream(_))), "{name:?}: {refused:?}");
    }
    assert_eq!(log.streams().unwrap(), []);
    let longest = "x".repeat(200);
    assert_eq!(log.append(decision(&longest, 0, 1, "")), Ok(1));
}

fn bad_lines_are_refused(place: &Place) {
    let log = place.open();
    let refused = |change: &dyn Fn(&mut Vec<String>)| {
        let mut append = decision("m/1", 0, 2, "x");
        change(&mut append.lines);
        log.append(append).unwrap_err()
    };
    let is_line =
        |error: &AppendError, n| matches!(error, AppendError::BadLine { line, .. } if *line == n);
    assert!(is_line(&refused(&|lines| lines[1].insert(5, '\n')), 2));
    assert!(is_line(&refused(&|lines| lines[0].clear()), 1));
    assert!(is_line(&refused(&|lines| lines[0] = "{}".to_owned()), 1));
    assert!(is_line(&refused(&|lines| lines.swap(0, 1)), 1));
    assert!(is_line(&refused(&|lines| lines.truncate(1)), 1), "`more` promises another");
    assert!(is_line(&refused(&|lines| lines[1] = lines[1].replace("m/1", "m/2")), 2));
    assert!(matches!(refused(&|lines| lines.clear()), AppendError::BadSize { bytes: 0, .. }));
    assert!(matches!(
        refused(&|lines| lines[0].push_str(&" ".repeat(17 << 20))),
        AppendError::BadSize { .. }
    ));
    assert_eq!(log.streams().unwrap(), []);
}

fn several_are_answered_together(place: &Place) {
    let log = place.open();
    let submit = |appends: Vec<Append>| {
        let (tx, rx) = channel();
        log.submit_all(appends, Box::new(move |results| tx.send(results).unwrap()));
        rx.recv().unwrap()
    };
    assert_eq!(submit(Vec::new()), []);
    let first =
        submit(vec![decision("a", 0, 1, ""), decision("b", 0, 2, ""), decision("a", 1, 1, "")]);
    assert_eq!(first, [Ok(1), Ok(2), Ok(2)]);
    // One rejected append does not delay the others.
    let mut bad = decision("b", 2, 1, "");
    bad.lines[0].clear();
    let second = submit(vec![decision("a", 1, 1, ""), bad, decision("a", 2, 1, "")]);
    assert!(matches!(second[0], Err(AppendError::Conflict { expected: 1, actual: 2, .. })));
    assert!(matches!(second[1], Err(AppendError::BadLine { line: 1, .. })), "{second:?}");
    assert_eq!(second[2], Ok(3));
    assert_eq!(log.streams().unwrap(), [("a".to_owned(), 3), ("b".to_owned(), 2)]);
}

fn appends_committed_here_keep_their_order_with_submitted_ones(place: &Place) {
    let log = place.open();
    let (tx, rx) = channel();
    let submit = |appends: Vec<Append>| {
        let tx = tx.clone();
        log.submit_all(appends, Box::new(move |results| tx.send(results).unwrap()));
    };
    for expected in (0..90).step_by(3) {
        submit(vec![decision("a", expected, 1, "submitted")]);
        let two = vec![decision("a", expected + 1, 1, "here"), decision("a", expected + 2, 1, "")];
        match log.commit_here(two) {
            Ok(results) => tx.send(results).unwrap(),
            Err(busy) => submit(busy),
        }
    }
    let conflict = vec![decision("a", 7, 1, "late"), decision("b", 0, 1, "")];
    match log.commit_here(conflict) {
        Ok(results) => assert!(matches!(results[..], [Err(AppendError::Conflict { .. }), Ok(1)])),
        Err(busy) => assert_eq!(busy.len(), 2),
    }
    log.flush().unwrap();
    drop((tx, rx.try_iter().flatten().for_each(|result| assert!(result.is_ok(), "{result:?}"))));
    assert_eq!(log.load("a", 0).unwrap().len(), 90);
}

fn answers_come_in_order(place: &Place) {
    let log = place.open();
    let answers = Arc::new(Mutex::new(Vec::new()));
    let streams = ["a", "b", "c"];
    for expected in 0..50 {
        for stream in streams {
            // Every other append is tried twice; the second try is refused, in its turn.
            for _ in 0..=expected % 2 {
                let answers = Arc::clone(&answers);
                log.submit(
                    decision(stream, expected, 1, ""),
                    Box::new(move |got| answers.lock().unwrap().push((stream, got.ok()))),
                );
            }
        }
    }
    log.flush().unwrap();
    let answers = answers.lock().unwrap();
    let due: Vec<_> = (0..50)
        .flat_map(|expected| [Some(expected + 1), None].into_iter().take(1 + expected as usize % 2))
        .collect();
    for stream in streams {
        let got: Vec<_> =
            answers.iter().filter(|(name, _)| *name == stream).map(|(_, got)| *got).collect();
        assert_eq!(got, due, "{stream}");
    }
}

/// Submits the next append of a chain from the answer to the one before.
fn chain(log: &Arc<dyn Log>, expected: u64, end: u64, ended: std::sync::mpsc::Sender<u64>) {
    let next = Arc::clone(log);
    log.submit(
        decision("m/1", expected, 1, ""),
        Box::new(move |got| match got.unwrap() {
            version if version == end => ended.send(version).unwrap(),
            version => chain(&next, version, end, ended),
        }),
    );
}

fn an_answer_may_submit(place: &Place) {
    let log = place.open();
    let (tx, rx) = channel();
    chain(&log, 0, 40, tx);
    assert_eq!(rx.recv(), Ok(40));
    assert_eq!(log.load("m/1", 0).unwrap().len(), 40);
}

fn a_flush_waits_for_answers(place: &Place) {
    let log = place.open();
    let answered = Arc::new(AtomicU64::new(0));
    for round in 1..=5 {
        for expected in (round - 1) * 20..round * 20 {
            let answered = Arc::clone(&answered);
            let done = move |got: Result<u64, _>| answered.store(got.unwrap(), Ordering::SeqCst);
            log.submit(decision("m/1", expected, 1, ""), Box::new(done));
        }
        log.flush().unwrap();
        assert_eq!(answered.load(Ordering::SeqCst), round * 20);
    }
}

fn closing_answers_everyone(place: &Place) {
    let log = place.open();
    let (tx, rx) = channel();
    for expected in 0..200 {
        let tx = tx.clone();
        log.submit(decision("m/1", expected, 1, ""), Box::new(move |got| tx.send(got).unwrap()));
    }
    drop(log);
    assert_eq!(rx.try_iter().collect::<Vec<_>>(), (1..=200).map(Ok).collect::<Vec<_>>());
    assert_eq!(place.open().streams().unwrap(), [("m/1".to_owned(), 200)]);
}

fn snapshots_are_kept_or_there_are_none(place: &Place) {
    let log = place.open();
    assert_eq!(log.append(decision("m/1", 0, 3, "x")), Ok(3));
    assert_eq!(log.snapshot("m/1"), Ok(None));
    let taken = |seq, state: &str| Snapshot {
        stream: "m/1".to_owned(),
        format: 7,
        seq,
        state: state.to_owned(),
    };
    for (seq, state) in [(2, "older"), (3, "newer\n{}"), (3, "")] {
        log.keep_snapshot(&taken(seq, state)).unwrap();
        let found = log.snapshot("m/1").unwrap();
        assert!(found.is_none_or(|found| found == taken(seq, state)));
    }
    assert_eq!(log.snapshot("m/2"), Ok(None));
    let before = log.snapshot("m/1");
    drop(log);
    let log = place.open();
    assert_eq!(log.snapshot("m/1"), before, "opened again it is the same");
    assert_eq!(log.load("m/1", 0).unwrap().len(), 3, "the log is not touched by it");
    let keeps = !matches!(place, Place::File(..));
    assert_eq!(before.unwrap().is_some(), keeps);
}

fn the_latest_event_is_known_or_none_is(place: &Place) {
    let log = place.open();
    assert_eq!(log.latest(), Ok(None));
    assert_eq!(log.append(decision("m/1", 0, 3, "x")), Ok(3));
    assert_eq!(log.append(decision("m/2", 0, 2, "y")), Ok(2));
    let due = decision("m/2", 0, 2, "y").lines.pop();
    let keeps = matches!(place, Place::Sqlite(..) | Place::Postgres(..));
    assert_eq!(log.latest().unwrap(), due.filter(|_| keeps));
    assert!(log.append(decision("m/1", 0, 1, "z")).is_err());
    let latest = log.latest();
    drop(log);
    assert_eq!(place.open().latest(), latest, "opened again it is the same");
}
