//! Tests that a game by name behaves as the game by type, with JSON; and tests of the trait's
//! default methods.

use super::*;
use crate::fish::Fish;
use crate::trains::Trains;
use crate::yahtzee::Yahtzee;
use schemars::JsonSchema;
use serde::Deserialize;

const VIEWERS: [Viewer; 4] =
    [Viewer::Seat(Seat(0)), Viewer::Seat(Seat(1)), Viewer::Public, Viewer::Full];

fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap()
}

/// Checks that both forms of a game give the same results.
fn assert_same<G: Game>(typed: &G, erased: &dyn GameState, kind: &dyn GameKind) {
    assert_eq!(erased.name(), G::NAME);
    assert_eq!(erased.seats(), typed.seats());
    assert_eq!(erased.awaiting(), typed.awaiting());
    assert_eq!(erased.removed(), typed.removed());
    assert_eq!(erased.outcome(), typed.outcome());
    let drawn = erased.drawn().map(|drawn| drawn.get().to_owned());
    assert_eq!(drawn, typed.drawn().map(|drawn| json(&drawn).get().to_owned()));
    let written = text(|out| assert_eq!(erased.write_drawn(out), drawn.is_some()));
    assert_eq!(written, drawn.unwrap_or_default());
    let names = ["Ann".to_owned()];
    assert_eq!(erased.render(&names, true), typed.render(&names, true));
    for viewer in VIEWERS {
        let view = typed.view(viewer);
        assert_eq!(erased.view(viewer).get(), json(&view).get());
        assert_eq!(text(|out| erased.write_view(viewer, out)), json(&view).get());
        let now = text(|out| typed.write_view_now(viewer, out));
        assert_eq!(text(|out| erased.write_view_now(viewer, out)), now);
        let drawn = kind.draw(json(&view).get(), &names, false).unwrap();
        assert_eq!(drawn, G::draw(&view, &names, false));
    }
    for seat in Seat::all(2) {
        let question = typed.question(seat);
        let said = question.as_ref().map(|question| json(question).get().to_owned());
        assert_eq!(erased.question(seat).map(|question| question.get().to_owned()), said);
        let written = text(|out| assert_eq!(erased.write_question(seat, out), said.is_some()));
        assert_eq!(written, said.unwrap_or_default());
        assert_eq!(erased.only_tells(seat), question.as_ref().is_some_and(G::only_tells));
        let legal: Vec<String> = typed.legal(seat).iter().map(|a| json(a).to_string()).collect();
        let listed: Vec<String> = erased.legal(seat).iter().map(ToString::to_string).collect();
        assert_eq!(listed, legal);
        if let Some(question) = question {
            assert_same_talk(typed, kind, seat, &question);
        }
    }
}

fn assert_same_talk<G: Game>(typed: &G, kind: &dyn GameKind, seat: Seat, question: &G::Question) {
    let view = typed.view(Viewer::Seat(seat));
    let (said, shown) = (json(question), json(&view));
    let asked = kind.ask(said.get(), shown.get()).unwrap();
    assert_eq!(asked.words, G::ask(question, &view));
    assert_eq!(asked.examples, G::examples(question));
    let legal = G::legal_in(question, &view);
    assert_eq!(asked.choices.len(), legal.len());
    for ((phrase, choice), answer) in asked.choices.iter().zip(&legal) {
        assert_eq!(phrase, &G::phrase(answer, question, &view));
        assert_eq!(choice.get(), json(answer).get());
    }
    for typed_in in [asked.choices[0].0.as_str(), "nonsense"] {
        let understood = kind.understand(typed_in, said.get(), shown.get());
        let due = G::understand(typed_in, question, &view).map(|answer| json(&answer).to_string());
        assert_eq!(understood.map(|answer| answer.to_string()), due);
    }
    assert!(kind.ask("[", shown.get()).is_err() && kind.ask(said.get(), "[").is_err());
    assert!(kind.understand("ok", "[", shown.get()).is_err());
    assert!(kind.draw("[", &[], false).is_err());
}

/// Plays one game twice, by its type and by its name.
fn played_alike<G: Game>(registry: &Registry, config: &G::Config) {
    let kind = registry.kind(G::NAME).unwrap();
    let (seed, config_text) = (Seed::from_number(9), json(config));
    let mut typed = G::new(config, 2, &seed).unwrap();
    let mut erased = kind.set_up(config_text.get(), 2, &seed).unwrap();
    let mut choice = 1u64;
    let mut steps = 0;
    while let Some(seat) = typed.awaiting().first() {
        // Positions of a long game are similar, so check only some.
        if steps < 12 || steps % 16 == 0 {
            assert_same(&typed, &*erased, &**kind);
        }
        steps += 1;
        choice = choice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
        let answer = typed.playout_answer(seat, choice);
        let text = json(&answer).to_string();
        let (typed_before, before) = (typed.clone(), erased.clone());
        assert_eq!(erased.check(seat, &format!(" {text} ")).unwrap().get(), text);
        assert_eq!(erased.check(seat, "[").unwrap_err().code, "malformed");
        assert!(*before == *erased);
        typed.apply(seat, &answer).unwrap();
        let mut written = b"before".to_vec();
        assert!(before.clone().apply_to(seat, "[", &mut written).is_err());
        before.clone().apply_to(seat, &text, &mut written).unwrap();
        assert_eq!(String::from_utf8(written), Ok(format!("before{text}")));
        assert_eq!(erased.apply(seat, &text).unwrap().get(), text);
        assert!(*before != *erased);
        let told = erased.tell(&*before, seat, &text);
        assert_eq!(told, typed.tell(&typed_before, seat, &answer));
        assert!(erased.tell(&*before, seat, "[").starts_with("malformed: "));
        let refused = before.check(Seat(7), &text).unwrap_err();
        assert_eq!(Err(refused), typed_before.check(Seat(7), &answer));
    }
    assert_same(&typed, &*erased, &**kind);
    assert!(typed.outcome().is_some());
    let mut other = kind.set_up(config_text.get(), 2, &seed).unwrap();
    other.remove(Seat(1));
    assert_eq!(other.removed(), SeatSet::one(Seat(1)));
}

/// Checks the methods of a kind that need no game.
fn set_up_alike<G: Game>(registry: &Registry) {
    let kind = registry.kind(G::NAME).unwrap();
    assert_eq!((kind.name(), kind.seats()), (G::NAME, G::SEATS));
    let config = kind.default_config();
    assert_eq!(config.get(), json(&G::Config::default()).get());
    assert_eq!(kind.check_config(" {} ").unwrap().get(), config.get());
    assert!(matches!(kind.check_config(r#"{"speed":1}"#), Err(SetupError::Config(_))));
    let after = kind.after_undecidable("{}").unwrap();
    assert_eq!(after.get(), json(&G::after_undecidable(&G::Config::default())).get());
    let too_many = kind.set_up("{}", 99, &Seed::from_number(0)).unwrap_err();
    let (min, max) = (*G::SEATS.start(), *G::SEATS.end());
    assert_eq!(too_many, SetupError::Seats { game: G::NAME, min, max, given: 99 });
    let due = match G::propose(&G::Config::default(), "[]", 2) {
        Proposal::Fits(config) => Proposal::Fits(json(&config).to_string()),
        Proposal::Unfit(why) => Proposal::Unfit(why),
        Proposal::Refused(refusal) => Proposal::Refused(refusal),
    };
    let proposed = match kind.propose("{}", "[]", 2) {
        Proposal::Fits(config) => Proposal::Fits(config.to_string()),
        Proposal::Unfit(why) => Proposal::Unfit(why),
        Proposal::Refused(refusal) => Proposal::Refused(refusal),
    };
    assert_eq!(proposed, due);
    assert!(matches!(kind.propose("[", "[]", 2), Proposal::Unfit(_)));
}

#[test]
fn games_by_name_are_the_games() {
    let registry = Registry::standard();
    assert_eq!(registry.names(), ["yahtzee", "fish", "trains"]);
    assert_eq!(format!("{registry:?}"), r#"["yahtzee", "fish", "trains"]"#);
    set_up_alike::<Yahtzee>(&registry);
    set_up_alike::<Fish>(&registry);
    set_up_alike::<Trains>(&registry);
    played_alike::<Yahtzee>(&registry, &Default::default());
    let fish = serde_json::from_str(r#"{"rows":4,"columns":3,"confirm":true}"#).unwrap();
    played_alike::<Fish>(&registry, &fish);
    let trains = serde_json::from_str(r#"{"confirm":true}"#).unwrap();
    played_alike::<Trains>(&registry, &trains);
}

#[test]
fn games_of_two_kinds_are_not_the_same() {
    let registry = Registry::default();
    let game = |name: &str, seed: u64| {
        registry.kind(name).unwrap().set_up("{}", 2, &Seed::from_number(seed)).unwrap()
    };
    assert!(*game("fish", 1) != *game("trains", 1));
    assert!(*game("fish", 1) != *game("fish", 2));
    assert!(*game("fish", 1) == *game("fish", 1));
}

/// Checks that the published schemas are those of the types.
#[test]
fn schemas_are_those_that_are_published() {
    let registry = Registry::standard();
    for name in registry.names() {
        let top = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/protocol/schemas");
        let file = std::fs::read_to_string(format!("{top}/{name}.json")).unwrap();
        let published: serde_json::Value = serde_json::from_str(&file).unwrap();
        assert_eq!(registry.kind(name).unwrap().schemas(), published, "{name}");
    }
}

#[test]
#[should_panic(expected = "two games are called fish")]
fn duplicate_game_name_panics() {
    let _ = Registry::standard().with::<Fish>();
}

/// Two players add 1 or 2 in turn; the one who reaches five wins.
#[derive(Clone, PartialEq, Debug)]
struct Five {
    sum: u8,
    turn: u8,
    removed: SeatSet,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct FiveConfig {
    start: u8,
}

impl Game for Five {
    const NAME: &'static str = "five";
    const SEATS: RangeInclusive<usize> = 2..=2;
    type Config = FiveConfig;
    type Question = u8;
    type Answer = u8;
    type View = (u8, u8);
    type Drawn = ();

    fn new(config: &FiveConfig, _seats: usize, _seed: &Seed) -> Result<Five, SetupError> {
        Ok(Five { sum: config.start, turn: 0, removed: SeatSet::EMPTY })
    }

    fn seats(&self) -> usize {
        2
    }

    fn awaiting(&self) -> SeatSet {
        if self.sum >= 5 { SeatSet::EMPTY } else { SeatSet::one(Seat(self.turn)) }
    }

    fn question(&self, seat: Seat) -> Option<u8> {
        self.awaiting().contains(seat).then_some(self.sum)
    }

    fn view(&self, _viewer: Viewer) -> (u8, u8) {
        (self.sum, self.turn)
    }

    fn check(&self, seat: Seat, answer: &u8) -> Result<(), Refusal> {
        match self.awaiting().contains(seat) && [1, 2].contains(answer) {
            true => Ok(()),
            false => Err(Refusal::illegal("no", "not now, or not that much")),
        }
    }

    fn apply(&mut self, seat: Seat, answer: &u8) -> Result<(), Refusal> {
        self.check(seat, answer)?;
        (self.sum, self.turn) = (self.sum + answer, 1 - self.turn);
        Ok(())
    }

    fn remove(&mut self, seat: Seat) {
        self.removed.insert(seat);
    }

    fn removed(&self) -> SeatSet {
        self.removed
    }

    fn outcome(&self) -> Option<Outcome> {
        let scores = vec![i64::from(self.turn), 1 - i64::from(self.turn)];
        (self.sum >= 5).then(|| Outcome::by_score(scores, self.removed))
    }

    fn legal_in(_question: &u8, _view: &(u8, u8)) -> Vec<u8> {
        vec![1, 2]
    }

    fn drawn(&self) -> Option<()> {
        (self.sum == 0).then_some(())
    }

    fn render(&self, _names: &[String], _colour: bool) -> String {
        self.sum.to_string()
    }

    fn tell(&self, _before: &Five, _seat: Seat, answer: &u8) -> String {
        format!("adds {answer}")
    }
}

#[test]
fn a_game_may_leave_much_to_the_trait() {
    let registry = Registry::standard().with::<Five>();
    set_up_alike::<Five>(&registry);
    played_alike::<Five>(&registry, &FiveConfig { start: 1 });
    let game = Five::new(&FiveConfig { start: 3 }, 2, &Seed::from_number(0)).unwrap();
    assert_eq!((game.legal(Seat(0)), game.legal(Seat(1))), (vec![1, 2], vec![]));
    let picks: Vec<u8> = (0..4).map(|choice| game.playout_answer(Seat(0), choice)).collect();
    assert_eq!(picks, [1, 2, 1, 2]);
    assert!(!Five::only_tells(&3));
    assert_eq!(text(|out| game.write_view(Viewer::Public, out)), "[3,0]");
    assert_eq!(text(|out| game.write_view_now(Viewer::Public, out)), "[3,0]");
    assert_eq!(Five::draw(&(3, 0), &[], true), "[\n  3,\n  0\n]\n");
    assert_eq!(Five::ask(&3, &(3, 0)), "Your answer to 3, as JSON?");
    assert_eq!(Five::phrase(&2, &3, &(3, 0)), "2");
    assert_eq!(Five::examples(&3), "an answer as JSON");
    assert_eq!(Five::understand("2", &3, &(3, 0)), Ok(2));
    let refused = Five::understand("9", &3, &(3, 0));
    assert_eq!(refused, Err("that is against the rules here".into()));
    assert!(Five::understand("two", &3, &(3, 0)).unwrap_err().starts_with("no answer: "));
    assert_eq!(Five::after_undecidable(&FiveConfig { start: 4 }), FiveConfig { start: 4 });
    let refusal = Refusal::malformed("five takes no proposals");
    assert_eq!(Five::propose(&FiveConfig::default(), "1", 2), Proposal::Refused(refusal));
    let fresh = Five::new(&FiveConfig::default(), 2, &Seed::from_number(0)).unwrap();
    assert_eq!((fresh.drawn_value(), game.drawn_value()), (Some(serde_json::Value::Null), None));
}
