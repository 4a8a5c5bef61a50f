//! A page in headless Chromium that compiles texts, and a server of this test's own that gives it them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

/// What came of it.
pub enum Verdict {
    /// The browser cannot compile the texts, for want of this.
    Lacking(String),
    /// Those that it refused, by place, each with the reason.
    Refused(Vec<(usize, String)>),
}

/// Texts that the page gets at once.
const BATCH: usize = 64;

/// How long the page may be silent: it starts, or compiles a batch.
const PATIENCE: Duration = Duration::from_secs(180);

/// The browser, which ends with the test.
struct Browser(Child);

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Compiles texts. (A text may have no zero bytes.)
///
/// # Panics
/// If the browser does not start, or does not finish.
pub fn compile(browser: &Path, texts: &[String]) -> Verdict {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let batches: Arc<Vec<String>> = Arc::new(texts.chunks(BATCH).map(|batch| batch.join("\0")).collect());
    let (sender, told) = channel();
    // It ends with the process: until then a browser may ask.
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (batches, sender) = (batches.clone(), sender.clone());
            // A thread each: browsers open connections that they do not use at once.
            std::thread::spawn(move || answer(stream, &batches, &sender));
        }
    });
    let profile = tempfile::tempdir().unwrap();
    let _browser = Browser(start(browser, profile.path(), &url));
    let mut refused = vec![];
    loop {
        let (what, body) = told.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("{} is silent", browser.display()));
        match what.split_once('/') {
            Some(("refused", place)) => refused.push((place.parse().unwrap(), body)),
            Some(_) => {}
            None if what == "lacking" => return Verdict::Lacking(body),
            None if what == "done" => {
                assert_eq!(body, texts.len().to_string(), "texts compiled");
                return Verdict::Refused(refused);
            }
            None => panic!("the page says {what}: {body}"),
        }
    }
}

fn start(browser: &Path, profile: &Path, url: &str) -> Child {
    Command::new(browser)
        .args(["--headless=new", "--no-sandbox", "--no-first-run", "--disable-background-networking", "--disable-sync"])
        .args(["--disable-component-update", "--disable-quic", "--disable-dev-shm-usage", "--enable-unsafe-webgpu"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(url)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| panic!("{}: {error}", browser.display()))
}

/// Answers one request, and passes on what the page tells: the last part of the path without its slash, and the body.
fn answer(stream: TcpStream, batches: &[String], sender: &Sender<(String, String)>) -> Option<()> {
    let mut reader = BufReader::new(&stream);
    let (mut line, mut length) = (String::new(), 0);
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.strip_prefix('/')?.to_string();
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        match line.trim().to_ascii_lowercase().split_once(':') {
            Some(("content-length", bytes)) => length = bytes.trim().parse().ok()?,
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let reply = match path.strip_prefix("texts/").and_then(|batch| batch.parse::<usize>().ok()) {
        Some(batch) => batches.get(batch).map(String::as_str),
        None if path.is_empty() => Some(include_str!("../tint.html")),
        None if path == "favicon.ico" => None,
        None => Some(""),
    };
    let status = if reply.is_some() { "200 OK" } else { "404 Not Found" };
    let reply = reply.unwrap_or_default();
    let kind = if path.is_empty() { "text/html" } else { "text/plain" };
    if !path.is_empty() && path != "favicon.ico" {
        sender.send((path, String::from_utf8_lossy(&body).into_owned())).ok()?;
    }
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        reply.len()
    );
    (&stream).write_all(head.as_bytes()).ok()?;
    (&stream).write_all(reply.as_bytes()).ok()
}
