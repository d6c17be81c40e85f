//! The queue protocol: every message of a player carries its name and password.

use super::play::{box_by_name, dice_json, dice_of, dice_term, score_by_name};
use super::referee::{Known, statistics};
use super::term::{Pid, Ref, Term};
use super::{Answers, BadMessage, Password, name, password, spelling};
use agon_core::PlayerName;
use agon_games::Refusal;
use agon_games::yahtzee::{Question, ScoreBox};

/// A message of a program.
#[derive(Clone, PartialEq, Debug)]
pub enum FromPlayer {
    /// Logs in; without a password, to learn whether the name is new.
    Login {
        /// The process to send to.
        pid: Pid,
        /// The account.
        user: PlayerName,
        /// The password.
        password: Option<Password>,
    },
    /// Sets the first password, or changes it.
    NewPassword {
        /// The account.
        user: PlayerName,
        /// The new password.
        new: Password,
        /// The previous password, if there was one.
        old: Option<Password>,
    },
    /// An action of an account's owner.
    Owned {
        /// The account.
        user: PlayerName,
        /// The password.
        password: Password,
        /// The action.
        what: Owned,
    },
    /// Starts a tournament of the waiting players.
    StartTournament {
        /// The most players.
        players_max: i64,
    },
    /// Asks about a player.
    StatsRequest {
        /// The player.
        user: PlayerName,
        /// The name as the program spells it.
        spelt: Term,
    },
}

/// Actions that only the owner of an account may take.
#[derive(Clone, PartialEq, Debug)]
pub enum Owned {
    /// Log out.
    Logout,
    /// Enter the queue once more.
    Enqueue,
    /// Leave the queue once.
    Dequeue,
    /// Leave a tournament.
    Drop {
        /// The tournament.
        tournament: Term,
    },
    /// Roll dice again.
    Modify {
        /// The tournament.
        tournament: Term,
        /// The game.
        game: Term,
        /// The dice to roll again, by value.
        dice: Term,
    },
    /// Score and end the turn.
    EndTurn {
        /// The dice as the player knows them.
        dice: Term,
        /// The box, or the box and its points.
        score: Term,
    },
}

/// Decodes a message of a program.
pub fn read(term: &Term) -> Result<FromPlayer, BadMessage> {
    match term.as_tuple().ok_or(BadMessage::NotAMessage)? {
        [Term::Pid(pid), kind, user, secret] if kind.as_atom() == Some("login") => {
            let (pid, user) = (pid.clone(), name("login", user)?);
            Ok(FromPlayer::Login { pid, user, password: optional("login", secret)? })
        }
        [kind, user, new, old] if kind.as_atom() == Some("new_password") => {
            let (user, new) = (name("new_password", user)?, password("new_password", new)?);
            Ok(FromPlayer::NewPassword { user, new, old: optional("new_password", old)? })
        }
        [kind, players] if kind.as_atom() == Some("start_tournament") => {
            let problem = "MaxPlayers is not a number";
            let wrong = BadMessage::Field { message: "start_tournament", problem };
            Ok(FromPlayer::StartTournament { players_max: players.int().ok_or(wrong)? })
        }
        [user, kind] if kind.as_atom() == Some("stats_request") => {
            let spelt = spelling(user);
            Ok(FromPlayer::StatsRequest { user: name("stats_request", user)?, spelt })
        }
        [user, secret, kind, fields @ ..] => owned(user, secret, kind, fields),
        _ => Err(BadMessage::NotAMessage),
    }
}

/// Returns whether a term has the form of a message with a name and a password, whatever they are.
pub fn needs_password(term: &Term) -> bool {
    match term.as_tuple() {
        Some([Term::Pid(_), kind, _, _]) => kind.as_atom() == Some("login"),
        Some([kind, _, _, _]) if kind.as_atom() == Some("new_password") => true,
        Some([_, _, kind, ..]) => OWNED.iter().any(|own| kind.as_atom() == Some(own)),
        _ => false,
    }
}

/// A message of a logged-in player, as text without its password.
pub(super) fn without_password(term: &Term) -> String {
    let items = term.as_tuple().unwrap_or_default().iter().enumerate();
    let shown = items.map(|(at, item)| if at == 1 { "\"…\"".into() } else { item.to_string() });
    format!("{{{}}}", shown.collect::<Vec<String>>().join(","))
}

/// The messages of logged-in players.
const OWNED: [&str; 6] =
    ["logout", "enqueueMe", "dequeueMe", "drop_tournament", "modification", "end_turn"];

fn owned(
    user: &Term,
    secret: &Term,
    kind: &Term,
    fields: &[Term],
) -> Result<FromPlayer, BadMessage> {
    let (message, what) = match (kind.as_atom(), fields) {
        (Some("logout"), []) => ("logout", Owned::Logout),
        (Some("enqueueMe"), []) => ("enqueueMe", Owned::Enqueue),
        (Some("dequeueMe"), []) => ("dequeueMe", Owned::Dequeue),
        (Some("drop_tournament"), [tournament]) => {
            ("drop_tournament", Owned::Drop { tournament: tournament.clone() })
        }
        (Some("modification"), [tournament, game, dice]) => {
            let [tournament, game, dice] = [tournament, game, dice].map(Term::clone);
            ("modification", Owned::Modify { tournament, game, dice })
        }
        (Some("end_turn"), [dice, score]) => {
            ("end_turn", Owned::EndTurn { dice: dice.clone(), score: score.clone() })
        }
        _ => return Err(BadMessage::NotAMessage),
    };
    let (user, password) = (name(message, user)?, password(message, secret)?);
    Ok(FromPlayer::Owned { user, password, what })
}

/// A password, or `false` for none.
fn optional(message: &'static str, term: &Term) -> Result<Option<Password>, BadMessage> {
    match term.as_atom() {
        Some("false") => Ok(None),
        _ => password(message, term).map(Some),
    }
}

/// The game's answer for rolling these dice again; the game expects those that are kept. Dice that
/// are not on the table are passed on, so that the rules reject them.
pub fn modify(question: &Question, again: &Term) -> Result<Answers, Refusal> {
    let named = dice_json(again)?;
    let mut keep = dice_of(question).map(|die| (die, true));
    for die in again.ints().into_iter().flatten().flatten() {
        // Search from the right: among equal dice, the game keeps the leftmost.
        let found = keep.iter_mut().rev().find(|(held, kept)| *kept && i64::from(*held) == die);
        let Some((_, kept)) = found else {
            return Ok(Answers::one(format!(r#"{{"keep":{named}}}"#)));
        };
        *kept = false;
    }
    let keep = keep.map(|(_, kept)| if kept { "true" } else { "false" }).join(",");
    Ok(Answers::one(format!(r#"{{"keep":[{keep}]}}"#)))
}

/// The box that the end of a turn names, if it exists.
pub(super) fn box_of(score: &Term) -> Option<ScoreBox> {
    let at = score.as_tuple().map_or(Some(score), |pair| pair.first())?;
    box_by_name(at.as_atom()?)
}

/// The game's answers for the end of a turn: the box, with the dice and the points as the player
/// knows them.
pub fn end_turn(question: &Question, dice: &Term, score: &Term) -> Result<Answers, Refusal> {
    let wrong = || Refusal::malformed("the score is neither a box nor a box with its points");
    let (at, points) = match score.as_tuple() {
        Some([at, points]) => (at, Some(points.int().ok_or_else(wrong)?)),
        Some(_) => return Err(wrong()),
        None => (score, None),
    };
    let mut answer = score_by_name(at.as_atom().ok_or_else(wrong)?);
    answer.pop();
    answer.push_str(&format!(r#","dice":{}"#, dice_json(dice)?));
    if let Some(points) = points {
        answer.push_str(&format!(r#","points":{points}"#));
    }
    answer.push('}');
    Ok(Answers::score(question, answer))
}

/// The login succeeded.
pub fn authenticated(active: u32, pending: u32) -> Term {
    Term::tuple([Term::atom("authenticated"), active.into(), pending.into()])
}

/// The password is wrong, or the name is already logged in.
pub fn not_authenticated() -> Term {
    Term::tuple([Term::atom("not_authenticated")])
}

/// No account has this name yet.
pub fn new_user() -> Term {
    Term::tuple([Term::atom("new_user")])
}

/// The dice on the table.
pub fn dice(tournament: &Ref, game: &Ref, question: &Question) -> Term {
    let (tournament, game) = (tournament.clone().into(), game.clone().into());
    Term::tuple([Term::atom("dice"), tournament, game, dice_term(question)])
}

/// The player has no more games in a tournament.
pub fn tournament_over(tournament: &Ref) -> Term {
    Term::tuple([Term::atom("tournament_over"), tournament.clone().into()])
}

/// The statistics of a player; an empty dictionary if no account has that name. `user` is the name
/// as the asking program spelt it.
pub fn stats(user: &Term, known: Option<&Known>) -> Term {
    Term::tuple([Term::atom("stats"), user.clone(), statistics(known)])
}
