//! Configuration files: `agon.toml`, and those of `agon run`.

/// The file of a server is valid, or is rejected with a reason.
pub fn of_server(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    said(agon::check_serve_file(text))
}

/// The file of a run is valid, or is rejected with a reason.
pub fn of_run(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    said(agon::check_run_file(text))
}

fn said(checked: Result<(), String>) -> bool {
    if let Err(why) = &checked {
        assert!(!why.trim().is_empty(), "no reason");
    }
    checked.is_ok()
}
