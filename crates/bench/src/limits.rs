//! The limit of open files: one for each connection, and some more.

use super::Unmeasurable;
use anyhow::Result;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the limit to this many open files, for this process and its children.
pub(super) fn raise(files: usize) -> Result<()> {
    let limit = getrlimit(Resource::Nofile);
    let wanted = files as u64;
    if limit.current.is_none_or(|current| current >= wanted) {
        return Ok(());
    }
    if let Some(maximum) = limit.maximum.filter(|maximum| *maximum < wanted) {
        let words = format!(
            "{wanted} open files are needed, and this system allows {maximum}; \
             take fewer players, or raise the limit (ulimit -Hn)"
        );
        return Err(Unmeasurable(words).into());
    }
    // Raise it to the maximum: children open files of their own.
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_open_files_are_reported() {
        raise(10).unwrap();
        if getrlimit(Resource::Nofile).maximum.is_some() {
            let error = raise(usize::MAX / 2).unwrap_err();
            assert!(error.is::<Unmeasurable>() && error.to_string().contains("ulimit"), "{error}");
        }
    }
}
