//! Trains as a [`Game`].

use super::score::{LONGEST, Tally, tally};
use super::state::{SEATS_MAX, Stage, Trains};
use super::talk::{Answer, Drawn, HAND_LEN, MORE_LEN, OFFER_LEN, Question, RAILS, RAILS_LAST};
use super::view::Player;
use super::{Config, Pair, View, render, speech, write};
use crate::game::write_json;
use crate::{
    Game, Outcome, Proposal, PublicScore, Refusal, Seat, SeatSet, Seed, SetupError, Viewer,
};
use std::ops::RangeInclusive;

impl Game for Trains {
    const NAME: &'static str = "trains";
    const SEATS: RangeInclusive<usize> = 2..=SEATS_MAX;

    type Config = Config;
    type Question = Question;
    type Answer = Answer;
    type View = View;
    type Drawn = Drawn;

    fn usual_answer(text: &str) -> Option<Answer> {
        Answer::usual(text)
    }

    fn write_answer(answer: &Answer, out: &mut Vec<u8>) {
        write::write_answer(answer, out);
    }

    fn new(config: &Config, seats: usize, seed: &Seed) -> Result<Trains, SetupError> {
        Trains::set_up(config, seats, seed)
    }

    fn seats(&self) -> usize {
        usize::from(self.seats)
    }

    #[inline]
    fn awaiting(&self) -> SeatSet {
        if self.stage == Stage::Over { SeatSet::EMPTY } else { SeatSet::one(self.turn) }
    }

    fn only_tells(question: &Question) -> bool {
        matches!(question, Question::Setup { .. } | Question::More { .. })
    }

    fn question(&self, seat: Seat) -> Option<Question> {
        if seat != self.turn {
            return None;
        }
        match self.stage {
            Stage::Setup => {
                Some(Question::Setup { rails: RAILS, cards: self.deck.latest::<HAND_LEN>() })
            }
            Stage::Pick => Some(Question::Pick { destinations: Box::new(self.offered()) }),
            Stage::Play => Some(Question::Play {}),
            Stage::More => Some(Question::More { cards: self.deck.latest::<MORE_LEN>() }),
            Stage::Over => None,
        }
    }

    fn view(&self, viewer: Viewer) -> View {
        self.view_of(viewer)
    }

    fn write_view(&self, viewer: Viewer, out: &mut Vec<u8>) {
        match viewer {
            Viewer::Seat(_) | Viewer::Public => write::write_view(self, viewer, true, out),
            Viewer::Full => write_json(&self.view(viewer), out),
        }
    }

    fn write_view_now(&self, viewer: Viewer, out: &mut Vec<u8>) {
        match viewer {
            Viewer::Seat(_) | Viewer::Public => write::write_view(self, viewer, false, out),
            Viewer::Full => self.write_view(viewer, out),
        }
    }

    #[inline]
    fn check(&self, seat: Seat, answer: &Answer) -> Result<(), Refusal> {
        self.step(seat, answer).map(|_| ())
    }

    #[inline]
    fn apply(&mut self, seat: Seat, answer: &Answer) -> Result<(), Refusal> {
        let step = self.step(seat, answer)?;
        self.take(step);
        Ok(())
    }

    fn remove(&mut self, seat: Seat) {
        self.take_out(seat);
    }

    fn removed(&self) -> SeatSet {
        Seat::all(self.seats()).filter(|seat| !self.remaining.contains(*seat)).collect()
    }

    /// A player that was removed has 0 points.
    #[inline]
    /// The acquired segments. Destinations stay hidden, and the longest path counts at the end.
    fn public_score(view: &View) -> Option<PublicScore> {
        let segments = |player: &Player| {
            player.acquired.iter().map(|one| i64::from(one.length.segments())).sum::<i64>()
        };
        let points: Vec<i64> = view.players.iter().map(segments).collect();
        let most = points.iter().max().map_or(0, |most| *most as usize);
        Some(PublicScore::new(points, most, usize::from(RAILS - RAILS_LAST)))
    }

    fn outcome(&self) -> Option<Outcome> {
        (self.stage == Stage::Over).then(|| self.final_outcome())
    }

    fn legal_in(question: &Question, view: &View) -> Vec<Answer> {
        match question {
            Question::Setup { .. } | Question::More { .. } => vec![Answer::Ok],
            Question::Pick { destinations } => returns(destinations),
            Question::Play {} => {
                let state = view.you.and_then(|seat| view.player_state(seat));
                let choices = state.iter().flat_map(|state| state.choices(&view.map).copied());
                std::iter::once(Answer::MoreCards).chain(choices.map(Answer::Acquire)).collect()
            }
        }
    }

    fn legal(&self, seat: Seat) -> Vec<Answer> {
        match self.stage {
            Stage::Over => Vec::new(),
            _ if seat != self.turn => Vec::new(),
            Stage::Setup | Stage::More => vec![Answer::Ok],
            Stage::Pick => returns(&self.offered()),
            Stage::Play => {
                let mut answers = vec![Answer::MoreCards];
                let reach = self.reach(seat);
                for word in 0..self.free.len() {
                    let mut open = self.payable(&reach, word);
                    while open != 0 {
                        let at = word * 64 + open.trailing_zeros() as usize;
                        open &= open - 1;
                        answers.push(Answer::Acquire(self.map.connections()[at]));
                    }
                }
                answers
            }
        }
    }

    #[inline]
    fn playout_answer(&self, seat: Seat, choice: u64) -> Answer {
        self.any_answer(seat, choice)
    }

    /// `{"seat":S,"cards":[…],"offered":[[A,B],…]}`, each list only if something was drawn.
    fn drawn(&self) -> Option<Drawn> {
        let cards = match usize::from(self.drawn.cards) {
            0 => Vec::new(),
            MORE_LEN => self.deck.latest::<MORE_LEN>().to_vec(),
            _ => self.deck.latest::<HAND_LEN>().to_vec(),
        };
        let offered = self.drawn.offered.then(|| self.offered());
        let nothing = cards.is_empty() && offered.is_none();
        (!nothing).then_some(Drawn { seat: Seat(self.drawn.seat), cards, offered })
    }

    fn write_drawn(&self, out: &mut Vec<u8>) -> bool {
        if !self.drawn.offered {
            return write::write_cards(self, out);
        }
        let drawn = self.drawn();
        drawn.is_some_and(|drawn| {
            write_json(&drawn, out);
            true
        })
    }

    fn render(&self, names: &[String], colour: bool) -> String {
        let scores = self.outcome().map(|outcome| outcome.scores);
        render::draw(&self.view_of(Viewer::Full), scores.as_deref(), names, colour)
    }

    fn draw(view: &View, names: &[String], colour: bool) -> String {
        render::draw(view, None, names, colour)
    }

    fn ask(question: &Question, view: &View) -> String {
        speech::ask(question, view)
    }

    fn phrase(answer: &Answer, question: &Question, _view: &View) -> String {
        speech::phrase(answer, question)
    }

    fn understand(text: &str, question: &Question, view: &View) -> Result<Answer, String> {
        speech::understand(text, question, view)
    }

    fn examples(question: &Question) -> &'static str {
        speech::examples(question)
    }

    fn tell(&self, before: &Trains, seat: Seat, answer: &Answer) -> String {
        self.describe(before, seat, answer)
    }

    fn propose(config: &Config, proposal: &str, seats_max: usize) -> Proposal<Config> {
        config.propose(proposal, seats_max)
    }
}

impl Trains {
    /// The points of each seat so far; `None` for removed seats.
    pub(super) fn tallies(&self) -> Vec<Option<Tally>> {
        let destinations = self.map.destinations();
        let tally_of = |seat: Seat| {
            let place = self.place(seat);
            match place.kept.filter(|_| self.remaining.contains(seat)) {
                Some(kept) => {
                    let kept = kept.map(|at| destinations[at as usize]);
                    Some(tally(&self.map, place.held(), &kept))
                }
                None => None,
            }
        };
        Seat::all(self.seats()).map(tally_of).collect()
    }

    fn final_outcome(&self) -> Outcome {
        let tallies = self.tallies();
        let longest = tallies.iter().flatten().map(|tally| tally.longest).max().unwrap_or(0);
        let scores = tallies.iter().map(|tally| match tally {
            Some(tally) if longest > 0 && tally.longest == longest => tally.points + LONGEST,
            Some(tally) => tally.points,
            None => 0,
        });
        Outcome::by_score(scores.collect(), self.removed())
    }
}

/// Every way to give back three of five: by the two that are kept.
fn returns(offered: &[Pair; OFFER_LEN]) -> Vec<Answer> {
    let mut answers = Vec::with_capacity(10);
    for one in 0..OFFER_LEN {
        for other in one + 1..OFFER_LEN {
            let back = (0..OFFER_LEN).filter(|at| *at != one && *at != other);
            answers.push(Answer::Return(back.map(|at| offered[at]).collect()));
        }
    }
    answers
}
