//! The class protocol: `{Type, Pid, User, Data}`, with two variants that existing programs use.

use super::play::{card_list, dice_term, roll_of, score_at};
use super::term::{Pid, Ref, Term};
use super::{Answers, BadMessage, Password, name, password, spelling, strings};
use agon_core::PlayerName;
use agon_core::statistics::PlayerTallies;
use agon_games::yahtzee::{CardView, Question, ScoreBox, View};
use agon_games::{Refusal, Seat};
use serde::Deserialize;

/// The variant of a program's messages, detected at its login.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variant {
    /// As the protocol defines it.
    Plain,
    /// Single data are in a tuple of one, and a box counts on the third roll only.
    Tupled,
    /// No message has the user's name.
    NoUser,
}

/// A message of a program.
#[derive(Clone, PartialEq, Debug)]
pub enum FromPlayer {
    /// Registers, or logs in.
    Login {
        /// The process to send to.
        pid: Pid,
        /// The account.
        user: PlayerName,
        /// The name as the program spells it.
        spelt: Term,
        /// The password.
        password: Password,
        /// The variant it uses.
        variant: Variant,
    },
    /// Logs out.
    Logout {
        /// The sending process.
        pid: Pid,
        /// The ticket from its login.
        ticket: Term,
    },
    /// Replies to an invitation.
    Invited {
        /// The process to send play requests to.
        pid: Pid,
        /// True if it accepts.
        accepts: bool,
        /// The tournament.
        tournament: Term,
        /// The ticket from its login; absent in [`Variant::NoUser`].
        ticket: Option<Term>,
    },
    /// Answers a play request.
    Action(Action),
    /// Asks for a tournament.
    RequestTournament {
        /// The sending process.
        pid: Pid,
        /// The number of players.
        players: i64,
        /// The number of games per match.
        games: i64,
    },
    /// Asks for the status of a tournament.
    TournamentInfo {
        /// The sending process.
        pid: Pid,
        /// The tournament.
        tournament: Term,
    },
    /// Asks about a player.
    UserInfo {
        /// The sending process.
        pid: Pid,
        /// The player.
        user: PlayerName,
        /// The name as the program spells it.
        spelt: Term,
    },
}

/// A reply to a play request.
#[derive(Clone, PartialEq, Debug)]
pub struct Action {
    /// The sending process.
    pub pid: Pid,
    /// The request's reference; only this says which request it answers.
    pub reference: Term,
    /// The tournament, as it was in the request.
    pub tournament: Term,
    /// The game, as it was in the request.
    pub game: Term,
    /// The roll, as it was in the request.
    pub roll: Term,
    /// Which dice are kept.
    pub keep: [bool; 5],
    /// The box, from 1; 0 rolls again.
    pub line: i64,
}

/// Decodes a message of a program. Unwraps data in a tuple of one.
pub fn read(term: &Term) -> Result<FromPlayer, BadMessage> {
    let Some([kind, pid, rest @ ..]) = term.as_tuple() else { return Err(BadMessage::NotAMessage) };
    let (Some(kind), Some(pid)) = (kind.as_atom(), pid.as_pid()) else {
        return Err(BadMessage::NotAMessage);
    };
    let pid = pid.clone();
    let Some(last) = rest.last() else { return Err(BadMessage::NotAMessage) };
    let data = bare(last);
    match (kind, rest) {
        ("login", [_] | [_, _]) => login(pid, rest),
        ("logout", [_] | [_, _]) => Ok(FromPlayer::Logout { pid, ticket: data.clone() }),
        ("accept_tournament" | "reject_tournament", [_] | [_, _]) => {
            Ok(invited(pid, kind == "accept_tournament", last))
        }
        ("play_action", [_] | [_, _]) => action(pid, last),
        ("request_tournament", [wanted]) => {
            let problem = "not {NumPlayers, GamesPerMatch}";
            let wrong = BadMessage::Field { message: "request_tournament", problem };
            let Some([players, games]) = wanted.as_tuple() else { return Err(wrong) };
            let (Some(players), Some(games)) = (players.int(), games.int()) else {
                return Err(wrong);
            };
            Ok(FromPlayer::RequestTournament { pid, players, games })
        }
        ("tournament_info", [_]) => {
            Ok(FromPlayer::TournamentInfo { pid, tournament: data.clone() })
        }
        ("user_info", [_]) => {
            let (user, spelt) = (name("user_info", data)?, spelling(data));
            Ok(FromPlayer::UserInfo { pid, user, spelt })
        }
        _ => Err(BadMessage::NotAMessage),
    }
}

/// The content of a tuple of one, or the term itself.
fn bare(term: &Term) -> &Term {
    match term.as_tuple() {
        Some([only]) => only,
        _ => term,
    }
}

fn login(pid: Pid, fields: &[Term]) -> Result<FromPlayer, BadMessage> {
    let Some([user, secret]) = fields[fields.len() - 1].as_tuple() else {
        return Err(BadMessage::Field { message: "login", problem: "not {User, Password}" });
    };
    let variant = match fields {
        [_] => Variant::NoUser,
        // A program whose names are atoms; in the other variant this field holds its node.
        [first @ Term::Atom(_), _] if first != user => Variant::Tupled,
        _ => Variant::Plain,
    };
    let spelt = spelling(user);
    let (user, password) = (name("login", user)?, password("login", secret)?);
    Ok(FromPlayer::Login { pid, user, spelt, password, variant })
}

fn invited(pid: Pid, accepts: bool, data: &Term) -> FromPlayer {
    let (tournament, ticket) = match data.as_tuple() {
        Some([tournament, ticket]) => (tournament, Some(ticket.clone())),
        _ => (bare(data), None),
    };
    FromPlayer::Invited { pid, accepts, tournament: tournament.clone(), ticket }
}

fn action(pid: Pid, data: &Term) -> Result<FromPlayer, BadMessage> {
    let wrong = |problem| BadMessage::Field { message: "play_action", problem };
    // Programs without users also copy the turn, or leave it out.
    let (reference, tournament, game, roll, keep, line) = match data.as_tuple() {
        Some([reference, tournament, game, roll, keep, line])
        | Some([reference, tournament, game, _, roll, keep, line]) => {
            (reference, tournament, game, roll, keep, line)
        }
        _ => return Err(wrong("not {Ref, Tid, Gid, Roll, Keep, Line}")),
    };
    let Term::List(flags) = keep else { return Err(wrong("Keep is not a list of booleans")) };
    let flags: Option<Vec<bool>> = flags.iter().map(boolean).collect();
    let keep = flags.and_then(|flags| <[bool; 5]>::try_from(flags).ok());
    Ok(FromPlayer::Action(Action {
        pid,
        reference: reference.clone(),
        tournament: tournament.clone(),
        game: game.clone(),
        roll: roll.clone(),
        keep: keep.ok_or_else(|| wrong("Keep is not five booleans"))?,
        line: line.int().ok_or_else(|| wrong("Line is not a number"))?,
    }))
}

fn boolean(term: &Term) -> Option<bool> {
    match term.as_atom()? {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// The game answers that an action means.
pub fn answers(variant: Variant, question: &Question, action: &Action) -> Result<Answers, Refusal> {
    let roll = roll_of(question);
    // Without users the fourth field may be the turn.
    if variant != Variant::NoUser && action.roll != Term::Int(roll.into()) {
        return Err(Refusal::wrong_kind(format!("the request was for roll {roll}")));
    }
    let scores = action.line != 0 && (roll == 3 || variant != Variant::Tupled);
    if scores {
        let at =
            usize::try_from(action.line).ok().and_then(|line| ScoreBox::at(line.checked_sub(1)?));
        return Ok(Answers::score(question, score_at(at)));
    }
    // After the third roll the rules reject this, because the request is for a box.
    let keep = action.keep.map(|kept| if kept { "true" } else { "false" }).join(",");
    Ok(Answers::one(format!(r#"{{"keep":[{keep}]}}"#)))
}

/// The references in a play request.
#[derive(Clone, PartialEq, Debug)]
pub struct Ids {
    /// The request.
    pub reference: Ref,
    /// The tournament.
    pub tournament: Ref,
    /// The game.
    pub game: Ref,
}

/// As much of a view as this vocabulary shows.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct Sight {
    /// The viewer's seat.
    pub seat: Option<Seat>,
    /// The current turn, from 1.
    pub turn: u8,
    /// The cards by seat.
    pub cards: [CardView; 2],
}

impl From<&View> for Sight {
    fn from(view: &View) -> Sight {
        Sight { seat: view.seat, turn: view.turn, cards: view.cards.clone() }
    }
}

/// The status of a tournament, in this vocabulary.
#[derive(Clone, PartialEq, Debug)]
pub enum Status {
    /// It runs.
    InProgress,
    /// It is over, with this winner.
    Won(PlayerName),
    /// It is over, and a bye won it.
    Bye,
}

/// Encodes messages to one player.
#[derive(Clone, PartialEq, Debug)]
pub struct Writer {
    /// The player's variant.
    pub variant: Variant,
    /// The player's name, as they spell it.
    pub user: Term,
    /// The process of Agon that the player replies to.
    pub manager: Pid,
}

impl Writer {
    /// The login succeeded.
    pub fn logged_in(&self, ticket: &Ref) -> Term {
        self.single("logged_in", ticket)
    }

    /// An invitation to a tournament.
    pub fn start_tournament(&self, tournament: &Ref) -> Term {
        self.single("start_tournament", tournament)
    }

    /// The player has no more games in a tournament.
    pub fn end_tournament(&self, tournament: &Ref) -> Term {
        self.single("end_tournament", tournament)
    }

    /// A play request to the seat whose view this is; `None` if it is a public view.
    pub fn play_request(&self, ids: &Ids, question: &Question, view: &Sight) -> Option<Term> {
        let own = view.seat?.index();
        let mut data: Vec<Term> =
            [&ids.reference, &ids.tournament, &ids.game].map(|id| id.clone().into()).into();
        if self.variant == Variant::NoUser {
            data.push(Term::Int(view.turn.into()));
        }
        data.push(Term::Int(roll_of(question).into()));
        data.push(dice_term(question));
        data.push(card_list(view.cards.get(own)?));
        data.push(card_list(view.cards.get(1 - own)?));
        Some(self.message("play_request", Term::Tuple(data)))
    }

    fn single(&self, kind: &'static str, data: &Ref) -> Term {
        let data = Term::from(data.clone());
        self.message(kind, if self.variant == Variant::Tupled { Term::tuple([data]) } else { data })
    }

    fn message(&self, kind: &'static str, data: Term) -> Term {
        let (kind, manager) = (Term::atom(kind), self.manager.clone().into());
        if self.variant == Variant::NoUser {
            return Term::tuple([kind, manager, data]);
        }
        Term::tuple([kind, manager, self.user.clone(), data])
    }
}

/// A requested tournament has started.
pub fn tournament_started(manager: &Pid, tournament: &Ref, users: &[PlayerName]) -> Term {
    let data = Term::tuple([tournament.clone().into(), strings(users), Term::nil()]);
    Term::tuple([Term::atom("tournament_started"), manager.clone().into(), data])
}

/// The status of a tournament. `tournament` is the term that the program asked about.
pub fn tournament_status(manager: &Pid, tournament: &Term, status: &Status) -> Term {
    let (stands, winner) = match status {
        Status::InProgress => ("in_progress", Term::atom("undefined")),
        Status::Won(winner) => ("complete", Term::string(winner.as_str())),
        Status::Bye => ("complete", Term::atom("bye")),
    };
    let data = Term::tuple([tournament.clone(), Term::atom(stands), winner, Term::nil()]);
    Term::tuple([Term::atom("tournament_status"), manager.clone().into(), data])
}

/// The statistics of a player. `user` is the name as the asking program spelt it.
pub fn user_status(manager: &Pid, user: &Term, record: &PlayerTallies) -> Term {
    let data = Term::tuple([
        user.clone(),
        record.matches.won.into(),
        record.matches.lost.into(),
        record.tournaments_played.into(),
        record.tournaments.won.into(),
    ]);
    Term::tuple([Term::atom("user_status"), manager.clone().into(), data])
}
