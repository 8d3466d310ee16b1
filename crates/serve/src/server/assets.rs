//! The pages, built from `crates/web` and part of the program.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use include_dir::{Dir, include_dir};

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/assets/app");

/// The page itself, or one of its files.
pub fn serve(name: &str) -> Option<Response> {
    let name = if name.is_empty() { "index.html" } else { name };
    // As a path, a name may be written in several ways.
    let file = FILES.get_file(name).filter(|_| name.split('/').all(|part| !matches!(part, "" | ".")))?;
    // Names of files in assets/ have a hash of their content in them.
    let cache = if name.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
    let headers = [(header::CONTENT_TYPE, kind(name)), (header::CACHE_CONTROL, cache)];
    Some((headers, Bytes::from_static(file.contents())).into_response())
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
    use include_dir::File;

    #[test]
    fn the_page_is_there_and_nothing_else_is() {
        let page = serve("").expect("the page is built in");
        assert_eq!(page.headers()[header::CONTENT_TYPE], "text/html; charset=utf-8");
        for wrong in ["../Cargo.toml", "assets/../index.html", "/etc/passwd", "assets", ".", "index.html/"] {
            assert!(serve(wrong).is_none(), "{wrong}");
        }
    }

    /// Report and app are built together; a test of the report compares what it was built from
    /// with `crates/web` (`make web`).
    #[test]
    fn the_page_is_of_the_same_build_as_the_report() {
        let template = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab/assets/report.html");
        let sources = |page: &str| {
            let stated = page.split_once("name=\"goodqueue-sources\" content=\"").expect("a page says what it was built from").1;
            stated[..16].to_owned()
        };
        let page = FILES.get_file("index.html").and_then(File::contents_utf8).expect("the page");
        let template = std::fs::read_to_string(template).expect("the report's template");
        assert_eq!(sources(page), sources(&template), "run `make web`");
        // Nothing of another build is left, and everything that the page loads is there.
        let loaded = FILES.get_dir("assets").expect("the files of the page").files().filter_map(|file| file.path().to_str());
        let scripts: Vec<_> = loaded.filter(|name| name.ends_with(".js") || name.ends_with(".css")).collect();
        assert!(scripts.len() >= 2 && scripts.iter().all(|name| page.contains(name)), "{scripts:?}");
    }
}
