//! One connection to a Fish wire: which reply is awaited, and what it was shown.

use super::broadcast::Broadcasts;
use super::{Asked, Awaited, Vocabulary, call, message};
use crate::peer::{Spoken, Told, read, unasked};
use agon_games::Refusal;
use agon_games::fish::{Question, View};

/// One connection's translation.
#[derive(Clone, Debug)]
pub struct Speaker {
    vocabulary: Vocabulary,
    awaited: Option<Awaited>,
    /// Whether whoever asks for readiness wants a proposal.
    proposes: bool,
    broadcasts: Broadcasts,
}

impl Speaker {
    /// A connection that speaks this.
    pub fn new(vocabulary: Vocabulary) -> Speaker {
        Speaker { vocabulary, awaited: None, proposes: false, broadcasts: Broadcasts::new() }
    }

    pub(crate) fn listens(&self) -> bool {
        self.vocabulary == Vocabulary::Message
    }

    pub(crate) fn tell(&mut self, told: &Told) -> Result<Spoken, Refusal> {
        let asked = match (told, self.vocabulary) {
            (Told::SignedUp { next }, Vocabulary::Message) => {
                return Ok(Spoken::only([message::signed_up(*next)]));
            }
            (Told::View { view, seats }, Vocabulary::Message) => {
                let view: View = read(view, "fish")?;
                return Ok(Spoken::only(self.broadcasts.next(&view, seats)));
            }
            (Told::GameOver { view, result }, Vocabulary::Message) => {
                self.broadcasts = Broadcasts::new();
                let view: View = read(view, "fish")?;
                return Ok(Spoken::only([message::game_over(&view, result)]));
            }
            (Told::SignedUp { .. } | Told::View { .. } | Told::GameOver { .. }, _) => {
                return Ok(Spoken::only([]));
            }
            (Told::Won(_), _) => return Ok(Spoken::answered(None)),
            (Told::Begin { proposes }, vocabulary) => {
                self.proposes = *proposes;
                match vocabulary {
                    Vocabulary::Call => call::start(),
                    Vocabulary::Message => message::start(),
                }
            }
            (Told::Question { question, view, seats }, vocabulary) => {
                let question: Question = read(question, "fish")?;
                let view: View = read(view, "fish")?;
                match vocabulary {
                    Vocabulary::Call => call::ask(&question, &view),
                    Vocabulary::Message => message::ask(&question, &view, seats),
                }
            }
            (Told::End { won }, Vocabulary::Call) => call::end(*won),
            (Told::End { won }, Vocabulary::Message) => message::end(*won),
        };
        Ok(self.asked(asked))
    }

    fn asked(&mut self, asked: Asked) -> Spoken {
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
