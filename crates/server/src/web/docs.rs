//! The pages of `docs/` that this server was built with, as plain text.

use super::Answer;
use super::problem::Problem;
use axum::extract::Path;
use axum::http::header;
use axum::response::IntoResponse;

/// All pages.
pub(super) const PAGES: [(&str, &str, &str); 5] = [
    ("native.md", "how players speak", include_str!("../../../../docs/protocol/native.md")),
    ("http.md", "this interface", include_str!("../../../../docs/protocol/http.md")),
    ("log.md", "logs and luck", include_str!("../../../../docs/protocol/log.md")),
    ("receipt.md", "receipts of players", include_str!("../../../../docs/protocol/receipt.md")),
    ("operate.md", "operating a server", include_str!("../../../../docs/operate.md")),
];

pub(super) async fn page(Path(name): Path<String>) -> Answer {
    let known = PAGES.iter().find(|(known, _, _)| *known == name);
    let Some((_, _, text)) = known else {
        let all = PAGES.map(|(known, _, _)| known).join(", ");
        return Err(Problem::not_found(format!(
            "nothing here is called {name:?}; there are: {all}"
        )));
    };
    let headers = [
        (header::CONTENT_TYPE, "text/plain; charset=utf-8"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    Ok((headers, *text).into_response())
}
