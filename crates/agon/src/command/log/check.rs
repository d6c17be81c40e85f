//! `agon log check`: whether a log is complete and unchanged.

use super::survey::{Fault, Survey};
use super::{LogLocation, count};
use crate::args::log::LogCheckArgs;
use crate::exit::Exit;
use anyhow::Result;

/// How many faults are shown; a broken disk has thousands.
const SHOWN_MAX: usize = 20;

pub(super) fn check(args: &LogCheckArgs) -> Result<Exit> {
    let place = LogLocation::find(&args.data)?;
    let survey = Survey::take(&place, args.quiet)?;
    let faults = survey.faults();
    let sound = faults.is_empty() && survey.pages.is_none();
    let torn: Vec<&String> =
        survey.streams.iter().filter(|(_, found)| found.torn).map(|(name, _)| name).collect();
    if args.json {
        let text = serde_json::json!({
            "ok": sound,
            "path": place.path(),
            "streams": survey.streams.len(),
            "events": survey.events(),
            "pages": survey.pages,
            "lost_records": survey.lost_records,
            "torn": torn,
            "faults": faults.iter().take(1_000).collect::<Vec<_>>(),
            "faults_total": faults.len(),
        });
        super::super::print(&format!("{text}\n"))?;
        return Ok(code(sound));
    }
    let streams = count(survey.streams.len() as u64, "stream", "streams");
    let events = count(survey.events(), "event", "events");
    let mut text = match sound {
        true => format!("Sound: {streams}, {events}; {}\n", place.path().display()),
        false => format!("DAMAGED: {}\n", place.path().display()),
    };
    if let Some(pages) = &survey.pages {
        text += &format!("  the database as a file: {pages}\n");
    }
    text += &shown(&faults);
    if !torn.is_empty() {
        let streams = count(torn.len() as u64, "stream", "streams");
        text += &format!(
            "Torn by a crash: the last decision of {streams}; `agon run --resume` continues \
             before it\n"
        );
    }
    if !sound {
        let data = args.data.display();
        text += &format!(
            "Restore a backup, or run `agon log repair {data}` to see what can be saved (it \
             changes nothing)\n"
        );
    }
    super::super::print(&text)?;
    Ok(code(sound))
}

pub(super) fn shown(faults: &[Fault]) -> String {
    let mut text = String::new();
    for Fault { stream, seq, what } in faults.iter().take(SHOWN_MAX) {
        text += &format!("  {stream}, event {seq}: {what}\n");
    }
    if faults.len() > SHOWN_MAX {
        text += &format!("  and {} more; --json lists all\n", faults.len() - SHOWN_MAX);
    }
    text
}

fn code(sound: bool) -> Exit {
    if sound { Exit::Success } else { Exit::Damaged }
}
