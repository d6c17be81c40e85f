//! The referee protocol: every request carries the whole game and match, and a reference that its
//! answer must repeat.

use super::play::{box_atom, card_dictionary, dice_json, dice_term, roll_of, score_by_name};
use super::term::{Pid, Ref, Term};
use super::{Answers, BadMessage, Password, name, password};
use agon_core::statistics::PlayerTallies;
use agon_core::{GameEnd, GameResult, PlayerName};
use agon_games::Refusal;
use agon_games::yahtzee::{CardView, Play, Question, View};
use serde::Deserialize;

/// A message of a program.
#[derive(Clone, PartialEq, Debug)]
pub enum FromPlayer {
    /// Registers, or logs in.
    Register {
        /// The process to send to.
        pid: Pid,
        /// The reference of this login.
        reference: Ref,
        /// The account.
        user: PlayerName,
        /// The password.
        password: Password,
    },
    /// Asks for a tournament of 2^`rounds` slots, with this many games per match.
    StartTournament {
        /// The requesting process, which is notified of the end.
        pid: Pid,
        /// The reference of the request.
        reference: Ref,
        /// The number of rounds.
        rounds: i64,
        /// The number of games per match.
        games: i64,
    },
    /// Asks about a player.
    StatsRequest {
        /// The sending process.
        pid: Pid,
        /// The reference of the request.
        reference: Ref,
        /// The player.
        user: PlayerName,
    },
    /// Answers a question of the game.
    Answer {
        /// The request's reference; only this says which request it answers.
        reference: Ref,
        /// The kind of request it answers.
        to: Attempt,
        /// The keepers, or the box.
        choice: Term,
    },
}

/// The three kinds of requests of a turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attempt {
    /// After `start_turn`.
    First,
    /// After `second_roll`.
    Second,
    /// After `final_roll`.
    Score,
}

impl Attempt {
    /// The name of the message that answers it.
    pub fn name(self) -> &'static str {
        match self {
            Attempt::First => "first_modification_attempt",
            Attempt::Second => "second_modification_attempt",
            Attempt::Score => "score_selection",
        }
    }

    /// The kind of a question of the game.
    pub fn of(question: &Question) -> Attempt {
        match roll_of(question) {
            1 => Attempt::First,
            2 => Attempt::Second,
            _ => Attempt::Score,
        }
    }
}

/// Decodes a message of a program.
pub fn read(term: &Term) -> Result<FromPlayer, BadMessage> {
    match term.as_tuple() {
        Some([Term::Pid(pid), Term::Ref(reference), kind, fields @ ..]) => {
            asked(pid.clone(), reference.clone(), kind.as_atom(), fields)
        }
        Some([Term::Ref(reference), kind, choice]) => {
            let to = match kind.as_atom() {
                Some("first_modification_attempt") => Attempt::First,
                Some("second_modification_attempt") => Attempt::Second,
                Some("score_selection") => Attempt::Score,
                _ => return Err(BadMessage::NotAMessage),
            };
            let (reference, choice) = (reference.clone(), choice.clone());
            Ok(FromPlayer::Answer { reference, to, choice })
        }
        _ => Err(BadMessage::NotAMessage),
    }
}

fn asked(
    pid: Pid,
    reference: Ref,
    kind: Option<&str>,
    fields: &[Term],
) -> Result<FromPlayer, BadMessage> {
    match (kind, fields) {
        (Some("player_registration"), [user, secret]) => {
            let user = name("player_registration", user)?;
            let password = password("player_registration", secret)?;
            Ok(FromPlayer::Register { pid, reference, user, password })
        }
        (Some("start_tournament"), [rounds, games]) => {
            let problem = "M and K are not numbers";
            let wrong = BadMessage::Field { message: "start_tournament", problem };
            let (Some(rounds), Some(games)) = (rounds.int(), games.int()) else {
                return Err(wrong);
            };
            Ok(FromPlayer::StartTournament { pid, reference, rounds, games })
        }
        (Some("stats_request"), [user]) => {
            Ok(FromPlayer::StatsRequest { pid, reference, user: name("stats_request", user)? })
        }
        _ => Err(BadMessage::NotAMessage),
    }
}

/// The game answers that a choice means.
pub fn answers(question: &Question, to: Attempt, choice: &Term) -> Result<Answers, Refusal> {
    // The rules reject keepers in place of a box, and a box in place of keepers.
    let asked = Attempt::of(question);
    if to != asked && to != Attempt::Score && asked != Attempt::Score {
        let detail = format!("{} was asked for, not {}", asked.name(), to.name());
        return Err(Refusal::wrong_kind(detail));
    }
    if to != Attempt::Score {
        return Ok(Answers::one(format!(r#"{{"keep":{}}}"#, dice_json(choice)?)));
    }
    let at = choice.as_atom().ok_or_else(|| Refusal::malformed("the box is not an atom"))?;
    Ok(Answers::one(score_by_name(at)))
}

/// A match as a request of the native protocol shows it.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct MatchSeen {
    /// The players.
    pub players: Vec<PlayerName>,
    /// The most games of the match.
    pub best_of: u32,
    /// Games won, by player.
    pub won: Vec<f32>,
    /// Finished games.
    pub games: Vec<GameResult>,
}

/// A request to the seat whose view this is; `None` if it is a public view, or the player is not in
/// the match. `cards` are the known cards of finished games, by number and seat.
pub fn request(
    manager: &Pid,
    reference: &Ref,
    user: &PlayerName,
    question: &Question,
    view: &View,
    in_match: &MatchSeen,
    cards: &[(u32, [CardView; 2])],
) -> Option<Term> {
    let kind = match Attempt::of(question) {
        Attempt::First => "start_turn",
        Attempt::Second => "second_roll",
        Attempt::Score => "final_roll",
    };
    Some(Term::tuple([
        manager.clone().into(),
        reference.clone().into(),
        Term::atom(kind),
        dice_term(question),
        game_state(view)?,
        match_state(user, in_match, cards)?,
    ]))
}

/// `{OwnCard, OpponentCard, History}`. The player's own card includes the current turn.
fn game_state(view: &View) -> Option<Term> {
    let own = view.seat?.index();
    let (card, other) = (view.cards.get(own)?, view.cards.get(1 - own)?);
    let now = view.now.get(own)?.as_ref().map(play);
    let turn = |plays: &[Play; 2]| Term::tuple([play(&plays[own]), play(&plays[1 - own])]);
    let history = view.history.iter().map(turn).collect();
    let cards = [card_dictionary(card, now), card_dictionary(other, None)];
    let [card, other] = cards;
    Some(Term::tuple([card, other, Term::List(history)]))
}

/// `{Rolls, Keepers, {Box, Points}}`: all rolls, the dice kept of each, and the score.
fn play(play: &Play) -> Term {
    let values = |at: usize, kept: Option<&[bool; 5]>| -> Term {
        let dice = (0..5).filter(|die| kept.is_none_or(|kept| kept[*die]));
        let dice: Vec<u8> = dice.map(|die| play.rolls[at][die]).collect();
        if dice.is_empty() { Term::nil() } else { Term::Bytes(dice) }
    };
    let rolls = (0..play.rolls.len()).map(|at| values(at, None)).collect();
    let keepers = play.kept.iter().enumerate().take(play.rolls.len());
    let keepers = keepers.map(|(at, kept)| values(at, Some(kept))).collect();
    let scored = match play.scored {
        Some(scored) => Term::tuple([box_atom(scored.at), Term::Int(scored.points.into())]),
        None => Term::atom("no_value"),
    };
    Term::tuple([Term::List(rolls), Term::List(keepers), scored])
}

/// `{OwnWins, OpponentWins, GamesInMatch, LostByCrash, Games}`.
fn match_state(
    user: &PlayerName,
    seen: &MatchSeen,
    cards: &[(u32, [CardView; 2])],
) -> Option<Term> {
    let own = seen.players.iter().position(|player| player == user).filter(|own| *own < 2)?;
    let wins = |at: usize| seen.won.get(at).map(|won| Term::Int(*won as i64));
    let lost = seen.games.iter().filter_map(|game| match &game.end {
        GameEnd::Forfeited { by } => {
            Some(Term::tuple([game.game.into(), Term::string(by.as_str())]))
        }
        GameEnd::Played | GameEnd::Void => None,
    });
    let finished = |game: &GameResult| {
        let own = game.seats.iter().position(|player| player == user).filter(|own| *own < 2)?;
        let points = |at: usize| Term::Int(game.scores.get(at).copied().unwrap_or(0));
        let known = cards.iter().find(|(number, _)| *number == game.game);
        let cards = known.map_or_else(Term::nil, |(_, cards)| {
            let card = |at: usize| card_dictionary(&cards[at], None);
            Term::List(vec![card(own), card(1 - own)])
        });
        Some(Term::tuple([game.game.into(), points(own), points(1 - own), cards]))
    };
    Some(Term::tuple([
        wins(own)?,
        wins(1 - own)?,
        seen.best_of.into(),
        Term::List(lost.collect()),
        Term::List(seen.games.iter().filter_map(finished).collect()),
    ]))
}

/// The login succeeded.
pub fn login_success(reference: &Ref) -> Term {
    Term::tuple([reference.clone().into(), Term::atom("login_success")])
}

/// A requested tournament is over; `bye` is the winner if nobody won.
pub fn tournament_ended(reference: &Ref, winner: Option<&PlayerName>) -> Term {
    let winner = winner.map_or_else(|| Term::atom("bye"), |winner| Term::string(winner.as_str()));
    Term::tuple([reference.clone().into(), Term::atom("tournament_ended"), winner])
}

/// The statistics of a player; an empty dictionary if no account has that name.
pub fn stats_response(reference: &Ref, known: Option<&Known>) -> Term {
    Term::tuple([reference.clone().into(), Term::atom("stats_response"), statistics(known)])
}

/// The public facts about a player.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Known {
    /// The player's record in all games.
    pub record: PlayerTallies,
    /// The player's rank on the ladder of this game, if they have one.
    pub rank: Option<u32>,
}

/// The facts about a player as a dictionary, in the order of its keys.
pub(super) fn statistics(known: Option<&Known>) -> Term {
    let Some(Known { record, rank }) = known else { return Term::nil() };
    let entries = [
        ("cheats", record.cheats),
        ("games_forfeited", record.games_forfeited),
        ("games_lost", record.games.lost),
        ("games_tied", record.games.tied),
        ("games_won", record.games.won),
        ("matches_forfeited", record.matches_forfeited),
        ("matches_lost", record.matches.lost),
        ("matches_won", record.matches.won),
        ("tournaments_lost", record.tournaments.lost),
        ("tournaments_played", record.tournaments_played),
        ("tournaments_won", record.tournaments.won),
    ];
    let pair = |key: &'static str, value: Term| Term::tuple([Term::atom(key), value]);
    let mut all: Vec<Term> = entries.map(|(key, count)| pair(key, count.into())).into();
    // After `matches_won`, in alphabetical order.
    let rank = rank.map_or_else(|| Term::atom("no_value"), Term::from);
    all.insert(8, pair("rank", rank));
    Term::List(all)
}
