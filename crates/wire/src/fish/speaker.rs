//! One connection to a Fish wire: the awaited reply, and what the program has seen.

use super::broadcast::Broadcasts;
use super::{Awaited, FishRequest, Vocabulary, call, message};
use crate::peer::{Part, PeerMessage, Spoken, read, unasked};
use agon_core::PlayerName;
use agon_games::Refusal;
use agon_games::fish::{Question, View};

/// One connection's translation.
#[derive(Clone, Debug)]
pub struct Speaker {
    vocabulary: Vocabulary,
    awaited: Option<Awaited>,
    /// True if the question about readiness also wants a proposal.
    proposes: bool,
    broadcasts: Broadcasts,
    /// True if the program knows that its tournament has started.
    begun: bool,
}

impl Speaker {
    /// A connection with this vocabulary.
    pub fn new(vocabulary: Vocabulary) -> Speaker {
        let (awaited, proposes, begun) = (None, false, false);
        Speaker { vocabulary, awaited, proposes, broadcasts: Broadcasts::new(), begun }
    }

    pub(crate) fn listens(&self) -> bool {
        self.vocabulary == Vocabulary::Message
    }

    /// A new program knows neither its colour nor the position, but requests to move rely on both.
    pub(crate) fn beginning(&mut self, message: &PeerMessage) -> Vec<PeerMessage> {
        let parts: &[Part] = match message {
            _ if self.begun => return Vec::new(),
            PeerMessage::Begin { .. } => &[],
            PeerMessage::Question { question, .. } => match read::<Question>(question, "fish") {
                Ok(Question::PlayingAs { .. }) => &[Part::Start],
                Ok(Question::PlayingWith { .. }) => &[Part::Start, Part::Own],
                _ => &[Part::Start, Part::Own, Part::Others, Part::Position],
            },
            PeerMessage::End { .. } => &[Part::Start],
            _ => return Vec::new(),
        };
        self.begun = true;
        message.again(parts)
    }

    /// A part of the beginning once more.
    fn again(&self, part: Part, view: &View) -> Option<Question> {
        let own = view.you?;
        let mut all = view.players.iter().enumerate();
        match part {
            Part::Own => {
                let (_, player) = all.find(|(seat, _)| *seat == own.index())?;
                Some(Question::PlayingAs { color: player.color })
            }
            Part::Others => {
                let others = all.filter(|(seat, player)| *seat != own.index() && !player.removed);
                let colors = others.map(|(_, player)| player.color).collect();
                Some(Question::PlayingWith { colors })
            }
            Part::Start | Part::Position => None,
        }
    }

    pub(crate) fn tell(&mut self, message: &PeerMessage) -> Result<Spoken, Refusal> {
        let asked = match (message, self.vocabulary) {
            (PeerMessage::SignedUp { next }, Vocabulary::Message) => {
                return Ok(Spoken::only([message::signed_up(*next)]));
            }
            // A program that missed the beginning could not follow; it gets the position with its
            // first request.
            (PeerMessage::View { .. } | PeerMessage::GameOver { .. }, _) if !self.begun => {
                return Ok(Spoken::only([]));
            }
            (PeerMessage::View { view, seats }, Vocabulary::Message) => {
                let view: View = read(view, "fish")?;
                return Ok(Spoken::only(self.broadcasts.next(&view, seats)));
            }
            (PeerMessage::GameOver { view, result }, Vocabulary::Message) => {
                self.broadcasts = Broadcasts::new();
                let view: View = read(view, "fish")?;
                return Ok(Spoken::only([message::game_over(&view, result)]));
            }
            (
                PeerMessage::SignedUp { .. }
                | PeerMessage::View { .. }
                | PeerMessage::GameOver { .. },
                _,
            ) => {
                return Ok(Spoken::only([]));
            }
            (PeerMessage::Won(_), _) => return Ok(Spoken::answered(None)),
            (PeerMessage::Again { part: Part::Start, .. }, vocabulary) => {
                self.proposes = false;
                start(vocabulary)
            }
            (PeerMessage::Again { part: Part::Position, view, seats, .. }, vocabulary) => {
                if vocabulary == Vocabulary::Call {
                    return Ok(Spoken::only([]));
                }
                let view: View = read(view, "fish")?;
                // The next broadcast continues from here.
                self.broadcasts.next(&view, seats);
                return Ok(Spoken::only([message::broadcast_state(&view, seats)]));
            }
            (PeerMessage::Again { part, view, seats, .. }, vocabulary) => {
                let view: View = read(view, "fish")?;
                let Some(question) = self.again(*part, &view) else {
                    return Ok(Spoken::only([]));
                };
                ask(vocabulary, &question, &view, seats)
            }
            (PeerMessage::Begin { proposes }, vocabulary) => {
                self.proposes = *proposes;
                self.begun = true;
                start(vocabulary)
            }
            (PeerMessage::Question { question, view, seats }, vocabulary) => {
                let question: Question = read(question, "fish")?;
                let view: View = read(view, "fish")?;
                ask(vocabulary, &question, &view, seats)
            }
            (PeerMessage::End { won }, Vocabulary::Call) => call::end(*won),
            (PeerMessage::End { won }, Vocabulary::Message) => message::end(*won),
        };
        Ok(self.asked(asked))
    }

    fn asked(&mut self, asked: FishRequest) -> Spoken {
        self.awaited = asked.awaited;
        match (asked.send, asked.awaited) {
            (Some(text), Some(_)) => Spoken::asks(text),
            (text, _) => Spoken::answered(text),
        }
    }

    pub(crate) fn hear(&mut self, text: &str) -> Result<String, Refusal> {
        let awaited = self.awaited.take().ok_or_else(unasked)?;
        let answer = match self.vocabulary {
            Vocabulary::Call => call::reply(awaited, text)?,
            Vocabulary::Message => message::reply(awaited, text)?,
        };
        match (awaited, self.proposes) {
            // There is nothing to propose in these words.
            (Awaited::Ready, true) if answer == "true" => Ok("null".into()),
            (Awaited::Ready, true) => Err(Refusal::wrong_kind("not ready")),
            _ => Ok(answer),
        }
    }
}

fn start(vocabulary: Vocabulary) -> FishRequest {
    match vocabulary {
        Vocabulary::Call => call::start(),
        Vocabulary::Message => message::start(),
    }
}

fn ask(
    vocabulary: Vocabulary,
    question: &Question,
    view: &View,
    seats: &[PlayerName],
) -> FishRequest {
    match vocabulary {
        Vocabulary::Call => call::ask(question, view),
        Vocabulary::Message => message::ask(question, view, seats),
    }
}
