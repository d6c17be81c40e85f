//! Examines several tournaments at once, lost connections, a restart of the server, and a second
//! login of the account.

use super::{Visit, missing};
use crate::doctor::exam::talk::{Asker, line};
use crate::doctor::host::{By, error};
use crate::doctor::report::{Exam, Failure, Findings, Verdict};
use crate::doctor::session::{Said, Stopped};
use agon_core::TournamentId;
use serde_json::json;
use std::time::Duration;

/// How long the server is down during a restart.
const DOWN: Duration = Duration::from_millis(300);

/// How long a program that was thrown out should stay away.
const AWAY: Duration = Duration::from_secs(2);

/// Times the connection is lost, quick and otherwise.
pub(super) const CUTS: (usize, usize) = (4, 12);

impl Visit<'_> {
    /// Requests of two tournaments at once.
    pub(super) async fn together(&mut self) -> Result<Exam, Stopped> {
        self.step("together");
        let mut findings = Findings::default();
        let detail = "requests of two tournaments at once";
        let (mut one, mut other) = (self.maker(6), self.maker(7));
        other.tournament = TournamentId::from("exam-2".to_owned());
        let shape = &self.game.shapes[0];
        let first = Asker::new(one.table(shape)).case();
        let second = Asker::new(other.table(shape)).case();
        if let Err(failure) = self.here().await? {
            findings.add(failure);
            return Ok(self.exam(findings, "together", detail));
        }
        let about = self.about("exam-2");
        if let (Some(session), Some(first), Some(second)) = (&mut self.session, first, second) {
            session.send(&about).await;
            session.send(&[first.line.clone(), second.line.clone()].concat()).await;
            // In which order it answers is up to it.
            let wanted = [first.id.as_str(), second.id.as_str()];
            let left = session.hear_all(&wanted).await?;
            if !left.is_empty() {
                let what = format!("the program answers {} of two requests", 2 - left.len());
                let fix =
                    "answer the requests of every tournament; ids begin with the tournament's name";
                findings.add(Failure::new(what, fix).sent(&second.line));
                self.session = None;
            }
        }
        Ok(self.exam(findings, "together", detail))
    }

    /// Loses the connection at move after move: before a request, and after one was sent.
    pub(super) async fn cut(&mut self) -> Result<Exam, Stopped> {
        let cuts = if self.settings.quick { CUTS.0 } else { CUTS.1 };
        let (mut findings, mut by_token, mut twice, mut done) = (Findings::default(), 0, 0, 0);
        let mut maker = self.maker(8);
        let mut asker = Asker::new(maker.table(&self.game.shapes[0]));
        while done < cuts && findings.is_empty() {
            let Some(case) = asker.case() else {
                asker = Asker::new(maker.table(&self.game.shapes[0]));
                continue;
            };
            self.step("cut");
            if let Err(failure) = self.here().await? {
                findings.add(failure);
                break;
            }
            if let (Some(session), 1) = (&mut self.session, done % 2) {
                session.send(&case.line).await;
            }
            done += 1;
            self.session = None;
            match self.meet(&["exam-2"]).await? {
                Ok(by) => by_token += usize::from(by == By::Token),
                Err(mut failure) => {
                    failure.what = format!("after a lost connection: {}", failure.what);
                    findings.add(failure);
                    break;
                }
            }
            let Some(session) = &mut self.session else { break };
            let said = session.ask(&case).await?.said;
            twice += std::mem::take(&mut session.twice);
            if !matches!(said, Said::Answer(_)) {
                self.session = None;
                let (what, _) = missing(&said);
                let fix = "a request that comes again under the same id is the same question: \
                           answer it on the new connection, also if you answered it on the old one";
                findings.add(
                    Failure::new(format!("after a lost connection: {what}"), fix).sent(&case.line),
                );
            }
        }
        let again = if twice > 0 { format!("; {twice} answers came twice") } else { String::new() };
        let detail = format!(
            "reconnected after {done} lost connections, {by_token} times by \
            token{again}"
        );
        let good = if by_token == done && twice == 0 { Verdict::Pass } else { Verdict::Note };
        Ok(findings.into_exam("cut", self.game.name(), good, detail))
    }

    /// The server announces that it stops, is down for a moment, and is back.
    pub(super) async fn restart(&mut self) -> Result<Exam, Stopped> {
        self.step("restart");
        let mut findings = Findings::default();
        let mut asker = Asker::new(self.maker(9).table(&self.game.shapes[0]));
        if let Err(failure) = self.here().await? {
            findings.add(failure);
            return Ok(self.exam(findings, "restart", "the program is not connected"));
        }
        if let Some(session) = &mut self.session {
            session.send(&line(&json!({"type": "notice", "about": "stopping"}))).await;
        }
        self.host.close();
        self.session = None;
        tokio::time::sleep(DOWN).await;
        if let Err(error) = self.host.open().await {
            let detail = format!("skipped: the address cannot be reused: {error}");
            return Ok(findings.into_exam("restart", self.game.name(), Verdict::Skipped, detail));
        }
        match (self.meet(&[]).await?, asker.case()) {
            (Err(mut failure), _) => {
                failure.what = format!("after a restart of the server: {}", failure.what);
                failure.fix = "retry until the server is back; it may be down for a minute".into();
                findings.add(failure);
            }
            (Ok(_), Some(case)) => {
                let Some(session) = &mut self.session else {
                    return Ok(self.exam(findings, "restart", ""));
                };
                let said = session.ask(&case).await?.said;
                if !matches!(said, Said::Answer(_)) {
                    self.session = None;
                    let (what, fix) = missing(&said);
                    let what = format!("after a restart of the server: {what}");
                    findings.add(Failure::new(what, fix).sent(&case.line));
                }
            }
            (Ok(_), None) => {}
        }
        Ok(self.exam(findings, "restart", "the server restarted"))
    }

    /// The account logs in elsewhere. Two programs that reconnect at once would take it from each
    /// other for ever.
    pub(super) async fn taken_over(&mut self) -> Result<Exam, Stopped> {
        self.step("taken-over");
        let mut findings = Findings::default();
        if let Err(failure) = self.here().await? {
            findings.add(failure);
            return Ok(self.exam(findings, "taken-over", "the program is not connected"));
        }
        let words = error("taken-over", "the account logged in on another connection".into());
        if let Some(session) = &mut self.session {
            session.send(&words).await;
        }
        self.session = None;
        if self.host.is_called(AWAY).await? {
            let what = "the program reconnects at once after `taken-over`";
            let fix = "exit, or ask the user: two programs with one account would disconnect each \
                       other for ever";
            findings.add(Failure::new(what, fix).sent(&words));
        }
        Ok(self.exam(findings, "taken-over", format!("does not reconnect for {AWAY:?}")))
    }
}
