//! A player on a client: asked, it answers.

use super::{Client, ClientError, Event, Notice, Request, Running};
use crate::{HousePlayer, Houses};
use agon_games::Json;
use std::collections::BTreeMap;
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

/// A house player, in every game that it knows.
pub struct House {
    account: String,
    name: String,
    houses: Houses,
    games: BTreeMap<String, Box<dyn HousePlayer>>,
}

impl House {
    /// The house player of this name, under an account.
    pub fn new(account: &str, name: &str) -> House {
        let (account, name) = (account.to_owned(), name.to_owned());
        House { account, name, houses: Houses::standard(), games: BTreeMap::new() }
    }
}

impl Player for House {
    fn answer(
        &mut self,
        request: &Request,
    ) -> impl Future<Output = Result<Json, ClientError>> + Send {
        std::future::ready(self.think(request))
    }
}

impl House {
    fn think(&mut self, request: &Request) -> Result<Json, ClientError> {
        let failed = |error: crate::HouseError| ClientError::Player(error.to_string());
        if !self.games.contains_key(&request.game) {
            let made = self.houses.make(&request.game, &self.name).map_err(failed)?;
            self.games.insert(request.game.clone(), made);
        }
        let house = self.games.get_mut(&request.game).expect("it was just made");
        let (question, view) = (request.question.get(), request.view.get());
        house.answer_text(&self.account, &request.id, request.seat, question, view).map_err(failed)
    }
}

impl std::fmt::Debug for House {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "House({} as {})", self.name, self.account)
    }
}
