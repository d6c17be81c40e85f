//! Writes the heads of all chains into a log: as a server does while it plays, and as a forger
//! would who can rewrite every stream.

use agon_core::verify::{Receipt, ReceiptEntry};
use agon_core::{Event, Faulted, Head, Line, PlayerName};
use std::collections::BTreeMap;

type Streams = BTreeMap<String, Vec<String>>;

/// The log with the heads it would have been written with.
pub(crate) fn chained(streams: &Streams) -> Streams {
    let mut all = streams.clone();
    let mut heads: BTreeMap<String, Vec<Head>> = BTreeMap::new();
    let is_match = |name: &str| name.starts_with("match/");
    for (name, lines) in all.iter_mut().filter(|(name, _)| is_match(name)) {
        heads.insert(name.clone(), rewrite(name, lines, |_| {}));
    }
    for (name, lines) in all.iter_mut().filter(|(name, _)| !is_match(name)) {
        let id = name.trim_start_matches("tournament/");
        rewrite(name, lines, |event| {
            if let Event::MatchReported(reported) = event {
                let ends = heads.get_mut(&format!("match/{id}/{}", reported.id));
                reported.head = ends.filter(|ends| !ends.is_empty()).map(|ends| ends.remove(0));
            }
        });
    }
    all
}

/// Rewrites a stream from its first line on, and gives the heads after its ends.
fn rewrite(name: &str, lines: &mut [String], mut change: impl FnMut(&mut Event)) -> Vec<Head> {
    let (mut head, mut ends) = (Head::first(name), Vec::new());
    for text in lines {
        let mut line = Line::read(text).expect("a line");
        change(&mut line.event);
        line.event = line.event.with_own_head(Some(head.clone()));
        *text = line.write();
        head = head.after(text);
        ends.extend(line.event.own_head().map(|_| head.clone()));
    }
    ends
}

/// The receipt of a player who played this log.
pub(crate) fn entries(streams: &Streams, player: &PlayerName) -> Vec<ReceiptEntry> {
    let mut entries = Vec::new();
    for (name, lines) in streams.iter().filter(|(name, _)| name.starts_with("match/")) {
        let (mut seats, mut head) = (Vec::new(), Head::first(name));
        for text in lines {
            head = head.after(text);
            match Line::read(text).expect("a line").event {
                Event::GameStarted(started) => seats = started.seats,
                Event::PlayerArrived(arrived) if arrived.player == *player => {
                    let (player, nonce) = (player.clone(), arrived.nonce);
                    entries.insert(0, ReceiptEntry::Hello { player, nonce });
                }
                Event::AnswerAccepted(answer) if seats.get(answer.seat.index()) == Some(player) => {
                    let id = format!("t:{}", answer.request);
                    let answer = serde_json::from_str(answer.answer.get()).expect("JSON");
                    entries.push(ReceiptEntry::Answer { id, answer });
                }
                Event::PlayerFaulted(event) if event.faulted.player == *player => {
                    entries.extend(refused(&event.faulted));
                }
                Event::PlayerLeft(event) if event.faulted.player == *player => {
                    entries.extend(refused(&event.faulted));
                }
                Event::MatchEnded(ended) if lines[0].contains(&format!("\"{player}\"")) => {
                    let won = ended.result.winners.contains(player);
                    let id = name.trim_start_matches("match/t/").into();
                    let head = Some(head.clone());
                    entries.push(ReceiptEntry::MatchOver {
                        tournament: "t".into(),
                        r#match: id,
                        won,
                        head,
                    });
                }
                _ => {}
            }
        }
    }
    let cup = &streams["tournament/t"];
    for text in cup {
        match Line::read(text).expect("a line").event {
            Event::TournamentCreated(created) => {
                let (tournament, commitment) = ("t".into(), created.commitment);
                entries.insert(0, ReceiptEntry::Tournament { tournament, commitment });
            }
            Event::TournamentEnded(ended) => entries.push(ReceiptEntry::TournamentEnded {
                tournament: "t".into(),
                winners: ended.winners,
                secret: ended.secret,
                head: Some(Head::of("tournament/t", cup)),
            }),
            _ => {}
        }
    }
    entries
}

/// An answer that the rules refused, as its player noted it.
fn refused(faulted: &Faulted) -> Option<ReceiptEntry> {
    let id = format!("t:{}", faulted.request.as_ref()?);
    let answer = serde_json::from_str(faulted.fault.answer.as_deref()?).ok()?;
    Some(ReceiptEntry::Answer { id, answer })
}

/// The receipt that has these entries.
pub(crate) fn receipt(player: &PlayerName, entries: &[ReceiptEntry]) -> Receipt {
    let lines = entries.iter().map(|entry| serde_json::to_string(entry).expect("JSON") + "\n");
    Receipt::read(player, &lines.collect::<String>()).expect("a receipt")
}
