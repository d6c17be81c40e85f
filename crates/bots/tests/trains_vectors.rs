//! Input and output pairs of Trains that other implementations of the same rules agree on: single
//! questions about maps and turns, whole games, and whole tournaments.
//!
//! They are not part of the repository. `AGON_VECTORS` names the folder with `trains/` in it;
//! without it a folder beside the repository is tried. In CI a missing folder is a failure.

use agon_bots::trains::{BuyNow, Cheat, HoldTen, plain};
use agon_bots::{Ask, Bot};
use agon_games::trains::Trains;
use agon_games::trains::{
    Answer, Color, Config, Connection, Map, Name, Pair, PlayerState, Question,
};
use agon_games::{Game, Outcome, Proposal, Seat, Seed, SetupError, Viewer};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The players of the largest and the smallest game.
const GAME_MAX: usize = 8;
const GAME_MIN: usize = 2;

const TOO_SMALL: &str = "not enough destinations";

#[test]
fn vectors_xmap() {
    run("xmap", |input| {
        let [one, other]: [String; 2] = [read(&input[0]), read(&input[1])];
        let map: Map = read(&input[2]);
        let pair = Name::new(&one).ok().zip(Name::new(&other).ok());
        let pair = pair.and_then(|(one, other)| Pair::new(one, other).ok());
        json!(pair.is_some_and(|pair| map.joined(&pair)))
    });
}

#[test]
fn vectors_xlegal() {
    run("xlegal", |input| {
        let (map, state): (Map, PlayerState) = (read(&input[0]), read(&input[1]));
        let wanted = serde_json::from_str::<Connection>(input[2].get()).ok();
        json!(wanted.is_some_and(|wanted| state.may_acquire(&map, &wanted)))
    });
}

#[test]
fn vectors_xstrategy() {
    run("xstrategy", |input| {
        let (map, state): (Map, PlayerState) = (read(&input[0]), read(&input[1]));
        match plain::hold_10(&map, &state) {
            Answer::Acquire(connection) => json!(connection),
            _ => json!("more cards"),
        }
    });
}

#[test]
fn vectors_xref() {
    run("xref", |input| {
        let (config, mut players) = tournament(input);
        let seats: Vec<usize> = (0..players.len()).collect();
        let ranking = match play(&config, &mut players, &seats) {
            Ok(outcome) => ranking(&outcome, &players),
            Err(SetupError::TooSmall(why)) => return json!(format!("error: {why}")),
            Err(other) => panic!("{other}"),
        };
        json!([ranking, misbehaving(&players)])
    });
}

#[test]
fn vectors_xmanager() {
    run("xmanager", |input| knock_out(tournament(input)));
}

#[test]
fn vectors_xserver() {
    run("xserver", |input| knock_out(tournament(input)));
}

/// People's maps: which are maps, and what is wrong with the others.
#[test]
fn vectors_maps() {
    let Some(folder) = folder("maps") else { return };
    for path in files(&folder, ".json") {
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("readable");
        let parsed = Map::parse(&text);
        // The vectors do not say what is wrong with a bad map, so only this can be checked:
        // no map makes the reader stumble, a good one is written as it was read, and one that is
        // called malformed is refused with a reason.
        match parsed {
            Ok(map) => {
                let written = serde_json::to_string(&map).expect("JSON");
                assert_eq!(Map::parse(&written), Ok(map), "{name}");
                assert!(!name.contains("malformed"), "{name}");
            }
            Err(error) => assert!(!error.to_string().is_empty(), "{name}"),
        }
    }
}

/// Compares every output in a folder with what `solve` makes of its input.
fn run(folder_name: &str, solve: impl Fn(&[Box<RawValue>]) -> Value) {
    let Some(folder) = folder(folder_name) else { return };
    let inputs = files(&folder, "-in.json");
    assert!(!inputs.is_empty(), "{folder_name} is empty");
    let mut wrong = Vec::new();
    for path in &inputs {
        let text = std::fs::read_to_string(path).expect("readable");
        let input: Result<Vec<Box<RawValue>>, _> =
            serde_json::Deserializer::from_str(&text).into_iter().collect();
        let name = path.to_string_lossy();
        let output = format!("{}-out.json", name.strip_suffix("-in.json").expect("an input"));
        let output = std::fs::read_to_string(output).expect("an output for every input");
        let expected: Value = serde_json::from_str(&output).expect("JSON");
        let given = solve(&input.expect("JSON"));
        if given != expected {
            wrong.push(format!("{name}\n  expected {expected}\n  not      {given}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), inputs.len(), wrong.join("\n"));
}

fn folder(name: &str) -> Option<PathBuf> {
    let given = std::env::var_os("AGON_VECTORS").map(PathBuf::from);
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors");
    let folder = given.unwrap_or_else(beside).join("trains").join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(std::env::var_os("CI").is_none(), "no vectors in {}", folder.display());
    eprintln!("not run: no vectors in {}", folder.display());
    None
}

fn files(folder: &Path, suffix: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.to_string_lossy().ends_with(suffix)).collect();
    paths.sort();
    paths
}

fn read<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> T {
    serde_json::from_str(raw.get()).expect("the form the folder has")
}

/// A player of a game or tournament.
struct Player {
    name: String,
    bot: Box<dyn Bot<Trains>>,
    /// The call it never answers, and how many of those it answers before.
    hangs: Option<(String, u32)>,
    misbehaved: bool,
}

impl Player {
    fn new(name: String, strategy: &str) -> Player {
        let call = strategy.strip_prefix("player-bad-");
        let bot: Box<dyn Bot<Trains>> = match strategy {
            "Hold-10" => Box::new(HoldTen),
            "Cheat" => Box::new(Cheat),
            "Buy-Now" => Box::new(BuyNow),
            _ if call.is_some() => Box::new(BuyNow),
            other => panic!("no strategy {other}"),
        };
        let hangs = call.map(|call| (call.into(), if call == "play" { 3 } else { 0 }));
        Player { name, bot, hangs, misbehaved: false }
    }

    /// Returns whether it answers a call; if not it has misbehaved.
    fn answers(&mut self, call: &str) -> bool {
        match &mut self.hangs {
            Some((bad, 0)) if bad == call => self.misbehaved = true,
            Some((bad, before)) if bad == call => *before -= 1,
            _ => {}
        }
        !self.misbehaved
    }
}

/// Reads a map, players and cards.
fn tournament(input: &[Box<RawValue>]) -> (Config, Vec<Player>) {
    let players: Vec<(String, String)> = read(&input[1]);
    let deck: Vec<Color> = read(&input[2]);
    let config = Config { deck: Some(deck), confirm: true, ..Config::default() };
    let config = config.with_map(read(&input[0]));
    (config, players.into_iter().map(|(name, strategy)| Player::new(name, &strategy)).collect())
}

/// Plays one game of the players at these places; all who are still in are told whether they won.
fn play(config: &Config, players: &mut [Player], seated: &[usize]) -> Result<Outcome, SetupError> {
    let mut game = Trains::new(config, seated.len(), &Seed::from_number(0))?;
    while let Some(seat) = game.awaiting().first() {
        let player = &mut players[seated[seat.index()]];
        let question = game.question(seat).expect("an awaited seat is asked");
        let call = match &question {
            Question::Setup { .. } => "setup",
            Question::Pick { .. } => "pick",
            Question::Play {} => "play",
            Question::More { .. } => "more",
        };
        if !player.answers(call) {
            game.remove(seat);
            continue;
        }
        let view = game.view(Viewer::Seat(seat));
        let ask = Ask { player: &player.name, key: call, seat, question: &question, view: &view };
        if game.apply(seat, &player.bot.answer(&ask)).is_err() {
            player.misbehaved = true;
            game.remove(seat);
        }
    }
    let mut outcome = game.outcome().expect("nobody is awaited");
    for seat in Seat::all(seated.len()) {
        // A rank may become empty: nobody moves up.
        let rank = &mut outcome.ranks[seat.index()];
        if rank.is_some() && !players[seated[seat.index()]].answers("win") {
            *rank = None;
        }
    }
    Ok(outcome)
}

fn ranking(outcome: &Outcome, players: &[Player]) -> Vec<BTreeSet<String>> {
    let mut ranking = Vec::new();
    for (player, rank) in players.iter().zip(&outcome.ranks) {
        let Some(rank) = rank else { continue };
        let place = usize::from(*rank) - 1;
        if ranking.len() <= place {
            ranking.resize(place + 1, BTreeSet::new());
        }
        ranking[place].insert(player.name.clone());
    }
    ranking
}

fn misbehaving(players: &[Player]) -> BTreeSet<&str> {
    players.iter().filter(|player| player.misbehaved).map(|player| player.name.as_str()).collect()
}

/// A whole tournament: proposals, rounds, the end.
fn knock_out((config, mut players): (Config, Vec<Player>)) -> Value {
    let proposal = serde_json::to_string(&config.map).expect("JSON");
    let mut standing: Vec<usize> = Vec::new();
    for (at, player) in players.iter_mut().enumerate() {
        if player.answers("start") {
            standing.push(at);
        }
    }
    let seats_max = standing.len().min(GAME_MAX);
    let mut proposals = standing.iter().map(|_| Trains::propose(&config, &proposal, seats_max));
    let chosen = proposals.find_map(|proposal| match proposal {
        Proposal::Fits(config) => Some(config),
        Proposal::Unfit(_) => None,
        Proposal::Refused(refusal) => panic!("{refusal}"),
    });
    let Some(config) = chosen else { return json!(format!("error: {TOO_SMALL}")) };
    let winners = rounds(&config, &mut players, standing);
    // Losers are told before winners, which no player here can tell.
    players.iter_mut().filter(|player| !player.misbehaved).for_each(|player| {
        player.answers("end");
    });
    let winners: BTreeSet<&str> = winners
        .into_iter()
        .filter(|at| !players[*at].misbehaved)
        .map(|at| players[at].name.as_str())
        .collect();
    json!([winners, misbehaving(&players)])
}

fn rounds(config: &Config, players: &mut [Player], mut standing: Vec<usize>) -> Vec<usize> {
    let mut before: Option<Vec<usize>> = None;
    while standing.len() >= GAME_MIN {
        let last = standing.len() <= GAME_MAX;
        let sizes = games_of(standing.len(), GAME_MIN, GAME_MAX).expect("two or more");
        let mut winners = Vec::new();
        let mut rest = &standing[..];
        for size in sizes {
            let (seated, others) = rest.split_at(size);
            let outcome = play(config, players, seated).expect("the map serves the largest game");
            winners.extend(outcome.winners().map(|seat| seated[seat.index()]));
            rest = others;
        }
        if last || before.as_ref() == Some(&winners) {
            return winners;
        }
        before = Some(winners.clone());
        standing = winners;
    }
    standing
}

/// The sizes of the games of a round.
fn games_of(players: usize, min: usize, max: usize) -> Option<Vec<usize>> {
    if players == 0 {
        return Some(Vec::new());
    }
    (min..=max.min(players)).rev().find_map(|size| {
        let rest = games_of(players - size, min, max)?;
        Some(std::iter::once(size).chain(rest).collect())
    })
}

#[test]
fn games_of_a_round_are_as_large_as_the_rest_allows() {
    for (players, min, max, sizes) in [
        (9, 2, 8, &[7, 2][..]),
        (10, 2, 8, &[8, 2]),
        (17, 2, 8, &[8, 7, 2]),
        (6, 3, 5, &[3, 3]),
        (7, 3, 5, &[4, 3]),
        (11, 3, 5, &[5, 3, 3]),
        (26, 6, 8, &[8, 6, 6, 6]),
    ] {
        assert_eq!(games_of(players, min, max).as_deref(), Some(sizes));
    }
}
