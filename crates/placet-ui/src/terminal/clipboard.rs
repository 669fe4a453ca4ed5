//! The terminal's clipboard by OSC 52, which works over ssh and in multiplexers; a file where that cannot be.
//!
//! The terminal sends no answer, and placet does not know whether the terminal took the text: the message reports what
//! was sent and the number of bytes. No program is started and nothing is ever read from the clipboard.

use super::term;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Terminals drop a sequence of more than 100,000 bytes; this much text fits into it.
pub const MOST: usize = 74_994;
/// GNU screen takes no longer string at once.
const SCREEN_PIECE: usize = 76;

/// What is between placet and the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClipboardRoute {
    Nothing,
    Tmux,
    Screen,
    /// A terminal that is known to have no clipboard.
    Dumb,
}

pub struct Clipboard {
    between: ClipboardRoute,
    dir: PathBuf,
}

/// Where the text is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopyResult {
    Sent { bytes: usize },
    Written { bytes: usize, path: PathBuf },
}

impl CopyResult {
    pub fn words(&self) -> String {
        let s = |bytes: usize| if bytes == 1 { "" } else { "s" };
        match self {
            CopyResult::Sent { bytes } => format!("copied {bytes} byte{}", s(*bytes)),
            CopyResult::Written { bytes, path } if *bytes > MOST => {
                format!(
                    "too large for the terminal's clipboard ({bytes} bytes): written to {}",
                    path.display()
                )
            }
            CopyResult::Written { bytes, path } => {
                format!(
                    "this terminal has no clipboard: {bytes} byte{} written to {}",
                    s(*bytes),
                    path.display()
                )
            }
        }
    }
}

impl Clipboard {
    /// From `TMUX`, `STY` and `TERM`; `cache` is the directory for files.
    pub fn new(variable: impl Fn(&str) -> Option<String>, cache: &Path) -> Clipboard {
        let set = |name: &str| variable(name).filter(|v| !v.is_empty());
        let term = set("TERM").unwrap_or_default();
        let between = match () {
            () if set("TMUX").is_some() => ClipboardRoute::Tmux,
            () if set("STY").is_some() => ClipboardRoute::Screen,
            () if term.is_empty() || term == "dumb" || term == "linux" => ClipboardRoute::Dumb,
            () => ClipboardRoute::Nothing,
        };
        Clipboard { between, dir: cache.join("copied") }
    }

    /// Copies exactly these bytes.
    pub fn copy(&self, text: &str) -> io::Result<CopyResult> {
        let bytes = text.len();
        match self.sequence(text) {
            Some(sequence) => {
                term::write_all(&sequence);
                Ok(CopyResult::Sent { bytes })
            }
            None => Ok(CopyResult::Written { bytes, path: self.write(text)? }),
        }
    }

    /// The bytes for the terminal; `None` where they would not arrive.
    fn sequence(&self, text: &str) -> Option<Vec<u8>> {
        if text.len() > MOST {
            return None;
        }
        let plain = format!("\x1b]52;c;{}\x07", STANDARD.encode(text));
        match self.between {
            ClipboardRoute::Dumb => None,
            ClipboardRoute::Nothing => Some(plain.into_bytes()),
            ClipboardRoute::Tmux => {
                Some(format!("\x1bPtmux;{}\x1b\\", plain.replace('\x1b', "\x1b\x1b")).into_bytes())
            }
            ClipboardRoute::Screen => {
                let pieces = plain.as_bytes().chunks(SCREEN_PIECE);
                Some(pieces.flat_map(|piece| [b"\x1bP", piece, b"\x1b\\"].concat()).collect())
            }
        }
    }

    fn write(&self, text: &str) -> io::Result<PathBuf> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.dir)?;
        let mut file = tempfile::Builder::new().prefix("copy-").suffix(".txt").tempfile_in(&self.dir)?;
        file.write_all(text.as_bytes())?;
        let (_, path) = file.keep().map_err(|e| e.error)?;
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &'static [(&str, &str)], dir: &Path) -> Clipboard {
        let find = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_string());
        Clipboard::new(find, dir)
    }

    fn sent(variables: &'static [(&str, &str)], text: &str) -> String {
        String::from_utf8(with(variables, Path::new("/none")).sequence(text).unwrap()).unwrap()
    }

    #[test]
    fn the_sequence_holds_exactly_the_bytes_and_goes_through_multiplexers() {
        let text = "fn é() {\n\t1\n}";
        let code = "Zm4gw6koKSB7CgkxCn0=";
        assert_eq!(sent(&[("TERM", "xterm")], text), format!("\x1b]52;c;{code}\x07"));
        let tmux = sent(&[("TERM", "tmux-256color"), ("TMUX", "/tmp/x,1,0")], text);
        assert_eq!(tmux, format!("\x1bPtmux;\x1b\x1b]52;c;{code}\x07\x1b\\"));
        let screen = sent(&[("TERM", "screen"), ("STY", "1.a")], &"x".repeat(90));
        let joined = screen.replace("\x1b\\\x1bP", "");
        assert_eq!(joined, format!("\x1bP\x1b]52;c;{}\x07\x1b\\", STANDARD.encode("x".repeat(90))));
        assert!(screen.split("\x1b\\").all(|piece| piece.len() <= SCREEN_PIECE + 2));
    }

    #[test]
    fn what_the_terminal_cannot_take_is_written_to_a_file_of_the_person_alone() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::TempDir::new().unwrap();
        for (variables, text) in
            [(&[("TERM", "xterm")][..], "é".repeat(MOST)), (&[("TERM", "dumb")][..], "short\n".to_string())]
        {
            let copied = with(variables, dir.path()).copy(&text).unwrap();
            let CopyResult::Written { bytes, path } = &copied else { panic!("{copied:?}") };
            assert_eq!(*bytes, text.len());
            assert_eq!(std::fs::read_to_string(path).unwrap(), text);
            assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
            assert!(
                copied.words().ends_with(&format!("written to {}", path.display())),
                "{}",
                copied.words()
            );
        }
        assert_eq!(CopyResult::Sent { bytes: 1 }.words(), "copied 1 byte");
    }
}
