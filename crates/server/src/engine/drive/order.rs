//! What operators do, as the HTTP interface has it done: answered when it is durable.

use super::super::query::{CarryOut, Order};
use super::Driven;
use agon_core::Ruling;
use agon_core::lobby::Announcement;
use tokio::sync::oneshot;

/// What came of an order: in words why it was not obeyed.
type Outcome = Result<(), String>;

/// An order that was given.
pub struct Promise(oneshot::Receiver<<CarryOut as super::super::query::Query>::Answer>);

impl Promise {
    /// The answer, once there is one.
    pub fn take(&mut self) -> Option<Outcome> {
        let answer = self.0.try_recv().ok()?;
        Some(answer.map(|_| ()).map_err(|not| not.to_string()))
    }
}

impl Driven {
    /// Hands an order to the engine, which takes it in its turn.
    pub fn order(&mut self, order: Order, ruling: Ruling) -> Promise {
        Promise(self.engine.handle.post(CarryOut { order, ruling }))
    }

    /// Has a sign-up open for programs of another system, as a start of the server does.
    pub fn open_sign_up(&mut self, series: &Announcement) -> Result<(), String> {
        self.engine.open_sign_up(series).map_err(|error| error.to_string())
    }
}
