//! Tokens: their owners, when they expire, and which one makes room for a new one.

use super::{Lobby, TokenHash};
use crate::ids::{PlayerName, Timestamp};
use serde::{Deserialize, Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};

/// A token that is valid until it expires or is revoked.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Token {
    account: PlayerName,
    expires_at: Timestamp,
}

/// All tokens.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(from = "BTreeMap<TokenHash, Token>")]
pub(super) struct Tokens {
    all: BTreeMap<TokenHash, Token>,
    /// By account; the first token of an account is the one that expires first.
    by_account: BTreeMap<PlayerName, BTreeSet<(Timestamp, TokenHash)>>,
    by_end: BTreeSet<(Timestamp, TokenHash)>,
}

impl Tokens {
    /// The account that owns a token; `None` if the token is not valid at `now`.
    pub(super) fn holder(&self, token: &TokenHash, now: Timestamp) -> Option<&PlayerName> {
        let token = self.all.get(token)?;
        (token.expires_at > now).then_some(&token.account)
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn contains(&self, token: &TokenHash) -> bool {
        self.all.contains_key(token)
    }

    /// The tokens of an account, in order of expiry.
    pub(super) fn of(&self, account: &PlayerName) -> impl Iterator<Item = &TokenHash> {
        self.by_account.get(account).into_iter().flatten().map(|(_, token)| token)
    }

    /// The token to revoke if the account gets another one; `None` if there is room.
    pub(super) fn surplus(&self, account: &PlayerName, now: Timestamp) -> Option<TokenHash> {
        let own = self.by_account.get(account)?;
        let mut good = own.range((now.saturating_add(1), TokenHash::first())..);
        let first = good.next()?;
        (1 + good.count() >= Lobby::TOKENS_MAX).then(|| first.1.clone())
    }

    /// Adds a token, and deletes the expired ones.
    pub(super) fn issue(
        &mut self,
        at: Timestamp,
        account: PlayerName,
        token: TokenHash,
        expires_at: Timestamp,
    ) {
        self.revoke(&token);
        self.insert(account, token, expires_at);
        while let Some((end, token)) = self.by_end.first().cloned()
            && end <= at
        {
            self.revoke(&token);
        }
    }

    fn insert(&mut self, account: PlayerName, token: TokenHash, expires_at: Timestamp) {
        self.by_end.insert((expires_at, token.clone()));
        let own = self.by_account.entry(account.clone()).or_default();
        own.insert((expires_at, token.clone()));
        self.all.insert(token, Token { account, expires_at });
    }

    /// Revokes all tokens of an account.
    pub(super) fn revoke_all(&mut self, account: &PlayerName) {
        for (_, token) in self.by_account.get(account).cloned().unwrap_or_default() {
            self.revoke(&token);
        }
    }

    pub(super) fn revoke(&mut self, token: &TokenHash) {
        let Some(Token { account, expires_at }) = self.all.remove(token) else { return };
        let key = (expires_at, token.clone());
        self.by_end.remove(&key);
        if let Some(own) = self.by_account.get_mut(&account) {
            own.remove(&key);
            if own.is_empty() {
                self.by_account.remove(&account);
            }
        }
    }
}

impl From<BTreeMap<TokenHash, Token>> for Tokens {
    fn from(all: BTreeMap<TokenHash, Token>) -> Tokens {
        let mut tokens = Tokens::default();
        for (token, Token { account, expires_at }) in all {
            tokens.insert(account, token, expires_at);
        }
        tokens
    }
}

impl Serialize for Tokens {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.all.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> PlayerName {
        PlayerName::new(text).unwrap()
    }

    #[test]
    fn tokens_are_valid_until_they_expire_and_deleted_at_the_next_issue() {
        let mut tokens = Tokens::default();
        let [one, two, three] = ["one", "two", "three"].map(TokenHash::of);
        tokens.issue(Timestamp::default(), name("ann"), one.clone(), Timestamp::from_ms(100));
        tokens.issue(Timestamp::default(), name("bob"), two.clone(), Timestamp::from_ms(200));
        assert_eq!(
            (
                tokens.holder(&one, Timestamp::from_ms(99)),
                tokens.holder(&one, Timestamp::from_ms(100))
            ),
            (Some(&name("ann")), None)
        );
        assert!(tokens.contains(&one) && !tokens.contains(&three));
        assert_eq!((tokens.len(), tokens.of(&name("bob")).count()), (2, 1));
        tokens.issue(Timestamp::from_ms(100), name("ann"), three.clone(), Timestamp::from_ms(300));
        assert_eq!((tokens.contains(&one), tokens.len()), (false, 2));
        assert!(tokens.of(&name("ann")).eq([&three]));
        // Issued again to another account, the token belongs to that account.
        tokens.issue(Timestamp::from_ms(101), name("bob"), three.clone(), Timestamp::from_ms(400));
        assert_eq!(tokens.holder(&three, Timestamp::from_ms(399)), Some(&name("bob")));
        assert_eq!(tokens.of(&name("ann")).count(), 0);
        tokens.revoke(&three);
        tokens.revoke(&three);
        assert_eq!((tokens.len(), tokens.of(&name("bob")).count()), (1, 1));
        let text = serde_json::to_string(&tokens).unwrap();
        assert_eq!(serde_json::from_str::<Tokens>(&text).unwrap(), tokens);
    }

    #[test]
    fn the_token_that_ends_first_makes_room() {
        let mut tokens = Tokens::default();
        let of = |number: usize| TokenHash::of(&format!("token {number}"));
        for number in 0..Lobby::TOKENS_MAX {
            assert_eq!(tokens.surplus(&name("ann"), Timestamp::from_ms(5)), None, "{number}");
            // The latest token expires first.
            let end = 1_000 - number as u64;
            tokens.issue(Timestamp::default(), name("ann"), of(number), Timestamp::from_ms(end));
        }
        let last = Lobby::TOKENS_MAX - 1;
        assert_eq!(tokens.surplus(&name("ann"), Timestamp::from_ms(5)), Some(of(last)));
        let end = 1_000 - last as u64;
        assert_eq!(tokens.surplus(&name("ann"), Timestamp::from_ms(end - 1)), Some(of(last)));
        assert_eq!(
            tokens.surplus(&name("ann"), Timestamp::from_ms(end)),
            None,
            "one is over by itself"
        );
        assert_eq!(tokens.surplus(&name("bob"), Timestamp::from_ms(5)), None);
    }
}
