//! The pages, built from `crates/web` and part of the program.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;

/// Names below the root, and what is in them.
const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/app.rs"));

/// The page itself, or one of its files. Names are compared with the list above: no path is ever
/// made from one.
pub fn serve(name: &str) -> Option<Response> {
    let name = if name.is_empty() { "index.html" } else { name };
    let (_, content) = FILES.iter().find(|(known, _)| *known == name)?;
    // Names of files in assets/ have a hash of their content in them.
    let cache = if name.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
    let mut response = (StatusCode::OK, Bytes::from_static(content)).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind(name)));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    Some(response)
}

fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("woff2") => "font/woff2",
        Some("json") => "application/json",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_there_and_nothing_else_is() {
        let page = serve("").expect("the page is built in");
        assert_eq!(page.headers()[header::CONTENT_TYPE], "text/html; charset=utf-8");
        for wrong in ["../Cargo.toml", "assets/../index.html", "/etc/passwd", "assets", ".", "index.html/"] {
            assert!(serve(wrong).is_none(), "{wrong}");
        }
    }

    /// Report and app are built together; a test beside the report holds what it was built from
    /// against `crates/web` (`make web`).
    #[test]
    fn the_page_is_of_the_same_build_as_the_report() {
        let template = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab/assets/report.html");
        let sources = |page: &str| {
            let stated = page.split_once("name=\"goodqueue-sources\" content=\"").expect("a page says what it was built from").1;
            stated[..16].to_owned()
        };
        let page = FILES.iter().find(|(name, _)| *name == "index.html").map(|(_, content)| *content).expect("the page");
        let template = std::fs::read_to_string(template).expect("the report's template");
        assert_eq!(sources(std::str::from_utf8(page).expect("text")), sources(&template), "run `make web`");
        // Nothing of another build is left, and everything that the page loads is there.
        let text = std::str::from_utf8(page).expect("text");
        let scripts: Vec<_> =
            FILES.iter().map(|(name, _)| name).filter(|name| name.ends_with(".js") || name.ends_with(".css")).collect();
        assert!(scripts.len() >= 2 && scripts.iter().all(|name| text.contains(**name)), "{scripts:?}");
    }
}
