//! Fair luck: nobody can know or steer it in advance.
//!
//! A tournament has one 32-byte secret. The server publishes its *commitment* before anybody plays,
//! and the secret itself when the tournament is over. Every match and every game gets a secret
//! derived from it. A game's commitment is published when the game starts, and its secret when it
//! ends; that reveals nothing about any other game. Seats may add nonces. The server learns them
//! only after it has committed itself, so neither side can steer the dice.
//!
//! ```text
//! commitment(s)      = SHA-256("agon commit 1\n" ‖ s)
//! match secret       = HMAC-SHA-256(key: tournament secret, "agon match 1\n" ‖ match id)
//! game secret        = HMAC-SHA-256(key: match secret, "agon game 1\n" ‖ game number in decimal)
//! game seed          = HMAC-SHA-256(key: game secret, "agon seed 1\n" ‖ tournament id ‖ "\n" ‖ match id
//!                        ‖ "\n" ‖ game number ‖ for every seat: "\n" ‖ its nonce, or nothing)
//! tournament seed    = HMAC-SHA-256(key: tournament secret, "agon pairing 1\n" ‖ tournament id)
//! selection seed     = HMAC-SHA-256(key: tournament secret, "agon selection 1\n" ‖ tournament id)
//! ```
//!
//! Dice, cards and shuffles come from the game seed, random pairings and lots from the tournament
//! and game seeds, as [`agon_games::Luck`] documents. Nothing is ever derived from a commitment.

use crate::ids::{MatchId, TournamentId};
use agon_games::Seed;
use hmac::{Hmac, Mac};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;

/// 32 secret bytes. The debug form does not show them; the serialised form does.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Secret([u8; 32]);

/// The published commitment to a secret that is not revealed yet.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct Commitment([u8; 32]);

/// A nonce: up to 64 hexadecimal digits that a seat adds to the luck of its games.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct Nonce(String);

/// A text that is not a secret, a commitment or a nonce.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadHex(String);

impl Secret {
    /// A secret from 32 bytes of entropy.
    pub fn from_bytes(bytes: [u8; 32]) -> Secret {
        Secret(bytes)
    }

    /// A secret from a number, for repeatable experiments. Anybody who guesses the number knows all
    /// luck in advance.
    pub fn from_seed_number(number: u64) -> Secret {
        let mut hash = Sha256::new();
        hash.update(b"agon seed number 1\n");
        hash.update(number.to_string().as_bytes());
        Secret(hash.finalize().into())
    }

    /// The secret as 64 hexadecimal digits.
    pub fn hex(&self) -> String {
        to_hex(&self.0)
    }

    /// The commitment that is published before the secret.
    pub fn commitment(&self) -> Commitment {
        let mut hash = Sha256::new();
        hash.update(b"agon commit 1\n");
        hash.update(self.0);
        Commitment(hash.finalize().into())
    }

    /// The secret of a tournament, derived from a server-wide secret.
    pub fn of_tournament(&self, id: &TournamentId) -> Secret {
        Secret(self.mac(&[b"agon tournament 1\n", id.as_str().as_bytes()]))
    }

    /// The secret of a match, derived from its tournament's secret.
    pub fn of_match(&self, id: &MatchId) -> Secret {
        Secret(self.mac(&[b"agon match 1\n", id.as_str().as_bytes()]))
    }

    /// The secret of a game, derived from its match's secret.
    pub fn of_game(&self, game: u32) -> Secret {
        Secret(self.mac(&[b"agon game 1\n", game.to_string().as_bytes()]))
    }

    /// The seed of a game's luck, derived from the game's secret.
    pub fn game_seed(
        &self,
        tournament: &TournamentId,
        id: &MatchId,
        game: u32,
        nonces: &[Option<Nonce>],
    ) -> Seed {
        let mut text = format!("agon seed 1\n{tournament}\n{id}\n{game}");
        for nonce in nonces {
            text.push('\n');
            text.push_str(nonce.as_ref().map_or("", |nonce| &nonce.0));
        }
        Seed::from_bytes(self.mac(&[text.as_bytes()]))
    }

    /// The seed of random pairings, derived from a tournament's secret.
    pub fn pairing_seed(&self, tournament: &TournamentId) -> Seed {
        Seed::from_bytes(self.mac(&[b"agon pairing 1\n", tournament.as_str().as_bytes()]))
    }

    /// The seed of a random selection of players, derived from a tournament's secret.
    pub fn selection_seed(&self, tournament: &TournamentId) -> Seed {
        Seed::from_bytes(self.mac(&[b"agon selection 1\n", tournament.as_str().as_bytes()]))
    }

    fn mac(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes any key length");
        parts.iter().for_each(|part| mac.update(part));
        mac.finalize().into_bytes().into()
    }
}

impl Nonce {
    /// Parses a nonce.
    pub fn new(text: &str) -> Result<Nonce, BadHex> {
        let hex = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if text.is_empty() || text.len() > 64 || !hex {
            return Err(BadHex("a nonce is 1 to 64 digits of 0-9 and a-f".into()));
        }
        Ok(Nonce(text.into()))
    }
}

impl TryFrom<String> for Nonce {
    type Error = BadHex;

    fn try_from(text: String) -> Result<Nonce, BadHex> {
        Nonce::new(&text)
    }
}

impl From<Nonce> for String {
    fn from(nonce: Nonce) -> String {
        nonce.0
    }
}

macro_rules! hex_serde {
    ($name:ident) => {
        impl TryFrom<String> for $name {
            type Error = BadHex;

            fn try_from(text: String) -> Result<$name, BadHex> {
                from_hex(&text).map($name)
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> String {
                to_hex(&value.0)
            }
        }
    };
}

hex_serde!(Secret);
hex_serde!(Commitment);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(hidden)")
    }
}

impl fmt::Debug for Commitment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Commitment({})", to_hex(&self.0))
    }
}

impl fmt::Display for Commitment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_hex(&self.0))
    }
}

pub(crate) fn to_hex(bytes: &[u8; 32]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn from_hex(text: &str) -> Result<[u8; 32], BadHex> {
    let bad = || BadHex(format!("expected 64 hexadecimal digits, found {} characters", text.len()));
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(bad());
    }
    let mut bytes = [0; 32];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[at * 2..at * 2 + 2], 16).map_err(|_| bad())?;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_game_and_every_nonce_has_luck_of_its_own() {
        let secret = Secret::from_seed_number(1);
        let (tournament, first) = (TournamentId::from("t"), MatchId::of(1, 1));
        let of_first = secret.of_match(&first);
        assert_ne!(of_first, secret.of_match(&MatchId::of(1, 2)));
        assert_ne!(of_first.of_game(1), of_first.of_game(2));
        let game = of_first.of_game(1);
        let seed = |nonces: &[Option<Nonce>]| game.game_seed(&tournament, &first, 1, nonces);
        let nonce = |text| Some(Nonce::new(text).unwrap());
        assert_ne!(seed(&[None, None]), seed(&[nonce("ab"), None]));
        assert_ne!(seed(&[nonce("ab"), None]), seed(&[None, nonce("ab")]));
    }

    #[test]
    fn the_commitment_is_the_documented_hash() {
        let secret = Secret::from_bytes([7; 32]);
        let mut hash = Sha256::new();
        hash.update([&b"agon commit 1\n"[..], &[7; 32]].concat());
        assert_eq!(secret.commitment().0, <[u8; 32]>::from(hash.finalize()));
        let text = serde_json::to_string(&secret).unwrap();
        assert_eq!(serde_json::from_str::<Secret>(&text).unwrap(), secret);
        assert_eq!(format!("{secret:?}"), "Secret(hidden)");
    }

    #[test]
    fn nonces_are_hexadecimal() {
        assert!(Nonce::new("00ff").is_ok());
        let longest = "a".repeat(64);
        assert_eq!(String::from(Nonce::new(&longest).unwrap()), longest);
        for bad in ["", "xyz", "AB", "a\nb", &"a".repeat(65)] {
            assert!(Nonce::new(bad).is_err(), "{bad:?}");
            assert!(serde_json::from_value::<Nonce>(bad.into()).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn secrets_are_64_hexadecimal_digits() {
        let good = "0123456789abcdef".repeat(4);
        let secret = Secret::try_from(good.clone()).unwrap();
        assert_eq!(secret.hex(), good);
        assert_eq!(String::from(secret.clone()), good);
        assert_eq!(secret, Secret::from_bytes(from_hex(&good).unwrap()));
        assert_eq!(from_hex(&good).unwrap()[..3], [0x01, 0x23, 0x45]);
        let commitment = Commitment::try_from(good.clone()).unwrap();
        assert_eq!(commitment.to_string(), good);
        assert_eq!(format!("{commitment:?}"), format!("Commitment({good})"));
        for (from, to) in [("0", ""), ("0", "00"), ("01", "é"), ("0", "g"), ("01", "+1")] {
            let bad = good.replacen(from, to, 1);
            let count = bad.len();
            let said = Secret::try_from(bad).unwrap_err().to_string();
            assert_eq!(said, format!("expected 64 hexadecimal digits, found {count} characters"));
        }
    }

    /// Applies the formulas of the module step by step.
    #[test]
    fn derived_secrets_and_seeds_match_the_documented_formulas() {
        let secret = Secret::from_bytes([7; 32]);
        let mac = |key: &Secret, text: &str| -> [u8; 32] {
            let mut mac = Hmac::<Sha256>::new_from_slice(&key.0).unwrap();
            mac.update(text.as_bytes());
            mac.finalize().into_bytes().into()
        };
        let (tournament, id) = (TournamentId::from("cup"), MatchId::of(2, 3));
        let of_match = Secret(mac(&secret, "agon match 1\nr2m3"));
        assert_eq!(secret.of_match(&id), of_match);
        let of_game = Secret(mac(&of_match, "agon game 1\n12"));
        assert_eq!(of_match.of_game(12), of_game);
        let nonces = [None, Some(Nonce::new("ab").unwrap())];
        let seed = of_game.game_seed(&tournament, &id, 12, &nonces);
        assert_eq!(*seed.bytes(), mac(&of_game, "agon seed 1\ncup\nr2m3\n12\n\nab"));
        let pairing = secret.pairing_seed(&tournament);
        assert_eq!(*pairing.bytes(), mac(&secret, "agon pairing 1\ncup"));
        let selection = secret.selection_seed(&tournament);
        assert_eq!(*selection.bytes(), mac(&secret, "agon selection 1\ncup"));
        assert_eq!(secret.of_tournament(&tournament).0, mac(&secret, "agon tournament 1\ncup"));
        let mut hash = Sha256::new();
        hash.update(b"agon seed number 1\n42");
        assert_eq!(Secret::from_seed_number(42).0, <[u8; 32]>::from(hash.finalize()));
    }
}
