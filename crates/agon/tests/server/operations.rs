//! Starting, settings, signs of life: what whoever runs a server relies on.

use crate::support::{Client, Place, Process, Server, until};
use rustix::process::Signal;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixDatagram;
use std::time::Duration;

/// One request of HTTP: all that comes back.
pub(crate) fn http(address: &str, request: &str) -> String {
    let mut socket = TcpStream::connect(address).expect("the server is there");
    socket.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    socket.write_all(request.as_bytes()).expect("a request");
    let mut text = String::new();
    socket.read_to_string(&mut text).expect("an answer");
    text
}

pub(crate) fn get(address: &str, path: &str) -> String {
    http(address, &format!("GET {path} HTTP/1.0\r\n\r\n"))
}

/// Plain `agon`, and the lines it says up to the address to open.
fn plain(place: &Place) -> (Process, Vec<String>) {
    let mut process = Process(place.command(&[]).spawn().expect("agon starts"));
    let stdout = process.0.stdout.take().expect("a pipe");
    let mut said = Vec::new();
    for line in BufReader::new(stdout).lines() {
        said.push(line.expect("text"));
        if said.last().is_some_and(|line| line.starts_with("open: ")) {
            return (process, said);
        }
    }
    panic!("it ended: {said:?} {}", process.all_output());
}

fn opened(said: &[String]) -> String {
    let open = said.last().and_then(|line| line.strip_prefix("open: http://"));
    open.expect("an address").trim_end_matches('/').to_owned()
}

#[test]
fn plain_agon_is_a_server_with_an_address_to_open() {
    let (one, two) = (Place::new(""), Place::new(""));
    let (mut first, said) = plain(&one);
    assert!(said[0].starts_with("operator: token ") && said[0].contains("shown once"), "{said:?}");
    // The usual ports are taken now, so the second has others.
    let (mut second, other) = plain(&two);
    assert_ne!(said[1..], other[1..]);
    let page = get(&opened(&said), "/");
    assert!(page.starts_with("HTTP/1.0 200 ") && page.contains("<h1>Agon"), "{page}");
    let accounts = get(&opened(&other), "/api/v1/accounts");
    assert!(accounts.contains("house:greedy"), "house players are there: {accounts}");
    assert!(one.path("agon-data/agon.sqlite").exists());
    // A third in the first one's folder would be one too many, whatever port is free.
    let (code, words) = one.agon(&[]);
    assert_eq!(code, Some(1), "{words}");
    assert!(words.contains("stop the other server"), "{words}");
    for process in [&mut first, &mut second] {
        process.signal(Signal::INT);
        assert_eq!(process.code(), Some(0));
    }
    // The token is for the first start only.
    let (mut again, said) = plain(&one);
    assert!(said.iter().all(|line| !line.contains("token")), "{said:?}");
    again.signal(Signal::INT);
    assert_eq!(again.code(), Some(0));
}

#[test]
fn a_chosen_port_that_is_taken_is_an_error() {
    let place = Place::new("");
    let server = Server::start(&place);
    let other = Place::new("");
    let mut command = other.command(&[]);
    command.env("AGON_TCP", &server.address).env("AGON_HTTP", "127.0.0.1:0");
    let mut process = Process(command.spawn().expect("agon starts"));
    assert_eq!(process.code(), Some(1));
    let said = process.all_output();
    assert!(said.contains("another program uses this port"), "{said}");
}

/// Runs `agon serve --check` with variables.
fn check(place: &Place, args: &[&str], variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let mut command = place.command(&[&["serve", "--check"], args].concat());
    command.envs(variables.iter().copied());
    let mut process = Process(command.spawn().expect("agon starts"));
    (process.code(), process.all_output())
}

#[test]
fn flags_win_over_variables_and_those_over_the_file() {
    let place = Place::new(
        "tcp = \"127.0.0.1:1\"\nhttp = \"127.0.0.1:1\"\ntoken_ms = 1\n[limits]\nwrite_ms_max = 1\n",
    );
    let file = ["--config", "agon.toml", "--tcp", "127.0.0.1:3"];
    let variables = [
        ("AGON_TCP", "127.0.0.1:2"),
        ("AGON_HTTP", "127.0.0.1:2"),
        ("AGON_LIMITS_LOGIN_MS_MAX", "2"),
        ("AGON_LIMITS_HEARTBEAT_MS", "60000"),
        ("AGON_LIMITS_SILENCE_MS_MAX", "90000"),
        ("AGON_SECOND_LOGIN", "refuse"),
        ("AGON_LOG", ""),
    ];
    let (code, said) = check(&place, &[&file[..], &["--json"]].concat(), &variables);
    assert_eq!(code, Some(0), "{said}");
    let found: Value = serde_json::from_str(&said).expect("one line of JSON");
    assert_eq!((&found["tcp"], &found["http"]), (&"127.0.0.1:3".into(), &"127.0.0.1:2".into()));
    assert_eq!((&found["token_ms"], &found["limits"]["write_ms_max"]), (&1.into(), &1.into()));
    assert_eq!(found["limits"]["login_ms_max"], 2);
    assert_eq!(found["second_login"], "refuse");
    assert_eq!((&found["log"], &found["reconnect_ms"]), (&"info".into(), &60_000.into()));
    let (code, said) = check(&place, &file, &[("AGON_HTTP", "127.0.0.1:2"), ("AGON_HTP", "x")]);
    assert_eq!(code, Some(0), "{said}");
    for line in [
        "tcp = \"127.0.0.1:3\"  # --tcp\n",
        "http = \"127.0.0.1:2\"  # AGON_HTTP\n",
        "token_ms = 1  # file\n",
        "reconnect_ms = 60000  # default\n",
        "limits.write_ms_max = 1  # file\n",
        "# tls.cert is not set\n",
        "# AGON_HTP is set, but it is not a setting of the server\n",
    ] {
        assert!(said.contains(line), "{line} {said}");
    }
    assert!(!place.path("agon-data").exists(), "nothing was made");
    // The printed text is a settings file with the same values.
    std::fs::write(place.path("printed.toml"), &said).expect("a file");
    let (code, again) = check(&place, &["--config", "printed.toml"], &[]);
    assert_eq!(code, Some(0), "{again}");
    assert!(again.contains("tcp = \"127.0.0.1:3\"  # file\n"), "{again}");
}

#[test]
fn a_wrong_variable_is_named() {
    let place = Place::new("");
    let cases = [
        ("AGON_LIMITS_CONNECTIONS_MAX", "many", "not a whole number"),
        ("AGON_LIMITS_CONNECTIONS_MAX", "-1", "not a whole number"),
        ("AGON_LIMITS_CONNECTIONS_MAX", "0", "at least 1"),
        ("AGON_LIMITS_CONECTIONS_MAX", "5", "no such setting"),
        ("AGON_TLS_CERTIFICATE", "x", "no such setting"),
        ("AGON_TOKEN_MS", "99999999999999999999", "not a whole number"),
        ("AGON_SECOND_LOGIN", "both", "takeover"),
        ("AGON_LOG", "loud", "off, error, warn"),
        ("AGON_LOG_FORMAT", "xml", "text"),
    ];
    for (name, value, needle) in cases {
        for args in [&[][..], &["--json"]] {
            let (code, said) = check(&place, args, &[(name, value)]);
            assert_eq!(code, Some(2), "{name}={value}: {said}");
            assert!(said.contains(name) && said.contains(needle), "{name}={value}: {said}");
        }
    }
    for (name, value, needle) in [
        ("AGON_TCP", "nonsense", "tcp"),
        ("AGON_CONFIG", "nowhere.toml", "nowhere.toml"),
        ("AGON_TLS_KEY", "key.pem", "tls.cert"),
    ] {
        let (code, said) = check(&place, &[], &[(name, value)]);
        assert_eq!(code, Some(2), "{name}={value}: {said}");
        assert!(said.contains(needle), "{name}={value}: {said}");
    }
}

/// The next thing a service manager is told.
fn told(manager: &UnixDatagram) -> String {
    let mut bytes = [0; 100];
    let length = manager.recv(&mut bytes).expect("the manager is told");
    String::from_utf8_lossy(&bytes[..length]).into_owned()
}

#[test]
fn service_manager_is_notified() {
    let place = Place::new("");
    let manager = UnixDatagram::bind(place.path("notify")).expect("a socket");
    manager.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    let mut command = place.command(&["serve", "--json"]);
    command.env("AGON_TCP", "127.0.0.1:0").env("AGON_HTTP", "127.0.0.1:0");
    command.env("NOTIFY_SOCKET", place.path("notify")).env("WATCHDOG_USEC", "20000");
    let mut server = Server::from_command(command).expect("it starts");
    assert_eq!(told(&manager), "READY=1");
    let address = server.said["http"].as_str().expect("an address").to_owned();
    let health = get(&address, "/healthz?ready");
    assert!(health.starts_with("HTTP/1.0 200 ") && health.contains("\"ready\":true"), "{health}");
    assert_eq!([told(&manager), told(&manager)], ["WATCHDOG=1", "WATCHDOG=1"]);
    server.process.signal(Signal::TERM);
    let stopping = std::iter::repeat_with(|| told(&manager)).find(|word| word != "WATCHDOG=1");
    assert_eq!(stopping.as_deref(), Some("STOPPING=1"));
    assert_eq!(server.process.code(), Some(0));
}

#[test]
fn threads_that_read_give_way_to_those_that_decide() {
    let place = Place::new("");
    let server = Server::start(&place);
    let tasks = format!("/proc/{}/task", server.process.0.id());
    let nice = |threads: &str| -> Vec<i32> {
        let tasks = std::fs::read_dir(&tasks).expect("its threads").flatten();
        let stats = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("stat")).ok());
        let parts = stats.filter_map(|stat| {
            let (name, rest) = stat.split_once(") ")?;
            let nice = rest.split(' ').nth(16).expect("a nice value").to_owned();
            name.ends_with(threads).then(|| nice.parse().expect("a number"))
        });
        parts.collect()
    };
    let (readers, writers) = (nice("(tokio-rt-worker"), nice("(log-writer"));
    assert!(!readers.is_empty() && writers.len() == 1, "{readers:?} {writers:?}");
    assert!(readers.iter().all(|reader| *reader == (writers[0] + 5).min(19)), "{readers:?}");
}

#[test]
fn unread_stderr_does_not_stop_the_server() {
    let place = Place::new("");
    let mut command = place.command(&["serve", "--json", "--log", "trace"]);
    command.env("AGON_TCP", "127.0.0.1:0").env("AGON_HTTP", "127.0.0.1:0");
    // Its stderr is a pipe that nobody reads; far more than it holds is told.
    let mut server = Server::from_command(command).expect("it starts");
    let address = server.said["http"].as_str().expect("an address").to_owned();
    for _ in 0..1_000 {
        drop(get(&address, "/healthz"));
    }
    drop(Client::logged_in(&server.address, "ann"));
    until("everything is still answered", || get(&address, "/healthz").contains("\"ok\""));
    server.process.signal(Signal::TERM);
    assert_eq!(server.process.code(), Some(0));
}

#[test]
fn a_token_can_go_to_a_file_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new("operator_token_file = \"operator.token\"\n");
    std::fs::write(place.path("operator.token"), "an old one").expect("a file");
    let server = Server::start(&place);
    assert_eq!(server.said["operator"]["token_file"], "operator.token");
    assert!(server.said["operator"]["token"].is_null());
    let mode =
        std::fs::metadata(place.path("operator.token")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let address = server.said["http"].as_str().expect("an address");
    let http = format!("http://{address}");
    let args = ["admin", "--server", &http, "--token-file", "operator.token"];
    let (code, said) = place.agon(&[&args[..], &["account", "register", "ann"]].concat());
    assert_eq!((code, said.as_str()), (Some(0), "ann is registered.\n"));
    let nowhere = Place::new("operator_token_file = \"no/such/folder\"\n");
    let args = ["serve", "--config", "agon.toml", "--tcp", "127.0.0.1:0", "--http", "127.0.0.1:0"];
    let (code, said) = nowhere.agon(&args);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("--operator-token") && !said.contains("operator: token"), "{said}");
}
