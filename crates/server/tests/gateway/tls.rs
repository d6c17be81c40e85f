//! TLS on every listener, with certificates made for the test.

use crate::support::websocket::Client;
use crate::support::{Server, Setup};
use agon_server::{Tls, TlsError};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

type TlsStream = StreamOwned<ClientConnection, TcpStream>;

/// Writes a new certificate and its key into a folder; gives the certificate to trust.
fn certify(dir: &Path) -> CertificateDer<'static> {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    fs::write(dir.join("cert.pem"), cert.pem()).unwrap();
    fs::write(dir.join("key.pem"), signing_key.serialize_pem()).unwrap();
    cert.der().clone()
}

fn load(dir: &Path) -> Result<Tls, TlsError> {
    Tls::load(&dir.join("cert.pem"), &dir.join("key.pem"))
}

/// A server with a certificate, who to trust for it, and the certificate itself.
fn server(login_ms_max: u64) -> (Server, CertificateDer<'static>, Arc<Tls>, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let trusted = certify(dir.path());
    let tls = Arc::new(load(dir.path()).unwrap());
    let mut setup = Setup { tls: Some(Arc::clone(&tls)), ..Setup::default() };
    setup.limits.login_ms_max = login_ms_max;
    (Server::with(setup), trusted, tls, dir)
}

/// A connection that trusts this certificate and no other, or why there is none.
fn connect(address: SocketAddr, trusted: &CertificateDer<'static>) -> Result<TlsStream, String> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = "localhost".try_into().unwrap();
    let mut connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    while connection.is_handshaking() {
        connection.complete_io(&mut socket).map_err(|error| error.to_string())?;
    }
    Ok(StreamOwned::new(connection, socket))
}

fn first_line(stream: TlsStream) -> String {
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    line
}

#[test]
fn players_and_pages_come_over_tls() {
    let (server, trusted, ..) = server(10_000);
    let mut ann = BufReader::new(connect(server.address, &trusted).unwrap());
    let mut line = String::new();
    ann.read_line(&mut line).unwrap();
    assert!(line.contains("greeting"), "{line}");
    let hello = "{\"type\":\"hello\",\"protocol\":1,\"name\":\"x\"}\n{\"type\":\"ping\"}\n";
    ann.get_mut().write_all(hello.as_bytes()).unwrap();
    line.clear();
    ann.read_line(&mut line).unwrap();
    assert!(line.contains("pong"), "{line}");
    let mut bob = Client::over(connect(server.http, &trusted).unwrap());
    bob.expect("greeting", "agon");
    bob.log_in("bob");
    let mut page = connect(server.http, &trusted).unwrap();
    page.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    page.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 200 "), "{text}");
}

#[test]
fn plain_text_connection_to_a_tls_port_is_closed_and_disturbs_nobody() {
    let (server, trusted, ..) = server(10_000);
    let lines = ["{\"type\":\"hello\",\"protocol\":1,\"name\":\"x\"}\n", "GET / HTTP/1.1\r\n\r\n"];
    for (address, line) in [(server.address, lines[0]), (server.http, lines[1])] {
        let mut plain = TcpStream::connect(address).unwrap();
        plain.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        plain.write_all(line.as_bytes()).unwrap();
        let mut said = Vec::new();
        // An alert, or nothing; then the end.
        let _ = plain.read_to_end(&mut said);
        let said = String::from_utf8_lossy(&said);
        assert!(!said.contains("greeting") && !said.contains("HTTP"), "{said}");
    }
    assert_eq!(server.connections(), 0);
    assert!(first_line(connect(server.address, &trusted).unwrap()).contains("greeting"));
    // A client that trusts only another certificate rejects this one.
    let other = certify(tempfile::tempdir().unwrap().path());
    assert!(connect(server.address, &other).is_err());
}

#[test]
fn half_a_tls_handshake_is_not_waited_for() {
    let (server, ..) = server(50);
    for address in [server.address, server.http] {
        for start in [&b""[..], b"\x16\x03\x01\x02\x00\x01"] {
            let mut silent = TcpStream::connect(address).unwrap();
            silent.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            silent.write_all(start).unwrap();
            let mut said = Vec::new();
            let _ = silent.read_to_end(&mut said);
            assert_eq!(said, b"");
        }
    }
}

#[test]
fn a_certificate_is_replaced_while_the_server_runs() {
    let (server, old, tls, dir) = server(10_000);
    let kept = connect(server.address, &old).unwrap();
    fs::write(dir.path().join("cert.pem"), "nonsense").unwrap();
    tls.reload().unwrap_err();
    connect(server.address, &old).unwrap();
    let new = certify(dir.path());
    tls.reload().unwrap();
    assert!(connect(server.address, &old).is_err());
    assert!(first_line(connect(server.address, &new).unwrap()).contains("greeting"));
    // Connected players notice nothing.
    assert!(first_line(kept).contains("greeting"));
}

#[test]
fn bad_files_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let error = |dir: &Path| load(dir).err().expect("no good").to_string();
    assert!(error(dir.path()).contains("cert.pem"), "not there");
    certify(dir.path());
    assert!(load(dir.path()).is_ok());
    fs::remove_file(dir.path().join("key.pem")).unwrap();
    assert!(error(dir.path()).contains("key.pem"));
    fs::copy(dir.path().join("cert.pem"), dir.path().join("key.pem")).unwrap();
    let no_key = error(dir.path());
    assert!(no_key.contains("key.pem") && no_key.contains("private key"), "{no_key}");
    let other = tempfile::tempdir().unwrap();
    certify(other.path());
    fs::copy(other.path().join("key.pem"), dir.path().join("key.pem")).unwrap();
    let no_pair = error(dir.path());
    assert!(no_pair.contains("cert.pem") && no_pair.contains("with the key"), "{no_pair}");
    fs::write(dir.path().join("cert.pem"), "").unwrap();
    assert!(error(dir.path()).contains("there is none in it"));
}
