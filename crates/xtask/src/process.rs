//! Running programs: each is printed first, and none runs for ever.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// What a program may take. The slowest, a clean build on two cores, takes a few minutes.
const LIMIT: Duration = Duration::from_secs(20 * 60);

/// Runs a program with this one's own output; true if it succeeded.
///
/// # Errors
/// If it does not start, or does not end in time: then it is stopped.
pub fn run(command: &mut Command) -> Result<bool> {
    announce(command);
    let mut child = command.stdin(Stdio::null()).spawn().with_context(|| describe(command))?;
    Ok(wait(&mut child, Instant::now() + LIMIT, command)?.success())
}

/// Like [`run`], and gives each line of the program's output to `each`, which prints it or does not.
///
/// # Errors
/// As for [`run`].
pub fn run_lines(command: &mut Command, mut each: impl FnMut(&str)) -> Result<bool> {
    announce(command);
    let deadline = Instant::now() + LIMIT;
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().with_context(|| describe(command))?;
    let (sender, lines) = mpsc::channel();
    if let Some(output) = child.stdout.take() {
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut line = vec![];
            while output.read_until(b'\n', &mut line).is_ok_and(|bytes| bytes > 0) {
                let text = String::from_utf8_lossy(&line).trim_end().to_owned();
                if sender.send(text).is_err() {
                    break;
                }
                line.clear();
            }
        });
    }
    loop {
        match lines.recv_timeout(Duration::from_millis(100)) {
            Ok(line) => each(&line),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) if Instant::now() < deadline => {}
            Err(RecvTimeoutError::Timeout) => break,
        }
    }
    Ok(wait(&mut child, deadline, command)?.success())
}

/// Whether a program starts and succeeds; nothing is printed.
pub fn succeeds(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// What a program prints, if it starts and succeeds.
pub fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn wait(child: &mut Child, deadline: Instant, command: &Command) -> Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            bail!("stopped after {} minutes: {}", LIMIT.as_secs() / 60, describe(command));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn announce(command: &Command) {
    println!("$ {}", describe(command));
}

/// The command as one would type it, but for the environment that everything gets.
fn describe(command: &Command) -> String {
    let program = Path::new(command.get_program());
    // Cargo tells its children where it is, at length.
    let program = program.file_name().filter(|name| *name == "cargo").unwrap_or(program.as_os_str());
    let words = [program].into_iter().chain(command.get_args()).map(|word| word.to_string_lossy());
    let words = words.map(|word| if word.contains(' ') { format!("'{word}'") } else { word.into_owned() });
    words.collect::<Vec<_>>().join(" ")
}
