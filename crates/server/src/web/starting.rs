//! What is answered before there is an engine: that there will be one.

use super::problem::Problem;
use crate::gateway::{Stream, Tls, accept};
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot};

/// Connections at once; more wait in the system's queue.
const CONNECTIONS_MAX: usize = 64;

/// How long one may take for its request.
const PATIENCE: Duration = Duration::from_secs(5);

/// Answers every request with 503 until it is told that the server is up, or that it never will
/// be; gives the listener back.
pub async fn answer_starting(
    listener: TcpListener,
    tls: Option<Arc<Tls>>,
    mut up: oneshot::Receiver<()>,
) -> TcpListener {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (accept(&listener).await.0, place)
        };
        let (socket, place) = tokio::select! {
            biased;
            _ = &mut up => break,
            next = next => next,
        };
        let tls = tls.clone();
        tokio::spawn(async move {
            let _ = tokio::time::timeout(PATIENCE, answer_one(socket, tls)).await;
            drop(place);
        });
    }
    listener
}

async fn answer_one(socket: TcpStream, tls: Option<Arc<Tls>>) {
    let Ok(stream) = Stream::accept(socket, tls.as_ref()).await else { return };
    let service = service_fn(|_: Request<Incoming>| async {
        let problem = Problem::busy("the server is starting: it reads its log");
        Ok::<Response, Infallible>(problem.into_response())
    });
    let mut http = http1::Builder::new();
    // The next request is for the server itself.
    http.keep_alive(false).timer(TokioTimer::new()).header_read_timeout(PATIENCE);
    let _ = http.serve_connection(TokioIo::new(stream), service).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[test]
    fn whoever_asks_early_is_told_to_come_back() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let (up, heard) = oneshot::channel();
            let starting = tokio::spawn(answer_starting(listener, None, heard));
            let mut socket = TcpStream::connect(address).await.unwrap();
            socket.write_all(b"GET /healthz?ready HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
            let mut answer = String::new();
            socket.read_to_string(&mut answer).await.unwrap();
            assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
            assert!(answer.contains("retry-after: 1") && answer.contains("starting"), "{answer}");
            up.send(()).unwrap();
            let listener = starting.await.unwrap();
            assert_eq!(listener.local_addr().unwrap(), address);
        });
    }
}
