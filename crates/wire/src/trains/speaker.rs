//! One connection to a Trains wire: which reply is awaited.

use super::{Awaited, Call, Vocabulary, ask, begin, end, reply, set_up_again, win};
use crate::peer::{Part, Spoken, Told, read, unasked};
use agon_games::Refusal;
use agon_games::trains::{Question, View};

/// One connection's translation.
#[derive(Clone, Debug)]
pub struct Speaker {
    vocabulary: Vocabulary,
    awaited: Option<Awaited>,
    /// Whether whoever asks for a map only wants to know whether the player is ready.
    ready_only: bool,
    /// Whether the program was told that its tournament begins.
    begun: bool,
}

impl Speaker {
    /// A connection that speaks this.
    pub fn new(vocabulary: Vocabulary) -> Speaker {
        Speaker { vocabulary, awaited: None, ready_only: false, begun: false }
    }

    /// A fresh program has neither a map nor cards, and a call to play relies on both.
    pub(crate) fn beginning(&mut self, told: &Told) -> Vec<Told> {
        let parts: &[Part] = match told {
            _ if self.begun => return Vec::new(),
            Told::Begin { .. } => &[],
            Told::Question { question, .. } => match read::<Question>(question, "trains") {
                Ok(Question::Setup { .. }) => &[Part::Start],
                _ => &[Part::Start, Part::Own],
            },
            Told::Won(_) | Told::End { .. } => &[Part::Start],
            _ => return Vec::new(),
        };
        self.begun = true;
        told.again(parts)
    }

    pub(crate) fn tell(&mut self, told: &Told) -> Result<Spoken, Refusal> {
        let Call { text, awaited } = match told {
            Told::SignedUp { .. } | Told::View { .. } | Told::GameOver { .. } => {
                return Ok(Spoken::only([]));
            }
            // The map it proposes is not looked at: the one that is played on is fixed.
            Told::Again { part: Part::Start, .. } => begin(self.vocabulary),
            Told::Again { part: Part::Own, question, view, .. } => {
                let question: Question = read(question, "trains")?;
                let view: View = read(view, "trains")?;
                match set_up_again(&question, &view) {
                    Some(call) => call,
                    None => return Ok(Spoken::only([])),
                }
            }
            Told::Again { .. } => return Ok(Spoken::only([])),
            Told::Begin { proposes } => {
                self.begun = true;
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
