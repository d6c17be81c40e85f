//! Lines that nobody should send, made systematically: bad JSON of every sort, every field of every
//! message with values of every wrong kind, ids that are none, and the first words of other
//! protocols.

use serde_json::{Value, json};

/// The classes of lines, as a strict reader sees them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Meant {
    /// No message at all.
    NoMessage,
    /// A login that gets this code; `unexpected` from who is logged in.
    Login(&'static str),
    /// A message that gets this code from who is logged in, and `not-logged-in` from others.
    Account(&'static str),
}

/// One kind of line.
pub(crate) struct Kind {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) meant: Meant,
}

/// All of them, no two alike.
pub(crate) fn kinds() -> Vec<Kind> {
    let mut all = Vec::new();
    let mut none = |name: &str, bytes: &[u8]| {
        let (name, bytes) = (name.to_owned(), bytes.to_vec());
        all.push(Kind { name, bytes, meant: Meant::NoMessage });
    };
    for text in bad_json() {
        none("bad JSON", text.as_bytes());
    }
    for text in values_that_are_no_messages() {
        none("no message", text.as_bytes());
    }
    for bytes in bad_utf8() {
        none("bad UTF-8", bytes);
    }
    for bytes in other_protocols() {
        none("another protocol", bytes);
    }
    none("deep", "[".repeat(50_000).as_bytes());
    none("deep objects", "{\"a\":".repeat(50_000).as_bytes());
    none("deep and closed", ("[".repeat(10_000) + &"]".repeat(10_000)).as_bytes());
    none("overlong", format!(r#"{{"type":"ping","x":"{}"}}"#, "x".repeat(300_000)).as_bytes());
    none("overlong spaces", [" ".repeat(300_000).as_bytes(), b"{}"].concat().as_slice());
    all.extend(wrong_types());
    all.extend(wrong_fields());
    all.extend(wrong_words());
    all
}

fn bad_json() -> Vec<String> {
    let whole = r#"{"type":"ping"}"#;
    let mut all: Vec<String> = (1..whole.len()).map(|end| whole[..end].to_owned()).collect();
    let texts = [
        "garbage",
        "}",
        "{]",
        "[}",
        "{,}",
        "{:}",
        "{\"type\"}",
        "{'type':'ping'}",
        "{type:\"ping\"}",
        "{\"type\":\"ping\",}",
        "{\"type\":\"ping\"},",
        "{\"type\":\"ping\"}}",
        "{\"type\":\"ping\"} {\"type\":\"ping\"}",
        "{\"type\":\"ping\"}{\"type\":\"ping\"}",
        "{\"type\":\"ping\"};",
        "// {\"type\":\"ping\"}",
        "/**/{\"type\":\"ping\"}",
        "{\"type\":\"ping\"/**/}",
        "{\"type\":NaN}",
        "{\"type\":Infinity}",
        "{\"type\":undefined}",
        "{\"type\":\"ping\",\"x\":01}",
        "{\"type\":\"ping\",\"x\":+1}",
        "{\"type\":\"ping\",\"x\":.5}",
        "{\"type\":\"ping\",\"x\":1.}",
        "{\"type\":\"ping\",\"x\":0x1}",
        "{\"type\":\"ping\",\"x\":1e}",
        "{\"type\":\"pi\\xng\"}",
        "{\"type\":\"\\u12\"}",
        "{\"type\":\"\\ud800\"}",
        "{\"type\":\"\\udc00\\ud800\"}",
        "{\"type\":\"pi\u{1}ng\"}",
        "{\"type\":\"pi\tng\"}",
        "{\"type\"=\"ping\"}",
        "{\"type\":\"ping\" \"x\":1}",
        "{\"type\":True}",
        "{\"type\":nul}",
        "\u{feff}{\"type\":\"ping\"}",
        "\u{0}{\"type\":\"ping\"}",
        "{\"type\":\"ping\"}\u{0}",
        "{\"type\":\"ping\"}\u{a0}",
        "{\u{200b}\"type\":\"ping\"}",
        "\u{1b}[31m",
        "\u{7}",
        "\u{0}",
        "\u{0}\u{0}\u{0}\u{0}",
        "{“type”:“ping”}",
        "data: {\"type\":\"ping\"}",
        "\"",
        "\\",
        "[1,2",
    ];
    all.extend(texts.map(str::to_owned));
    all
}

fn values_that_are_no_messages() -> Vec<String> {
    let mut all: Vec<String> = [
        "null",
        "true",
        "false",
        "0",
        "-1",
        "1.5",
        "1e999",
        "\"ping\"",
        "\"\"",
        "[]",
        "[[]]",
        "{}",
        "[{\"type\":\"ping\"}]",
        "[\"ping\"]",
        "{\"Type\":\"ping\"}",
        "{\"typ\":\"ping\"}",
        "{\"type\":\"ping\",\"type\":\"ping\"}",
        "{\"type\":\"ping\",\"type\":\"logout\"}",
        "{\"\":\"\"}",
        "{\"message\":{\"type\":\"ping\"}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"ping\"}",
        "[\"play-tournament\",[true]]",
    ]
    .map(str::to_owned)
    .to_vec();
    let words = [
        "",
        " ",
        "Ping",
        "PING",
        " ping",
        "ping ",
        "ping\u{0}",
        "pıng",
        "pong",
        "request",
        "welcome",
        "greeting",
        "notice",
        "error",
        "done",
        "heartbeat",
        "end",
        "dance",
        "__proto__",
        "sign_up",
        "signup",
        "changePassword",
        "operator",
        "pause",
        "../ping",
        "%s%s%n",
        "🎲",
    ];
    all.extend(words.map(|word| json!({"type": word}).to_string()));
    all.push(json!({"type": "x".repeat(10_000)}).to_string());
    all
}

fn bad_utf8() -> Vec<&'static [u8]> {
    vec![
        b"\xff\xfe",
        b"\xff\xfe{\x00\"\x00t\x00",
        b"\x00\x00\xfe\xff",
        b"\x80\x80\x80\x80",
        b"\xc0\x80",
        b"\xc3\x28",
        b"\xe2\x82",
        b"\xed\xa0\x80",
        b"\xf5\x80\x80\x80",
        b"\xf0\x80\x80\xaf",
        b"{\"type\":\"pi\xffng\"}",
        b"{\"type\":\"hello\",\"protocol\":1,\"name\":\"Andr\xe9\"}",
        b"{\"type\":\"ping\"\xc2}",
    ]
}

fn other_protocols() -> Vec<&'static [u8]> {
    vec![
        b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n",
        b"POST /api/v1/sessions HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03random bytes",
        b"SSH-2.0-OpenSSH_9.6",
        b"EHLO mail.example.org",
        b"USER anonymous",
        b"*1\r\n$4\r\nPING",
        b"\x05\x01\x00",
        b"\x10\x0c\x00\x04MQTT\x04\x02\x00\x3c\x00\x00",
        b"\x00\x00\x00\x08\x04\xd2\x16\x2f",
        b"\x83h\x02w\x05loginm\x00\x00\x00\x03ann",
        b"\x00\x15n\x00\x06\x00\x07\x49\x9cann@localhost",
        b"\x00\x0bx\x1f\x90M\x00\x00\x05\x00\x05",
        b"\x82\xa4type\xa4ping",
        b"\xa1dtypedping",
        b"\x1f\x8b\x08\x00\x00\x00\x00\x00",
        b"\x7fELF\x02\x01\x01\x00",
        b"<?xml version=\"1.0\"?><ping/>",
        b"type: ping",
        b"eyJ0eXBlIjoicGluZyJ9",
        b"'; DROP TABLE events; --",
        b"$(reboot)",
        b"JOIN #agon",
        b"\x81\x85\x07\x4d\xb1\xc9oops!",
    ]
}

/// Every message that has fields, with good values of the required ones.
fn messages() -> Vec<(Value, &'static [&'static str])> {
    vec![
        (json!({"type": "hello", "protocol": 1, "name": "x"}), &["nonce"]),
        (json!({"type": "login", "account": "x", "password": "y"}), &["token", "register"]),
        (json!({"type": "change-password", "old": "x", "new": "y"}), &[]),
        (json!({"type": "enqueue", "queue": "x"}), &[]),
        (json!({"type": "dequeue", "queue": "x"}), &[]),
        (json!({"type": "sign-up", "tournament": "x"}), &[]),
        (json!({"type": "withdraw", "tournament": "x"}), &[]),
    ]
}

/// Every field with values of every type that is not its own.
fn wrong_types() -> Vec<Kind> {
    let mut all = Vec::new();
    for (message, optional) in messages() {
        let own = message.as_object().expect("fields").keys().cloned();
        let fields = own.chain(optional.iter().map(|field| (*field).to_owned()));
        for field in fields.filter(|field| field != "type") {
            let values = [
                json!(null),
                json!(true),
                json!(7),
                json!(-1),
                json!(1.5),
                json!(u64::MAX),
                json!("word"),
                json!([]),
                json!(["x"]),
                json!({}),
                json!({"x": 1}),
            ];
            for value in values.iter().filter(|value| !is_of_its_type(&field, value)) {
                let mut bad = message.clone();
                bad[&field] = value.clone();
                let name = format!("{} with {field} {value}", message["type"]);
                all.push(Kind { name, bytes: bytes(&bad), meant: Meant::NoMessage });
            }
        }
    }
    for id in [json!(true), json!(7), json!([]), json!({}), json!(null)] {
        let bad = json!({"type": "answer", "id": id, "answer": 1});
        let name = format!("answer with id {id}");
        all.push(Kind { name, bytes: bytes(&bad), meant: Meant::NoMessage });
    }
    all
}

/// Returns whether a message with this value in this field may be one.
fn is_of_its_type(field: &str, value: &Value) -> bool {
    match field {
        "protocol" => false,
        "register" => value.is_boolean(),
        // 'word' is no nonce; nothing is.
        "nonce" => value.is_null(),
        "account" | "password" | "token" => value.is_null() || value.is_string(),
        _ => value.is_string(),
    }
}

/// Messages with a field too few, or one too many.
fn wrong_fields() -> Vec<Kind> {
    let mut all = Vec::new();
    let mut add = |name: String, message: &Value, meant| {
        all.push(Kind { name, bytes: bytes(message), meant });
    };
    for (message, _) in messages() {
        let kind = message["type"].as_str().expect("a type").to_owned();
        for field in message.as_object().expect("fields").keys().filter(|field| *field != "type") {
            let mut less = message.clone();
            less.as_object_mut().expect("fields").remove(field);
            let meant = if kind == "login" { Meant::Login("malformed") } else { Meant::NoMessage };
            add(format!("{kind} without {field}"), &less, meant);
        }
        if kind != "hello" {
            let mut more = message.clone();
            more["more"] = json!(1);
            add(format!("{kind} with more"), &more, Meant::NoMessage);
        }
    }
    for kind in ["ping", "logout"] {
        add(format!("{kind} with more"), &json!({"type": kind, "more": 1}), Meant::NoMessage);
    }
    add("answer without id".into(), &json!({"type": "answer", "answer": 1}), Meant::NoMessage);
    add("answer without answer".into(), &json!({"type": "answer", "id": "x"}), Meant::NoMessage);
    let null = json!({"type": "answer", "id": "x", "answer": null});
    add("answer null".into(), &null, Meant::NoMessage);
    add("bare answer".into(), &json!({"type": "answer"}), Meant::NoMessage);
    add("bare login".into(), &json!({"type": "login"}), Meant::Login("malformed"));
    for twice in [
        r#"{"type":"login","token":"x","token":"y"}"#,
        r#"{"type":"enqueue","queue":"x","queue":"y"}"#,
        r#"{"type":"answer","id":"x","id":"y","answer":1}"#,
        r#"{"type":"hello","protocol":1,"protocol":1,"name":"x"}"#,
    ] {
        let (name, bytes) = (format!("twice {twice}"), twice.as_bytes().to_vec());
        all.push(Kind { name, bytes, meant: Meant::NoMessage });
    }
    all
}

/// Messages as they should be, with words in them that mean nothing.
fn wrong_words() -> Vec<Kind> {
    let mut all = Vec::new();
    let mut add = |message: Value, meant| {
        let text = message.to_string();
        let name = text.chars().take(80).collect();
        all.push(Kind { name, bytes: text.into_bytes(), meant });
    };
    let long = "x".repeat(1_000);
    for protocol in [0, 2, u32::MAX] {
        let hello = json!({"type": "hello", "protocol": protocol, "name": "x"});
        add(hello, Meant::NoMessage);
    }
    for nonce in ["", "xyz", "AB", "0 1", &"a".repeat(65)] {
        let hello = json!({"type": "hello", "protocol": 1, "name": "x", "nonce": nonce});
        add(hello, Meant::NoMessage);
    }
    for account in ["", "a\nb", "a\u{0}b", "\u{1b}[2J", &long] {
        add(json!({"type": "login", "account": account, "password": "x"}), Meant::NoMessage);
    }
    for password in ["", &"x".repeat(257)] {
        let login = json!({"type": "login", "account": "x", "password": password});
        add(login, Meant::Login("malformed"));
        let change = json!({"type": "change-password", "old": "x", "new": password});
        add(change, Meant::Account("malformed"));
    }
    for token in ["", "x", &"0".repeat(64), &"F".repeat(64), &long, "' OR 1=1 --"] {
        add(json!({"type": "login", "token": token}), Meant::Login("wrong-credentials"));
    }
    let house = json!({"type": "login", "account": "house:greedy", "password": "x"});
    add(house, Meant::Login("wrong-credentials"));
    for queue in ["", "A", "a b", "../x", "é", "a\u{0}", &long] {
        add(json!({"type": "enqueue", "queue": queue}), Meant::Account("malformed"));
        add(json!({"type": "dequeue", "queue": queue}), Meant::Account("malformed"));
    }
    add(json!({"type": "dequeue", "queue": "nobody-waits-here"}), Meant::Account("refused"));
    for tournament in ["", "no-such", "../lobby", "match/cup/r1m1", "A B", "é", &long] {
        add(json!({"type": "sign-up", "tournament": tournament}), Meant::Account("refused"));
        add(json!({"type": "withdraw", "tournament": tournament}), Meant::Account("refused"));
    }
    add(json!({"type": "sign-up", "tournament": "cup"}), Meant::Account("refused"));
    for id in ["", "x", ":", "cup:", "cup", "r1m1.1.0.0", &long] {
        let answer = json!({"type": "answer", "id": id, "answer": {"keep": []}});
        add(answer, Meant::Account("foreign"));
    }
    for id in ["cup:r1m1.1.0.0", "cup:r1m1.1.1.0", "cup:r1m1.1.0.00", "cup:r1m1.9.9.9"] {
        for answer in [json!({"keep": []}), json!(false), json!([[[[]]]]), json!("\u{0}")] {
            add(json!({"type": "answer", "id": id, "answer": answer}), Meant::Account("foreign"));
        }
    }
    for id in ["no-such:r1m1.1.0.0", "cup:r9m9.1.0.0", "../secret:r1m1.1.0.0"] {
        add(json!({"type": "answer", "id": id, "answer": 1}), Meant::Account("late"));
    }
    all
}

fn bytes(message: &Value) -> Vec<u8> {
    message.to_string().into_bytes()
}
