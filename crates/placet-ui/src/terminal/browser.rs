//! The person's browser: which program opens a page, and whether there is one.

use std::io;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long the program may take to fail. One that opened a page may run as long as the browser does.
const FAILS_WITHIN: Duration = Duration::from_secs(2);

/// The program: the first of BROWSER, or the one of the desktop. `None` where no page can be shown.
fn program(variable: impl Fn(&str) -> Option<String>) -> Option<Vec<String>> {
    let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
    if let Some(own) = set("BROWSER") {
        let first = own.split(':').next().unwrap_or_default();
        return Some(first.split_whitespace().map(String::from).collect());
    }
    if cfg!(target_os = "macos") {
        return Some(vec!["open".into()]);
    }
    let has_screen = set("WAYLAND_DISPLAY").or_else(|| set("DISPLAY")).is_some();
    has_screen.then(|| vec!["xdg-open".into()])
}

/// Opens `address`, which must be one of http or https. False if there is no browser, or it could not be started.
pub fn open(address: &str) -> bool {
    let is_page = address.starts_with("https://") || address.starts_with("http://");
    match program(|name| std::env::var(name).ok()) {
        Some(words) if is_page => start(&words, address).is_ok(),
        _ => false,
    }
}

fn start(words: &[String], address: &str) -> io::Result<()> {
    let Some((name, arguments)) = words.split_first() else { return Err(io::ErrorKind::NotFound.into()) };
    let mut command = Command::new(name);
    let has_place = arguments.iter().any(|argument| argument.contains("%s"));
    command.args(arguments.iter().map(|argument| argument.replace("%s", address)));
    if !has_place {
        command.arg(address);
    }
    // Browsers write to their outputs as long as they run.
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let began = Instant::now();
    while began.elapsed() < FAILS_WITHIN {
        if let Some(status) = child.try_wait()? {
            return if status.success() { Ok(()) } else { Err(io::Error::other("it failed")) };
        }
        thread::sleep(Duration::from_millis(20));
    }
    // Somebody must wait for it, or it stays as a dead process.
    thread::Builder::new().name("browser".into()).spawn(move || child.wait()).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_opened_by_the_persons_program_or_by_nobody() {
        let with = |set: &'static [(&str, &str)]| {
            program(move |name| set.iter().find(|(n, _)| *n == name).map(|(_, value)| value.to_string()))
        };
        assert_eq!(
            with(&[("BROWSER", "firefox --new-tab %s:lynx"), ("DISPLAY", ":0")]).unwrap().join(" "),
            "firefox --new-tab %s"
        );
        assert_eq!(with(&[("DISPLAY", ":0")]).unwrap(), ["xdg-open"]);
        assert_eq!(with(&[("BROWSER", " "), ("DISPLAY", "")]), None);
    }

    #[test]
    fn nothing_but_a_page_is_opened() {
        assert!(!open("file:///etc/passwd") && !open("--version"));
        let words = |line: &str| line.split(' ').map(String::from).collect::<Vec<_>>();
        assert!(start(&words("test -n"), "https://a").is_ok());
        assert!(start(&words("test x%s = xhttps://a"), "https://a").is_ok());
        assert!(start(&words("false"), "https://a").is_err());
        assert!(start(&words("/does/not/exist"), "https://a").is_err());
    }
}
