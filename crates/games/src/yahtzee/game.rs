//! Implements [`Game`] for Yahtzee.

use super::answer::{Answer, Keep, Places, Question};
use super::card::Card;
use super::config::{Config, DiceSource};
use super::dice::{Hand, Step};
use super::state::{Latest, SEATS, Yahtzee};
use super::view::{Drawn, View};
use super::{ScoreBox, TURNS, speech, text, write};
use crate::game::write_json;
use crate::{Game, Outcome, PublicScore, Refusal, Seat, SeatSet, Seed, SetupError, Viewer};
use std::ops::RangeInclusive;

impl Game for Yahtzee {
    const NAME: &'static str = "yahtzee";
    const SEATS: RangeInclusive<usize> = SEATS..=SEATS;

    type Config = Config;
    type Question = Question;
    type Answer = Answer;
    type View = View;
    type Drawn = Drawn;

    fn usual_answer(text: &str) -> Option<Answer> {
        Answer::usual(text)
    }

    #[inline(always)]
    fn new(config: &Config, seats: usize, seed: &Seed) -> Result<Yahtzee, SetupError> {
        if seats != SEATS {
            let (game, min, max) = (Yahtzee::NAME, SEATS, SEATS);
            return Err(SetupError::Seats { game, min, max, given: seats });
        }
        if config.fixed_dice.is_some() {
            return Yahtzee::start_fixed(config, seed);
        }
        Ok(Yahtzee::start(config, seed))
    }

    fn seats(&self) -> usize {
        SEATS
    }

    #[inline]
    fn awaiting(&self) -> SeatSet {
        self.unfinished()
    }

    fn question(&self, seat: Seat) -> Option<Question> {
        if !self.unfinished().contains(seat) {
            return None;
        }
        let dice = self.dice_of(seat)?;
        match self.step(seat) {
            Step::First => Some(Question::Keep { roll: 1, dice }),
            Step::Second => Some(Question::Keep { roll: 2, dice }),
            Step::Score => Some(Question::Score { dice }),
            Step::Done => None,
        }
    }

    fn write_question(question: &Question, out: &mut Vec<u8>) {
        write::write_question(question, out);
    }

    fn write_answer(answer: &Answer, out: &mut Vec<u8>) {
        write::write_answer(answer, out);
    }

    fn view(&self, viewer: Viewer) -> View {
        self.view_for(viewer)
    }

    fn write_view(&self, viewer: Viewer, out: &mut Vec<u8>) {
        match viewer {
            Viewer::Seat(_) | Viewer::Public => write::write_view(self, viewer, true, out),
            Viewer::Full => write_json(&self.view_for(viewer), out),
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
        self.judge(seat, answer).map(|_| ())
    }

    #[inline]
    fn apply(&mut self, seat: Seat, answer: &Answer) -> Result<(), Refusal> {
        let choice = self.judge(seat, answer)?;
        self.play(seat, choice);
        Ok(())
    }

    fn remove(&mut self, seat: Seat) {
        self.take_out(seat);
    }

    fn removed(&self) -> SeatSet {
        self.removed_seats()
    }

    #[inline]
    fn public_score(view: &View) -> Option<PublicScore> {
        let points = view.cards.iter().map(|card| i64::from(card.total)).collect();
        Some(PublicScore::new(points, view.history.len(), TURNS))
    }

    fn outcome(&self) -> Option<Outcome> {
        if !self.unfinished().is_empty() {
            return None;
        }
        let [one, two] = self.sides();
        let (one, two) = (i64::from(one.card.total()), i64::from(two.card.total()));
        if self.removed_seats().is_empty() {
            // Equals `by_score` without its intermediate allocations: playouts end here.
            let ranks = vec![Some(1 + u8::from(one < two)), Some(1 + u8::from(two < one))];
            return Some(Outcome { scores: vec![one, two], ranks });
        }
        Some(Outcome::by_score(vec![one, two], self.removed_seats()))
    }

    fn legal_in(question: &Question, view: &View) -> Vec<Answer> {
        match question {
            Question::Keep { .. } => {
                (0..32).map(|bits| Answer::Keep(Keep::Places(Places::from_bits(bits)))).collect()
            }
            Question::Score { dice } => {
                let card = view.seat.and_then(|seat| view.cards.get(seat.index()));
                let (Some(card), Some(hand)) = (card, Hand::of(*dice)) else { return Vec::new() };
                let open = Card::from_boxes(&card.boxes).open(hand, view.rule);
                ScoreBox::ALL.into_iter().filter(|at| open.has(*at)).map(Answer::score).collect()
            }
        }
    }

    #[inline]
    fn playout_answer(&self, seat: Seat, choice: u64) -> Answer {
        if self.step(seat) < Step::Score {
            return Answer::Keep(Keep::Places(Places::from_bits((choice >> 59) as u8)));
        }
        Answer::score(self.pick_box(seat, choice))
    }

    fn drawn(&self) -> Option<Drawn> {
        let turn = self.turn();
        match self.latest() {
            Latest::Other => None,
            Latest::Turn => {
                let dice = [self.dice_of(Seat(0))?, self.dice_of(Seat(1))?];
                Some(Drawn::Turn { turn: turn as u8 + 1, dice })
            }
            Latest::Keep(seat) => {
                let (dice, new) = (self.dice_of(seat)?, self.rolled(seat));
                let dice: Vec<u8> = (0..5).filter(|at| new.has(*at)).map(|at| dice[at]).collect();
                (!dice.is_empty()).then_some(Drawn::Keep { seat, dice })
            }
        }
    }

    fn write_drawn(&self, out: &mut Vec<u8>) -> bool {
        write::write_drawn(self, out)
    }

    fn render(&self, names: &[String], colour: bool) -> String {
        text::render(&self.view_for(Viewer::Full), names, colour)
    }

    fn draw(view: &View, names: &[String], colour: bool) -> String {
        text::render(view, names, colour)
    }

    fn ask(question: &Question, _view: &View) -> String {
        speech::ask(question)
    }

    fn phrase(answer: &Answer, question: &Question, view: &View) -> String {
        speech::phrase(answer, question, view)
    }

    fn understand(text: &str, question: &Question, view: &View) -> Result<Answer, String> {
        speech::understand(text, question, view)
    }

    fn examples(question: &Question) -> &'static str {
        speech::examples(question)
    }

    fn tell(&self, before: &Yahtzee, seat: Seat, answer: &Answer) -> String {
        text::tell(self, before, seat, answer)
    }

    fn after_undecidable(config: &Config) -> Config {
        Config { dice: DiceSource::Independent, ..config.clone() }
    }
}
