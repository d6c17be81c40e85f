//! Credentials of clients: passwords and tokens from files, the environment or a terminal.

use crate::args::LoginArgs;
use crate::exit::Misuse;
use agon_client::Login;
use agon_core::PlayerName;
use anyhow::{Context, Result};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use std::io::{BufRead, IsTerminal, Write};
use std::path::Path;

/// The credentials in the arguments and the environment; `None` without a token and a password. A
/// flag overrides a variable: with `--account`, the token in `AGON_TOKEN` is ignored, because it
/// may belong to another account.
pub(super) fn given(args: &LoginArgs) -> Result<Option<Login>> {
    let by_name = args.account.is_some() || args.password_file.is_some() || args.register;
    if let Some(token) = token(args.token_file.as_deref(), !by_name)? {
        if args.register {
            let why = "--token-file is for an account that exists, --register for one that does \
                       not; leave out one of them";
            return Err(Misuse(why.into()).into());
        }
        return Ok(Some(Login::Token(token)));
    }
    let Some(password) = password(args.password_file.as_deref())? else { return Ok(None) };
    Ok(Some(by_password(args, password)?))
}

/// Refuses `--account` without a password when AGON_TOKEN is set, because it is unclear which is
/// meant.
pub(super) fn check_unused_token(args: &LoginArgs) -> Result<()> {
    let Some(account) = &args.account else { return Ok(()) };
    if variable("AGON_TOKEN").is_none() {
        return Ok(());
    }
    let why = format!(
        "--account {account} and the token in AGON_TOKEN contradict each other: the token says \
         who you are. To log in as {account}, give the password with --password-file FILE or in \
         AGON_PASSWORD; to use the token, leave out --account"
    );
    Err(Misuse(why).into())
}

/// Refuses a token of another account than `--account` names.
pub(super) fn check_account(args: &LoginArgs, account: &PlayerName) -> Result<()> {
    match &args.account {
        Some(wanted) if wanted != account.as_str() => {
            let why = format!(
                "the token belongs to {account}, but --account says {wanted}; give a token of \
                 {wanted}, or leave out --account to play as {account}"
            );
            Err(Misuse(why).into())
        }
        _ => Ok(()),
    }
}

/// A login by password.
pub(super) fn by_password(args: &LoginArgs, password: String) -> Result<Login> {
    let Some(account) = args.account.clone() else {
        return Err(Misuse("no account was given; name yours with --account NAME".into()).into());
    };
    let login = Login::password(account, password);
    Ok(if args.register { login.register() } else { login })
}

/// A token from a file, or from the environment if `environment` is set.
pub(super) fn token(file: Option<&Path>, environment: bool) -> Result<Option<String>> {
    let token = match file {
        Some(path) => Some(first_line(path)?),
        None if environment => variable("AGON_TOKEN"),
        None => None,
    };
    if token.as_ref().is_some_and(|token| !token.bytes().all(|byte| byte.is_ascii_graphic())) {
        return Err(Misuse("invalid token; a token has 64 hexadecimal digits".into()).into());
    }
    Ok(token)
}

/// A password from a file or from the environment.
pub(super) fn password(file: Option<&Path>) -> Result<Option<String>> {
    match file {
        Some(path) => first_line(path).map(Some),
        None => Ok(variable("AGON_PASSWORD")),
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn first_line(path: &Path) -> Result<String> {
    let unread = |error| Misuse(format!("failed to read {}: {error}", path.display()));
    let text = std::fs::read_to_string(path).map_err(unread)?;
    Ok(text.lines().next().unwrap_or_default().trim_end().to_owned())
}

/// Asks for a password; [`Quiet`] hides what is typed. `None` at the end of stdin.
pub(super) fn ask(account: &str) -> Result<Option<String>> {
    let mut line = String::new();
    eprint!("password of {account}: ");
    std::io::stderr().flush()?;
    let count =
        std::io::stdin().lock().read_line(&mut line).context("failed to read a password")?;
    eprintln!();
    Ok((count > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned()))
}

/// Turns the echo of the terminal off until it is dropped; `None` if stdin is no terminal.
pub(super) struct Quiet(Termios);

impl Quiet {
    pub(super) fn start() -> Option<Quiet> {
        let stdin = std::io::stdin();
        if !stdin.is_terminal() {
            return None;
        }
        let before = tcgetattr(&stdin).ok()?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO);
        tcsetattr(&stdin, OptionalActions::Flush, &quiet).ok()?;
        Some(Quiet(before))
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.0);
    }
}
