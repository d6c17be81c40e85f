//! What strangers may send to the JSON wires, mutated from what friends send: nothing panics, and
//! nothing is held beyond its bound. `AGON_FUZZ=1000000` makes it a million inputs.

use agon_wire::fish::{self, Awaited, call, message};
use agon_wire::peer::Language;
use agon_wire::sign_up::Newcomer;
use agon_wire::trains;
use agon_wire::values::{Limits, Values};

/// Small, so that inputs reach them.
const LIMITS: Limits = Limits { bytes_max: 300, depth_max: 8 };

/// The longest piece that comes at once.
const PIECE_MAX: usize = 64;

const SEEDS: [&str; 14] = [
    r#""eve""#,
    "eve7 ",
    r#"{"type":"signup_request","value":"eve"}"#,
    r#"{"type":"tournament_ready","value":true}"#,
    r#"{"type":"player_respond_placement","value":[0,1]}"#,
    r#"{"type":"player_respond_move","value":[[0,0],[2,0]]}"#,
    r#"{"type":"tournament_end_response","value":true}"#,
    r#""void""#,
    "[[0,0],[1,-7]]",
    r#"[["Ayr","Bonn"],["Cork","Ayr"],["Dover","Ayr"]]"#,
    r#"["Ayr","Bonn","red",3]"#,
    r#""more cards""more_cards" 7 -0.5e+10 true null"#,
    r#"{"width":10,"height":10,"cities":[["A",[0,0]],["B\u00e9",[1,1]]],"connections":{"A":{"B":{"red":3}}}}"#,
    "  [ 1 , { \"a\" : [ ] , \"b\" : { } } ]\n\n",
];

/// Bytes that mean something here.
const TOKENS: &[u8] = b"[]{}\",:\\u-+.eE0129tfn \n\t\x00\x1f\x7f\xc3\xa9\xff";

/// SplitMix64: plain, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() % count.max(1) as u64) as usize
    }
}

/// A friend's words, changed in a few places.
fn mutated(random: &mut Random) -> Vec<u8> {
    let mut bytes = SEEDS[random.below(SEEDS.len())].as_bytes().to_vec();
    for _ in 0..random.below(6) {
        let at = random.below(bytes.len());
        match random.below(7) {
            0 if !bytes.is_empty() => drop(bytes.remove(at)),
            1 => bytes.insert(at, TOKENS[random.below(TOKENS.len())]),
            2 if !bytes.is_empty() => bytes[at] = random.next() as u8,
            3 => bytes.truncate(at),
            4 => {
                let piece = bytes[at..].to_vec();
                bytes.extend(piece);
            }
            5 => {
                let other = SEEDS[random.below(SEEDS.len())].as_bytes();
                bytes.splice(at..at, other.iter().copied());
            }
            _ => {
                let token = TOKENS[random.below(TOKENS.len())];
                let many = random.below(2 * LIMITS.bytes_max);
                bytes.splice(at..at, std::iter::repeat_n(token, many));
            }
        }
        bytes.truncate(8 * 1024);
    }
    bytes
}

fn count() -> usize {
    let asked = std::env::var("AGON_FUZZ").ok().and_then(|text| text.parse().ok());
    asked.unwrap_or(100_000)
}

/// Every value that a stream cut into pieces gives, and what is said at its end.
fn values_of(bytes: &[u8], mut piece: impl FnMut() -> usize) -> (Vec<String>, Option<String>) {
    let (mut values, mut found) = (Values::new(LIMITS), Vec::new());
    let mut rest = bytes;
    while !rest.is_empty() {
        let (now, later) = rest.split_at(piece().clamp(1, rest.len()));
        rest = later;
        values.push(now);
        loop {
            match values.take() {
                Some(Ok(text)) => {
                    assert!(text.len() <= LIMITS.bytes_max, "a value of {} bytes", text.len());
                    found.push(text.to_owned());
                }
                Some(Err(broken)) => return (found, Some(broken.to_string())),
                None => break,
            }
        }
        let held = values.rest().len();
        assert!(held <= LIMITS.bytes_max + PIECE_MAX, "{held} bytes are held");
    }
    match values.finish().map(|value| value.map(str::to_owned)) {
        Some(Ok(text)) => found.push(text),
        Some(Err(broken)) => return (found, Some(broken.to_string())),
        None => {}
    }
    (found, None)
}

#[test]
fn the_framer_takes_anything_in_any_pieces() {
    let mut random = Random(1);
    let (mut whole, mut broken) = (0, 0);
    for _ in 0..count() {
        let bytes = mutated(&mut random);
        let mut cuts = Random(random.next());
        let by_bytes = values_of(&bytes, || 1);
        let by_pieces = values_of(&bytes, || 1 + cuts.below(PIECE_MAX));
        assert_eq!(by_bytes, by_pieces, "{:?}", String::from_utf8_lossy(&bytes));
        for text in &by_bytes.0 {
            let read = serde_json::from_str::<serde_json::Value>(text);
            // Numbers beyond every bound are JSON, and nothing that could be read.
            assert!(read.is_ok() || text.contains(['e', 'E', '\\']), "{text}");
        }
        whole += by_bytes.0.len();
        broken += usize::from(by_bytes.1.is_some());
    }
    assert!(whole > count() / 4 && broken > count() / 10, "{whole} values, {broken} broken");
}

#[test]
fn first_values_sign_somebody_up_or_say_why_not() {
    let mut random = Random(2);
    let (mut good, mut bad) = (0, 0);
    let languages = [
        Language::Fish(None),
        Language::Fish(Some(fish::Vocabulary::Call)),
        Language::Trains(trains::Vocabulary::Course),
        Language::Trains(trains::Vocabulary::Memo),
    ];
    for number in 0..count() {
        let bytes = mutated(&mut random);
        let lenient = number % 2 == 0;
        let mut newcomer = Newcomer::new(LIMITS, lenient);
        let mut first = None;
        for piece in bytes.chunks(1 + random.below(PIECE_MAX)) {
            newcomer.push(piece);
            first = newcomer.take();
            if first.is_some() {
                break;
            }
        }
        let Some(Ok(first)) = first.or_else(|| newcomer.flush()) else {
            bad += 1;
            continue;
        };
        for language in languages {
            match language.sign_up(&first, lenient) {
                Ok((name, _)) => {
                    assert!((1..=50).contains(&name.as_str().chars().count()), "{name}");
                    good += 1;
                }
                Err(why) => assert!(why.to_string().len() < 1_000, "{why}"),
            }
        }
    }
    assert!(good > count() / 100 && bad > count() / 10, "{good} good, {bad} bad");
}

#[test]
fn replies_are_answers_or_say_why_not() {
    let mut random = Random(3);
    let awaited =
        [Awaited::Ready, Awaited::Confirmed, Awaited::Placement, Awaited::Move, Awaited::Farewell];
    let on_trains = [
        trains::Awaited::Begun,
        trains::Awaited::Confirmed,
        trains::Awaited::Returned,
        trains::Awaited::Turn,
    ];
    let (mut good, mut bad) = (0, 0);
    let mut look = |answer: Result<String, agon_games::Refusal>| match answer {
        Ok(answer) => {
            assert!(serde_json::from_str::<&serde_json::value::RawValue>(&answer).is_ok());
            good += 1;
        }
        Err(refusal) => {
            assert!(refusal.detail.len() < 1_000, "{refusal:?}");
            bad += 1;
        }
    };
    for _ in 0..count() {
        let bytes = mutated(&mut random);
        for text in values_of(&bytes, || PIECE_MAX).0 {
            for awaited in awaited {
                look(call::reply(awaited, &text));
                look(message::reply(awaited, &text));
            }
            for vocabulary in [trains::Vocabulary::Course, trains::Vocabulary::Memo] {
                for awaited in on_trains {
                    look(trains::reply(vocabulary, awaited, &text));
                }
            }
        }
    }
    assert!(good > count() / 100 && bad > good, "{good} good, {bad} bad");
}
