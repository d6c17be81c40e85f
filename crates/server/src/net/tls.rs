//! TLS: a certificate from files, and sockets with or without it.

use crate::cluster::RelayStream;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, RwLock};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::server::TlsStream;

/// A certificate that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read, or has other content.
    #[error("failed to read {what} from {}: {why}", path.display())]
    File {
        /// The expected content.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// The certificate and the key do not belong together, or are of an unsupported kind.
    #[error("failed to use the certificate {} with the key {}: {why}", cert.display(), key.display())]
    Pair {
        /// The certificate's file.
        cert: PathBuf,
        /// The key's file.
        key: PathBuf,
        /// The reason.
        why: String,
    },
}

/// A certificate and its key, as files that may be replaced.
pub struct Tls {
    cert: PathBuf,
    key: PathBuf,
    config: RwLock<Arc<ServerConfig>>,
}

impl Tls {
    /// Reads a chain of certificates and a key from PEM files.
    pub fn load(cert: &Path, key: &Path) -> Result<Tls, TlsError> {
        let config = RwLock::new(Arc::new(read(cert, key)?));
        Ok(Tls { cert: cert.into(), key: key.into(), config })
    }

    /// Reads the files again. New connections get the new certificate; if it is invalid, the old
    /// one stays.
    pub fn reload(&self) -> Result<(), TlsError> {
        let config = Arc::new(read(&self.cert, &self.key)?);
        *self.config.write().unwrap_or_else(|broken| broken.into_inner()) = config;
        Ok(())
    }

    fn acceptor(&self) -> TlsAcceptor {
        let config = self.config.read().unwrap_or_else(|broken| broken.into_inner());
        TlsAcceptor::from(Arc::clone(&config))
    }
}

fn read(cert: &Path, key: &Path) -> Result<ServerConfig, TlsError> {
    let file = |what, path: &Path, why: String| TlsError::File { what, path: path.into(), why };
    let chain = CertificateDer::pem_file_iter(cert).and_then(|all| all.collect::<Result<_, _>>());
    let chain: Vec<_> = chain.map_err(|error| file("a certificate", cert, error.to_string()))?;
    if chain.is_empty() {
        return Err(file("a certificate", cert, "there is none in it".into()));
    }
    let secret = PrivateKeyDer::from_pem_file(key)
        .map_err(|error| file("a private key", key, error.to_string()))?;
    let pair = |error: tokio_rustls::rustls::Error| TlsError::Pair {
        cert: cert.into(),
        key: key.into(),
        why: error.to_string(),
    };
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(pair)?
        .with_no_client_auth();
    let mut config = config.with_single_cert(chain, secret).map_err(pair)?;
    // Browsers name their protocol; players' programs need not.
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// A connection: a socket, with TLS or without, or one whose socket is on another node.
pub(crate) enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<Inner>>),
    Relayed(RelayStream),
}

/// A socket under TLS, which can move to another runtime. It is `Some` except while it moves.
pub(crate) struct Inner(Option<TcpStream>);

impl Inner {
    fn socket(&mut self) -> std::io::Result<Pin<&mut TcpStream>> {
        let gone = std::io::ErrorKind::NotConnected;
        self.0.as_mut().map(Pin::new).ok_or_else(|| gone.into())
    }
}

impl AsyncRead for Inner {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        self.socket()?.poll_read(context, buffer)
    }
}

impl AsyncWrite for Inner {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        self.socket()?.poll_write(context, bytes)
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        self.socket()?.poll_flush(context)
    }

    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        self.socket()?.poll_shutdown(context)
    }
}

impl Stream {
    /// Makes a stream of a socket: with TLS if there is a certificate.
    pub(crate) async fn accept(
        socket: TcpStream,
        tls: Option<&Arc<Tls>>,
    ) -> std::io::Result<Stream> {
        match tls {
            None => Ok(Stream::Plain(socket)),
            Some(tls) => {
                let accepted = tls.acceptor().accept(Inner(Some(socket))).await?;
                Ok(Stream::Tls(Box::new(accepted)))
            }
        }
    }

    /// The relayed connection, if the socket is on another node.
    pub(crate) fn relay(&self) -> Option<&RelayStream> {
        match self {
            Stream::Relayed(stream) => Some(stream),
            Stream::Plain(_) | Stream::Tls(_) => None,
        }
    }

    /// Moves the stream to the current runtime, whose threads wait for the socket from now on.
    pub(crate) fn moved_here(self) -> std::io::Result<Stream> {
        let moved = |socket: TcpStream| TcpStream::from_std(socket.into_std()?);
        match self {
            Stream::Plain(socket) => Ok(Stream::Plain(moved(socket)?)),
            Stream::Tls(mut tls) => {
                let (inner, _) = tls.get_mut();
                inner.0 = inner.0.take().map(moved).transpose()?;
                Ok(Stream::Tls(tls))
            }
            Stream::Relayed(stream) => Ok(Stream::Relayed(stream)),
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(socket) => Pin::new(socket).poll_read(context, buffer),
            Stream::Tls(tls) => Pin::new(tls).poll_read(context, buffer),
            Stream::Relayed(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        match self.get_mut() {
            Stream::Plain(socket) => Pin::new(socket).poll_write(context, bytes),
            Stream::Tls(tls) => Pin::new(tls).poll_write(context, bytes),
            Stream::Relayed(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(socket) => Pin::new(socket).poll_flush(context),
            Stream::Tls(tls) => Pin::new(tls).poll_flush(context),
            Stream::Relayed(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(socket) => Pin::new(socket).poll_shutdown(context),
            Stream::Tls(tls) => Pin::new(tls).poll_shutdown(context),
            Stream::Relayed(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
