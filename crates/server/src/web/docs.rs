//! The pages of `docs/` that this server was built with: Markdown for programs, HTML for people.

use super::Answer;
use super::html;
use super::problem::Problem;
use axum::extract::Path;
use axum::http::{HeaderMap, header};
use axum::response::IntoResponse;

/// All pages.
pub(super) const PAGES: [(&str, &str, &str); 5] = [
    ("native.md", "the protocol of players", include_str!("../../../../docs/protocol/native.md")),
    ("http.md", "the HTTP interface", include_str!("../../../../docs/protocol/http.md")),
    ("log.md", "logs and luck", include_str!("../../../../docs/protocol/log.md")),
    ("receipt.md", "receipts of players", include_str!("../../../../docs/protocol/receipt.md")),
    ("operate.md", "operating a server", include_str!("../../../../docs/operate.md")),
];

pub(super) async fn page(Path(name): Path<String>, headers: HeaderMap) -> Answer {
    let known = PAGES.iter().find(|(known, _, _)| *known == name);
    let Some((_, _, text)) = known else {
        let all = PAGES.map(|(known, _, _)| known).join(", ");
        return Err(Problem::not_found(format!(
            "there is no document {name:?}; the documents are: {all}"
        )));
    };
    if html::is_wanted(&headers) {
        return Ok(html::document(text, address));
    }
    let headers = [
        (header::CONTENT_TYPE, "text/plain; charset=utf-8"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    Ok((headers, *text).into_response())
}

/// The address of a link from one document to another, such as `../operate.md#backup`.
fn address(link: &str) -> Option<String> {
    let file = link.rsplit('/').next().unwrap_or(link);
    let (name, place) = file.split_once('#').unwrap_or((file, ""));
    let place = if place.is_empty() { String::new() } else { format!("#{place}") };
    PAGES.iter().any(|(known, _, _)| *known == name).then(|| format!("/docs/{name}{place}"))
}
