//! Sockets to a server, with TLS or without. The only file that knows about certificates.

use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// How long connecting may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The environment variable for a file of trusted certificates, instead of those of the system.
pub const CERTIFICATES: &str = "AGON_CERTIFICATES";

/// Where systems store their trusted certificates.
const BUNDLES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// An open socket.
#[derive(Debug)]
pub(super) enum Socket {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Socket {
    /// Connects to `HOST:PORT`.
    pub(super) async fn open(place: &str, tls: bool) -> io::Result<Socket> {
        let connecting = async {
            let socket = TcpStream::connect(place).await?;
            if socket.local_addr()? == socket.peer_addr()? {
                // On one machine, TCP can connect a socket to itself while the port has no
                // listener.
                return Err(io::ErrorKind::ConnectionRefused.into());
            }
            socket.set_nodelay(true)?;
            match tls {
                false => Ok(Socket::Plain(socket)),
                true => secured(socket, host(place)).await,
            }
        };
        tokio::time::timeout(PATIENCE, connecting).await.map_err(|_| io::ErrorKind::TimedOut)?
    }
}

/// The host of `HOST:PORT`, an IPv6 address without its brackets.
fn host(place: &str) -> &str {
    let host = place.rsplit_once(':').map_or(place, |(host, _)| host);
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

async fn secured(socket: TcpStream, host: &str) -> io::Result<Socket> {
    let wrong = |why: String| io::Error::new(io::ErrorKind::InvalidInput, why);
    let name = ServerName::try_from(host.to_owned());
    let name = name.map_err(|_| wrong(format!("{host} is no name a certificate can have")))?;
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong(error.to_string()))?
        .with_root_certificates(trusted()?)
        .with_no_client_auth();
    let connector = TlsConnector::from(Arc::new(config));
    Ok(Socket::Tls(Box::new(connector.connect(name, socket).await?)))
}

/// The trusted certificates. Read again for every connection: connections are rare, and files
/// change.
fn trusted() -> io::Result<RootCertStore> {
    let named = std::env::var_os(CERTIFICATES).map(PathBuf::from);
    let usual = || BUNDLES.iter().map(PathBuf::from).find(|path| path.exists());
    let none = || {
        let why = format!("no certificates to trust; name a PEM file of them in {CERTIFICATES}");
        io::Error::new(io::ErrorKind::NotFound, why)
    };
    let path = named.or_else(usual).ok_or_else(none)?;
    let unread = |why: &dyn std::fmt::Display| {
        let why = format!("failed to read certificates from {}: {why}", path.display());
        io::Error::new(io::ErrorKind::InvalidData, why)
    };
    let mut trusted = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(&path).map_err(|error| unread(&error))? {
        let certificate = certificate.map_err(|error| unread(&error))?;
        // A bundle may hold unusable certificates.
        let _ = trusted.add(certificate);
    }
    match trusted.is_empty() {
        true => Err(unread(&"there is none in it")),
        false => Ok(trusted),
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Socket::Plain(socket) => Pin::new(socket).poll_read(context, buffer),
            Socket::Tls(socket) => Pin::new(socket).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Socket::Plain(socket) => Pin::new(socket).poll_write(context, bytes),
            Socket::Tls(socket) => Pin::new(socket).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Socket::Plain(socket) => Pin::new(socket).poll_flush(context),
            Socket::Tls(socket) => Pin::new(socket).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Socket::Plain(socket) => Pin::new(socket).poll_shutdown(context),
            Socket::Tls(socket) => Pin::new(socket).poll_shutdown(context),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_is_parsed_without_port_and_brackets() {
        assert_eq!(host("example.org:1"), "example.org");
        assert_eq!(host("[::1]:80"), "::1");
        assert_eq!(host("127.0.0.1:7300"), "127.0.0.1");
    }
}
