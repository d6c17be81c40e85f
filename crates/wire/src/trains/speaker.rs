//! One connection to a Trains wire: which reply is awaited.

use super::{Awaited, Call, Vocabulary, ask, begin, end, reply, set_up_again, win};
use crate::peer::{Part, PeerMessage, Spoken, read, unasked};
use agon_games::Refusal;
use agon_games::trains::{Question, View};

/// One connection's translation.
#[derive(Clone, Debug)]
pub struct Speaker {
    vocabulary: Vocabulary,
    awaited: Option<Awaited>,
    /// True if the question about a map only asks whether the player is ready.
    ready_only: bool,
    /// True if the program knows that its tournament has started.
    begun: bool,
}

impl Speaker {
    /// A connection with this vocabulary.
    pub fn new(vocabulary: Vocabulary) -> Speaker {
        Speaker { vocabulary, awaited: None, ready_only: false, begun: false }
    }

    /// A fresh program has neither a map nor cards, and a call to play relies on both.
    pub(crate) fn beginning(&mut self, message: &PeerMessage) -> Vec<PeerMessage> {
        let parts: &[Part] = match message {
            _ if self.begun => return Vec::new(),
            PeerMessage::Begin { .. } => &[],
            PeerMessage::Question { question, .. } => match read::<Question>(question, "trains") {
                Ok(Question::Setup { .. }) => &[Part::Start],
                _ => &[Part::Start, Part::Own],
            },
            PeerMessage::Won(_) | PeerMessage::End { .. } => &[Part::Start],
            _ => return Vec::new(),
        };
        self.begun = true;
        message.again(parts)
    }

    pub(crate) fn tell(&mut self, message: &PeerMessage) -> Result<Spoken, Refusal> {
        let Call { text, awaited } = match message {
            PeerMessage::SignedUp { .. }
            | PeerMessage::View { .. }
            | PeerMessage::GameOver { .. } => {
                return Ok(Spoken::only([]));
            }
            // The map it proposes is not looked at: the one that is played on is fixed.
            PeerMessage::Again { part: Part::Start, .. } => begin(self.vocabulary),
            PeerMessage::Again { part: Part::Own, question, view, .. } => {
                let question: Question = read(question, "trains")?;
                let view: View = read(view, "trains")?;
                match set_up_again(&question, &view) {
                    Some(call) => call,
                    None => return Ok(Spoken::only([])),
                }
            }
            PeerMessage::Again { .. } => return Ok(Spoken::only([])),
            PeerMessage::Begin { proposes } => {
                self.begun = true;
                self.ready_only = !proposes;
                begin(self.vocabulary)
            }
            PeerMessage::Question { question, view, .. } => {
                let question: Question = read(question, "trains")?;
                let view: View = read(view, "trains")?;
                let nobody = || Refusal::malformed("the view is not that of a seat");
                ask(&question, &view).ok_or_else(nobody)?
            }
            PeerMessage::Won(won) => win(*won),
            PeerMessage::End { won } => end(self.vocabulary, *won),
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

#[cfg(test)]
mod tests {
    use super::*;
    use agon_games::{GameState, Registry, Seat, Seed, Viewer};
    use serde_json::{Value, json};

    /// A game in which seat 0 has confirmed and picked, and has to play.
    fn playing() -> Box<dyn GameState> {
        let games = Registry::standard();
        let kind = games.kind("trains").unwrap();
        let config = kind.check_config(r#"{"confirm":true}"#).unwrap();
        let mut game = kind.set_up(config.get(), 2, &Seed::from_number(3)).unwrap();
        while let Some(seat) = Seat::all(2).find(|seat| game.question(*seat).is_some()) {
            let asked = game.question(seat).unwrap();
            let answer = match serde_json::from_str::<Question>(asked.get()).unwrap() {
                Question::Setup { .. } => json!("ok"),
                Question::Pick { destinations } => json!({"return": destinations[..3]}),
                _ => return game,
            };
            game.apply(seat, &answer.to_string()).unwrap();
        }
        panic!("nobody has to play")
    }

    fn question(game: &dyn GameState) -> (Seat, PeerMessage) {
        let seat = Seat::all(2).find(|seat| game.question(*seat).is_some()).unwrap();
        let (mut question, mut view) = (Vec::new(), Vec::new());
        assert!(game.write_question(seat, &mut question));
        game.write_view(Viewer::Seat(seat), &mut view);
        (seat, PeerMessage::Question { question, view, seats: [].into() })
    }

    /// The messages to a new program before a question.
    fn beginning(vocabulary: Vocabulary, message: &PeerMessage) -> Vec<Value> {
        let mut speaker = Speaker::new(vocabulary);
        let parts = speaker.beginning(message);
        assert!(speaker.beginning(message).is_empty(), "once");
        let calls = parts.iter().flat_map(|part| speaker.tell(part).unwrap().texts);
        calls.map(|call| serde_json::from_str(&call).unwrap()).collect()
    }

    #[test]
    fn a_fresh_program_is_given_the_map_and_what_it_has_now() {
        let mut game = playing();
        for (vocabulary, first) in
            [(Vocabulary::Course, "start"), (Vocabulary::Memo, "beginTournament")]
        {
            let (_, message) = question(&*game);
            let calls = beginning(vocabulary, &message);
            assert_eq!(calls[0], json!([first, [true]]));
            assert_eq!((&calls[1][0], &calls[1][1][1]), (&json!("setup"), &json!(45)));
            assert_eq!(calls[1][1][2].as_array().map(Vec::len), Some(4), "{}", calls[1]);
        }
        // The cards that are open to be confirmed come after it, so they are not in it.
        let (seat, _) = question(&*game);
        game.apply(seat, "\"more-cards\"").unwrap();
        let (_, message) = question(&*game);
        let calls = beginning(Vocabulary::Course, &message);
        assert_eq!(calls[1][1][2].as_array().map(Vec::len), Some(4), "{}", calls[1]);
        game.apply(seat, "\"ok\"").unwrap();
        let mut own = Speaker::new(Vocabulary::Course);
        own.tell(&PeerMessage::Begin { proposes: true }).unwrap();
        assert!(own.beginning(&question(&*game).1).is_empty(), "it was there from the beginning");
    }
}
