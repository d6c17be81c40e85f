//! HTML that the server writes itself: documents from Markdown, and errors for people.
//!
//! A client that asks for `text/html` is a person's browser. Programs get Markdown and problems as
//! they always did. The page proper is in `web/`; `start` serves it.

use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use pulldown_cmark::{CowStr, Event, LinkType, Options, Parser, Tag, TagEnd};

/// The content security policy: only the page's own files are loaded, inline scripts and styles are
/// blocked, text cannot become a script, and no site may put the page into a frame.
const POLICY: &str = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'; require-trusted-types-for 'script'";

/// The headers of every page for people.
pub(super) const HEADERS: [(HeaderName, HeaderValue); 5] = [
    (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
    (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
];

/// Returns whether a client asks for HTML, as browsers do when a person opens an address.
pub(super) fn is_wanted(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/html"))
}

/// Returns whether an error at this address is for people. Programs use the interface below
/// `/api/`.
pub(super) fn is_for_people(uri: &Uri, headers: &HeaderMap) -> bool {
    is_wanted(headers) && !uri.path().starts_with("/api/")
}

/// A document for people.
pub(super) fn document(markdown: &str, linked: impl Fn(&str) -> Option<String>) -> Response {
    let (title, body) = rendered(markdown, linked);
    let body = format!("<article class=\"card prose\">{body}</article>");
    (HEADERS, whole(&title, &body)).into_response()
}

/// An error for people: what happened, why, and where to go.
pub(super) fn error(status: StatusCode, detail: &str) -> Response {
    let heading = match status {
        StatusCode::NOT_FOUND => "This page does not exist",
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => "The server is busy",
        _ => "The server cannot show this page",
    };
    let detail = escaped(&sentence(detail));
    let body = format!(
        "<h1>{heading}</h1>\n<p>{detail}</p>\n<p><a class=\"button\" href=\"/#/\">Go to the \
         lobby</a></p>"
    );
    (status, HEADERS, whole(heading, &body)).into_response()
}

/// A detail of a problem as a sentence.
fn sentence(detail: &str) -> String {
    let mut letters = detail.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    let rest = letters.as_str();
    let end = if rest.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{}{rest}{end}", first.unwrap_or_default())
}

/// A page around its content.
fn whole(title: &str, content: &str) -> String {
    let title = escaped(title);
    format!(
        r##"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · Agon</title>
<link rel="icon" href="/web/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/web/style.css">
<link rel="stylesheet" href="/web/views.css">
<script src="/web/theme.js"></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top">
  <a class="brand" href="/#/"><img src="/web/icon.svg" alt="" width="28" height="28"> Agon</a>
  <nav aria-label="Main">
    <a href="/#/">Lobby</a>
    <a href="/#/play">Play</a>
    <a href="/#/rules">Rules</a>
    <a href="/#/leaderboard">Ranks</a>
    <a href="/#/archive">Past</a>
    <a href="/#/docs">Docs</a>
  </nav>
</header>
<main id="main" tabindex="-1"><div class="view">
{content}
</div></main>
</body>
</html>
"##
    )
}

/// The title of a document, and its content as HTML. `linked` gives the address of a relative link;
/// without one the text stays and the link goes. Headings get the anchors that links name.
fn rendered(markdown: &str, linked: impl Fn(&str) -> Option<String>) -> (String, String) {
    let parsed = Parser::new_ext(markdown, Options::ENABLE_TABLES).collect::<Vec<_>>();
    let mut title = String::new();
    let mut events: Vec<Event<'_>> = Vec::with_capacity(parsed.len());
    let mut links = Vec::new();
    for (at, event) in parsed.iter().enumerate() {
        let event = match event {
            Event::Start(Tag::Heading { level, classes, attrs, .. }) => {
                let text = text_of(&parsed[at..]);
                let id = Some(CowStr::from(anchor(&text)));
                if title.is_empty() {
                    title = text;
                }
                let (classes, attrs) = (classes.clone(), attrs.clone());
                Event::Start(Tag::Heading { level: *level, id, classes, attrs })
            }
            Event::Start(Tag::Link { dest_url, title, .. }) => {
                let address = match dest_url.starts_with('#') || dest_url.contains("://") {
                    true => Some(dest_url.to_string()),
                    false => linked(dest_url),
                };
                links.push(address.is_some());
                let Some(dest_url) = address.map(CowStr::from) else { continue };
                let (link_type, id) = (LinkType::Inline, CowStr::from(""));
                Event::Start(Tag::Link { link_type, dest_url, title: title.clone(), id })
            }
            Event::End(TagEnd::Link) if links.pop() == Some(false) => continue,
            Event::Html(html) | Event::InlineHtml(html) => Event::Text(html.clone()),
            other => other.clone(),
        };
        events.push(event);
    }
    let mut body = String::with_capacity(2 * markdown.len());
    pulldown_cmark::html::push_html(&mut body, events.into_iter());
    // Tables and code that scroll can be reached by keyboard.
    let wide = "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Table\"><table>";
    let body = body.replace("<table>", wide).replace("</table>", "</table></div>");
    (title, body.replace("<pre>", "<pre tabindex=\"0\">"))
}

/// The text of the heading that begins here.
fn text_of(events: &[Event<'_>]) -> String {
    let own = events.iter().take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))));
    let texts = own.filter_map(|event| match event {
        Event::Text(text) | Event::Code(text) => Some(text.as_ref()),
        _ => None,
    });
    texts.collect()
}

/// The anchor of a heading, as code forges make it.
fn anchor(heading: &str) -> String {
    let lower = heading.to_lowercase();
    let kept = lower.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

/// Text escaped for HTML.
pub(super) fn escaped(text: &str) -> String {
    let escape = |letter: char| match letter {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '"' => "&quot;".to_owned(),
        '\'' => "&#39;".to_owned(),
        plain => plain.to_string(),
    };
    text.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_becomes_html_with_anchors_and_known_links() {
        let markdown = "# Logs & luck\n\nSee [http](http.md#errors), [below](#the-end) and \
                        [other](../x.md).\n\n| a |\n| - |\n| 1 |\n\n## The end\n\n`<b>` <b>x</b>\n";
        let (title, body) = rendered(markdown, |link| {
            link.strip_prefix("http.md").map(|rest| format!("/docs/http.md{rest}"))
        });
        assert_eq!(title, "Logs & luck");
        for part in [
            "<h1 id=\"logs--luck\">Logs &amp; luck</h1>",
            "<a href=\"/docs/http.md#errors\">http</a>",
            "<a href=\"#the-end\">below</a> and other.",
            "<h2 id=\"the-end\">The end</h2>",
            "<td>1</td>",
            "<code>&lt;b&gt;</code> &lt;b&gt;x&lt;/b&gt;",
        ] {
            assert!(body.contains(part), "{part} is not in {body}");
        }
    }

    #[test]
    fn details_become_sentences() {
        assert_eq!(sentence("there is no page"), "There is no page.");
        assert_eq!(sentence("Done."), "Done.");
        assert_eq!(sentence(""), ".");
    }
}
