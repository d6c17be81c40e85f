//! Random use of a log beside the simplest thing that could be one: a map of vectors.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::channel;

use agon_store::{AppendError, Log};
use proptest::prelude::*;

use crate::place::{Place, decision};

const STREAMS: [&str; 4] = ["a", "a/b", "a.b", "z-9"];

#[derive(Debug, Clone)]
enum Step {
    /// Appends `count` events `off` versions beside where the stream is.
    Append {
        stream: usize,
        off: i8,
        count: u64,
        tag: String,
    },
    /// Several appends at once, not waiting in between.
    Burst {
        stream: usize,
        counts: Vec<u64>,
    },
    Load {
        stream: usize,
        after: u64,
    },
    Streams,
    Flush,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let stream = 0..STREAMS.len();
    // Mostly right, now and then one beside.
    let off = prop_oneof![6 => Just(0i8), 1 => Just(-1), 1 => Just(1)];
    prop_oneof![
        6 => (stream.clone(), off, 1..5u64, "[a-zé ]{0,40}")
            .prop_map(|(stream, off, count, tag)| Step::Append { stream, off, count, tag }),
        2 => (stream.clone(), prop::collection::vec(1..4u64, 1..10))
            .prop_map(|(stream, counts)| Step::Burst { stream, counts }),
        3 => (stream, 0..30u64).prop_map(|(stream, after)| Step::Load { stream, after }),
        1 => Just(Step::Streams),
        1 => Just(Step::Flush),
        1 => Just(Step::Reopen),
    ]
}

type Model = BTreeMap<&'static str, Vec<String>>;

fn take(step: Step, place: &Place, log: &mut Arc<dyn Log>, model: &mut Model) {
    match step {
        Step::Append { stream, off, count, tag } => {
            let events = model.entry(STREAMS[stream]).or_default();
            let actual = events.len() as u64;
            let Some(expected) = actual.checked_add_signed(off.into()) else { return };
            let append = decision(STREAMS[stream], expected, count, &tag);
            let answer = log.append(append.clone());
            if off == 0 {
                assert_eq!(answer, Ok(actual + count));
                events.extend(append.lines);
            } else {
                let stream = append.stream;
                assert_eq!(
                    answer,
                    Err(AppendError::Conflict { stream: stream.to_string(), expected, actual })
                );
            }
        }
        Step::Burst { stream, counts } => {
            let events = model.entry(STREAMS[stream]).or_default();
            let (tx, rx) = channel();
            let mut due = Vec::new();
            for count in counts {
                let append = decision(STREAMS[stream], events.len() as u64, count, "burst");
                events.extend(append.lines.clone());
                due.push(Ok(events.len() as u64));
                let tx = tx.clone();
                log.submit(append, Box::new(move |answer| tx.send(answer).unwrap()));
            }
            log.flush().unwrap();
            assert_eq!(rx.try_iter().collect::<Vec<_>>(), due);
        }
        Step::Load { stream, after } => {
            let events = model.get(STREAMS[stream]).map(Vec::as_slice).unwrap_or_default();
            let due = events.get(after as usize..).unwrap_or_default();
            assert_eq!(log.load(STREAMS[stream], after).unwrap(), due);
        }
        Step::Streams => {
            let known = model.iter().filter(|(_, events)| !events.is_empty());
            let due: Vec<_> =
                known.map(|(name, events)| ((*name).to_owned(), events.len() as u64)).collect();
            assert_eq!(log.streams().unwrap(), due);
        }
        Step::Flush => log.flush().unwrap(),
        Step::Reopen => {
            // Closed before it is opened again, which the lock insists on.
            *log = Place::memory().open();
            *log = place.open();
        }
    }
}

fn agree(place: &Place, steps: Vec<Step>) {
    let mut log = place.open();
    let mut model = Model::new();
    let end = [Step::Reopen, Step::Streams];
    let loads = (0..STREAMS.len()).map(|stream| Step::Load { stream, after: 0 });
    for step in steps.into_iter().chain(end).chain(loads) {
        take(step, place, &mut log, &mut model);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn memory_agrees(steps in prop::collection::vec(step(), 1..60)) {
        agree(&Place::memory(), steps);
    }

    #[test]
    fn file_process_agrees(steps in prop::collection::vec(step(), 1..60)) {
        agree(&Place::file_process(), steps);
    }

    #[test]
    fn file_always_agrees(steps in prop::collection::vec(step(), 1..40)) {
        agree(&Place::file_always(), steps);
    }

    #[test]
    fn sqlite_agrees(steps in prop::collection::vec(step(), 1..40)) {
        agree(&Place::sqlite(), steps);
    }
}
