//! Smaller answers: gzip for clients that accept it.
//!
//! An answer of known length is compressed at once. Streams of events are left as they are: a
//! compressor would hold events back. Large shared answers bring their compressed form along
//! (`answers`), so that many readers cost one compression.

use super::answers::Compressed;
use super::problem::Problem;
use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::Request;
use axum::http::header::{self, HeaderMap, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

/// A shorter answer gains nothing: it fits into one packet.
const BYTES_MIN: usize = 1024;

/// A longer answer is compressed on a thread that may block.
const QUICK_BYTES_MAX: usize = 64 * 1024;

/// A longer answer is sent as it is: compressing it takes too long.
pub(super) const BYTES_MAX: usize = 8 * 1024 * 1024;

/// The media types that text has, all of which become much smaller.
const MEDIA: [&str; 7] = [
    "text/html",
    "text/css",
    "text/plain",
    "text/csv",
    "text/javascript",
    "image/svg+xml",
    "application/",
];

/// Compresses the answers of a service.
pub(super) async fn compressed(request: Request, next: Next) -> Response {
    let accepted = accepts_gzip(request.headers());
    let mut response = next.run(request).await;
    if !is_compressible(&response) {
        return response;
    }
    // A cache between here and the client must not mix up the two forms.
    response.headers_mut().append(header::VARY, HeaderValue::from_static("accept-encoding"));
    if !accepted {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let body = match parts.extensions.remove::<Compressed>() {
        Some(shared) => shared.into_body(),
        None => match smaller(body).await {
            Some(bytes) => Body::from(bytes),
            None => return Problem::internal().into_response(),
        },
    };
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    Response::from_parts(parts, body)
}

/// The compressed form of a body that is in memory already.
async fn smaller(body: Body) -> Option<Vec<u8>> {
    let bytes = to_bytes(body, BYTES_MAX).await.ok()?;
    match bytes.len() > QUICK_BYTES_MAX {
        true => tokio::task::spawn_blocking(move || gzip(&bytes)).await.ok(),
        false => Some(gzip(&bytes)),
    }
}

/// The compressed form of some bytes.
pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), Compression::new(5));
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory takes every write")
}

/// Returns whether the client accepts gzip: `accept-encoding` names it, and not with a weight of 0.
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let all = headers.get_all(header::ACCEPT_ENCODING).iter();
    let all = all.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    let mut codings = all.map(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = weight.trim().strip_prefix("q=").unwrap_or("1");
        (name.trim().to_ascii_lowercase(), weight.parse::<f32>().unwrap_or(0.0) > 0.0)
    });
    codings.any(|(name, is_wanted)| is_wanted && (name == "gzip" || name == "x-gzip"))
}

fn is_compressible(response: &Response) -> bool {
    let headers = response.headers();
    let media = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let is_text = media.is_some_and(|media| MEDIA.iter().any(|known| media.starts_with(known)));
    let length = response.body().size_hint().exact();
    let fits = |length: u64| (BYTES_MIN as u64..=BYTES_MAX as u64).contains(&length);
    is_text && !headers.contains_key(header::CONTENT_ENCODING) && length.is_some_and(fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::GzDecoder;
    use std::io::Read;

    #[test]
    fn gzip_is_accepted_by_name_and_weight() {
        let accepts = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(value));
            accepts_gzip(&headers)
        };
        for yes in ["gzip", "br, GZIP;q=0.5", "deflate, gzip, zstd"] {
            assert!(accepts(yes), "{yes}");
        }
        for no in ["identity", "br", "gzip;q=0", "gzip; q=0.0", ""] {
            assert!(!accepts(no), "{no}");
        }
        assert!(!accepts_gzip(&HeaderMap::new()));
    }

    #[test]
    fn compressed_bytes_decompress_to_the_same() {
        let text = r#"{"players": ["ann", "bob"]}"#.repeat(1_000);
        let small = gzip(text.as_bytes());
        assert!(small.len() * 10 < text.len(), "{}", small.len());
        let mut back = String::new();
        GzDecoder::new(&small[..]).read_to_string(&mut back).unwrap();
        assert_eq!(back, text);
    }
}
