//! The vocabulary of the log: past-tense facts, in one list for recovery, replay and observers.
//!
//! A decision is one record of one or more events. Its first event is the *cause*: what came from
//! outside. Those that follow are *consequences*, which the machines derive from it; `verify`
//! derives them again. `docs/protocol/log.md` is the contract.

use crate::chain::Head;
use crate::fair::{Commitment, Nonce, Secret};
use crate::fault::Faulted;
use crate::ids::{Age, MatchId, Millis, PlayerName, Raw, RequestId, TournamentId};
use crate::lobby::{AccountKind, Announcement, Cause, PasswordHash, QueueName, Role, TokenHash};
use crate::plan::{MatchPlan, TournamentPlan};
use crate::report::{Bye, GameResult, MatchResult};
use crate::ruling::{Interruption, Override, Ruling};
use agon_games::Seat;
use serde::{Deserialize, Serialize};

/// Why a match starts again from nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Restart {
    /// Too many tied games in a row.
    Undecidable,
    /// Everybody was gone between two games: what was played is void.
    AllGone,
}

macro_rules! events {
    ($($(#[$doc:meta])* $tag:literal $name:ident {
        $($(#[$field_doc:meta])* $field:ident: $type:ty,)*
    })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
            pub struct $name { $($(#[$field_doc])* pub $field: $type,)* }

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
            /// All tags, in the order of the vocabulary.
            pub const TAGS: &[&str] = &[$($tag),*];

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
                    .expect("events are JSON and memory takes them");
            }
        }
    };
}

events! {
    /// A tournament was made. First event of its stream.
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
        /// Whether the greeting asked for a proposal.
        proposing: bool,
        /// Its proposal, where one was asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        proposal: Option<Raw>,
    }

    /// A player is out of the tournament for something it did before or after the rounds.
    "player-dropped" PlayerDropped {
        /// The player and the reason.
        faulted: Faulted,
    }

    /// The games' configuration was chosen from the proposals.
    "config-chosen" ConfigChosen {
        /// Whose proposal.
        by: PlayerName,
        /// The configuration, in full.
        config: Raw,
    }

    /// A round was drawn up; its matches may start.
    "round-paired" RoundPaired {
        /// The round, from 1.
        round: u32,
        /// Its matches.
        matches: Vec<MatchPlan>,
        /// Who does not play, and why.
        byes: Vec<Bye>,
    }

    /// The result of a match reached the tournament.
    "match-reported" MatchReported {
        /// The match.
        id: MatchId,
        /// What came of it.
        result: MatchResult,
        /// The head of the match's stream, its last event included.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<Head>,
    }

    /// The last round is over and it is known who won, unless somebody fails at the farewell.
    "rounds-ended" RoundsEnded {
        /// The winners.
        winners: Vec<PlayerName>,
    }

    /// A player was told how the tournament ended for it, and confirmed.
    "farewell-confirmed" FarewellConfirmed {
        /// The player.
        player: PlayerName,
        /// The id of the request.
        request: RequestId,
    }

    /// The tournament is over. Last event of its stream.
    "tournament-ended" TournamentEnded {
        /// Who won; nobody where a bye won.
        winners: Vec<PlayerName>,
        /// The secret all luck came from.
        secret: Secret,
        /// The head of the stream before this event.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<Head>,
    }

    /// The tournament could not be played. Last event of its stream.
    "tournament-aborted" TournamentAborted {
        /// The reason.
        reason: String,
        /// The secret all luck would have come from.
        secret: Secret,
        /// The head of the stream before this event.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<Head>,
    }

    /// A match was made. First event of its stream.
    "match-created" MatchCreated {
        /// The plan.
        plan: MatchPlan,
    }

    /// The tournament's secret was lost with the process that held it; from here on luck comes from
    /// another. Matches that were not over begin anew.
    "luck-renewed" LuckRenewed {
        /// The commitment to the new secret.
        commitment: Commitment,
    }

    /// A player is there.
    "player-arrived" PlayerArrived {
        /// The player.
        player: PlayerName,
        /// What it adds to the luck of its games from now on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        nonce: Option<Nonce>,
    }

    /// A player is no longer there.
    "player-left" PlayerLeft {
        /// The player and the reason.
        faulted: Faulted,
    }

    /// A player did something wrong and is still there.
    "player-faulted" PlayerFaulted {
        /// The player and the fault.
        faulted: Faulted,
    }

    /// A player was waited for in vain.
    "wait-expired" WaitExpired {
        /// The player, and the fault that is charged.
        faulted: Faulted,
    }

    /// A game began.
    "game-started" GameStarted {
        /// Its number in the match, from 1.
        game: u32,
        /// Who sits where.
        seats: Vec<PlayerName>,
        /// The configuration, where it is not the match's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        config: Option<Raw>,
        /// The commitment to the game's secret.
        commitment: Commitment,
        /// What each seat added to the luck.
        nonces: Vec<Option<Nonce>>,
        /// What luck gave at set-up.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        drawn: Option<Raw>,
    }

    /// An answer was accepted.
    "answer-accepted" AnswerAccepted {
        /// The id of the request.
        request: RequestId,
        /// The seat.
        seat: Seat,
        /// The answer, in canonical form.
        answer: Raw,
        /// What luck gave in consequence.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        drawn: Option<Raw>,
        /// How long it took, from the request being written to the answer being read.
        took_ms: u64,
    }

    /// A seat was taken out of the game.
    "seat-removed" SeatRemoved {
        /// The seat.
        seat: Seat,
        /// What luck gave in consequence.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        drawn: Option<Raw>,
    }

    /// A game ended, and its luck can be checked.
    "game-ended" GameEnded {
        /// The result.
        result: GameResult,
        /// The game's secret.
        secret: Secret,
    }

    /// A player confirmed the result of a game.
    "result-confirmed" ResultConfirmed {
        /// The id of the request.
        request: RequestId,
        /// The player.
        player: PlayerName,
    }

    /// The match starts again from nothing.
    "match-restarted" MatchRestarted {
        /// The reason.
        why: Restart,
        /// The configuration from now on, where it is not the match's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        config: Option<Raw>,
    }

    /// The match is over. Last event of its stream.
    "match-ended" MatchEnded {
        /// The result.
        result: MatchResult,
        /// The head of the stream before this event.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<Head>,
    }

    /// An operator stopped the tournament for a while.
    "tournament-paused" TournamentPaused {
        /// The operator and their reason.
        #[serde(flatten)]
        ruling: Ruling,
    }

    /// The tournament goes on, and what was ruled in the pause takes effect.
    "tournament-resumed" TournamentResumed {
        /// The operator and their reason.
        #[serde(flatten)]
        ruling: Ruling,
    }

    /// A restart of the server cut players off that cannot reconnect: the tournament rests, and
    /// nobody is charged.
    "tournament-interrupted" TournamentInterrupted {
        /// Which players are missing, and why.
        #[serde(flatten)]
        interruption: Interruption,
    }

    /// An operator decided who won a tournament that could not be played to its end.
    "tournament-awarded" TournamentAwarded {
        /// Who won; who says so, and why.
        #[serde(flatten)]
        result: Override,
    }

    /// An operator gave a match another result, or one before its end.
    "result-overridden" ResultOverridden {
        /// The match.
        id: MatchId,
        /// Who won instead; who says so, and why.
        #[serde(flatten)]
        result: Override,
    }

    /// An operator had a match played again: its result counts no more.
    "replay-ordered" ReplayOrdered {
        /// The match.
        id: MatchId,
        /// The operator and their reason.
        #[serde(flatten)]
        ruling: Ruling,
    }

    /// What was ruled about a match in this pause does not hold.
    "ruling-undone" RulingUndone {
        /// The match.
        id: MatchId,
        /// The operator and their reason.
        #[serde(flatten)]
        ruling: Ruling,
    }

    /// The match rests with its tournament.
    "match-paused" MatchPaused {
        /// Who paused the tournament, and why.
        #[serde(flatten)]
        ruling: Ruling,
    }

    /// The match goes on with its tournament.
    "match-resumed" MatchResumed {
        /// Who resumed the tournament, and why.
        #[serde(flatten)]
        ruling: Ruling,
    }

    /// A game counts for nothing; another takes its place when the match goes on.
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

    /// A match that was over begins anew.
    "match-reopened" MatchReopened {
        /// Who ordered the replay, and why.
        #[serde(flatten)]
        ruling: Ruling,
    }

    /// The secret of a tournament that runs, in a stream of its own that nobody is shown.
    "secret-kept" SecretKept {
        /// The tournament.
        tournament: TournamentId,
        /// The secret.
        secret: Secret,
    }

    /// An account was made.
    "account-registered" AccountRegistered {
        /// Its name.
        account: PlayerName,
        /// What sort of player it is.
        kind: AccountKind,
        /// What it may do.
        role: Role,
        /// The password, as a salted hash; house players have none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        password: Option<PasswordHash>,
    }

    /// An account has another password.
    "password-changed" PasswordChanged {
        /// The account.
        account: PlayerName,
        /// The new one, as a salted hash.
        password: PasswordHash,
    }

    /// An account may not enter tournaments.
    "account-blacklisted" AccountBlacklisted {
        /// The account.
        account: PlayerName,
        /// The reason.
        reason: String,
        /// The operator who did it; nobody where a tournament's policy did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<PlayerName>,
        /// The cheat that a policy did it for. Logs of earlier programs do not name it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<Cause>,
    }

    /// An account may enter tournaments again.
    "blacklist-lifted" BlacklistLifted {
        /// The account.
        account: PlayerName,
        /// The operator who did it.
        by: PlayerName,
        /// The reason.
        reason: String,
    }

    /// An account got a token to come back with.
    "token-issued" TokenIssued {
        /// The account.
        account: PlayerName,
        /// The hash of the token.
        token: TokenHash,
        /// When it ends.
        expires_at: Millis,
    }

    /// A token is good no more.
    "token-revoked" TokenRevoked {
        /// The hash of the token.
        token: TokenHash,
    }

    /// An account logged in, and waits at the end of the line.
    "account-logged-in" AccountLoggedIn {
        /// The account.
        account: PlayerName,
    }

    /// An account logged out, or was gone for too long.
    "account-logged-out" AccountLoggedOut {
        /// The account.
        account: PlayerName,
    }

    /// It became known how a player's program can be reached after a restart of the server.
    "player-located" PlayerLocated {
        /// The account.
        account: PlayerName,
        /// What its gateway needs to reach it, as JSON; absent for programs that reconnect by
        /// themselves.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        location: Option<Raw>,
    }

    /// An account that never played and that nobody can log in to is no longer there: its name is
    /// free again.
    "account-dropped" AccountDropped {
        /// The account.
        account: PlayerName,
    }

    /// A player wants to play once more.
    "player-enqueued" PlayerEnqueued {
        /// The player.
        player: PlayerName,
        /// The queue.
        queue: QueueName,
    }

    /// A player wants to play once less.
    "player-dequeued" PlayerDequeued {
        /// The player.
        player: PlayerName,
        /// The queue.
        queue: QueueName,
    }

    /// A tournament was asked for, and players may sign up.
    "tournament-announced" TournamentAnnounced {
        /// Which, and how it is to be.
        announcement: Announcement,
        /// The first of the sign-ups it repeats, if it does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repeats: Option<TournamentId>,
        /// The commitment to the tournament's secret, where luck decides whom it takes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commitment: Option<Commitment>,
        /// Players who would have been taken, had they been connected. They keep their places.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        passed_over: Vec<PlayerName>,
        /// The order in which players are asked to come, where it is drawn by lot.
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

    /// A player took the sign-up back, or lost a connection that the sign-up depended on.
    "sign-up-withdrawn" SignUpWithdrawn {
        /// The tournament.
        tournament: TournamentId,
        /// The player.
        player: PlayerName,
    }

    /// The wait for players goes into its second half.
    "sign-up-extended" SignUpExtended {
        /// The tournament.
        tournament: TournamentId,
    }

    /// Somebody who was invited comes.
    "invitation-accepted" InvitationAccepted {
        /// The tournament.
        tournament: TournamentId,
        /// The player.
        player: PlayerName,
    }

    /// Somebody who was invited does not come.
    "invitation-rejected" InvitationRejected {
        /// The tournament.
        tournament: TournamentId,
        /// The player.
        player: PlayerName,
    }

    /// Drawn players have not answered for a while. They may still accept; others are asked too.
    "silence-noted" SilenceNoted {
        /// The tournament.
        tournament: TournamentId,
        /// Who has not answered.
        players: Vec<PlayerName>,
    }

    /// The next players of a draw are asked, because players before them do not come.
    "players-drawn" PlayersDrawn {
        /// The tournament.
        tournament: TournamentId,
        /// Who is asked now.
        players: Vec<PlayerName>,
    }

    /// Enough come; now they are asked to be ready.
    "readiness-asked" ReadinessAsked {
        /// The tournament.
        tournament: TournamentId,
    }

    /// Somebody who comes is ready.
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

    /// A tournament found too few players.
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
        /// The head of the tournament's stream, its last event included; a tournament that could not
        /// be played has no stream.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<Head>,
    }

    /// Whoever asked for a tournament was told what came of it.
    "result-delivered" ResultDelivered {
        /// The tournament.
        tournament: TournamentId,
    }

    /// Somebody without an account asked for a tournament, and waits to be told of it.
    "requester-noted" RequesterNoted {
        /// The tournament.
        tournament: TournamentId,
        /// What the gateway needs to answer, as JSON.
        reply_to: Raw,
    }

    /// The server is back; what waits in the lobby waits for so much longer.
    "server-resumed" ServerResumed {
        /// How long it was away: the time since the last event before.
        away_ms: Millis,
        /// Until when those who are invited may answer in any case.
        #[serde(default, skip_serializing_if = "is_zero")]
        answers_until: Millis,
    }

    /// An operator had a tournament that waits for players start now.
    "start-ordered" StartOrdered {
        /// The tournament.
        tournament: TournamentId,
        /// The operator and their reason.
        #[serde(flatten)]
        ruling: Ruling,
    }

    /// An operator gave up a tournament that waits for players.
    "call-off-ordered" CallOffOrdered {
        /// The tournament.
        tournament: TournamentId,
        /// The operator and their reason.
        #[serde(flatten)]
        ruling: Ruling,
    }

    /// An operator took a player out of a sign-up, or off the invited.
    "withdrawal-ordered" WithdrawalOrdered {
        /// The tournament.
        tournament: TournamentId,
        /// The player.
        player: PlayerName,
        /// The operator and their reason.
        #[serde(flatten)]
        ruling: Ruling,
    }

    /// An operator logged an account out: it leaves the line, and its tokens are good no more.
    "log-out-ordered" LogOutOrdered {
        /// The account.
        account: PlayerName,
        /// The operator and their reason.
        #[serde(flatten)]
        ruling: Ruling,
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(at: &Millis) -> bool {
    *at == 0
}

impl PlayerGreeted {
    /// The answer it gave, where that was no proposal.
    pub(crate) fn plain_answer(&self) -> &'static str {
        if self.proposing { "null" } else { "true" }
    }
}

#[cfg(test)]
mod tests;
