//! Legal answers that cost next to nothing, because the benchmark measures the server.
//!
//! The code searches the bytes of a request instead of parsing it. Its fields are in the order in
//! which the server writes them; the server comes from the same binary.

use agon_games::{Game, fish};
use anyhow::{Context, Result, bail};

/// A request, as far as these players read it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ReceivedRequest<'a> {
    /// Its id: `TOURNAMENT:MATCH.GAME.SEAT.TURN`.
    pub(super) id: &'a str,
    line: &'a str,
}

/// The answer that the next request to the player waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Next {
    /// This answer alone.
    Own,
    /// Perhaps another player's answer.
    Others,
}

impl<'a> ReceivedRequest<'a> {
    /// Reads a request; `None` for any other line.
    pub(super) fn read(line: &'a [u8]) -> Option<ReceivedRequest<'a>> {
        if !line.starts_with(br#"{"type":"request","id":""#) {
            return None;
        }
        let line = std::str::from_utf8(line).ok()?;
        let (id, _) = line[br#"{"type":"request","id":""#.len()..].split_once('"')?;
        Some(ReceivedRequest { id, line })
    }

    /// A number for the match, the same in all its requests.
    pub(super) fn match_number(&self) -> u64 {
        let id = self.id.split('.').next().unwrap_or_default();
        id.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }

    /// Writes an answer to `out`, without a line end.
    pub(super) fn answer(&self, out: &mut Vec<u8>) -> Result<Next> {
        out.extend_from_slice(br#"{"type":"answer","id":""#);
        out.extend_from_slice(self.id.as_bytes());
        out.extend_from_slice(br#"","answer":"#);
        let question = self.after(r#""question":{"ask":""#).context("a request has a question")?;
        let (ask, _) = question.split_once('"').context("a question says what is asked")?;
        let next = match ask {
            "keep" => {
                out.extend_from_slice(br#"{"keep":[true,true,false,false,false]}"#);
                Next::Own
            }
            "score" => {
                let at = self.first_free_box().context("a card with a free box")?;
                out.extend_from_slice(br#"{"score":""#);
                out.extend_from_slice(at.as_bytes());
                out.extend_from_slice(br#""}"#);
                Next::Others
            }
            "play" => {
                out.extend_from_slice(br#""more-cards""#);
                Next::Others
            }
            "pick" => {
                let offered = self.after(r#""destinations":[["#).context("an offer")?;
                let mut pairs = offered.split("],[");
                let three: Vec<&str> = pairs.by_ref().take(3).collect();
                out.extend_from_slice(br#"{"return":[["#);
                out.extend_from_slice(three.join("],[").as_bytes());
                out.extend_from_slice(b"]]}");
                Next::Others
            }
            "place" | "move" => {
                out.extend_from_slice(self.fish()?.as_bytes());
                Next::Others
            }
            other => bail!("no answer to {other:?} is known"),
        };
        out.push(b'}');
        Ok(next)
    }

    fn after(&self, what: &str) -> Option<&'a str> {
        self.line.split_once(what).map(|(_, rest)| rest)
    }

    /// The first free box of its card. No joker rule forbids it: this order fills the Yahtzee box
    /// last but one.
    fn first_free_box(&self) -> Option<&'a str> {
        let seat: usize = self.after(r#""seat":"#)?.split([',', '}']).next()?.parse().ok()?;
        let card = self.line.split(r#""boxes":{"#).nth(seat + 1)?;
        let (before, _) = card.split_once(r#"":null"#)?;
        before.rsplit('"').next()
    }

    fn fish(&self) -> Result<String> {
        #[derive(serde::Deserialize)]
        struct Request {
            question: fish::Question,
            view: fish::View,
        }
        let request: Request = serde_json::from_str(self.line).context("a request of Fish")?;
        let legal = fish::Fish::legal_in(&request.question, &request.view);
        Ok(serde_json::to_string(legal.first().context("a legal answer")?)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_games::{Registry, Seat, Seed, Viewer};

    /// Plays whole games through the protocol's form of requests; no answer may be rejected.
    fn play(name: &str, config: &str) {
        let games = Registry::standard();
        let kind = games.kind(name).expect("a game");
        for number in 0..20 {
            let mut game = kind.set_up(config, 2, &Seed::from_number(number)).expect("a game");
            let mut decisions = 0;
            while let Some(seat) = game.awaiting().next() {
                assert!(decisions < 10_000, "{name} does not end");
                decisions += 1;
                if game.only_tells(seat) {
                    game.apply(seat, "\"ok\"").expect("a notice is confirmed");
                    continue;
                }
                let answer = answer_of(&*game, seat);
                game.apply(seat, &answer).unwrap_or_else(|why| panic!("{answer}: {why}"));
            }
            assert!(game.outcome().is_some());
        }
    }

    fn answer_of(game: &dyn agon_games::GameState, seat: Seat) -> String {
        let (question, view) = (game.question(seat), game.view(Viewer::Seat(seat)));
        let question = question.expect("the seat has an open request");
        let line = format!(
            r#"{{"type":"request","id":"t:r1m1.1.{0}.0","deadline_ms":1,"seat":{0},"question":{1},"view":{2},"match":{{}}}}"#,
            seat.0, question, view
        );
        let asked = ReceivedRequest::read(line.as_bytes()).expect("a request");
        let mut out = Vec::new();
        asked.answer(&mut out).expect("an answer");
        let out = String::from_utf8(out).expect("text");
        let value: serde_json::Value = serde_json::from_str(&out).expect("JSON");
        assert_eq!(value["id"], asked.id);
        value["answer"].to_string()
    }

    #[test]
    fn every_answer_is_legal_to_the_end_of_the_game() {
        play("yahtzee", "{}");
        play("fish", r#"{"confirm":true}"#);
        play("trains", r#"{"confirm":true}"#);
    }

    #[test]
    fn requests_of_one_match_have_one_number_and_other_lines_are_none() {
        let read = |id: &str| format!(r#"{{"type":"request","id":"{id}","seat":0}}"#);
        let number =
            |id: &str| ReceivedRequest::read(read(id).as_bytes()).expect("one").match_number();
        assert_eq!(number("t:r1m1.1.0.4"), number("t:r1m1.2.1.17"));
        assert_ne!(number("t:r1m1.1.0.4"), number("t:r1m2.1.0.4"));
        assert_eq!(ReceivedRequest::read(br#"{"type":"notice","about":"told"}"#), None);
        assert_eq!(ReceivedRequest::read(b"\xff"), None);
    }
}
