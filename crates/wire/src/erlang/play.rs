//! The common part of the three vocabularies: Yahtzee in Erlang terms.

use super::term::Term;
use agon_games::Refusal;
use agon_games::yahtzee::{CardView, Dice, Question, ScoreBox};

/// The game answers that one message of a player means. In these vocabularies players may score
/// right after any roll. The game then gets the answer that all dice are kept, and next asks for
/// the box.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answers {
    /// The answer to the open question.
    pub now: String,
    /// The answer to the next question, which the player is not asked.
    pub then: Option<String>,
}

impl Answers {
    pub(super) fn one(now: String) -> Answers {
        Answers { now, then: None }
    }

    /// Fills a box now, even if rolls are left.
    pub(super) fn score(question: &Question, score: String) -> Answers {
        match question {
            Question::Keep { .. } => {
                Answers { now: r#"{"keep":[true,true,true,true,true]}"#.into(), then: Some(score) }
            }
            Question::Score { .. } => Answers::one(score),
        }
    }
}

/// The dice on the table.
pub(super) fn dice_of(question: &Question) -> [u8; 5] {
    let dice: &Dice = match question {
        Question::Keep { dice, .. } | Question::Score { dice } => dice,
    };
    std::array::from_fn(|at| dice[at])
}

/// The dice as a list, built item by item: a list of small numbers is encoded as a string, which is
/// the same list to Erlang.
pub(super) fn dice_term(question: &Question) -> Term {
    Term::Bytes(dice_of(question).into())
}

/// 1 after the first roll; 3 when only a box may be chosen.
pub(super) fn roll_of(question: &Question) -> u8 {
    match question {
        Question::Keep { roll, .. } => *roll,
        Question::Score { .. } => 3,
    }
}

/// The box called `name`, with underscores as Erlang writes it, as the game's answer. An unknown
/// box is passed on too, and the rules reject it.
pub(super) fn score_by_name(name: &str) -> String {
    score_at(box_by_name(name))
}

/// The box called `name`, with underscores as Erlang writes it.
pub(super) fn box_by_name(name: &str) -> Option<ScoreBox> {
    let name = name.replace('_', "-");
    ScoreBox::ALL.into_iter().find(|known| known.name() == name)
}

pub(super) fn score_at(at: Option<ScoreBox>) -> String {
    format!(r#"{{"score":"{}"}}"#, at.map_or("no-such-box", ScoreBox::name))
}

/// A box as an atom.
pub(super) fn box_atom(at: ScoreBox) -> Term {
    Term::atom(match at {
        ScoreBox::Aces => "aces",
        ScoreBox::Twos => "twos",
        ScoreBox::Threes => "threes",
        ScoreBox::Fours => "fours",
        ScoreBox::Fives => "fives",
        ScoreBox::Sixes => "sixes",
        ScoreBox::ThreeOfAKind => "three_of_a_kind",
        ScoreBox::FourOfAKind => "four_of_a_kind",
        ScoreBox::FullHouse => "full_house",
        ScoreBox::SmallStraight => "small_straight",
        ScoreBox::LargeStraight => "large_straight",
        ScoreBox::Yahtzee => "yahtzee",
        ScoreBox::Chance => "chance",
    })
}

/// A card as 14 numbers: the boxes in order, -1 for an empty one, then the Yahtzee bonuses.
pub(super) fn card_list(card: &CardView) -> Term {
    let boxes = ScoreBox::ALL.iter().map(|at| card.boxes.of(*at).map_or(-1, i64::from));
    let bonuses = i64::from(card.yahtzee_bonuses);
    Term::List(boxes.chain([bonuses]).map(Term::Int).collect())
}

/// A card as a dictionary in the order of its keys: the boxes (`no_value` for an empty one), its
/// bonuses and sums, and `now`, the current turn, if the viewer may see it. Only boxes are ever
/// `no_value`, so a search for that finds exactly the empty boxes.
pub(super) fn card_dictionary(card: &CardView, now: Option<Term>) -> Term {
    let mut entries: Vec<Term> = Vec::new();
    for at in ScoreBox::ALL {
        let points = card.boxes.of(at).map(|points| Term::Int(points.into()));
        let points = points.unwrap_or_else(|| Term::atom("no_value"));
        entries.push(Term::tuple([box_atom(at), points]));
    }
    let yahtzee_bonus = card.total - card.upper_bonus - sum(card);
    for (key, value) in [
        ("total", card.total),
        ("upper_bonus", card.upper_bonus),
        ("upper_total", card.upper),
        ("yahtzee_bonus", yahtzee_bonus),
        ("yahtzee_bonuses", card.yahtzee_bonuses.into()),
    ] {
        entries.push(Term::tuple([Term::atom(key), Term::Int(value.into())]));
    }
    entries.extend(now.map(|turn| Term::tuple([Term::atom("current_turn"), turn])));
    let key = |entry: &Term| {
        let key = entry.as_tuple().and_then(|pair| pair.first()).and_then(Term::as_atom);
        key.unwrap_or_default().to_owned()
    };
    entries.sort_by_key(key);
    Term::List(entries)
}

/// The points in the boxes of a card, without bonuses.
fn sum(card: &CardView) -> u16 {
    ScoreBox::ALL.iter().filter_map(|at| card.boxes.of(*at)).map(u16::from).sum()
}

/// A list of dice as JSON text; an item that is no die becomes 0, and the rules reject it.
pub(super) fn dice_json(list: &Term) -> Result<String, Refusal> {
    let values = list.ints().ok_or_else(|| Refusal::malformed("the dice are not a list"))?;
    let values: Option<Vec<i64>> = values.collect();
    let values = values.ok_or_else(|| Refusal::malformed("the dice are not numbers"))?;
    serde_json::to_string(&values).map_err(|error| Refusal::malformed(error.to_string()))
}
