//! Implements [`Game`] for [`Fish`]. The course of the game is in `play.rs`, the check of answers
//! in `check.rs`, its texts in `text.rs`.

use super::play::Recent;
use super::{
    Answer, Color, Config, Drawn, Ice, Phase, PlayerView, Question, SEATS_MAX, State, Tile, View,
    penguins_each, speech, text, write,
};
use crate::{Game, Outcome, PublicScore, Refusal, Seat, SeatSet, Seed, SetupError, Viewer};
use std::ops::RangeInclusive;

/// The most penguins of one player.
pub(super) const FLOCK_MAX: usize = 4;

/// A game of Fish in progress.
#[derive(Clone, PartialEq, Debug)]
pub struct Fish {
    pub(super) ice: Ice,
    /// By seat: where its penguins stand, then [`Tile::NONE`].
    pub(super) flocks: [[Tile; FLOCK_MAX]; SEATS_MAX],
    /// By seat: how many penguins it has placed.
    pub(super) placed: [u8; SEATS_MAX],
    /// By seat: its fish.
    pub(super) scores: [u16; SEATS_MAX],
    pub(super) seats: u8,
    pub(super) phase: Phase,
    /// The seats that owe an answer.
    pub(super) waiting: SeatSet,
    /// The seats that were in the game when players learned their opponents.
    pub(super) introduced: SeatSet,
    pub(super) removed: SeatSet,
    pub(super) recent: Recent,
    /// True if nothing has happened since set-up.
    pub(super) untouched: bool,
}

impl Fish {
    /// Where the penguins of `seat` stand, in the order they were placed.
    pub(super) fn flock(&self, seat: Seat) -> impl Iterator<Item = Tile> {
        self.flocks[seat.index()].into_iter().filter(|tile| *tile != Tile::NONE)
    }

    /// The phase of the game.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The seat whose turn it is to place or to move.
    pub fn turn(&self) -> Option<Seat> {
        matches!(self.phase, Phase::Place | Phase::Move).then(|| self.waiting.first()).flatten()
    }
}

impl Game for Fish {
    const NAME: &'static str = "fish";
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

    fn new(config: &Config, seats: usize, seed: &Seed) -> Result<Fish, SetupError> {
        if !Self::SEATS.contains(&seats) {
            let (min, max) = (*Self::SEATS.start(), *Self::SEATS.end());
            return Err(SetupError::Seats { game: Self::NAME, min, max, given: seats });
        }
        let mut game = Fish {
            ice: Ice::new(config.lay_out(seats, seed)?),
            flocks: [[Tile::NONE; FLOCK_MAX]; SEATS_MAX],
            placed: [0; SEATS_MAX],
            scores: [0; SEATS_MAX],
            seats: seats as u8,
            phase: Phase::PlayingAs,
            waiting: SeatSet::first_n(seats),
            introduced: SeatSet::first_n(seats),
            removed: SeatSet::EMPTY,
            recent: Recent::default(),
            untouched: true,
        };
        if !config.confirm {
            game.start_placing();
        }
        Ok(game)
    }

    fn color_of(seat: Seat) -> Option<&'static str> {
        Color::ALL.get(seat.index()).map(|color| color.name())
    }

    fn seats(&self) -> usize {
        self.seats.into()
    }

    #[inline]
    fn awaiting(&self) -> SeatSet {
        self.waiting
    }

    fn only_tells(question: &Question) -> bool {
        matches!(question, Question::PlayingAs { .. } | Question::PlayingWith { .. })
    }

    fn question(&self, seat: Seat) -> Option<Question> {
        if !self.waiting.contains(seat) {
            return None;
        }
        Some(match self.phase {
            Phase::PlayingAs => Question::PlayingAs { color: Color::of(seat) },
            Phase::PlayingWith => {
                let mut others = self.introduced;
                others.remove(seat);
                Question::PlayingWith { colors: Color::of_all(others) }
            }
            Phase::Place => Question::Place,
            Phase::Move => Question::Move,
            Phase::Over => return None,
        })
    }

    fn view(&self, viewer: Viewer) -> View {
        let shape = self.ice.shape();
        let seats = || Seat::all(self.seats());
        let you = match viewer {
            Viewer::Seat(seat) => Some(seat),
            Viewer::Public | Viewer::Full => None,
        };
        let player = |seat: Seat| PlayerView {
            color: Color::of(seat),
            score: self.scores[seat.index()].into(),
            places: self.flock(seat).map(|tile| shape.position(tile)).collect(),
            removed: self.removed.contains(seat),
        };
        View {
            you,
            phase: self.phase,
            turn: self.turn(),
            penguins: penguins_each(self.seats()),
            board: self.ice.board(seats().flat_map(|seat| self.flock(seat))),
            players: seats().map(player).collect(),
            since: self.recent.since(you).map(|[from, to]| self.ice.action(from, to)).collect(),
        }
    }

    fn write_view(&self, viewer: Viewer, out: &mut Vec<u8>) {
        write::write_view(self, viewer, out);
    }

    fn check(&self, seat: Seat, answer: &Answer) -> Result<(), Refusal> {
        self.parse(seat, answer).map(|_| ())
    }

    #[inline]
    fn apply(&mut self, seat: Seat, answer: &Answer) -> Result<(), Refusal> {
        let step = self.parse(seat, answer)?;
        self.untouched = false;
        self.take(seat, step);
        Ok(())
    }

    fn remove(&mut self, seat: Seat) {
        if self.phase != Phase::Over && seat.index() < self.seats() && !self.removed.contains(seat)
        {
            self.untouched = false;
            self.evict(seat);
            self.go_on_without(seat);
        }
    }

    fn removed(&self) -> SeatSet {
        self.removed
    }

    #[inline]
    /// The fish so far; the caught part of all fish is over.
    fn public_score(view: &View) -> Option<PublicScore> {
        let points: Vec<i64> = view.players.iter().map(|player| i64::from(player.score)).collect();
        let caught: usize = view.players.iter().map(|player| player.score as usize).sum();
        let left: usize = view.board.rows().flatten().map(|fish| usize::from(*fish)).sum();
        Some(PublicScore::new(points, caught, caught + left))
    }

    fn outcome(&self) -> Option<Outcome> {
        (self.phase == Phase::Over).then(|| {
            let scores = self.scores[..self.seats()].iter().map(|score| i64::from(*score));
            Outcome::by_score(scores.collect(), self.removed)
        })
    }

    fn legal_in(question: &Question, view: &View) -> Vec<Answer> {
        let state = view.state(view.turn.or(view.you).unwrap_or(Seat(0)));
        match question {
            Question::PlayingAs { .. } | Question::PlayingWith { .. } => vec![Answer::Ok],
            Question::Place => state.placements().into_iter().map(Answer::Place).collect(),
            Question::Move => state.actions().into_iter().map(Answer::Move).collect(),
        }
    }

    #[inline]
    fn playout_answer(&self, seat: Seat, choice: u64) -> Answer {
        match self.phase {
            Phase::Place => {
                let tile = self.ice.pick_free(choice).expect("the asked player finds a free tile");
                Answer::Place(self.ice.shape().position(tile))
            }
            Phase::Move => {
                let slide = self.ice.pick_slide(&self.flocks[seat.index()], choice);
                let (from, to) = slide.expect("the asked player can move");
                Answer::Move(self.ice.action(from, to))
            }
            Phase::PlayingAs | Phase::PlayingWith | Phase::Over => Answer::Ok,
        }
    }

    /// The board, at set-up.
    fn drawn(&self) -> Option<Drawn> {
        self.untouched.then(|| {
            let board: Vec<Vec<u8>> = self.ice.board([]).into();
            Drawn { board }
        })
    }

    fn render(&self, names: &[String], colour: bool) -> String {
        text::draw(&self.view(Viewer::Public), names, colour)
    }

    fn draw(view: &View, names: &[String], colour: bool) -> String {
        text::draw(view, names, colour)
    }

    fn ask(question: &Question, view: &View) -> String {
        speech::ask(question, view)
    }

    fn phrase(answer: &Answer, _question: &Question, _view: &View) -> String {
        speech::phrase(answer)
    }

    fn understand(text: &str, question: &Question, view: &View) -> Result<Answer, String> {
        speech::understand(text, question, view)
    }

    fn examples(question: &Question) -> &'static str {
        speech::examples(question)
    }

    fn tell(&self, before: &Fish, _seat: Seat, answer: &Answer) -> String {
        before.sentence(answer)
    }
}

impl From<&Fish> for State {
    /// The position from the view of the player to act, without removed players.
    fn from(game: &Fish) -> State {
        game.view(Viewer::Public).state(game.turn().unwrap_or(Seat(0)))
    }
}
