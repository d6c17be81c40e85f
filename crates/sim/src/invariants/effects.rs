//! No effect before its event: every message of a server follows from events durable at that
//! moment.

use super::Spoken;
use crate::index::Index;
use crate::said::Asked;

pub(super) fn check(spoken: &Spoken<'_>, index: &Index) -> Result<(), String> {
    let Spoken { player, said, .. } = spoken;
    let must = |holds: bool, what: &str| match holds {
        true => Ok(()),
        false => Err(format!("{player} got a message before it was durable: {what}")),
    };
    match said.kind.as_str() {
        "request" => {
            let id = said.id.as_deref().unwrap_or_default();
            let asked = Asked::parse(id).ok_or_else(|| format!("a request called {id:?}"))?;
            // A request may still be on its way between two engines when a pause becomes durable.
            let rests = index.resting.get(&asked.stream()).zip(spoken.decided_at);
            if rests.is_some_and(|(since, decided_at)| *since <= decided_at) {
                return Err(format!("{player} was asked {id} in a pause"));
            }
            must(index.answers(&asked) >= asked.turn, &format!("the answer before {id}"))
        }
        "welcome" => {
            let account = said.account.clone().unwrap_or_default();
            must(index.logged_in.contains(&account), "the login")
        }
        "done" => {
            let id = said.tournament.clone().unwrap_or_default();
            match said.what.as_deref() {
                Some("announce") => must(index.announced.contains(&id), "the announcement"),
                Some("sign-up") => {
                    let key = (id, player.to_string());
                    must(index.ever_signed_up.contains(&key), "the sign-up")
                }
                // A player who is out of a running tournament, or at its end, may leave it once
                // more.
                Some("withdraw") if index.reported.contains(&id) || index.over.contains(&id) => {
                    Ok(())
                }
                // A blacklisted player has no invitations left.
                Some("reject" | "withdraw") if index.blacklisted.contains(*player) => Ok(()),
                Some(what @ ("accept" | "reject" | "ready" | "withdraw")) => {
                    let mut replies = index.replies.iter();
                    let said = replies
                        .any(|(of, at, who)| *of == what && *at == id && who.as_str() == *player);
                    must(said, what)
                }
                Some("enqueue") => {
                    must(index.enqueued.contains_key(*player), "its place in the queue")
                }
                _ => Ok(()),
            }
        }
        "error" => {
            let Some(accepted) = &said.accepted else { return Ok(()) };
            let id = said.id.as_deref().unwrap_or_default();
            let asked = Asked::parse(id).ok_or_else(|| format!("repeated, of {id:?}"))?;
            let (_, request) = id.split_once(':').unwrap_or_default();
            let durable = index.accepted.get(&(asked.stream(), request.to_owned()));
            let same = durable.is_some_and(|durable| durable == accepted.get());
            must(same, &format!("that {} was accepted for {id}", accepted.get()))
        }
        "notice" => notice(spoken, index, must),
        _ => Ok(()),
    }
}

fn notice(
    spoken: &Spoken<'_>,
    index: &Index,
    must: impl Fn(bool, &str) -> Result<(), String>,
) -> Result<(), String> {
    let Some(about) = spoken.said.about() else { return Ok(()) };
    let Some(id) = about.tournament else { return Ok(()) };
    match spoken.said.about.as_deref() {
        Some("match-over") => {
            let stream = format!("match/{id}/{}", about.in_match.unwrap_or_default());
            must(index.ended.contains_key(&stream), &format!("the end of {stream}"))
        }
        Some("tournament") => {
            let there = index.started.contains(&id) && index.secrets.contains(&id);
            must(there, &format!("the start of {id}, and its secret"))
        }
        Some("tournament-over") => {
            let left = index.reported.contains(&id) || index.dropped.contains(&id);
            must(left || index.over.contains(&id), &format!("that it has left {id}"))
        }
        Some("tournament-ended") => must(index.over.contains(&id), &format!("the end of {id}")),
        Some("tournament-result") => {
            let over = index.finished.contains_key(&id) || index.called_off.contains(&id);
            must(over, &format!("the result of {id}"))
        }
        _ => Ok(()),
    }
}
