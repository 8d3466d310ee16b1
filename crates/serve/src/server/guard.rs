//! Access control: hosts, origins, tokens; and the headers that every answer has.
//!
//! A page of another site may have a browser ask us anything (cross-site requests), and may even
//! have its own name point here (DNS rebinding). So a request must name us as its host, must not
//! come from elsewhere, and must bring the token to change anything. On loopback the page gets it
//! from `/api/hello`, which no other site can read; elsewhere, and where a bridge is watched,
//! the person who started the server hands it on.

use crate::server::token::Token;
use crate::session::ApiError;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// The header that brings the token.
pub const HEADER: HeaderName = HeaderName::from_static("x-goodqueue-token");
const COOKIE: &str = "goodqueue";

/// Whether a server watches a bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bridge {
    /// The server watches a bridge, and can change it.
    With,
    /// The server watches no bridge.
    Without,
}

/// Rules for the requests that are let in.
#[derive(Clone, Debug)]
pub struct Guard {
    pub token: Token,
    /// Only this machine can ask.
    loopback: bool,
    /// Pages get the token by themselves: all who can ask may change everything.
    pub open: bool,
    port: u16,
    /// Names by which it may be asked for, besides addresses and `localhost`.
    names: Vec<String>,
}

const CONTENT_SECURITY: HeaderValue = HeaderValue::from_static(
    "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

/// A report is a page of its own with its script in it: it runs in a sandbox of no origin, from
/// where nothing here can be reached.
pub const REPORT_SECURITY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:; font-src data:; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts allow-downloads",
);

impl Guard {
    /// With a bridge even users of this machine need the token: its socket is open to its owner
    /// only, and anyone who may ask here could control it.
    pub const fn new(token: Token, address: SocketAddr, names: Vec<String>, bridge: Bridge) -> Self {
        let loopback = address.ip().is_loopback();
        let open = loopback && matches!(bridge, Bridge::Without);
        Self { token, loopback, open, port: address.port(), names }
    }

    /// Refuses a request whose headers do not allow it to pass.
    fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), ApiError> {
        let host = single(headers, &header::HOST).ok_or_else(|| ApiError::bad_request("one header Host is needed"))?;
        // An address in the request counts more than the header (RFC 9112 §3.2.2).
        let is_elsewhere = uri.authority().is_some_and(|named| !self.is_ours(named.as_str()));
        if is_elsewhere || !self.is_ours(host) {
            return Err(ApiError::new(StatusCode::MISDIRECTED_REQUEST, "Host: this server does not go by that name"));
        }
        let origin = headers.get(header::ORIGIN).map(|origin| origin.to_str().unwrap_or_default());
        let same =
            origin.is_some_and(|origin| origin.strip_prefix("http://").is_some_and(|origin| origin.eq_ignore_ascii_case(host)));
        if origin.is_some() && !same {
            return Err(ApiError::new(StatusCode::FORBIDDEN, "Origin: pages of other sites may not ask"));
        }
        let site = headers.get("sec-fetch-site").map(|site| site.to_str().unwrap_or_default());
        let is_page = uri.path() == "/" && *method == Method::GET;
        if site.is_some_and(|site| site == "cross-site" || site == "same-site") && !is_page {
            return Err(ApiError::new(StatusCode::FORBIDDEN, "Sec-Fetch-Site: pages of other sites may not ask"));
        }
        let by_header = single(headers, &HEADER).is_some_and(|given| self.token.is(given));
        let by_cookie = cookie(headers).is_some_and(|given| self.token.is(given));
        if !self.open && !by_header && !by_cookie {
            return Err(ApiError::new(
                StatusCode::UNAUTHORIZED,
                "the token is needed: open the address that `gq serve` has printed",
            ));
        }
        let reads = matches!(*method, Method::GET | Method::HEAD);
        // A cookie is sent by the browser whichever page asks; it counts only when the page that
        // asks is known to be ours.
        if !(reads || by_header || by_cookie && same) {
            return Err(ApiError::new(StatusCode::FORBIDDEN, "X-Goodqueue-Token: the token is missing or wrong"));
        }
        Ok(())
    }

    /// Whether the host that a request names is this server.
    fn is_ours(&self, host: &str) -> bool {
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
            _ => (host, Some(80)),
        };
        if port != Some(self.port) {
            return false;
        }
        let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        match address {
            Ok(address) => !self.loopback || address.is_loopback(),
            Err(_) => name.eq_ignore_ascii_case("localhost") || self.names.iter().any(|known| known.eq_ignore_ascii_case(name)),
        }
    }

    /// The address with the token in it, once: it turns into a cookie and leaves the address.
    fn welcome(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Option<Response> {
        let given = uri.query()?.split('&').find_map(|pair| pair.strip_prefix("token="))?;
        let host = single(headers, &header::HOST)?;
        if *method != Method::GET || uri.path() != "/" || !self.is_ours(host) || !self.token.is(given) {
            return None;
        }
        let mut response = Redirect::to("/").into_response();
        let cookie = format!("{COOKIE}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000", self.token.text());
        response.headers_mut().insert(header::SET_COOKIE, HeaderValue::from_str(&cookie).ok()?);
        Some(response)
    }
}

/// A header that must not come twice.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?.to_str().ok()?;
    all.next().is_none().then_some(first)
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    all.flat_map(|value| value.split(';')).find_map(|pair| pair.trim().strip_prefix(COOKIE)?.strip_prefix('='))
}

/// Passes a request on, or refuses it; every answer gets its headers.
pub async fn authorize(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let mut response = match guard.welcome(&method, &uri, request.headers()) {
        Some(welcome) => welcome,
        None => match guard.check(&method, &uri, request.headers()) {
            Ok(()) => next.run(request).await,
            Err(refused) => refused.into_response(),
        },
    };
    let headers = response.headers_mut();
    let fixed = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("x-frame-options"), "DENY"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(CONTENT_SECURITY);
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(address: &str, names: &[&str]) -> Guard {
        Guard::new(
            Token::new().unwrap(),
            address.parse().unwrap(),
            names.iter().map(ToString::to_string).collect(),
            Bridge::Without,
        )
    }

    #[test]
    fn on_loopback_only_names_of_this_machine_are_ours() {
        let guard = guard("127.0.0.1:8080", &[]);
        for ours in ["localhost:8080", "127.0.0.1:8080", "[::1]:8080", "LOCALHOST:8080"] {
            assert!(guard.is_ours(ours), "{ours}");
        }
        for other in [
            "evil.example:8080",
            "localhost",
            "localhost:81",
            "192.168.0.1:8080",
            "localhost.evil.example:8080",
            "",
            "[::1]",
            ":8080",
        ] {
            assert!(!guard.is_ours(other), "{other}");
        }
    }

    #[test]
    fn elsewhere_addresses_and_given_names_are_ours() {
        let guard = guard("0.0.0.0:80", &["lab.example"]);
        for ours in ["192.168.0.1:80", "192.168.0.1", "lab.example", "Lab.Example:80", "[fe80::1]:80"] {
            assert!(guard.is_ours(ours), "{ours}");
        }
        assert!(!guard.is_ours("evil.example"));
    }

    #[test]
    fn an_address_in_the_request_counts_as_its_host() {
        let guard = guard("127.0.0.1:8080", &[]);
        let headers = HeaderMap::from_iter([(header::HOST, HeaderValue::from_static("localhost:8080"))]);
        let check = |uri| guard.check(&Method::GET, &Uri::from_static(uri), &headers).map_err(|refused| refused.status);
        assert_eq!(check("http://evil.example/api/hello"), Err(StatusCode::MISDIRECTED_REQUEST));
        assert_eq!(check("http://localhost:8080/api/hello"), Ok(()));
        assert_eq!(check("/api/hello"), Ok(()));
    }

    #[test]
    fn a_cookie_alone_changes_nothing() {
        let guard = guard("0.0.0.0:80", &[]);
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_static("10.0.0.1"));
        let uri = Uri::from_static("/api/sessions");
        let status = |headers: &HeaderMap, method| guard.check(&method, &uri, headers).map_err(|refused| refused.status);
        assert_eq!(status(&headers, Method::GET), Err(StatusCode::UNAUTHORIZED));
        let cookie = format!("a=b; {COOKIE}={}", guard.token.text());
        headers.insert(header::COOKIE, HeaderValue::from_str(&cookie).unwrap());
        assert_eq!(status(&headers, Method::GET), Ok(()));
        assert_eq!(status(&headers, Method::POST), Err(StatusCode::FORBIDDEN));
        headers.insert(header::ORIGIN, HeaderValue::from_static("http://10.0.0.1"));
        assert_eq!(status(&headers, Method::POST), Ok(()));
        headers.insert(header::ORIGIN, HeaderValue::from_static("http://10.0.0.2"));
        assert_eq!(status(&headers, Method::GET), Err(StatusCode::FORBIDDEN));
    }
}
