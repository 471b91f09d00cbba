//! A small web server for one viewer on the same machine: [`Server`].
//!
//! It answers `GET` and `HEAD` of the page's files, of what an [`Exhibit`] has to show,
//! and of nothing else:
//!
//! | path           | answer                                                    |
//! |----------------|-----------------------------------------------------------|
//! | `/`, `/…`      | a file of the page, by its exact name                     |
//! | `/api/catalog` | what there is to see, JSON                                |
//! | `/api/mesh`    | triangles, binary; `of` says of what                      |
//! | `/api/frames`  | positions frame after frame, binary, as they are computed |
//!
//! No path reaches the file system: the page is in memory, and names in a query are
//! those of the exhibit. It listens on loopback unless told otherwise, and answers only
//! requests for its own host and from its own pages, so that no other page
//! in the same browser can read from it. Requests have no body, connections are few and
//! are closed when they keep silent, and whatever is wrong gets an error and ends that
//! connection alone.

mod request;
mod response;

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use request::{Received, Receiver, Request};
use response::{Body, Respond};

use crate::page_files;

/// A request for nothing is waited for this long.
const SILENCE: Duration = Duration::from_secs(30);
/// A client that takes nothing for this long is gone.
const STALLED: Duration = Duration::from_secs(60);
/// How often the server looks whether to stop.
const LOOK: Duration = Duration::from_millis(20);

/// What a query asks for, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// The value of a name; the first if it is there twice.
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut own = self.0.iter().filter(|(key, _)| key == name);
        own.next().map(|(_, value)| value.as_str())
    }
}

impl<const N: usize> From<[(&str, &str); N]> for Query {
    fn from(pairs: [(&str, &str); N]) -> Self {
        Self(pairs.map(|(k, v)| (k.to_string(), v.to_string())).to_vec())
    }
}

/// Why an exhibit does not show what was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// There is no such thing.
    #[error("there is no {what} {name:?}")]
    Missing {
        /// What kind of thing.
        what: &'static str,
        /// What it was called.
        name: String,
    },
    /// A value can't be understood or is out of its limits.
    #[error("{name} {value:?} is not {expected}")]
    Value {
        /// The name in the query.
        name: &'static str,
        /// Its value.
        value: String,
        /// What it could be.
        expected: &'static str,
    },
    /// Others are being shown too much already.
    #[error("{0} are shown at a time; close another first")]
    Busy(&'static str),
    /// Something went wrong that the one who asks can't help.
    #[error("{0}")]
    Failed(String),
}

/// What there is to see.
pub trait Exhibit: Send + Sync {
    /// All of it, as JSON.
    fn catalog(&self) -> String;

    /// A mesh, or numbers of its vertices, in bytes.
    ///
    /// # Errors
    /// When there is none.
    fn mesh(&self, query: &Query) -> Result<Vec<u8>, Refusal>;

    /// Frames one after the other, in bytes that are handed to `sink`.
    ///
    /// # Errors
    /// When there are none. After the first bytes an error ends the stream early.
    fn frames(&self, query: &Query, sink: Sink<'_>) -> Result<(), Refusal>;
}

/// Takes bytes of a stream, and says whether to go on. No bytes ask whether anybody is
/// still there, for work that takes long.
pub type Sink<'a> = &'a mut (dyn FnMut(&[u8]) -> bool + Send);

/// Where a server listens, and to how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerConfig {
    /// The address; port 0 takes a free one.
    pub address: SocketAddr,
    /// Connections at once; more are told to come again.
    pub most_connections: usize,
}

impl ServerConfig {
    /// Loopback, on a free port, to 48 connections: a browser opens six.
    pub const DEFAULT: Self = Self {
        address: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
        most_connections: 48,
    };
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    config: ServerConfig,
    exhibit: Arc<dyn Exhibit>,
}

impl Server {
    /// Listens.
    ///
    /// # Errors
    /// When the address can't be had.
    pub fn bind(config: ServerConfig, exhibit: Arc<dyn Exhibit>) -> io::Result<Self> {
        let listener = TcpListener::bind(config.address)?;
        listener.set_nonblocking(true)?;
        Ok(Self {
            listener,
            config,
            exhibit,
        })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers until `is_over` says so, which is asked many times a second.
    ///
    /// # Errors
    /// When the system does not let it listen any more.
    pub fn run(&self, is_over: &dyn Fn() -> bool) -> io::Result<()> {
        let own = self.address()?;
        let n_open = Arc::new(AtomicUsize::new(0));
        while !is_over() {
            let client = match self.listener.accept() {
                Ok((client, _)) => client,
                Err(e) if is_passing(&e) => {
                    thread::sleep(LOOK);
                    continue;
                }
                Err(e) => return Err(e),
            };
            let slot = Slot::take(&n_open);
            let is_full = slot.n_before >= self.config.most_connections;
            let exhibit = Arc::clone(&self.exhibit);
            // A client that can't be set up or answered has gone; others have not.
            let _ = client.set_nonblocking(false);
            if is_full {
                let _ = client.set_write_timeout(Some(LOOK));
                let _ = Respond::new(&client).error(503, "too many connections; come again");
                continue;
            }
            let answer = move || {
                let _slot = slot;
                let _ = converse(&client, own, exhibit.as_ref());
            };
            // Without a thread the connection is dropped, as if it were full.
            let _ = thread::Builder::new().spawn(answer);
        }
        Ok(())
    }
}

/// A connection that is counted while it is open.
struct Slot {
    n_open: Arc<AtomicUsize>,
    n_before: usize,
}

impl Slot {
    fn take(n_open: &Arc<AtomicUsize>) -> Self {
        Self {
            n_before: n_open.fetch_add(1, Ordering::SeqCst),
            n_open: Arc::clone(n_open),
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.n_open.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Whether another client may come all the same.
fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, WouldBlock};
    // Out of file handles, which clients that leave give back.
    let is_short = matches!(error.raw_os_error(), Some(23 | 24));
    let kind = error.kind();
    is_short
        || matches!(
            kind,
            WouldBlock | Interrupted | ConnectionAborted | ConnectionReset
        )
}

/// Answers one client until it leaves, keeps silent or asks what can't be understood.
fn converse(client: &TcpStream, own: SocketAddr, exhibit: &dyn Exhibit) -> io::Result<()> {
    client.set_read_timeout(Some(SILENCE))?;
    client.set_write_timeout(Some(STALLED))?;
    client.set_nodelay(true)?;
    let mut receiver = Receiver::new(client, own);
    loop {
        match receiver.next()? {
            Received::End => return Ok(()),
            Received::Bad(status, why) => return Respond::new(client).error(status, why),
            Received::Request(request) => {
                let is_last = request.is_last;
                answer(client, &request, exhibit)?;
                if is_last {
                    return Ok(());
                }
            }
        }
    }
}

/// Whether a client has not left.
fn is_there(client: &TcpStream) -> bool {
    let looked = client.set_nonblocking(true).and_then(|()| {
        let looked = client.peek(&mut [0]);
        client.set_nonblocking(false)?;
        looked
    });
    match looked {
        Ok(n) => n > 0,
        Err(e) => e.kind() == io::ErrorKind::WouldBlock,
    }
}

fn answer(client: &TcpStream, request: &Request, exhibit: &dyn Exhibit) -> io::Result<()> {
    let mut respond = Respond::to(client, request);
    match request.path.as_str() {
        "/api/catalog" => respond.whole(&Body::json(exhibit.catalog().as_bytes())),
        "/api/mesh" => match exhibit.mesh(&request.query) {
            Ok(bytes) => respond.whole(&Body::binary(&bytes)),
            Err(refusal) => respond.refuse(&refusal),
        },
        "/api/frames" => {
            let mut broken = None;
            let sent = exhibit.frames(&request.query, &mut |bytes| {
                if bytes.is_empty() {
                    return is_there(client);
                }
                let sent = respond.part(bytes);
                let is_wanted = sent.is_ok() && !request.is_head;
                broken = sent.err();
                is_wanted
            });
            match (broken, sent) {
                (Some(broken), _) => Err(broken),
                (None, Ok(())) => respond.end(),
                (None, Err(refusal)) if respond.has_begun() => {
                    // A stream that is cut off is told from one that ended.
                    Err(io::Error::other(refusal.to_string()))
                }
                (None, Err(refusal)) => respond.refuse(&refusal),
            }
        }
        path => match page_files::file(path) {
            Some((kind, bytes)) => respond.whole(&Body { kind, bytes }),
            None => respond.error(404, "there is no such page"),
        },
    }
}

#[cfg(test)]
mod tests;
