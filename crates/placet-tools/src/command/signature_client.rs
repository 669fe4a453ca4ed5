//! What git in the view runs in place of `gpg`: it passes the object to placet outside, and prints the signature.

use placet_sandbox::SIGN_SOCKET;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::ExitCode;

/// The first byte of an answer: a signature follows, or the reason why there is none.
pub(super) const SIGNED: u8 = b'+';
pub(super) const REFUSED: u8 = b'-';

/// Answers git, if git started this program with `words` in a view that has signatures.
pub fn answer_git(words: &[OsString]) -> Option<ExitCode> {
    let socket = std::env::var_os(SIGN_SOCKET)?;
    let first = words.first()?.as_bytes();
    if ![&b"--status-fd="[..], b"--keyid-format="].iter().any(|option| first.starts_with(option)) {
        return None;
    }
    let done = match words.iter().any(|word| word == "-bsau") {
        true => signature(Path::new(&socket)),
        false => Err(io::Error::other("signatures cannot be verified in the view")),
    };
    let printed = done.and_then(|signature| {
        io::stdout().write_all(&signature)?;
        // The status that git looks for; git always asks for it at the error output.
        io::stderr().write_all(b"\n[GNUPG:] SIG_CREATED \n")
    });
    Some(match printed {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            drop(io::stderr().write_all(format!("placet: {error}\n").as_bytes()));
            ExitCode::FAILURE
        }
    })
}

fn signature(socket: &Path) -> io::Result<Vec<u8>> {
    let refused = |why: &str| {
        let text = format!("not signed: {why}; `git commit --no-gpg-sign` commits without a signature");
        io::Error::other(text)
    };
    let gone = || refused("the command is not in the foreground any more");
    let mut object = Vec::new();
    io::stdin().read_to_end(&mut object)?;
    let mut line = UnixStream::connect(socket).map_err(|_| gone())?;
    // placet may have seen enough before all is written.
    let _ = line.write_all(&object).and_then(|()| line.shutdown(Shutdown::Write));
    let mut answer = Vec::new();
    let _ = line.read_to_end(&mut answer);
    match answer.split_first() {
        Some((&SIGNED, signature)) => Ok(signature.to_vec()),
        Some((&REFUSED, why)) => Err(refused(&String::from_utf8_lossy(why))),
        _ => Err(gone()),
    }
}
