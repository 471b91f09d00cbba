//! Answers as they go out: [`Respond`].

use std::io::{self, Write};
use std::net::TcpStream;

use super::Refusal;
use super::request::Request;

/// Every answer says that only this server's own files may be used, shown and kept.
const HEADERS: &str = "Cache-Control: no-store\r\n\
    Content-Security-Policy: default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\n\
    Referrer-Policy: no-referrer\r\n\
    X-Content-Type-Options: nosniff\r\n";

/// An answer that is whole before it is sent.
pub(super) struct Body<'a> {
    pub(super) kind: &'static str,
    pub(super) bytes: &'a [u8],
}

impl<'a> Body<'a> {
    pub(super) const fn json(bytes: &'a [u8]) -> Self {
        Self {
            kind: "application/json",
            bytes,
        }
    }

    pub(super) const fn binary(bytes: &'a [u8]) -> Self {
        Self {
            kind: "application/octet-stream",
            bytes,
        }
    }
}

/// Writes one answer to one client.
pub(super) struct Respond<'a> {
    client: &'a TcpStream,
    is_head: bool,
    is_last: bool,
    /// Whether streams go out in chunks; else they end with the connection.
    is_chunked: bool,
    has_begun: bool,
}

impl<'a> Respond<'a> {
    /// An answer after which the connection is closed.
    pub(super) const fn new(client: &'a TcpStream) -> Self {
        Self {
            client,
            is_head: false,
            is_last: true,
            is_chunked: true,
            has_begun: false,
        }
    }

    /// The answer to a request.
    pub(super) const fn to(client: &'a TcpStream, request: &Request) -> Self {
        Self {
            client,
            is_head: request.is_head,
            is_last: request.is_last,
            is_chunked: !request.is_old,
            has_begun: false,
        }
    }

    /// Whether anything was sent.
    pub(super) const fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Sends all at once.
    pub(super) fn whole(&mut self, body: &Body<'_>) -> io::Result<()> {
        self.head(200, body.kind, Some(body.bytes.len()))?;
        self.body(body.bytes)
    }

    /// Sends an error in words.
    pub(super) fn error(&mut self, status: u16, why: &str) -> io::Result<()> {
        let text = format!("{why}\n");
        self.head(status, "text/plain; charset=utf-8", Some(text.len()))?;
        self.body(text.as_bytes())
    }

    /// Sends why something is not shown.
    pub(super) fn refuse(&mut self, refusal: &Refusal) -> io::Result<()> {
        let status = match refusal {
            Refusal::Missing { .. } => 404,
            Refusal::Value { .. } => 400,
            Refusal::Busy(_) => 503,
            Refusal::Failed(_) => 500,
        };
        self.error(status, &refusal.to_string())
    }

    /// Sends a part of a stream.
    pub(super) fn part(&mut self, bytes: &[u8]) -> io::Result<()> {
        if !self.has_begun {
            self.head(200, "application/octet-stream", None)?;
        }
        if self.is_head || bytes.is_empty() {
            return Ok(());
        }
        let mut client = self.client;
        if !self.is_chunked {
            return client.write_all(bytes);
        }
        write!(client, "{:x}\r\n", bytes.len())?;
        client.write_all(bytes)?;
        client.write_all(b"\r\n")
    }

    /// Ends a stream.
    pub(super) fn end(&mut self) -> io::Result<()> {
        self.part(&[])?;
        match self.is_head || !self.is_chunked {
            true => Ok(()),
            false => self.body(b"0\r\n\r\n"),
        }
    }

    fn head(&mut self, status: u16, kind: &str, length: Option<usize>) -> io::Result<()> {
        self.has_begun = true;
        let reason = match status {
            200 => "OK",
            400 => "Bad Request",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed\r\nAllow: GET, HEAD",
            413 => "Content Too Large",
            414 => "URI Too Long",
            431 => "Request Header Fields Too Large",
            503 => "Service Unavailable",
            _ => "Internal Server Error",
        };
        let length = match length {
            Some(length) => format!("Content-Length: {length}\r\n"),
            None if self.is_chunked => "Transfer-Encoding: chunked\r\n".to_string(),
            None => String::new(),
        };
        let connection = if self.is_last { "close" } else { "keep-alive" };
        let head = format!(
            "HTTP/1.1 {status} {reason}\r\nContent-Type: {kind}\r\n{length}{HEADERS}Connection: {connection}\r\n\r\n"
        );
        let mut client = self.client;
        client.write_all(head.as_bytes())
    }

    fn body(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut client = self.client;
        if !self.is_head {
            client.write_all(bytes)?;
        }
        client.flush()
    }
}
