//! The vocabulary of the log: past-tense facts, in one list for recovery, replay and observers.
//!
//! A decision is one record of one or more events. Its first event is the *cause*: an input from
//! outside. The events after it are *consequences*, which the state machines derive from the cause;
//! `verify` derives them again. `docs/protocol/log.md` is the contract.

use crate::chain::Head;
use crate::fair::{Commitment, Nonce, Secret};
use crate::fault::Faulted;
use crate::ids::{
    Age, JsonText, MatchId, Millis, PlayerName, Raw, RequestId, Timestamp, TournamentId,
};
use crate::lobby::{AccountKind, Announcement, Cause, PasswordHash, QueueName, Role, TokenHash};
use crate::plan::{MatchPlan, TournamentPlan};
use crate::report::{Bye, GameResult, MatchResult, RoundStage};
use crate::ruling::{Interruption, Override, Ruling};
use agon_games::Seat;
use serde::{Deserialize, Serialize};

/// Why a match restarts from the beginning.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Restart {
    /// Too many games in a row were tied.
    Undecidable,
    /// All players were gone between two games: the games so far do not count.
    AllGone,
}

/// The newest version of records. It grows when a kind of event is added that older programs do not
/// read. [`Event::log_version`] says which kind needs which version.
pub const LOG_VERSION: u32 = 3;

impl Event {
    /// The version of records that a program must know to read this event. In a cluster nobody
    /// writes it before all nodes know that version.
    pub fn log_version(&self) -> u32 {
        match self {
            Event::EntryOrdered(_) | Event::PlayerEntered(_) => 2,
            Event::PlayTimeCounted(_) => 3,
            _ => 1,
        }
    }
}

macro_rules! events {
    ($($(#[$doc:meta])* $tag:literal $name:ident {
        $($(#[$field_doc:meta])* $field:ident: $type:ty,)*
    })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
            pub struct $name { $($(#[$field_doc])* pub $field: $type,)* }

            impl $name {
                /// The event's name in the log.
                pub const TAG: &str = $tag;
            }

            impl From<$name> for Event {
                fn from(event: $name) -> Event {
                    Event::$name(event)
                }
            }
        )*

        /// One fact.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Event { $($(#[$doc])* $name($name),)* }

        impl Event {
            /// The event's name in the log.
            pub fn tag(&self) -> &'static str {
                match self { $(Event::$name(_) => $tag,)* }
            }

            /// Reads the data of an event called `tag`; `None` if there is no such event.
            pub fn read(tag: &str, data: &str) -> Option<Result<Event, serde_json::Error>> {
                match tag {
                    $($tag => Some(serde_json::from_str(data).map(Event::$name)),)*
                    _ => None,
                }
            }

            /// Writes the event's data as JSON.
            pub fn write(&self, out: &mut Vec<u8>) {
                match self { $(Event::$name(event) => serde_json::to_writer(out, event),)* }
                    .expect("events serialise, and a buffer accepts them");
            }
        }
    };
}

events! {
    /// A tournament was created. First event of its stream.
    "tournament-created" TournamentCreated {
        /// The plan.
        plan: TournamentPlan,
        /// The commitment to the tournament's secret.
        commitment: Commitment,
    }

    /// A player answered the greeting.
    "player-greeted" PlayerGreeted {
        /// The player.
        player: PlayerName,
        /// The id of the request.
        request: RequestId,
        /// True if the greeting asked for a proposal.
        proposing: bool,
        /// The player's proposal, if the greeting asked for one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        proposal: Option<Raw>,
    }

    /// A player is out of the tournament for a fault before or after the rounds.
    "player-dropped" PlayerDropped {
        /// The player and the reason.
        faulted: Faulted,
    }

    /// A player entered a tournament that had begun. The next round is the first one they can play.
    "player-entered" PlayerEntered {
        /// The player.
        player: PlayerName,
    }

    /// The games' configuration was chosen from the proposals.
    "config-chosen" ConfigChosen {
        /// The player whose proposal was chosen.
        by: PlayerName,
        /// The configuration, in full.
        config: Raw,
    }

    /// A round was paired; its matches may start.
    "round-paired" RoundPaired {
        /// The round, from 1.
        round: u32,
        /// The stage it belongs to, in a tournament of several.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stage: Option<RoundStage>,
        /// Its matches.
        matches: Vec<MatchPlan>,
        /// The places without a match, each with a reason.
        byes: Vec<Bye>,
    }

    /// An engine resumed a tournament that ends by time. Until its last record before that, the
    /// tournament had played for so long, pauses not counted.
    "play-time-counted" PlayTimeCounted {
        /// How long, in milliseconds.
        played_ms: Millis,
    }

    /// The time for new rounds is over. The tournament ends with its latest round.
    "play-time-ended" PlayTimeEnded {}

    /// The result of a match reached the tournament.
    "match-reported" MatchReported {
        /// The match.
        id: MatchId,
        /// The result of the match.
        result: MatchResult,
        /// The head of the match's stream, including its last event.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<Head>,
    }

    /// The last round is over, and the winners are known. A player who fails at the farewell can
    /// still lose their win.
    "rounds-ended" RoundsEnded {
        /// The winners.
        winners: Vec<PlayerName>,
    }

    /// A player was notified of how the tournament ended for them, and confirmed it.
    "farewell-confirmed" FarewellConfirmed {
        /// The player.
        player: PlayerName,
        /// The id of the request.
        request: RequestId,
    }

    /// The tournament is over. Last event of its stream.
    "tournament-ended" TournamentEnded {
        /// The winners; empty where a bye won.
        winners: Vec<PlayerName>,
        /// The secret that all luck came from.
        secret: Secret,
        /// The head of the stream before this event.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<Head>,
    }

    /// The tournament could not be played. Last event of its stream.
    "tournament-aborted" TournamentAborted {
        /// The reason.
        reason: String,
        /// The secret that all luck would have come from.
        secret: Secret,
        /// The head of the stream before this event.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<Head>,
    }

    /// A match was created. First event of its stream.
    "match-created" MatchCreated {
        /// The plan.
        plan: MatchPlan,
    }

    /// The tournament's secret was lost with the process that held it. From here on luck comes from
    /// a new secret. Matches that were not over restart.
    "luck-renewed" LuckRenewed {
        /// The commitment to the new secret.
        commitment: Commitment,
    }

    /// A player connected to the match.
    "player-arrived" PlayerArrived {
        /// The player.
        player: PlayerName,
        /// The nonce that the player adds to the luck of their games from now on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        nonce: Option<Nonce>,
    }

    /// A player left the match.
    "player-left" PlayerLeft {
        /// The player and the reason.
        faulted: Faulted,
    }

    /// A fault was charged to a player who is still connected.
    "player-faulted" PlayerFaulted {
        /// The player and the fault.
        faulted: Faulted,
    }

    /// The wait for a player timed out.
    "wait-expired" WaitExpired {
        /// The player, and the fault that is charged.
        faulted: Faulted,
    }

    /// A game began.
    "game-started" GameStarted {
        /// Its number in the match, from 1.
        game: u32,
        /// The players by seat.
        seats: Vec<PlayerName>,
        /// The configuration, if it is not the match's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        config: Option<Raw>,
        /// The commitment to the game's secret.
        commitment: Commitment,
        /// The nonce of each seat. In a duplicate game, those of the first game of its group.
        nonces: Vec<Option<Nonce>>,
        /// The first game of its group, whose luck this game has again. Only in duplicate games.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        duplicate_of: Option<u32>,
        /// The result of luck at set-up.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        drawn: Option<JsonText>,
    }

    /// An answer was accepted.
    "answer-accepted" AnswerAccepted {
        /// The id of the request.
        request: RequestId,
        /// The seat.
        seat: Seat,
        /// The answer, in canonical form.
        answer: JsonText,
        /// The result of luck after the answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        drawn: Option<JsonText>,
        /// The time from writing the request to reading the answer.
        took_ms: u64,
    }

    /// A seat was removed from the game.
    "seat-removed" SeatRemoved {
        /// The seat.
        seat: Seat,
        /// The result of luck after the removal.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        drawn: Option<JsonText>,
    }

    /// A game ended, and its luck can be verified.
    "game-ended" GameEnded {
        /// The result.
        result: GameResult,
        /// The game's secret. Absent while other games with the same luck are still to come.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        secret: Option<Secret>,
    }

    /// A player confirmed the result of a game.
    "result-confirmed" ResultConfirmed {
        /// The id of the request.
        request: RequestId,
        /// The player.
        player: PlayerName,
    }

    /// The match restarts from the beginning.
    "match-restarted" MatchRestarted {
        /// The reason.
        why: Restart,
        /// The configuration from now on, if it is not the match's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        config: Option<Raw>,
        /// The secret of a group of duplicate games that was not played to its end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        secret: Option<Secret>,
    }

    /// The match is over. Last event of its stream.
    "match-ended" MatchEnded {
        /// The result.
        result: MatchResult,
        /// The head of the stream before this event.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<Head>,
        /// The secret of a group of duplicate games that was not played to its end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        secret: Option<Secret>,
    }

    /// An operator paused the tournament.
    "tournament-paused" TournamentPaused {
        /// The operator and their reason.
        #[serde(flatten)]
        ruling: Ruling,
    }

    /// The tournament was resumed, and the rulings of the pause take effect.
    "tournament-resumed" TournamentResumed {
        /// The operator and their reason.
        #[serde(flatten)]
        ruling: Ruling,
    }

    /// A restart of the server cut off players who cannot reconnect. The tournament is paused, and
    /// nobody is charged.
    "tournament-interrupted" TournamentInterrupted {
        /// The missing players, and the reason.
        #[serde(flatten)]
        interruption: Interruption,
    }

    /// An operator awarded a tournament that could not be played to its end.
    "tournament-awarded" TournamentAwarded {
        /// The winners, and the operator and their reason.
        #[serde(flatten)]
        result: Override,
    }

    /// An operator overrode the result of a match, or set it before the match ended.
    "result-overridden" ResultOverridden {
        /// The match.
        id: MatchId,
        /// The new winners, and the operator and their reason.
        #[serde(flatten)]
        result: Override,
    }

    /// An operator ordered a replay of a match: its result no longer counts.
    "replay-ordered" ReplayOrdered {
        /// The match.
        id: MatchId,
        /// The operator and their reason.
        #[serde(flatten)]
        ruling: Ruling,
    }

    /// An operator undid a ruling about a match in this pause.
    "ruling-undone" RulingUndone {
        /// The match.
        id: MatchId,
        /// The operator and their reason.
        #[serde(flatten)]
        ruling: Ruling,
    }

    /// The match was paused with its tournament.
    "match-paused" MatchPaused {
        /// The operator who paused the tournament, and their reason.
        #[serde(flatten)]
        ruling: Ruling,
    }

    /// The match was resumed with its tournament.
    "match-resumed" MatchResumed {
        /// The operator who resumed the tournament, and their reason.
        #[serde(flatten)]
        ruling: Ruling,
    }

    /// A game was voided; another takes its place when the match resumes.
    "game-voided" GameVoided {
        /// The game's number.
        game: u32,
        /// The operator and their reason.
        #[serde(flatten)]
        ruling: Ruling,
    }

    /// A game that was voided in this pause counts again.
    "void-undone" VoidUndone {
        /// The game's number.
        game: u32,
        /// The operator and their reason.
        #[serde(flatten)]
        ruling: Ruling,
    }

    /// The match ends, because an operator gave it a result.
    "match-called-off" MatchCalledOff {
        /// The operator and their reason.
        #[serde(flatten)]
        ruling: Ruling,
    }

    /// A finished match restarts from the beginning.
    "match-reopened" MatchReopened {
        /// The operator who ordered the replay, and their reason.
        #[serde(flatten)]
        ruling: Ruling,
    }

    /// The secret of a running tournament, in a stream of its own that is never published.
    "secret-kept" SecretKept {
        /// The tournament.
        tournament: TournamentId,
        /// The secret.
        secret: Secret,
    }

    /// An account was registered.
    "account-registered" AccountRegistered {
        /// Its name.
        account: PlayerName,
        /// The kind of player.
        kind: AccountKind,
        /// The role of the account.
        role: Role,
        /// The password, as a salted hash; house players have none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        password: Option<PasswordHash>,
    }

    /// A guest took a name and a password. The guest's account keeps its games, and the new account
    /// continues it.
    "guest-claimed" GuestClaimed {
        /// The guest.
        guest: PlayerName,
        /// The new account.
        account: PlayerName,
        /// The password of the new account, as a salted hash.
        password: PasswordHash,
    }

    /// The password of an account was changed.
    "password-changed" PasswordChanged {
        /// The account.
        account: PlayerName,
        /// The new password, as a salted hash.
        password: PasswordHash,
    }

    /// An account was blacklisted: it may not enter tournaments.
    "account-blacklisted" AccountBlacklisted {
        /// The account.
        account: PlayerName,
        /// The reason.
        reason: String,
        /// The operator; absent where a tournament's policy blacklisted the account.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<PlayerName>,
        /// The cheat that a policy blacklisted for. Logs of earlier programs do not name it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<Cause>,
    }

    /// An account was taken off the blacklist.
    "blacklist-lifted" BlacklistLifted {
        /// The account.
        account: PlayerName,
        /// The operator.
        by: PlayerName,
        /// The reason.
        reason: String,
    }

    /// An account got a token to authenticate with.
    "token-issued" TokenIssued {
        /// The account.
        account: PlayerName,
        /// The hash of the token.
        token: TokenHash,
        /// When the token expires.
        expires_at: Timestamp,
    }

    /// A token was revoked.
    "token-revoked" TokenRevoked {
        /// The hash of the token.
        token: TokenHash,
    }

    /// An account logged in, and waits at the end of the line.
    "account-logged-in" AccountLoggedIn {
        /// The account.
        account: PlayerName,
    }

    /// An account logged out, or was disconnected for too long.
    "account-logged-out" AccountLoggedOut {
        /// The account.
        account: PlayerName,
    }

    /// The server learnt how to reach a player's program after a restart.
    "player-located" PlayerLocated {
        /// The account.
        account: PlayerName,
        /// The data that the gateway needs to reach the program, as JSON; absent for programs that
        /// reconnect by themselves.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        location: Option<Raw>,
    }

    /// An account that never played and that nobody can log in to was deleted. Its name is free
    /// again.
    "account-dropped" AccountDropped {
        /// The account.
        account: PlayerName,
    }

    /// A player took one more place in a queue.
    "player-enqueued" PlayerEnqueued {
        /// The player.
        player: PlayerName,
        /// The queue.
        queue: QueueName,
    }

    /// A player gave up one place in a queue.
    "player-dequeued" PlayerDequeued {
        /// The player.
        player: PlayerName,
        /// The queue.
        queue: QueueName,
    }

    /// A tournament was announced, and players may sign up.
    "tournament-announced" TournamentAnnounced {
        /// The tournament and its settings.
        announcement: Announcement,
        /// The first sign-up of the series, if this one repeats it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repeats: Option<TournamentId>,
        /// The commitment to the tournament's secret, where luck decides whom it takes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commitment: Option<Commitment>,
        /// Players who would have been taken if they had been connected. They keep their places.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        passed_over: Vec<PlayerName>,
        /// The order in which players are invited, where it is drawn by lot.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        draw_order: Vec<PlayerName>,
    }

    /// A player signed up.
    "player-signed-up" PlayerSignedUp {
        /// The tournament.
        tournament: TournamentId,
        /// The player.
        player: PlayerName,
        /// The player's age, if the player gave one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        age: Option<Age>,
    }

    /// A player withdrew their sign-up, or lost the connection that it depended on.
    "sign-up-withdrawn" SignUpWithdrawn {
        /// The tournament.
        tournament: TournamentId,
        /// The player.
        player: PlayerName,
    }

    /// The first wait for players ended, and the second begins.
    "sign-up-extended" SignUpExtended {
        /// The tournament.
        tournament: TournamentId,
    }

    /// An invited player accepted.
    "invitation-accepted" InvitationAccepted {
        /// The tournament.
        tournament: TournamentId,
        /// The player.
        player: PlayerName,
    }

    /// An invited player rejected.
    "invitation-rejected" InvitationRejected {
        /// The tournament.
        tournament: TournamentId,
        /// The player.
        player: PlayerName,
    }

    /// Drawn players have not replied for a while. They may still accept, and others are invited
    /// too.
    "silence-noted" SilenceNoted {
        /// The tournament.
        tournament: TournamentId,
        /// The players who have not replied.
        players: Vec<PlayerName>,
    }

    /// The next players of a draw are invited, because players before them do not come.
    "players-drawn" PlayersDrawn {
        /// The tournament.
        tournament: TournamentId,
        /// The players who are invited now.
        players: Vec<PlayerName>,
    }

    /// Enough players have accepted, and are now asked to be ready.
    "readiness-asked" ReadinessAsked {
        /// The tournament.
        tournament: TournamentId,
    }

    /// A player who accepted is ready.
    "player-ready" PlayerReady {
        /// The tournament.
        tournament: TournamentId,
        /// The player.
        player: PlayerName,
    }

    /// A tournament starts with these players.
    "tournament-started" TournamentStarted {
        /// The plan.
        plan: TournamentPlan,
    }

    /// A tournament was called off.
    "tournament-called-off" TournamentCalledOff {
        /// The tournament.
        tournament: TournamentId,
        /// The reason.
        reason: String,
    }

    /// A tournament is over.
    "tournament-finished" TournamentFinished {
        /// The tournament.
        tournament: TournamentId,
        /// The winners.
        winners: Vec<PlayerName>,
        /// The head of the tournament's stream, including its last event. A tournament that could
        /// not be played has no stream.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<Head>,
    }

    /// The account that asked for a tournament was notified of its result.
    "result-delivered" ResultDelivered {
        /// The tournament.
        tournament: TournamentId,
    }

    /// A sender without an account asked for a tournament, and waits for the result.
    "requester-noted" RequesterNoted {
        /// The tournament.
        tournament: TournamentId,
        /// The data that the gateway needs to reply, as JSON.
        reply_to: Raw,
    }

    /// The server is up again after an outage, and extends the waits in the lobby.
    "server-resumed" ServerResumed {
        /// The length of the outage: the time since the last event before it.
        away_ms: Millis,
        /// The earliest deadline for replies to invitations.
        #[serde(default, skip_serializing_if = "is_zero")]
        answers_until: Timestamp,
    }

    /// An operator started a tournament that waits for players.
    "start-ordered" StartOrdered {
        /// The tournament.
        tournament: TournamentId,
        /// The operator and their reason.
        #[serde(flatten)]
        ruling: Ruling,
    }

    /// An operator called off a tournament that waits for players.
    "call-off-ordered" CallOffOrdered {
        /// The tournament.
        tournament: TournamentId,
        /// The operator and their reason.
        #[serde(flatten)]
        ruling: Ruling,
    }

    /// An operator removed a player from a sign-up, or from the invited players.
    "withdrawal-ordered" WithdrawalOrdered {
        /// The tournament.
        tournament: TournamentId,
        /// The player.
        player: PlayerName,
        /// The operator and their reason.
        #[serde(flatten)]
        ruling: Ruling,
    }

    /// An operator entered a player into a tournament that runs.
    "entry-ordered" EntryOrdered {
        /// The tournament.
        tournament: TournamentId,
        /// The player.
        player: PlayerName,
        /// The operator and their reason.
        #[serde(flatten)]
        ruling: Ruling,
    }

    /// An operator logged an account out: it leaves the line, and its tokens are revoked.
    "log-out-ordered" LogOutOrdered {
        /// The account.
        account: PlayerName,
        /// The operator and their reason.
        #[serde(flatten)]
        ruling: Ruling,
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(at: &Timestamp) -> bool {
    *at == Timestamp::default()
}

impl PlayerGreeted {
    /// The player's answer, where it was no proposal.
    pub(crate) fn plain_answer(&self) -> &'static str {
        if self.proposing { "null" } else { "true" }
    }
}

#[cfg(test)]
mod tests;
