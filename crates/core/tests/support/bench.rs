//! One match on a bench: commands by hand, one after the other, under virtual time.

use super::plan::{match_of, name, of_preset};
use agon_bots::Houses;
use agon_core::{
    Event, Fault, FaultKind, Match, MatchCommand, MatchPlan, MatchResult, Nonce, PlayerName,
    Rejection, RequestId, Secret, Secrets, Timestamp, record_lines, verify,
};
use agon_games::Registry;

/// A match, what it wrote, and the time.
pub(crate) struct Bench {
    pub(crate) live: Match,
    pub(crate) now: Timestamp,
    pub(crate) lines: Vec<String>,
}

impl Bench {
    /// Best of `best_of` between `ann` and `bob` under a preset of Yahtzee, both there.
    pub(crate) fn yahtzee(preset: &str, best_of: u32) -> Bench {
        let mut bench = Bench::absent(preset, best_of, |_| {});
        bench.arrive("ann");
        bench.arrive("bob");
        bench
    }

    /// The same with nobody there yet, and a plan that `change` has changed.
    pub(crate) fn absent(preset: &str, best_of: u32, change: impl Fn(&mut MatchPlan)) -> Bench {
        let mut plan = match_of(&of_preset(preset, "", vec![name("ann"), name("bob")]));
        plan.rules.best_of = best_of;
        change(&mut plan);
        Bench::new(plan, 3)
    }

    pub(crate) fn new(plan: MatchPlan, seed: u64) -> Bench {
        let games = Registry::standard();
        let kind = games.kind(&plan.game).expect("a game").clone();
        let secret = Secret::from_seed_number(seed).of_match(&plan.id);
        let now = 1_000;
        let (live, event) =
            Match::create(plan, kind, Secrets::Known(secret), Timestamp::from_ms(now))
                .expect("a plan");
        Bench {
            live,
            now: Timestamp::from_ms(now),
            lines: record_lines("match/t/r1m1", 0, Timestamp::from_ms(now), &[event]),
        }
    }

    /// Gives a command; what follows by tag. A refusal must change nothing.
    pub(crate) fn step(&mut self, command: MatchCommand) -> Result<Vec<&'static str>, Rejection> {
        let before = self.live.clone();
        match self.live.step(self.now, command) {
            Ok(events) => {
                let version = self.lines.len() as u64;
                self.lines.extend(record_lines("match/t/r1m1", version, self.now, &events));
                Ok(events.iter().map(Event::tag).collect())
            }
            Err(rejection) => {
                assert!(self.live.same_state(&before), "{rejection} changed something");
                Err(rejection)
            }
        }
    }

    pub(crate) fn arrive(&mut self, player: &str) -> Vec<&'static str> {
        self.step(MatchCommand::Arrive { player: name(player), nonce: None }).expect("a player")
    }

    pub(crate) fn arrive_with(&mut self, player: &str, nonce: &str) -> Vec<&'static str> {
        let nonce = Some(Nonce::new(nonce).expect("a nonce"));
        self.step(MatchCommand::Arrive { player: name(player), nonce }).expect("a player")
    }

    pub(crate) fn crash(&mut self, player: &str) -> Vec<&'static str> {
        let fault = Fault::disconnected("lost");
        self.step(MatchCommand::Leave { player: name(player), fault }).expect("a player")
    }

    pub(crate) fn withdraw(&mut self, player: &str) -> Vec<&'static str> {
        let fault = Fault::new(FaultKind::Withdrew, "withdrew", "gave up");
        self.step(MatchCommand::Leave { player: name(player), fault }).expect("a player")
    }

    pub(crate) fn answer(
        &mut self,
        player: &str,
        request: &RequestId,
        answer: &str,
    ) -> Result<Vec<&'static str>, Rejection> {
        let (request, answer) = (request.clone(), answer.to_owned());
        self.step(MatchCommand::Answer { player: name(player), request, answer, took_ms: None })
    }

    /// The open request of a player.
    pub(crate) fn open(&self, player: &str) -> RequestId {
        let open = self.live.pending().into_iter().find(|p| p.player.as_str() == player);
        open.unwrap_or_else(|| panic!("{player} is not asked")).id
    }

    /// Some legal answer of a player that is asked.
    pub(crate) fn legal(&self, player: &str) -> String {
        let referee = self.live.referee().expect("a game");
        let seat = referee.seat_of(&name(player)).expect("a seat");
        referee.game().legal(seat)[0].to_string()
    }

    /// Lets `ms` pass; what was due by then happened, by tag.
    pub(crate) fn pass(&mut self, ms: u64) -> Vec<&'static str> {
        let until = self.now + ms;
        let mut tags = Vec::new();
        while let Some(at) = self.live.deadline().filter(|at| *at <= until) {
            self.now = self.now.max(at);
            let command = self.live.due(self.now).expect("a deadline has something due");
            tags.extend(self.step(command).expect("a due answer is accepted"));
        }
        self.now = until;
        tags
    }

    /// Plays the game in progress to its end; `strong` plays to win, who is not plays anything, and
    /// with nobody or everybody strong both do the same, which is a tie under duplicate dice.
    pub(crate) fn play(&mut self, strong: Option<&str>) {
        let mut greedy = Houses::standard().make("yahtzee", "greedy").expect("a house player");
        let number = self.live.referee().expect("a game").number();
        while self.live.referee().is_some_and(|referee| referee.number() == number) {
            let pending = self.live.pending().into_iter().next().expect("somebody is asked");
            let player = pending.player.as_str().to_owned();
            let referee = self.live.referee().expect("a game");
            let seat = referee.seat_of(&pending.player).expect("a seat");
            let answer = match strong == Some(&player) {
                true => greedy.answer(&player, "key", seat, referee.game()).to_string(),
                false => self.legal(&player),
            };
            self.answer(&player, &pending.id, &answer).expect("a legal answer");
        }
        let (result, _) = self.live.finished().last().expect("a finished game");
        let winners: Vec<&str> = result.winners.iter().map(PlayerName::as_str).collect();
        match strong {
            Some(strong) => assert_eq!(winners, [strong]),
            None => assert_eq!(winners.len(), 2, "a tie"),
        }
    }

    /// One answer of a player that is asked, whatever it is.
    pub(crate) fn play_one(&mut self, player: &str) {
        let (request, answer) = (self.open(player), self.legal(player));
        self.answer(player, &request, &answer).expect("a legal answer");
    }

    /// Returns whether the game in progress is game `number`.
    pub(crate) fn plays(&self, number: u32) -> bool {
        self.live.referee().is_some_and(|referee| referee.number() == number)
    }

    pub(crate) fn result(&self) -> &MatchResult {
        self.live.result().expect("the match is over")
    }

    /// The winners of the match, once it is over.
    pub(crate) fn winners(&self) -> Vec<&str> {
        self.result().winners.iter().map(PlayerName::as_str).collect()
    }

    pub(crate) fn read(&self) -> verify::Stream {
        verify::read(&self.lines).expect("lines")
    }

    /// The result of the match, from its log alone.
    pub(crate) fn verified(&self) -> &Bench {
        let check = verify::verify_match(&self.read(), &Registry::standard(), None);
        let check = check.unwrap_or_else(|finding| panic!("{finding}"));
        assert_eq!(check.result.as_ref(), self.live.result());
        self
    }
}

impl Drop for Bench {
    /// The log verifies, whatever was played.
    fn drop(&mut self) {
        if !std::thread::panicking() && !self.lines.is_empty() {
            self.verified();
        }
    }
}
