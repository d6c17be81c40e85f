//! Checks against requests that another site may have tricked a browser into sending: under another
//! host name, for other sites' pages, or from other sites' forms.

use super::problem::Problem;
use super::{HEALTH, Web};
use axum::body::HttpBody;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::IpAddr;

/// The host names that the server accepts.
///
/// Another site can make its own name point to this machine (DNS rebinding) and then talk to the
/// server as if it were its own. So a request has to name the server by an IP address, which cannot
/// be redirected, as `localhost`, or by a name that the operator listed.
#[derive(Clone, Debug, Default)]
pub struct Hosts {
    names: Vec<String>,
    any: bool,
}

impl Hosts {
    /// These names, besides `localhost` and IP addresses; `*` allows every name.
    pub fn new<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> Hosts {
        let names = names.into_iter().map(|name| name.as_ref().to_ascii_lowercase());
        let names: Vec<String> = names.map(|name| name.trim_end_matches('.').to_owned()).collect();
        Hosts { any: names.iter().any(|name| name == "*"), names }
    }

    /// Returns whether a `Host` header names this server.
    fn allow(&self, host: &str) -> bool {
        let name = host.to_ascii_lowercase();
        let name = match name.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => &name,
        };
        let name = name.trim_end_matches('.');
        let bare = name.trim_start_matches('[').trim_end_matches(']');
        self.any
            || name == "localhost"
            || name.ends_with(".localhost")
            || bare.parse::<IpAddr>().is_ok()
            || self.names.iter().any(|known| known == name)
    }
}

/// Paths that machines request under any name; their content is public.
const FOR_MACHINES: [&str; 2] = [HEALTH, "/metrics"];

/// Rejects requests that another site may have made a browser send.
pub(super) async fn guarded(State(web): State<Web>, request: Request, next: Next) -> Response {
    match check(&web.hosts, &request) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

fn check(hosts: &Hosts, request: &Request) -> Result<(), Problem> {
    let headers = request.headers();
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let for_machines = FOR_MACHINES.contains(&request.uri().path());
    if let Some(host) = host.filter(|host| !for_machines && !hosts.allow(host)) {
        let shown: String = host.chars().take(80).collect();
        let detail = format!(
            "this server does not know the name {shown:?}; use its IP address, or have its operator \
             add the name to the setting `hosts`"
        );
        return Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, "wrong-host", detail));
    }
    if matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS) {
        return Ok(());
    }
    if !is_own_origin(headers) {
        return Err(Problem::forbidden("pages of other sites may not change anything here"));
    }
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media = content_type.map(|value| value.split(';').next().unwrap_or_default().trim());
    let is_json = media.is_some_and(|media| media.eq_ignore_ascii_case("application/json"));
    if !is_json && !request.body().is_end_stream() {
        let hint = "send the body as JSON, with the header content-type: application/json";
        return Err(Problem::unreadable(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not-json", hint));
    }
    Ok(())
}

/// Returns whether a request is from a page of this host, according to the browser; programs send
/// no origin.
pub(super) fn is_own_origin(headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(header::ORIGIN) else { return true };
    let origin = origin.to_str().ok().and_then(|origin| origin.parse::<Uri>().ok());
    let origin = origin.as_ref().and_then(|origin| origin.authority());
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    origin.zip(host).is_some_and(|(origin, host)| origin.as_str().eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    #[test]
    fn only_pages_of_this_host_are_its_own() {
        let cases = [
            (None, true),
            (Some("http://agon.test:7380"), true),
            (Some("https://Agon.test:7380"), true),
            (Some("http://agon.test"), false),
            (Some("http://evil.test:7380"), false),
            (Some("http://agon.test:7380.evil.test"), false),
            (Some("http://agon.test:7380@evil.test"), false),
            (Some("null"), false),
            (Some(""), false),
        ];
        for (origin, own) in cases {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, "agon.test:7380".parse().unwrap());
            if let Some(origin) = origin {
                headers.insert(header::ORIGIN, origin.parse().unwrap());
            }
            assert_eq!(is_own_origin(&headers), own, "{origin:?}");
        }
    }

    #[test]
    fn server_accepts_addresses_and_listed_host_names() {
        let hosts = Hosts::new(["Games.Example"]);
        for good in [
            "127.0.0.1:7380",
            "127.0.0.1",
            "localhost",
            "localhost:7380",
            "LOCALHOST.",
            "[::1]:7380",
            "10.1.2.3:80",
            "games.example",
            "games.example:443",
            "agon.localhost",
        ] {
            assert!(hosts.allow(good), "{good}");
        }
        for bad in ["evil.example", "games.example.evil", "127.0.0.1.evil", "", "localhost.evil"] {
            assert!(!hosts.allow(bad), "{bad}");
        }
        assert!(Hosts::new(["*"]).allow("evil.example"));
    }

    fn status(method: &str, headers: &[(&str, &str)], body: &'static str) -> Option<StatusCode> {
        let mut request = Request::builder().method(method).uri("/api/v1/accounts");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = if body.is_empty() { Body::empty() } else { Body::from(body) };
        let request = request.body(body).unwrap();
        let checked = check(&Hosts::default(), &request);
        checked.err().map(|problem| problem.into_response().status())
    }

    #[test]
    fn changes_come_from_pages_of_this_host_and_as_json() {
        let (json, host) = (("content-type", "application/json"), ("host", "localhost:7380"));
        assert_eq!(status("POST", &[host, json], "{}"), None);
        assert_eq!(status("POST", &[host, ("content-type", "Application/JSON; x=1")], "{}"), None);
        assert_eq!(status("POST", &[host], ""), None);
        let plain = ("content-type", "text/plain");
        assert_eq!(status("POST", &[host, plain], "{}"), Some(StatusCode::UNSUPPORTED_MEDIA_TYPE));
        assert_eq!(status("POST", &[host], "{}"), Some(StatusCode::UNSUPPORTED_MEDIA_TYPE));
        let other = ("origin", "http://evil.example");
        assert_eq!(status("DELETE", &[host, other], ""), Some(StatusCode::FORBIDDEN));
        assert_eq!(status("GET", &[host, other], ""), None);
        let wrong = ("host", "evil.example");
        assert_eq!(status("GET", &[wrong], ""), Some(StatusCode::MISDIRECTED_REQUEST));
    }
}
