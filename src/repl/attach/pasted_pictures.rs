//! Pictures that come by hand: dropped on the terminal as paths, or from the clipboard by a key.
//!
//! A terminal hands over a dropped file as a paste of its path, quoted as it likes. A paste that is nothing but paths
//! of pictures becomes mentions of them (`@"a b.png"`); every other paste stays what it is. The clipboard is asked
//! through the program of the desktop; what it gives is stored as a file, because a mention names a file. If there is
//! no picture, placet always reports the reason in a line.

use crate::media;
use crate::repl::prompt::words;
use crate::ui::token_counts;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use thiserror::Error;

/// How long a clipboard may take.
const PATIENCE: Duration = Duration::from_secs(3);
/// A larger picture is not taken from a clipboard.
const LARGEST: u64 = 50 * 1024 * 1024;

/// Why the clipboard gives no picture.
#[derive(Debug, Error)]
pub(crate) enum ClipboardPictureError {
    #[error("the clipboard has no picture")]
    NoPicture,
    #[error("the clipboard is empty")]
    Empty,
    #[error("no clipboard here: attach a picture with @")]
    NoClipboard,
    #[error(
        "the clipboard of your own machine cannot be reached over ssh: copy the picture to this machine and attach it with @"
    )]
    OverSsh,
    #[error("the clipboard needs `{program}`: install {package}")]
    NotInstalled { program: &'static str, package: &'static str },
    #[error("`{program}` cannot be started: {cause}")]
    NotStarted { program: &'static str, cause: std::io::Error },
    #[error("the picture of the clipboard is larger than 50 MB")]
    TooLarge,
    #[error("the clipboard cannot be read: {0}")]
    Read(std::io::Error),
    #[error("the clipboard did not answer within {} seconds", PATIENCE.as_secs())]
    TimedOut,
    #[error("the picture cannot be stored: {0}")]
    Store(std::io::Error),
}

/// Mentions for a paste that is only paths of pictures that are there.
pub(crate) fn dropped(paste: &str) -> Option<String> {
    let paste = paste.trim();
    if paste.is_empty() || paste.len() > 8192 || paste.contains('\n') {
        return None;
    }
    let paths: Vec<PathBuf> = words(&unescaped(paste)).iter().map(|word| path_of(word)).collect();
    let all = !paths.is_empty() && paths.iter().all(|path| path.is_absolute() && is_picture(path));
    all.then(|| paths.iter().map(|path| mention(path)).collect::<Vec<_>>().join(" ") + " ")
}

/// `\ ` as terminals write a blank: quoted instead, for [`words`].
fn unescaped(text: &str) -> String {
    if text.contains(['"', '\'']) || !text.contains('\\') {
        return text.to_string();
    }
    let mut out = String::from("\"");
    let mut letters = text.chars();
    while let Some(c) = letters.next() {
        match c {
            '\\' => out.extend(letters.next()),
            c if c.is_whitespace() => out.push_str("\" \""),
            c => out.push(c),
        }
    }
    out + "\""
}

/// A path, also from a `file:` address with its `%20`.
fn path_of(word: &str) -> PathBuf {
    let Some(rest) = word.strip_prefix("file://") else { return PathBuf::from(word) };
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    let mut bytes = Vec::new();
    let mut left = rest.as_bytes();
    while let Some((&first, after)) = left.split_first() {
        let code = (first == b'%').then(|| after.get(..2)).flatten();
        let code = code.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(code.unwrap_or(first));
        left = if code.is_some() { after.get(2..).unwrap_or(&[]) } else { after };
    }
    use std::os::unix::ffi::OsStringExt;
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

/// A regular file that begins as a picture does.
pub(super) fn is_picture(path: &Path) -> bool {
    let mut head = Vec::new();
    let Ok(file) = crate::text::regular_file::open(path) else { return false };
    file.take(64).read_to_end(&mut head).is_ok() && media::sniff(&head, &path.to_string_lossy()).is_some()
}

fn mention(path: &Path) -> String {
    let path = path.to_string_lossy();
    if path.contains(char::is_whitespace) { format!("@\"{path}\"") } else { format!("@{path}") }
}

/// Stores the picture of the clipboard as a file in `dir`. Returns its mention and its description.
pub(crate) fn from_clipboard(
    dir: &Path,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<(String, String), ClipboardPictureError> {
    let bytes = clipboard(variable)?;
    let Some(kind) = media::sniff(&bytes, "clipboard.png") else {
        return Err(ClipboardPictureError::NoPicture);
    };
    let size = media::size(kind, &bytes).map(|(w, h)| format!("{w}x{h}, ")).unwrap_or_default();
    crate::private::make_dir(dir).map_err(ClipboardPictureError::Store)?;
    let file = tempfile::Builder::new().prefix("clipboard-").suffix(".png").tempfile_in(dir);
    let kept = file.and_then(|mut file| {
        std::io::Write::write_all(&mut file, &bytes)?;
        file.keep().map_err(|e| e.error)
    });
    let (_, path) = kept.map_err(ClipboardPictureError::Store)?;
    let told = format!("from the clipboard: {size}{} bytes", token_counts::short(bytes.len() as u64));
    Ok((mention(&path) + " ", told))
}

fn clipboard(variable: impl Fn(&str) -> Option<String>) -> Result<Vec<u8>, ClipboardPictureError> {
    let has = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    // Wayland first: there `DISPLAY` is usually set as well, for XWayland.
    let (program, arguments, package): (&'static str, &[&str], &'static str) = if has("WAYLAND_DISPLAY") {
        ("wl-paste", &["--no-newline", "--type", "image/png"], "wl-clipboard")
    } else if has("DISPLAY") {
        ("xclip", &["-selection", "clipboard", "-target", "image/png", "-out"], "xclip")
    } else if cfg!(target_os = "macos") {
        ("pngpaste", &["-"], "pngpaste")
    } else if has("SSH_CONNECTION") {
        return Err(ClipboardPictureError::OverSsh);
    } else {
        return Err(ClipboardPictureError::NoClipboard);
    };
    let spawned = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = spawned.map_err(|cause| match cause.kind() {
        std::io::ErrorKind::NotFound => ClipboardPictureError::NotInstalled { program, package },
        _ => ClipboardPictureError::NotStarted { program, cause },
    })?;
    let out = child.stdout.take().ok_or(ClipboardPictureError::Empty)?;
    let (sender, receiver) = std::sync::mpsc::channel();
    let read = move || {
        let mut bytes = Vec::new();
        // One byte more than the limit shows that the picture is larger.
        let read = out.take(LARGEST + 1).read_to_end(&mut bytes).map(|_| bytes);
        drop(sender.send(read));
    };
    // Without a thread the sender is dropped, and the wait below ends at once.
    drop(std::thread::Builder::new().name("clipboard".into()).spawn(read));
    let end = Instant::now() + PATIENCE;
    let read = receiver.recv_timeout(end.saturating_duration_since(Instant::now()));
    // Usually it has ended already; the wait leaves no zombie behind.
    drop(child.kill());
    drop(child.wait());
    match read {
        Ok(Ok(bytes)) if bytes.len() as u64 > LARGEST => Err(ClipboardPictureError::TooLarge),
        Ok(Ok(bytes)) if bytes.is_empty() => Err(ClipboardPictureError::NoPicture),
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(e)) => Err(ClipboardPictureError::Read(e)),
        Err(_) => Err(ClipboardPictureError::TimedOut),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png() -> Vec<u8> {
        let mut out = std::io::Cursor::new(Vec::new());
        image::RgbImage::new(2, 3).write_to(&mut out, image::ImageFormat::Png).unwrap();
        out.into_inner()
    }

    #[test]
    fn paths_of_pictures_become_mentions_however_they_are_quoted() {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path().canonicalize().unwrap();
        std::fs::write(at.join("a b.png"), png()).unwrap();
        std::fs::write(at.join("c.png"), png()).unwrap();
        std::fs::write(at.join("d.txt"), "text").unwrap();
        let root = at.display();
        let both = format!("@\"{root}/a b.png\" @{root}/c.png ");
        for paste in [
            format!("'{root}/a b.png' {root}/c.png"),
            format!("\"{root}/a b.png\" \"{root}/c.png\""),
            format!("{root}/a\\ b.png {root}/c.png"),
            format!("file://{root}/a%20b.png file://localhost{root}/c.png\n"),
        ] {
            assert_eq!(dropped(&paste), Some(both.clone()), "{paste:?}");
        }
        for paste in [
            format!("{root}/d.txt"),
            format!("{root}/c.png and words"),
            format!("{root}/missing.png"),
            "c.png".into(),
            root.to_string(),
            String::new(),
        ] {
            assert_eq!(dropped(&paste), None, "{paste:?}");
        }
    }

    #[test]
    fn where_no_clipboard_is_the_way_out_is_said() {
        let dir = tempfile::tempdir().unwrap();
        let none = from_clipboard(dir.path(), |_| None);
        assert!(none.unwrap_err().to_string().contains("attach a picture with @"));
        let ssh = from_clipboard(dir.path(), |name| (name == "SSH_CONNECTION").then(|| "1 2 3 4".into()));
        assert!(ssh.unwrap_err().to_string().contains("over ssh"));
    }
}
