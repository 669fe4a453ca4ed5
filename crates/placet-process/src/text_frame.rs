//! Texts over a socket: their length in 8 bytes, and the texts, each with a zero byte after it. No argument, variable or
//! path of a process can contain one.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// A longer frame is an error of the sender: the longest command line is far shorter.
const LONGEST: u64 = 64 << 20;

pub fn to_bytes(texts: &[&OsStr]) -> Vec<u8> {
    let length: usize = texts.iter().map(|text| text.len() + 1).sum();
    let mut bytes = Vec::with_capacity(length + 8);
    bytes.extend_from_slice(&u64::try_from(length).unwrap_or(u64::MAX).to_le_bytes());
    for text in texts {
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(0);
    }
    bytes
}

/// Reads a frame, and no byte after it. `None` if `line` closes first.
pub fn read(line: &mut impl Read) -> io::Result<Option<Vec<OsString>>> {
    let mut length = [0; 8];
    match line.read_exact(&mut length) {
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    let length = u64::from_le_bytes(length);
    if length > LONGEST {
        return Err(damaged());
    }
    let mut body = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    line.read_exact(&mut body)?;
    let texts = body.strip_suffix(b"\0").ok_or_else(damaged)?.split(|byte| *byte == 0);
    Ok(Some(texts.map(|text| OsString::from_vec(text.to_vec())).collect()))
}

pub fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the order for the supervisor is damaged")
}
