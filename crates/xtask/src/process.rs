//! Running programs: each is printed first, and none runs for ever.

use std::io::{BufRead, BufReader, PipeReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// What a program may take. The slowest, the suite on the emulated CUDA device in a full run, takes some twenty minutes.
const LIMIT: Duration = Duration::from_secs(60 * 60);

/// Where what a stage prints goes.
pub enum Output {
    /// To this program's own output.
    Shown,
    /// Here until the stage ends: others print at the same time.
    Kept(Mutex<String>),
}

impl Output {
    pub fn line(&self, line: &str) {
        match self {
            Output::Shown => println!("{line}"),
            Output::Kept(text) => {
                let mut text = text.lock().unwrap_or_else(PoisonError::into_inner);
                text.push_str(line);
                text.push('\n');
            }
        }
    }
}

/// Runs a program, whose output goes to `output`; true if it succeeded.
///
/// # Errors
/// If it does not start, or does not end in time: then it is stopped.
pub fn run(command: &mut Command, output: &Output) -> Result<bool> {
    if let Output::Kept(_) = output {
        return run_lines(command, output, |line| output.line(line));
    }
    output.line(&announcement(command));
    let mut child = command.stdin(Stdio::null()).spawn().with_context(|| describe(command))?;
    Ok(wait(&mut child, Instant::now() + LIMIT, command)?.success())
}

/// Like [`run`], and gives each line of the program's output to `each`, which prints it or does not.
///
/// # Errors
/// As for [`run`].
pub fn run_lines(command: &mut Command, output: &Output, mut each: impl FnMut(&str)) -> Result<bool> {
    output.line(&announcement(command));
    let deadline = Instant::now() + LIMIT;
    let (mut child, lines) = spawn(command, output).with_context(|| describe(command))?;
    let (sender, received) = mpsc::channel();
    std::thread::spawn(move || {
        let mut lines = BufReader::new(lines);
        let mut line = vec![];
        while lines.read_until(b'\n', &mut line).is_ok_and(|bytes| bytes > 0) {
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            if sender.send(text).is_err() {
                break;
            }
            line.clear();
        }
    });
    loop {
        match received.recv_timeout(Duration::from_millis(100)) {
            Ok(line) => each(&line),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) if Instant::now() < deadline => {}
            Err(RecvTimeoutError::Timeout) => break,
        }
    }
    Ok(wait(&mut child, deadline, command)?.success())
}

/// Starts a program, and gives what it prints. Its errors are among that where the output is kept.
fn spawn(command: &mut Command, output: &Output) -> std::io::Result<(Child, PipeReader)> {
    let (reader, writer) = std::io::pipe()?;
    if let Output::Kept(_) = output {
        command.stderr(writer.try_clone()?);
    }
    let child = command.stdin(Stdio::null()).stdout(writer).spawn()?;
    // The command holds the pipe's other end, which would never be closed.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    Ok((child, reader))
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

fn announcement(command: &Command) -> String {
    format!("$ {}", describe(command))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_has_output_and_errors_in_order() {
        let output = Output::Kept(Mutex::default());
        let mut command = Command::new("sh");
        command.args(["-c", "echo one; echo two >&2; echo three; exit 3"]);
        assert!(!run(&mut command, &output).unwrap());
        let Output::Kept(text) = output else { panic!("it was kept") };
        let text = text.into_inner().unwrap();
        assert_eq!(text.lines().skip(1).collect::<Vec<_>>(), ["one", "two", "three"]);
        assert!(text.starts_with("$ sh -c"), "{text}");
    }
}
