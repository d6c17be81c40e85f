//! Hashing and checking of passwords, and making of tokens. `passwords.rs` decides when to run
//! them.

use agon_core::lobby::PasswordHash;
use argon2::password_hash::{self, Output, ParamsString, PasswordHash as Phc, Salt, SaltString};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use std::sync::Mutex;

/// The system has no random bytes.
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
    let hash = phc(password, salt.as_salt());
    hash.map(|phc| PasswordHash::new(phc.to_string())).map_err(|error| error.to_string())
}

/// Hashes a password for a new account. Slow on purpose.
pub fn hash_password(password: &str) -> Result<PasswordHash, String> {
    agon_engine::password::check_length(password)?;
    hash(password)
}

/// Returns whether a password is the one that was hashed. Slow on purpose.
pub(crate) fn matches(password: &str, hash: &PasswordHash) -> bool {
    let parsed = Phc::new(hash.phc());
    // Hashes are compared in constant time.
    parsed.is_ok_and(|parsed| {
        parsed.hash.is_some() && digest_as(password, &parsed).ok() == parsed.hash
    })
}

fn phc<'a>(password: &str, salt: Salt<'a>) -> password_hash::Result<Phc<'a>> {
    let argon2 = Argon2::default();
    Ok(Phc {
        algorithm: Algorithm::default().ident(),
        version: Some(Version::default().into()),
        params: ParamsString::try_from(argon2.params())?,
        salt: Some(salt),
        hash: Some(digest(&argon2, password, salt, Params::DEFAULT_OUTPUT_LEN)?),
    })
}

/// Hashes a password with the parameters and salt of another hash.
fn digest_as(password: &str, other: &Phc<'_>) -> password_hash::Result<Output> {
    let wrong = password_hash::Error::Password;
    let version = other.version.map(Version::try_from).transpose()?.unwrap_or_default();
    let (algorithm, params) = (Algorithm::try_from(other.algorithm)?, Params::try_from(other)?);
    let length = other.hash.map_or(Params::DEFAULT_OUTPUT_LEN, |hash| hash.len());
    digest(&Argon2::new(algorithm, version, params), password, other.salt.ok_or(wrong)?, length)
}

/// Reusable memory for hashing. If each thread allocated it anew, the allocator would hold many
/// times the memory that is ever in use.
static MEMORY: Mutex<Vec<Vec<Block>>> = Mutex::new(Vec::new());

fn digest(
    argon2: &Argon2<'_>,
    password: &str,
    salt: Salt<'_>,
    length: usize,
) -> password_hash::Result<Output> {
    let mut decoded = [0; Salt::MAX_LENGTH];
    let salt = salt.decode_b64(&mut decoded)?;
    let pool = || MEMORY.lock().unwrap_or_else(|broken| broken.into_inner());
    let mut memory = pool().pop().unwrap_or_default();
    memory.resize(argon2.params().block_count(), Block::default());
    let made = Output::init_with(length, |out| {
        let hashed =
            argon2.hash_password_into_with_memory(password.as_bytes(), salt, out, &mut memory);
        Ok(hashed?)
    });
    pool().push(memory);
    made
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
    fn hashes_are_those_of_argon2_itself() {
        use argon2::password_hash::{PasswordHasher, PasswordVerifier};
        let ours = hash("swordfish").unwrap();
        let parsed = Phc::new(ours.phc()).unwrap();
        assert!(Argon2::default().verify_password(b"swordfish", &parsed).is_ok());
        let salt = SaltString::encode_b64(b"sixteen bytes it").unwrap();
        let theirs = Argon2::default().hash_password(b"tuna", &salt).unwrap().to_string();
        assert!(matches("tuna", &PasswordHash::new(theirs.clone())));
        assert!(!matches("tune", &PasswordHash::new(theirs.clone())));
        assert_eq!(phc("tuna", salt.as_salt()).unwrap().to_string(), theirs);
        let (without, _) = theirs.rsplit_once('$').unwrap();
        assert!(!matches("tuna", &PasswordHash::new(without)), "no hash is nobody's");
    }

    #[test]
    fn tokens_differ() {
        let tokens = [new_token().unwrap(), new_token().unwrap()];
        assert_ne!(tokens[0], tokens[1]);
        assert_eq!(tokens[0].len(), 64);
    }
}
