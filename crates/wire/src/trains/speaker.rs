//! One connection to a Trains wire: which reply is awaited.

use super::{Awaited, Call, Vocabulary, ask, begin, end, reply, win};
use crate::peer::{Spoken, Told, read, unasked};
use agon_games::Refusal;
use agon_games::trains::{Question, View};

/// One connection's translation.
#[derive(Clone, Debug)]
pub struct Speaker {
    vocabulary: Vocabulary,
    awaited: Option<Awaited>,
    /// Whether whoever asks for a map only wants to know whether the player is ready.
    ready_only: bool,
}

impl Speaker {
    /// A connection that speaks this.
    pub fn new(vocabulary: Vocabulary) -> Speaker {
        Speaker { vocabulary, awaited: None, ready_only: false }
    }

    pub(crate) fn tell(&mut self, told: &Told) -> Result<Spoken, Refusal> {
        let Call { text, awaited } = match told {
            Told::SignedUp { .. } | Told::View { .. } | Told::GameOver { .. } => {
                return Ok(Spoken::only([]));
            }
            Told::Begin { proposes } => {
                self.ready_only = !proposes;
                begin(self.vocabulary)
            }
            Told::Question { question, view, .. } => {
                let question: Question = read(question, "trains")?;
                let view: View = read(view, "trains")?;
                let nobody = || Refusal::malformed("the view is not that of a seat");
                ask(&question, &view).ok_or_else(nobody)?
            }
            Told::Won(won) => win(*won),
            Told::End { won } => end(self.vocabulary, *won),
        };
        self.awaited = Some(awaited);
        Ok(Spoken::asks(text))
    }

    pub(crate) fn hear(&mut self, text: &str) -> Result<String, Refusal> {
        let awaited = self.awaited.take().ok_or_else(unasked)?;
        let answer = reply(self.vocabulary, awaited, text)?;
        match awaited {
            Awaited::Begun if self.ready_only => Ok("true".into()),
            _ => Ok(answer),
        }
    }
}
