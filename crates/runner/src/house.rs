//! The house players of a run. Those that answer at once do so on the driver's thread; the others
//! have threads of their own, so that a long search holds up nothing else.

use agon_bots::{HouseError, HousePlayer, Houses};
use agon_core::PlayerName;
use agon_driver::house_answer;
use agon_engine::{HouseQuestion, Input};
use agon_games::GameState;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::task::{JoinError, JoinSet};

/// A house player that needs longer than this on average answers on a thread of its own.
const QUICK: Duration = Duration::from_micros(300);

/// The house players of a run.
pub(crate) struct HouseSeats {
    houses: Arc<Houses>,
    seats: HashMap<PlayerName, HouseSeat>,
    /// At most one question for each seat of the running matches.
    waiting: VecDeque<(HouseQuestion, Box<dyn GameState>)>,
    thinking: JoinSet<Thought>,
}

#[derive(Default)]
struct HouseSeat {
    /// Away while it thinks on another thread.
    player: Option<Box<dyn HousePlayer>>,
    /// How long an answer takes on average, once that is known.
    takes: Option<Duration>,
}

/// An answer that was found on another thread.
struct Thought {
    player: PlayerName,
    house: Box<dyn HousePlayer>,
    took: Duration,
    answer: Input,
}

impl HouseSeats {
    pub(crate) fn new(houses: Arc<Houses>) -> HouseSeats {
        let (seats, waiting, thinking) = (HashMap::new(), VecDeque::new(), JoinSet::new());
        HouseSeats { houses, seats, waiting, thinking }
    }

    /// Takes a question: keeps it for [`answer`](HouseSeats::answer), or has a thread answer it.
    pub(crate) fn ask(
        &mut self,
        question: HouseQuestion,
        game: Box<dyn GameState>,
    ) -> Result<(), HouseError> {
        let seat = self.seats.entry(question.player.clone()).or_default();
        if seat.takes.is_some_and(|takes| takes <= QUICK) {
            self.waiting.push_back((question, game));
            return Ok(());
        }
        let mut house = seat.take(&self.houses, game.name(), &question)?;
        self.thinking.spawn_blocking(move || {
            let (player, begun) = (question.player.clone(), Instant::now());
            let answer = answer(&mut *house, question, &*game);
            Thought { player, house, took: begun.elapsed(), answer }
        });
        Ok(())
    }

    /// Returns whether a question waits for [`answer`](HouseSeats::answer).
    pub(crate) fn has_question(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Answers the oldest question.
    pub(crate) fn answer(&mut self) -> Result<Option<Input>, HouseError> {
        let Some((question, game)) = self.waiting.pop_front() else { return Ok(None) };
        let seat = self.seats.entry(question.player.clone()).or_default();
        let mut house = seat.take(&self.houses, game.name(), &question)?;
        let begun = Instant::now();
        let answer = answer(&mut *house, question, &*game);
        seat.put_back(house, begun.elapsed());
        Ok(Some(answer))
    }

    /// The next answer from another thread.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<Input, JoinError>> {
        match self.thinking.poll_join_next(context) {
            Poll::Ready(Some(Ok(Thought { player, house, took, answer }))) => {
                if let Some(seat) = self.seats.get_mut(&player) {
                    seat.put_back(house, took);
                }
                Poll::Ready(Ok(answer))
            }
            Poll::Ready(Some(Err(error))) => Poll::Ready(Err(error)),
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }
}

impl HouseSeat {
    fn take(
        &mut self,
        houses: &Houses,
        game: &str,
        question: &HouseQuestion,
    ) -> Result<Box<dyn HousePlayer>, HouseError> {
        self.player.take().map_or_else(|| houses.make(game, &question.name), Ok)
    }

    fn put_back(&mut self, house: Box<dyn HousePlayer>, took: Duration) {
        self.player = Some(house);
        self.takes = Some(self.takes.map_or(took, |takes| (takes * 7 + took) / 8));
    }
}

/// Has a house player answer a question about a game within its time limit.
pub(super) fn answer(
    house: &mut dyn HousePlayer,
    question: HouseQuestion,
    game: &dyn GameState,
) -> Input {
    house.limit_time(Duration::from_millis(question.limit_ms));
    house_answer(house, question, game)
}
