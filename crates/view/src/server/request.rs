//! Requests as they come in, checked: [`Receiver`].
//!
//! A page of another site may send requests here from the same browser. Those that name
//! another host (a name that was made to point here) or come from another origin are
//! refused.

use std::io::{self, Read};
use std::net::SocketAddr;

use super::Query;

/// The head of a request is no longer than this [bytes].
const LONGEST: usize = 16 * 1024;
/// A path with its query is no longer than this [bytes].
const LONGEST_TARGET: usize = 4 * 1024;
/// A request has no more headers than this.
const MOST_HEADERS: usize = 64;

/// A request that is answered.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) path: String,
    pub(super) query: Query,
    /// Whether only the head of the answer is wanted.
    pub(super) is_head: bool,
    /// Whether the connection ends with it.
    pub(super) is_last: bool,
    /// Whether it is of HTTP/1.0, which knows no chunks.
    pub(super) is_old: bool,
}

/// What came in.
#[derive(Debug)]
pub(super) enum Received {
    Request(Request),
    /// An error with its status, after which nothing is read any more.
    Bad(u16, &'static str),
    /// The client left or kept silent.
    End,
}

/// Reads requests one after the other.
pub(super) struct Receiver<R> {
    from: R,
    own: SocketAddr,
    /// What was read and not yet understood.
    left: Vec<u8>,
}

impl<R: Read> Receiver<R> {
    /// Requests to a server that listens at `own`.
    pub(super) const fn new(from: R, own: SocketAddr) -> Self {
        Self {
            from,
            own,
            left: Vec::new(),
        }
    }

    /// The next request.
    pub(super) fn next(&mut self) -> io::Result<Received> {
        let mut chunk = [0; 2048];
        loop {
            if let Some((received, n_bytes)) = understand(&self.left, self.own) {
                self.left.drain(..n_bytes);
                return Ok(received);
            }
            if self.left.len() > LONGEST {
                return Ok(Received::Bad(431, "the head of the request is too long"));
            }
            match self.from.read(&mut chunk) {
                Ok(0) => return Ok(Received::End),
                Ok(n) => self.left.extend_from_slice(&chunk[..n]),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if is_silence(&e) => return Ok(Received::End),
                Err(e) => return Err(e),
            }
        }
    }
}

fn is_silence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}

/// The request at the start of `bytes` and how many of them it is; none while it is not
/// whole.
fn understand(bytes: &[u8], own: SocketAddr) -> Option<(Received, usize)> {
    let bad = |status, why| Some((Received::Bad(status, why), bytes.len()));
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    let n_bytes = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(n)) => n,
        Ok(httparse::Status::Partial) => return None,
        Err(httparse::Error::TooManyHeaders) => return bad(431, "there are too many headers"),
        Err(_) => return bad(400, "this is no HTTP request"),
    };
    let (method, target) = (parsed.method.unwrap_or(""), parsed.path.unwrap_or(""));
    if !matches!(method, "GET" | "HEAD") {
        return bad(405, "only GET and HEAD are answered");
    }
    if target.len() > LONGEST_TARGET {
        return bad(414, "the path is too long");
    }
    let all = |name: &str| {
        let own: Vec<&[u8]> = (parsed.headers.iter())
            .filter(|h| h.name.eq_ignore_ascii_case(name))
            .map(|h| h.value)
            .collect();
        own
    };
    let has_body = !all("transfer-encoding").is_empty()
        || all("content-length").iter().any(|length| *length != b"0");
    if has_body {
        return bad(413, "a request has no body here");
    }
    let host = match all("host")[..] {
        [host] => String::from_utf8_lossy(host).to_ascii_lowercase(),
        _ => return bad(400, "a request names one host"),
    };
    if !is_own_host(&host, own) {
        return bad(403, "this server is not that host");
    }
    let own_origin = format!("http://{host}");
    let is_own = |o: &&[u8]| o.eq_ignore_ascii_case(own_origin.as_bytes());
    if !all("origin").iter().all(is_own) {
        return bad(403, "pages of other origins are not answered");
    }
    // A page elsewhere may name an address here as a picture, which has no origin; browsers
    // say so. Links that are followed may come from anywhere.
    let is_foreign = |s: &&[u8]| matches!(*s, b"cross-site" | b"same-site");
    let is_followed = all("sec-fetch-mode")[..] == [b"navigate"];
    if all("sec-fetch-site").iter().any(is_foreign) && !is_followed {
        return bad(403, "pages of other origins are not answered");
    }
    let Some((path, query)) = split(target) else {
        return bad(400, "the path or its query can't be understood");
    };
    let is_closing = |value: &&[u8]| value.eq_ignore_ascii_case(b"close");
    let request = Request {
        path,
        query,
        is_head: method == "HEAD",
        is_old: parsed.version != Some(1),
        is_last: parsed.version != Some(1) || all("connection").iter().any(is_closing),
    };
    Some((Received::Request(request), n_bytes))
}

/// Whether a request for that host is meant for the server at `own`. On loopback that is
/// one of its names; elsewhere names are not known here.
fn is_own_host(host: &str, own: SocketAddr) -> bool {
    if !own.ip().is_loopback() {
        return !host.is_empty();
    }
    let port = format!(":{}", own.port());
    let name = host.strip_suffix(&port).unwrap_or(host);
    matches!(name, "localhost" | "127.0.0.1" | "[::1]") || name == own.ip().to_string()
}

/// The path and the query of a target; none if it is no absolute path or not UTF-8.
fn split(target: &str) -> Option<(String, Query)> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    if !path.starts_with('/') {
        return None;
    }
    let mut pairs = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        pairs.push((decoded(name)?, decoded(value)?));
    }
    Some((decoded(path)?, Query(pairs)))
}

/// Text with its `%41` and `+` read.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        match first {
            b'%' => {
                let digits = core::str::from_utf8(rest.get(..2)?).ok()?;
                if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                    return None;
                }
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
                rest = rest.get(2..)?;
            }
            b'+' => bytes.push(b' '),
            other => bytes.push(*other),
        }
    }
    String::from_utf8(bytes).ok()
}
