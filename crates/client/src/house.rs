//! A house player, run by a client.

use crate::{ClientError, Player, Request};
use agon_bots::{HouseError, HousePlayer, Houses};
use agon_games::Json;
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;

/// A house player, in every game that has one of its name.
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
        let failed = |error: HouseError| ClientError::Player(error.to_string());
        if !self.games.contains_key(&request.game) {
            let made = self.houses.make(&request.game, &self.name).map_err(failed)?;
            self.games.insert(request.game.clone(), made);
        }
        let house = self.games.get_mut(&request.game).expect("the value was just made");
        let (question, view) = (request.question.get(), request.view.get());
        house.answer_text(&self.account, &request.id, request.seat, question, view).map_err(failed)
    }
}

impl fmt::Debug for House {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "House({} as {})", self.name, self.account)
    }
}
