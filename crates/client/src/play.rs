//! Runs a player on a client: it answers every request.

use crate::{Client, ClientError, ClientEvent, Notice, Request, Running};
use agon_games::Json;
use std::future::Future;

/// Answers requests. Functions from [`Request`] to an answer are players.
pub trait Player: Send {
    /// The answer. Requests are answered one after the other; a player that computes for long
    /// should do so on another thread and await it here.
    fn answer(
        &mut self,
        request: &Request,
    ) -> impl Future<Output = Result<Json, ClientError>> + Send;

    /// Receives a notification, which needs no answer.
    fn notice(&mut self, _notice: &Notice) {}
}

impl<F: FnMut(&Request) -> Result<Json, ClientError> + Send> Player for F {
    fn answer(
        &mut self,
        request: &Request,
    ) -> impl Future<Output = Result<Json, ClientError>> + Send {
        std::future::ready(self(request))
    }
}

/// How long to play.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Until {
    /// Until this many tournaments are over.
    Tournaments(u64),
    /// Until something fails.
    Failure,
}

/// Plays, and returns how many tournaments were won, as far as the server reported it.
pub async fn play(
    client: &mut Client,
    player: &mut impl Player,
    until: Until,
) -> Result<u64, ClientError> {
    let (mut over, mut won) = (0, 0);
    let mut running = Running::default();
    while !matches!(until, Until::Tournaments(times) if over >= times) {
        let event = client.next().await?;
        let ended = running.heard(&event);
        over += ended.len() as u64;
        match event {
            ClientEvent::Request(request) => {
                let answer = player.answer(&request).await?;
                client.answer(&request.id, &answer).await?;
            }
            ClientEvent::Notice(notice) => {
                // The server may repeat the end of a tournament after a reconnect.
                let is_over = notice.tournament().is_some_and(|id| ended.contains(&id));
                won += u64::from(is_over && notice.won() == Some(true));
                player.notice(&notice);
            }
            _ => {}
        }
    }
    Ok(won)
}
