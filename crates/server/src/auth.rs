//! Passwords and tokens: made and checked away from the engine, a few at a time.

use agon_core::lobby::PasswordHash;
use argon2::Argon2;
use argon2::password_hash::{PasswordHash as Phc, PasswordHasher, PasswordVerifier, SaltString};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// The longest password that is looked at: hashing time must not grow with what a stranger sends.
const PASSWORD_BYTES_MAX: usize = 256;

/// Whether a password is worth hashing; otherwise a sentence that says why not.
pub(crate) fn check_length(password: &str) -> Result<(), String> {
    match (1..=PASSWORD_BYTES_MAX).contains(&password.len()) {
        true => Ok(()),
        false => Err(format!("a password has 1 to {PASSWORD_BYTES_MAX} bytes")),
    }
}

/// Where passwords are hashed: as many at once as there are cores, the others wait. Each takes
/// 19 MiB, so their number must not be up to strangers.
#[derive(Clone)]
pub(crate) struct Hashers {
    /// Without one, whoever asks does the work itself.
    runtime: Option<tokio::runtime::Handle>,
    places: Arc<Semaphore>,
}

impl Hashers {
    pub(crate) fn new(runtime: Option<tokio::runtime::Handle>) -> Hashers {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        Hashers { runtime, places: Arc::new(Semaphore::new(cores)) }
    }

    /// Does slow work away from whoever asks for it.
    pub(crate) fn spawn(&self, work: impl FnOnce() + Send + 'static) {
        let hashers = self.clone();
        match &self.runtime {
            Some(runtime) => drop(runtime.spawn(async move { hashers.run(work).await })),
            None => work(),
        }
    }

    /// Does slow work and waits for what comes of it; `None` if it panicked.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let place = Arc::clone(&self.places).acquire_owned().await.ok()?;
        let Some(runtime) = &self.runtime else { return Some(work()) };
        let done = runtime.spawn_blocking(move || {
            let done = work();
            drop(place);
            done
        });
        done.await.ok()
    }
}

/// The system has no random bytes to give.
#[derive(Debug, thiserror::Error)]
#[error("failed to get random bytes from the system: {0}")]
pub(crate) struct NoEntropy(String);

/// Random bytes from the system.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], NoEntropy> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| NoEntropy(error.to_string()))?;
    Ok(bytes)
}

/// A new token: 256 random bits in hexadecimal.
pub(crate) fn new_token() -> Result<String, NoEntropy> {
    Ok(random::<32>()?.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Hashes a password with a fresh salt (argon2id). Slow on purpose.
pub(crate) fn hash(password: &str) -> Result<PasswordHash, String> {
    let salt = random::<16>().map_err(|error| error.to_string())?;
    let salt = SaltString::encode_b64(&salt).map_err(|error| error.to_string())?;
    let hash = Argon2::default().hash_password(password.as_bytes(), &salt);
    hash.map(|phc| PasswordHash::new(phc.to_string())).map_err(|error| error.to_string())
}

/// Whether a password is the one that was hashed. Slow on purpose.
pub(crate) fn matches(password: &str, hash: &PasswordHash) -> bool {
    let parsed = Phc::new(hash.phc());
    parsed
        .is_ok_and(|parsed| Argon2::default().verify_password(password.as_bytes(), &parsed).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_matches_its_own_hash_only() {
        let hashed = hash("swordfish").unwrap();
        assert!(matches("swordfish", &hashed));
        assert!(!matches("Swordfish", &hashed));
        assert_ne!(hash("swordfish").unwrap(), hashed, "salted");
        assert!(!matches("swordfish", &PasswordHash::new("nonsense")));
    }

    #[test]
    fn tokens_differ() {
        let tokens = [new_token().unwrap(), new_token().unwrap()];
        assert_ne!(tokens[0], tokens[1]);
        assert_eq!(tokens[0].len(), 64);
    }
}
