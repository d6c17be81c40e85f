//! A server with a certificate, as a process.

use crate::support::{Place, Process, Server, until};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// Writes a new certificate and its key; gives what to trust.
fn certify(place: &Place) -> CertificateDer<'static> {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
    fs::write(place.path("key.pem"), signing_key.serialize_pem()).expect("a file");
    fs::write(place.path("cert.pem"), cert.pem()).expect("a file");
    cert.der().clone()
}

/// A connection that trusts this certificate.
fn connect(
    address: &str,
    trusted: &CertificateDer<'static>,
) -> StreamOwned<ClientConnection, TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).expect("a certificate");
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = "localhost".try_into().expect("a name");
    let connection = ClientConnection::new(Arc::new(config), name).expect("a client");
    let socket = TcpStream::connect(address).expect("the server is there");
    socket.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    StreamOwned::new(connection, socket)
}

/// The first line over TLS, if the certificate is the one to trust.
fn greeting(address: &str, trusted: &CertificateDer<'static>) -> Option<String> {
    let mut line = String::new();
    let mut stream = BufReader::new(connect(address, trusted));
    stream.read_line(&mut line).ok().map(|_| line)
}

#[test]
fn a_server_with_a_certificate_reads_it_again_on_sighup() {
    let place = Place::new("[tls]\ncert = \"cert.pem\"\nkey = \"key.pem\"\n");
    let old = certify(&place);
    let server = Server::start(&place);
    assert_eq!(server.said["tls"], true, "{}", server.said);
    let websocket = server.said["players"]["websocket"].as_str().expect("an address");
    assert!(websocket.starts_with("wss://"), "{websocket}");
    let said = greeting(&server.address, &old).expect("a handshake");
    assert!(said.contains("greeting"), "{said}");
    let new = certify(&place);
    assert_eq!(greeting(&server.address, &new), None, "not read yet");
    server.process.signal(Signal::HUP);
    until("the new certificate is shown", || greeting(&server.address, &new).is_some());
    assert_eq!(greeting(&server.address, &old), None);
}

#[test]
fn own_clients_use_tls_with_configured_certificates() {
    let place = Place::new("[tls]\ncert = \"cert.pem\"\nkey = \"key.pem\"\n");
    certify(&place);
    let server = Server::start(&place);
    let port = |place: &Value| {
        place.as_str().and_then(|place| place.rsplit_once(':')).expect("an address").1.to_owned()
    };
    let (tcp, http) = (port(&server.said["players"]["tcp"]), port(&server.said["http"]));
    let https = format!("https://localhost:{http}");
    let trusting = |args: &[&str]| {
        let token = server.said["operator"]["token"].as_str().expect("a first token");
        let mut command = place.command(args);
        command.env("AGON_CERTIFICATES", place.path("cert.pem")).env("AGON_TOKEN", token);
        command
    };
    let join = |to: &str, name: &str| {
        let who = ["--account", name, "--register", "--bot", "house:random", "--once"];
        let mut command = trusting(&[&["join", "--server", to][..], &who].concat());
        command.env_remove("AGON_TOKEN").stdout(Stdio::null());
        Process(command.spawn().expect("agon starts"))
    };
    let mut ann = join(&format!("tls://localhost:{tcp}"), "ann");
    let mut bob = join(&format!("wss://localhost:{http}"), "bob");
    until("both are here", || {
        let mut shown = trusting(&["admin", "--server", &https, "--json", "status"]);
        let mut shown = Process(shown.spawn().expect("agon starts"));
        assert_eq!(shown.code(), Some(0));
        let shown: Value = serde_json::from_str(&shown.all_output()).expect("JSON");
        shown["metrics"]["agon_logins_total{outcome=\"good\"}"] == 2.0
    });
    let cup = ["tournament", "create", "cup", "--preset", "yahtzee-class", "--named", "ann", "bob"];
    let mut cup = trusting(&[&["admin", "--server", &https][..], &cup].concat());
    let mut cup = Process(cup.spawn().expect("agon starts"));
    assert_eq!(cup.code(), Some(0), "{}", cup.all_output());
    assert_eq!((ann.code(), bob.code()), (Some(0), Some(0)));
    until("the cup is over", || place.is_over("cup"));
    assert_eq!(place.faults(), Vec::<String>::new());
    // Nobody vouches for it: no word is said to it.
    let (code, said) = place.agon(&["admin", "--server", &https, "status"]);
    assert!(code != Some(0) && said.contains("certificate"), "{code:?} {said}");
    drop(server);
    place.verify();
}

#[test]
fn ports_of_other_systems_use_tls_if_configured() {
    let settings = "listen = \"127.0.0.1:0\"\nat_most = 2\n";
    let certificate = "[tls]\ncert = \"cert.pem\"\nkey = \"key.pem\"\n";
    let place =
        Place::new(&format!("{certificate}[fish]\n{settings}tls = true\n[trains]\n{settings}\n"));
    let trusted = certify(&place);
    let server = Server::start(&place);
    let at = |system: &str| server.said["players"][system].as_str().expect("an address").to_owned();
    let mut peers = ["eve", "bob"].map(|_| connect(&at("fish"), &trusted));
    for (peer, name) in peers.iter_mut().zip(["eve", "bob"]) {
        write!(peer, "{name:?}").expect("it reads");
    }
    for peer in &mut peers {
        let mut said = [0; 16];
        peer.read_exact(&mut said).expect("a call");
        assert_eq!(&said, br#"["start",[true]]"#);
    }
    // The other one is as its programs are.
    let mut trains = ["ann", "zoe"].map(|name| {
        let mut socket = TcpStream::connect(at("trains")).expect("the server is there");
        write!(socket, "{name:?}").expect("it reads");
        socket
    });
    for socket in &mut trains {
        socket.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        let mut said = [0; 16];
        socket.read_exact(&mut said).expect("a call");
        assert_eq!(&said, br#"["start",[true]]"#);
    }
    let place = Place::new(&format!("[fish]\n{settings}tls = true\n"));
    let (code, said) = place.agon(&["serve", "--check", "--config", "agon.toml"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("[fish]: tls = true needs a certificate"), "{said}");
}

#[test]
fn flags_for_a_certificate_come_in_twos_and_name_files_that_are_good() {
    let place = Place::new("");
    certify(&place);
    let listen = ["serve", "--tcp", "127.0.0.1:0", "--http", "127.0.0.1:0"];
    let cases = [
        (vec!["--tls-cert", "cert.pem"], "--tls-key"),
        (vec!["--tls-cert", "cert.pem", "--tls-key", "nowhere.pem"], "nowhere.pem"),
        (vec!["--tls-cert", "key.pem", "--tls-key", "key.pem"], "key.pem"),
    ];
    for (flags, needle) in cases {
        let (code, said) = place.agon(&[&listen[..], &flags].concat());
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(needle), "{said}");
        assert!(!place.path("agon-data").exists(), "nothing was made");
    }
}
