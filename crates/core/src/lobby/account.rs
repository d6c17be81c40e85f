//! Accounts, their roles and kinds, and the hashes of their passwords and tokens.

use crate::ids::{PlayerName, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The kind of player of an account; visible to all.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum AccountKind {
    /// A program.
    Program,
    /// A person.
    Person,
    /// A player that comes with the server.
    House,
}

/// The rights of an account.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Play.
    Player,
    /// Play, and run tournaments.
    Operator,
}

/// A password as a salted hash in PHC form. The debug form does not show it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PasswordHash(String);

impl PasswordHash {
    /// Wraps a hash that the caller has computed.
    pub fn new(phc: impl Into<String>) -> PasswordHash {
        PasswordHash(phc.into())
    }

    /// The PHC text to check a password against.
    pub fn phc(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHash(hidden)")
    }
}

/// The SHA-256 of a token, in hexadecimal. The server stores no token itself.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TokenHash(String);

impl TokenHash {
    /// The hash of a token.
    pub fn of(token: &str) -> TokenHash {
        use sha2::{Digest, Sha256};
        let digest = Sha256::digest(token.as_bytes());
        TokenHash(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The smallest hash in their order.
    pub(super) fn first() -> TokenHash {
        TokenHash(String::new())
    }
}

/// A text that is no valid name of a queue.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0:?} names no queue: use a-z, 0-9 and -, up to 60")]
pub struct BadQueueName(String);

/// The name of a queue: a preset's, or one an operator made up.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct QueueName(String);

impl QueueName {
    /// Parses a name.
    pub fn new(name: &str) -> Result<QueueName, BadQueueName> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        match (1..=60).contains(&name.len()) && name.bytes().all(plain) {
            true => Ok(QueueName(name.into())),
            false => Err(BadQueueName(name.chars().take(80).collect())),
        }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for QueueName {
    type Error = BadQueueName;

    fn try_from(name: String) -> Result<QueueName, BadQueueName> {
        QueueName::new(&name)
    }
}

impl From<QueueName> for String {
    fn from(name: QueueName) -> String {
        name.0
    }
}

/// An account.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Account {
    /// The kind of player.
    pub kind: AccountKind,
    /// The role of the account.
    pub role: Role,
    /// The hash of the password; house players have none.
    pub password: Option<PasswordHash>,
    /// Why the account may not enter tournaments; `None` if it may.
    pub blacklisted: Option<String>,
    /// When the account was registered. Policies that go by age use the order of registration.
    pub registered_at: Timestamp,
    /// Its number among all accounts.
    pub number: u64,
    /// True if the account was ever in a tournament that started.
    pub played: bool,
    /// The guest whose games this account continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guest: Option<PlayerName>,
}

impl Account {
    /// Returns whether the account is a guest's: a person who has not chosen a password yet.
    pub fn is_guest(&self) -> bool {
        self.kind == AccountKind::Person && self.role == Role::Player && self.password.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_kept_and_not_printed() {
        let password = PasswordHash::new("$argon2id$salt$hash");
        assert_eq!(password.phc(), "$argon2id$salt$hash");
        assert_eq!(format!("{password:?}"), "PasswordHash(hidden)");
    }

    #[test]
    fn tokens_are_known_by_their_sha_256() {
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(TokenHash::of("abc"), TokenHash(known.into()));
        assert!(TokenHash::first() < TokenHash::of("abc"));
        assert!(TokenHash::first() < TokenHash("0".into()));
    }

    #[test]
    fn queues_have_plain_names() {
        for good in ["a", "yahtzee-class", "0-9", &"x".repeat(60)] {
            let name = QueueName::new(good).unwrap();
            assert_eq!((name.as_str(), String::from(name.clone())), (good, good.to_owned()));
        }
        for bad in ["", "A", "a b", "a_b", "é", &"x".repeat(61)] {
            assert_eq!(QueueName::new(bad), Err(BadQueueName(bad.into())));
            assert!(serde_json::from_value::<QueueName>(bad.into()).is_err());
        }
        let long = QueueName::new(&"y".repeat(500)).unwrap_err();
        assert_eq!(long, BadQueueName("y".repeat(80)));
    }
}
