//! House players of Yahtzee in whole games: what they answer is legal, they score what they should,
//! and the game gives the points that the solver reckons with.

use agon_bots::yahtzee::{self, Card, Greedy, Optimal, Roll};
use agon_bots::{Ask, Bot, Houses, Random};
use agon_games::yahtzee::{Answer, Config, DiceSource, Question, Rule, View, Yahtzee};
use agon_games::{Game, Seat, Seed, Viewer};

const RULES: [Rule; 3] = [Rule::Tournament, Rule::ForcedJoker, Rule::FreeJoker];

/// Plays a game with `bot` in both seats; the scores.
fn play(rule: Rule, number: u64, bot: &mut dyn Bot<Yahtzee>) -> Vec<i64> {
    let config = Config { rule, dice: DiceSource::Independent, ..Config::default() };
    let mut game = Yahtzee::new(&config, 2, &Seed::from_number(number)).unwrap();
    let mut step = 0;
    while let Some(seat) = game.awaiting().next() {
        let (question, view) = (game.question(seat).unwrap(), game.view(Viewer::Seat(seat)));
        let key = format!("{number}.{step}");
        let ask = Ask { player: "bot", key: &key, seat, question: &question, view: &view };
        let answer = bot.answer(&ask);
        let reckoned = points(&view, seat, &question, &answer);
        game.apply(seat, &answer).unwrap_or_else(|refusal| panic!("game {number}: {refusal}"));
        if let Some(reckoned) = reckoned {
            let total = |view: &View| view.cards[seat.index()].total;
            let bonus = |view: &View| view.cards[seat.index()].upper_bonus;
            let after = game.view(Viewer::Full);
            let gained = total(&after) - bonus(&after) + bonus(&view) - total(&view);
            assert_eq!(gained, reckoned, "game {number}, {answer:?} to {question:?}");
        }
        step += 1;
    }
    game.outcome().unwrap().scores
}

/// The solver's value of an answer; `None` if it does not score yet.
fn points(view: &View, seat: Seat, question: &Question, answer: &Answer) -> Option<u16> {
    let (Question::Score { dice }, Answer::Score(score)) = (question, answer) else { return None };
    let boxes = view.cards[seat.index()].boxes.0.map(|points| points.map(u16::from));
    let card = Card::new(&boxes).unwrap();
    let counts = Roll::new(*dice).unwrap().counts();
    let points = yahtzee::Rule::from(view.rule).points(card.boxes(), score.at, &counts);
    Some(points.expect("a box that the rule allows"))
}

fn mean(rule: Rule, games: u64, bot: &mut dyn Bot<Yahtzee>) -> f64 {
    let scores: Vec<i64> = (0..games).flat_map(|number| play(rule, number, bot)).collect();
    scores.iter().sum::<i64>() as f64 / scores.len() as f64
}

/// A score's standard deviation is about 60: 6 is three standard errors for 900 scores.
#[test]
fn optimal_scores_the_optimum() {
    for rule in RULES {
        let mean = mean(rule, 450, &mut Optimal);
        assert!((mean - 254.5).abs() < 6.0, "{rule:?}: {mean}");
    }
}

#[test]
fn greedy_is_between_random_and_optimal() {
    for rule in RULES {
        let (greedy, random) = (mean(rule, 300, &mut Greedy), mean(rule, 300, &mut Random));
        assert!(random < 60.0 && (150.0..240.0).contains(&greedy), "{greedy} {random}");
    }
}

#[test]
fn all_are_listed_and_nonsense_from_a_wire_is_answered() {
    let houses = Houses::standard();
    let names: Vec<&str> = houses.list("yahtzee").iter().map(|(name, _)| *name).collect();
    let levels = ["level-1", "level-2", "level-3", "level-4", "level-5"];
    assert_eq!(names, [&["random", "greedy", "optimal", "champion"][..], &levels].concat());
    let game = Yahtzee::new(&Config::default(), 2, &Seed::from_number(1)).unwrap();
    let seat = game.awaiting().next().unwrap();
    let view = serde_json::to_string(&game.view(Viewer::Seat(seat))).unwrap();
    let impossible = view.replace("\"sixes\":null", "\"sixes\":17");
    let questions = [
        r#"{"ask":"keep","roll":1,"dice":[2,3,6,4,6]}"#,
        r#"{"ask":"keep","roll":77,"dice":[2,3,6,4,6]}"#,
        r#"{"ask":"keep","roll":1,"dice":[0,3,6,4,255]}"#,
        r#"{"ask":"score","dice":[0,3,6,4,255]}"#,
        r#"{"ask":"score","dice":[2,3,5,4,6]}"#,
    ];
    for name in ["greedy", "optimal", "champion", "level-1", "level-3"] {
        let mut bot = houses.make("yahtzee", name).unwrap();
        for (question, view) in questions.iter().flat_map(|q| [(q, &view), (q, &impossible)]) {
            assert!(bot.answer_text("bot", "key", seat, question, view).is_ok());
        }
    }
}
