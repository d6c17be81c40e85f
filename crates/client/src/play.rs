//! A player on a client: asked, it answers.

use crate::{Client, ClientError, Event, Notice, Request, Running};
use agon_games::Json;
use std::future::Future;

/// Somebody who answers requests. Functions from [`Request`] to an answer are players.
pub trait Player: Send {
    /// The answer. One request is answered after the other; who thinks for long should do it on
    /// another thread and wait for it here.
    fn answer(
        &mut self,
        request: &Request,
    ) -> impl Future<Output = Result<Json, ClientError>> + Send;

    /// Something to know; nothing to answer.
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
    /// Until so many tournaments are over.
    Tournaments(u64),
    /// Until something fails.
    Failure,
}

/// Plays, and says how many tournaments were won, as far as the server said so.
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
            Event::Request(request) => {
                let answer = player.answer(&request).await?;
                client.answer(&request.id, &answer).await?;
            }
            Event::Notice(notice) => {
                // What is over may be told again after a lost connection.
                let is_over = notice.tournament().is_some_and(|id| ended.contains(&id));
                won += u64::from(is_over && notice.won() == Some(true));
                player.notice(&notice);
            }
            _ => {}
        }
    }
    Ok(won)
}
