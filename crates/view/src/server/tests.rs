//! Requests good and bad, over real connections.

use std::io::{Read, Write};
use std::sync::atomic::AtomicBool;

use super::*;

/// Counts to three.
struct Counting;

impl Exhibit for Counting {
    fn catalog(&self) -> String {
        "{\"title\":\"three\"}".into()
    }

    fn mesh(&self, query: &Query) -> Result<Vec<u8>, Refusal> {
        match query.get("of") {
            Some("body") => Ok(vec![1, 2, 3]),
            other => Err(Refusal::Missing {
                what: "mesh",
                name: other.unwrap_or("").into(),
            }),
        }
    }

    fn frames(&self, query: &Query, sink: Sink<'_>) -> Result<(), Refusal> {
        if query.get("n") == Some("endless") {
            let mut n_asked = 0;
            while sink(&[]) {
                n_asked += 1;
                std::thread::sleep(LOOK);
            }
            N_ASKED.store(n_asked.max(1), Ordering::SeqCst);
            return Ok(());
        }
        let n = query.get("n").unwrap_or("3");
        let n: u8 = n.parse().map_err(|_| Refusal::Value {
            name: "n",
            value: n.into(),
            expected: "a number",
        })?;
        for frame in 0..n {
            if frame == 7 {
                return Err(Refusal::Failed("seven can't be shown".into()));
            }
            if !sink(&[frame; 4]) {
                break;
            }
        }
        Ok(())
    }
}

/// How often an endless stream has asked whether anybody is there, once that has left.
static N_ASKED: AtomicUsize = AtomicUsize::new(0);

/// Runs a server while `ask` asks it.
fn served(most_connections: usize, ask: impl FnOnce(SocketAddr)) {
    let config = ServerConfig {
        most_connections,
        ..ServerConfig::DEFAULT
    };
    let server = Server::bind(config, Arc::new(Counting)).unwrap();
    let address = server.address().unwrap();
    assert!(address.ip().is_loopback());
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let running = scope.spawn(|| server.run(&|| is_over.load(Ordering::SeqCst)));
        let end = End(&is_over);
        ask(address);
        drop(end);
        running.join().unwrap().unwrap();
    });
}

/// The server ends even when a test fails.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Sends bytes and reads until the server closes.
fn sent(address: SocketAddr, bytes: &[u8]) -> String {
    let mut client = TcpStream::connect(address).unwrap();
    client
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    // The server may answer and close before it has read everything.
    let _ = client.write_all(bytes);
    let mut answer = Vec::new();
    let _ = client.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn get(address: SocketAddr, target: &str) -> String {
    let head = format!("GET {target} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    sent(address, head.as_bytes())
}

fn status(answer: &str) -> &str {
    answer.get(9..12).unwrap_or("")
}

#[test]
fn what_there_is_is_shown() {
    served(8, |address| {
        let catalog = get(address, "/api/catalog");
        assert_eq!(status(&catalog), "200");
        assert!(catalog.ends_with("{\"title\":\"three\"}"), "{catalog}");
        assert!(catalog.contains("Content-Security-Policy: default-src 'self'"));
        assert!(get(address, "/api/mesh?of=b%6Fdy").ends_with("\u{1}\u{2}\u{3}"));
        let frames = get(address, "/api/frames");
        let expected =
            "4\r\n\0\0\0\0\r\n4\r\n\u{1}\u{1}\u{1}\u{1}\r\n4\r\n\u{2}\u{2}\u{2}\u{2}\r\n0\r\n\r\n";
        assert!(frames.ends_with(expected), "{frames:?}");
        let cut = get(address, "/api/frames?n=9");
        assert!(
            !cut.ends_with("0\r\n\r\n"),
            "a stream that fails has no end: {cut:?}"
        );
        assert_eq!(cut.matches("4\r\n").count(), 7);
    });
}

#[test]
fn work_ends_when_nobody_waits_for_it() {
    served(8, |address| {
        let mut client = TcpStream::connect(address).unwrap();
        let head = format!("GET /api/frames?n=endless HTTP/1.1\r\nHost: {address}\r\n\r\n");
        client.write_all(head.as_bytes()).unwrap();
        std::thread::sleep(10 * LOOK);
        assert_eq!(N_ASKED.load(Ordering::SeqCst), 0, "the client is there");
        drop(client);
        let mut tries = (0..500).map(|_| {
            std::thread::sleep(LOOK);
            N_ASKED.load(Ordering::SeqCst)
        });
        assert!(tries.any(|n| n > 0), "the work goes on");
    });
}

#[test]
fn several_requests_go_over_one_connection_and_a_head_has_no_body() {
    served(8, |address| {
        let one = format!("GET /api/catalog HTTP/1.1\r\nHost: {address}\r\n\r\n");
        let head = format!("HEAD /api/frames HTTP/1.1\r\nHost: {address}\r\n\r\n");
        let last =
            format!("GET /api/mesh HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        let answer = sent(address, (one + &head + &last).as_bytes());
        assert_eq!(answer.matches("HTTP/1.1 200").count(), 2, "{answer}");
        assert_eq!(answer.matches("HTTP/1.1 404").count(), 1, "{answer}");
        assert!(answer.ends_with("there is no mesh \"\"\n"), "{answer}");
    });
}

#[test]
fn bad_requests_get_an_error_and_the_server_goes_on() {
    let long = format!("GET /{} HTTP/1.1\r\nHost: {{a}}\r\n\r\n", "x".repeat(5000));
    let endless = format!("GET / HTTP/1.1\r\nX: {}", "y".repeat(40_000));
    let many = format!(
        "GET / HTTP/1.1\r\nHost: {{a}}\r\n{}\r\n",
        "A: b\r\n".repeat(100)
    );
    let cases: &[(&str, &str)] = &[
        (
            "GET /../../etc/passwd HTTP/1.1\r\nHost: {a}\r\nConnection: close\r\n\r\n",
            "404",
        ),
        (
            "GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: {a}\r\nConnection: close\r\n\r\n",
            "404",
        ),
        (
            "GET //etc/passwd HTTP/1.1\r\nHost: {a}\r\nConnection: close\r\n\r\n",
            "404",
        ),
        ("GET /%zz HTTP/1.1\r\nHost: {a}\r\n\r\n", "400"),
        ("GET /%ff HTTP/1.1\r\nHost: {a}\r\n\r\n", "400"),
        ("GET http://{a}/ HTTP/1.1\r\nHost: {a}\r\n\r\n", "400"),
        ("POST /api/catalog HTTP/1.1\r\nHost: {a}\r\n\r\n", "405"),
        (
            "GET / HTTP/1.1\r\nHost: {a}\r\nContent-Length: 5\r\n\r\nhello",
            "413",
        ),
        (
            "GET / HTTP/1.1\r\nHost: {a}\r\nTransfer-Encoding: chunked\r\n\r\n",
            "413",
        ),
        ("GET / HTTP/1.1\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\nHost: {a}\r\nHost: {a}\r\n\r\n", "400"),
        (
            "GET /api/catalog HTTP/1.1\r\nHost: rebound.example\r\n\r\n",
            "403",
        ),
        (
            "GET /api/catalog HTTP/1.1\r\nHost: {a}\r\nOrigin: http://evil.example\r\n\r\n",
            "403",
        ),
        (
            "GET /api/catalog HTTP/1.1\r\nHost: {a}\r\nOrigin: null\r\n\r\n",
            "403",
        ),
        (
            "GET /api/frames HTTP/1.1\r\nHost: {a}\r\nSec-Fetch-Site: cross-site\r\n\r\n",
            "403",
        ),
        (
            "GET / HTTP/1.1\r\nHost: {a}\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nConnection: close\r\n\r\n",
            "200",
        ),
        (
            "GET / HTTP/1.1\r\nHost: {a}\r\nSec-Fetch-Site: same-origin\r\nConnection: close\r\n\r\n",
            "200",
        ),
        ("GET /%+1 HTTP/1.1\r\nHost: {a}\r\n\r\n", "400"),
        (
            "GET /api/frames?n=x HTTP/1.1\r\nHost: {a}\r\nConnection: close\r\n\r\n",
            "400",
        ),
        ("\u{16}\u{3}\u{1}\0 not HTTP at all\r\n\r\n", "400"),
        (&long, "414"),
        (&endless, "431"),
        (&many, "431"),
    ];
    served(8, |address| {
        for (request, expected) in cases {
            let request = request.replace("{a}", &address.to_string());
            let answer = sent(address, request.as_bytes());
            assert_eq!(status(&answer), *expected, "{request}\n{answer}");
        }
        let own = format!("Host: {address}\r\nOrigin: http://{address}");
        let own = format!("GET /api/catalog HTTP/1.1\r\n{own}\r\nConnection: close\r\n\r\n");
        assert_eq!(status(&sent(address, own.as_bytes())), "200");
    });
}

#[test]
fn a_client_that_knows_no_chunks_gets_none() {
    served(8, |address| {
        let ask = |version: &str| {
            let head = format!("GET /api/frames?n=2 HTTP/{version}\r\nHost: {address}\r\n");
            let answer = sent(
                address,
                format!("{head}Connection: close\r\n\r\n").as_bytes(),
            );
            let (head, body) = answer.split_once("\r\n\r\n").unwrap();
            (head.contains("chunked"), body.to_string())
        };
        let (is_chunked, old) = ask("1.0");
        assert!(!is_chunked && !old.contains("\r\n"), "{old}");
        let (is_chunked, new) = ask("1.1");
        assert!(is_chunked && new.ends_with("0\r\n\r\n"), "{new}");
        // The same bytes, of which the other says how many come.
        let parts = new.split("\r\n").collect::<Vec<_>>();
        let taken: String = parts.chunks_exact(2).map(|pair| pair[1]).collect();
        assert_eq!(old, taken);
    });
}

#[test]
fn of_a_thousand_connections_some_are_told_to_come_again_and_none_hurts() {
    served(16, |address| {
        let silent: Vec<TcpStream> = (0..16)
            .map(|_| TcpStream::connect(address).unwrap())
            .collect();
        // Connections are accepted in their order, so all after these are too many.
        for _ in 0..1000 {
            assert_eq!(status(&sent(address, b"")), "503");
        }
        drop(silent);
        let mut tries = (0..200).map(|_| {
            std::thread::sleep(LOOK);
            get(address, "/api/catalog")
        });
        assert!(tries.any(|answer| status(&answer) == "200"));
    });
}
