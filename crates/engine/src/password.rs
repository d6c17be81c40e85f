//! The rules for passwords. The driver hashes and checks them.

/// The longest password that the server hashes: hashing time must not grow with a stranger's input.
const PASSWORD_BYTES_MAX: usize = 256;

/// The shortest new password. Existing passwords stay valid whatever their length.
const NEW_PASSWORD_CHARS_MIN: usize = 8;

/// The most common passwords of at least [`NEW_PASSWORD_CHARS_MIN`] characters, a line each.
const COMMON: &str = include_str!("password/common.txt");

/// Checks that a password is good enough for a new account, or as the next one of an existing
/// account. The error is a sentence that says why not.
pub fn check_new(password: &str) -> Result<(), String> {
    check_length(password)?;
    if password.chars().count() < NEW_PASSWORD_CHARS_MIN {
        return Err(format!(
            "the password is too short; choose one of at least {NEW_PASSWORD_CHARS_MIN} characters"
        ));
    }
    let mut letters = password.chars();
    let first = letters.next();
    let lower = password.to_lowercase();
    let is_common = COMMON.lines().any(|common| common == lower);
    match is_common || letters.all(|letter| Some(letter) == first) {
        true => Err("the password is one of the most common ones; choose another".into()),
        false => Ok(()),
    }
}

/// Checks that a password is worth hashing. The error is a sentence that says why not.
pub fn check_length(password: &str) -> Result<(), String> {
    match (1..=PASSWORD_BYTES_MAX).contains(&password.len()) {
        true => Ok(()),
        false => Err(format!("a password has 1 to {PASSWORD_BYTES_MAX} bytes")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_common_passwords_are_refused_for_new_accounts() {
        for bad in ["", "pw", "1234567", "12345678", "Password", "PASSWORD1", "qwertyuiop"] {
            assert!(check_new(bad).is_err(), "{bad}");
        }
        assert!(check_new("zzzzzzzzzzzzzz").is_err(), "one letter again and again");
        assert!(check_new(&"x1".repeat(129)).is_err(), "too long");
        for good in ["pw of ann", "correct horse", "ÄÖÜäöüß!", "swordfish"] {
            check_new(good).unwrap();
        }
    }

    #[test]
    fn the_common_passwords_are_long_enough_to_matter() {
        let all: Vec<&str> = COMMON.lines().collect();
        assert!(all.len() >= 300, "{}", all.len());
        for common in all {
            assert!(common.chars().count() >= NEW_PASSWORD_CHARS_MIN, "{common}");
            assert_eq!(common, common.to_lowercase());
        }
    }
}
