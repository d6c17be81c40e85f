//! The thread of one player: it calls the player's methods in order, so that a player that hangs
//! blocks nobody but itself.

use crate::player::{GameUpdate, LocalPlayer, Seating, TurnRequest};
use crate::report::{FinalReport, Removal};
use agon_games::{Game, Seat};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, TrySendError};
use std::sync::mpsc::{channel, sync_channel};
use std::time::{Duration, Instant};

/// How many messages may wait for a player. A player that falls further behind is failing.
const WAITING_MAX: usize = 1_024;

/// A message from the referee to a player.
pub(crate) enum Message<G: Game> {
    Seated(Seating),
    Ask { seat: Seat, question: G::Question, view: G::View, time_limit: Duration },
    Sync(Box<GameUpdate<G>>),
    Kick(Removal),
    GameOver(Arc<FinalReport>),
}

/// A reply from a player's thread.
enum Reply<A> {
    Answer(Option<A>),
    Panicked(String),
}

/// The referee's end of a player's thread.
pub(crate) struct PlayerThread<G: Game> {
    messages: Option<SyncSender<Message<G>>>,
    replies: Receiver<Reply<G::Answer>>,
    /// Why no more messages can be delivered, once that is so.
    broken: Option<String>,
}

impl<G: Game> PlayerThread<G> {
    pub(crate) fn spawn(
        id: &str,
        player: Box<dyn LocalPlayer<G>>,
    ) -> std::io::Result<PlayerThread<G>> {
        let (messages, inbox) = sync_channel(WAITING_MAX);
        let (outbox, replies) = channel();
        let name = format!("player {id}");
        // The operating system refuses names with a NUL byte, and so does the standard library.
        let name = name.replace('\0', " ");
        let body = move || serve(player, &inbox, &outbox);
        std::thread::Builder::new().name(name).spawn(body)?;
        Ok(PlayerThread { messages: Some(messages), replies, broken: None })
    }

    /// Hands a message over without waiting for the player.
    pub(crate) fn tell(&mut self, message: Message<G>) {
        let Some(messages) = &self.messages else { return };
        match messages.try_send(message) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => {
                let why = format!("left {WAITING_MAX} notifications unread");
                self.broken.get_or_insert(why);
            }
            Err(TrySendError::Disconnected(_)) => {
                let why = self.panic_message();
                self.broken.get_or_insert(why);
            }
        }
    }

    /// Asks the player and waits for its answer until the time limit.
    pub(crate) fn ask(
        &mut self,
        seat: Seat,
        question: G::Question,
        view: G::View,
        time_limit: Duration,
    ) -> Result<G::Answer, String> {
        let deadline = Instant::now().checked_add(time_limit);
        self.tell(Message::Ask { seat, question, view, time_limit });
        if let Some(why) = self.broken() {
            return Err(why.to_owned());
        }
        let left =
            deadline.map_or(Duration::MAX, |at| at.saturating_duration_since(Instant::now()));
        match self.replies.recv_timeout(left) {
            Ok(Reply::Answer(Some(answer))) => Ok(answer),
            Ok(Reply::Answer(None)) => Err("gave no answer".into()),
            Ok(Reply::Panicked(why)) => Err(why),
            Err(RecvTimeoutError::Timeout) => Err(format!("gave no answer within {time_limit:?}")),
            Err(RecvTimeoutError::Disconnected) => Err("panicked".into()),
        }
    }

    /// Why no more messages reach the player, once that is so.
    pub(crate) fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    /// Closes the queue. The thread ends when it has delivered the waiting messages.
    pub(crate) fn close(&mut self) {
        self.messages = None;
    }

    /// Waits until the thread has delivered everything and has ended, or until `deadline`.
    pub(crate) fn wait(&self, deadline: Instant) {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if self.replies.recv_timeout(left).is_err() {
                return;
            }
        }
    }

    fn panic_message(&self) -> String {
        match self.replies.try_recv() {
            Ok(Reply::Panicked(why)) => why,
            _ => "panicked".into(),
        }
    }
}

fn serve<G: Game>(
    mut player: Box<dyn LocalPlayer<G>>,
    inbox: &Receiver<Message<G>>,
    outbox: &Sender<Reply<G::Answer>>,
) {
    while let Ok(message) = inbox.recv() {
        let call = AssertUnwindSafe(|| deliver(&mut *player, message));
        let reply = match catch_unwind(call) {
            Ok(None) => continue,
            Ok(Some(answer)) => Reply::Answer(answer),
            Err(panic) => Reply::Panicked(panic_text(&*panic)),
        };
        let panicked = matches!(reply, Reply::Panicked(_));
        // Nobody listens any more once the game is over or the referee was dropped.
        if outbox.send(reply).is_err() || panicked {
            return;
        }
    }
}

/// Calls the method that belongs to a message; the answer, if it was a question.
fn deliver<G: Game>(
    player: &mut dyn LocalPlayer<G>,
    message: Message<G>,
) -> Option<Option<G::Answer>> {
    match message {
        Message::Seated(seating) => player.seated(&seating),
        Message::Sync(update) => player.sync(&update),
        Message::Kick(removal) => player.kick(&removal),
        Message::GameOver(report) => player.game_over(&report),
        Message::Ask { seat, question, view, time_limit } => {
            let (question, view) = (&question, &view);
            return Some(player.answer(&TurnRequest { seat, question, view, time_limit }));
        }
    }
    None
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    match text.or_else(|| panic.downcast_ref::<String>().cloned()) {
        Some(text) => agon_games::brief(format!("panicked: {text}")),
        None => "panicked".into(),
    }
}
