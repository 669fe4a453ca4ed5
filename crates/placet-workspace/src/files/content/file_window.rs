//! A few lines out of a file too large to load: the line feeds before them are counted and forgotten.

use crate::WorkspaceError;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

pub const WINDOW_CHUNK: usize = 1 << 18;

/// Lines of a large file, as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileWindow {
    pub bytes: Vec<u8>,
    /// Lines passed over before it: less than asked for when the file is shorter.
    pub first: usize,
    /// Where in the file it begins.
    pub offset: u64,
    /// The window reaches the end of the file.
    pub at_end: bool,
}

impl FileWindow {
    /// Reads `count` lines from line `first` on, but stops at the end of the line in which `most` bytes are reached
    /// (or in that line, when it alone is longer than eight times that).
    pub fn read(
        file: &mut File,
        path: &Path,
        first: usize,
        count: usize,
        most: usize,
    ) -> Result<FileWindow, WorkspaceError> {
        FileWindow::try_read(file, first, count, most).map_err(|e| WorkspaceError::from_io(path, e))
    }

    fn try_read(file: &mut File, first: usize, count: usize, most: usize) -> std::io::Result<FileWindow> {
        let (passed, offset) = skip_lines(file, first)?;
        let mut window = FileWindow { bytes: Vec::new(), first: passed, offset, at_end: false };
        if passed < first {
            window.at_end = true;
            return Ok(window);
        }
        file.seek(SeekFrom::Start(offset))?;
        let mut chunk = vec![0; WINDOW_CHUNK];
        let mut lines = 0;
        loop {
            let read = read_some(file, &mut chunk)?;
            if read.is_empty() {
                window.at_end = true;
                return Ok(window);
            }
            for feed in memchr::memchr_iter(b'\n', read) {
                lines += 1;
                let end = feed + 1;
                if lines >= count || window.bytes.len() + end >= most {
                    window.bytes.extend_from_slice(read.get(..end).unwrap_or(read));
                    let mut one = [0];
                    let here = offset + window.bytes.len() as u64;
                    file.seek(SeekFrom::Start(here))?;
                    window.at_end = read_some(file, &mut one)?.is_empty();
                    return Ok(window);
                }
            }
            window.bytes.extend_from_slice(read);
            if window.bytes.len() > most.saturating_mul(8) {
                return Ok(window);
            }
        }
    }
}

/// Skips `lines` lines from the beginning; returns how many lines there were and where the next line begins.
fn skip_lines(file: &mut File, lines: usize) -> std::io::Result<(usize, u64)> {
    let (mut passed, mut offset) = (0, 0u64);
    let mut chunk = vec![0; WINDOW_CHUNK];
    file.seek(SeekFrom::Start(0))?;
    let mut ended = true;
    while passed < lines {
        let read = read_some(file, &mut chunk)?;
        let Some(last) = read.last() else {
            // Text after the last line end is a line as well.
            return Ok((passed + usize::from(!ended), offset));
        };
        ended = *last == b'\n';
        let here = memchr::memchr_iter(b'\n', read).count();
        if passed + here < lines {
            passed += here;
            offset += read.len() as u64;
            continue;
        }
        let feed = memchr::memchr_iter(b'\n', read).nth(lines - passed - 1).unwrap_or(0);
        return Ok((lines, offset + feed as u64 + 1));
    }
    Ok((passed, offset))
}

fn read_some<'a>(file: &mut File, chunk: &'a mut [u8]) -> std::io::Result<&'a [u8]> {
    loop {
        match file.read(chunk) {
            Ok(read) => return Ok(chunk.get(..read).unwrap_or_default()),
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_window_is_the_same_lines_as_of_the_whole() {
        let mut file = tempfile::tempfile().unwrap();
        let lines: Vec<String> = (0..90_000).map(|n| format!("line {n} {}\n", "x".repeat(n % 17))).collect();
        file.write_all(lines.concat().as_bytes()).unwrap();
        file.write_all(b"tail").unwrap();
        let path = Path::new("f");
        for first in [0, 1, 30_000, 89_990, 90_000] {
            let window = FileWindow::read(&mut file, path, first, 5, 1 << 20).unwrap();
            let want: String = lines.iter().map(String::as_str).chain(["tail"]).skip(first).take(5).collect();
            assert_eq!(String::from_utf8(window.bytes).unwrap(), want, "{first}");
            assert_eq!(window.at_end, first == 90_000);
        }
        let past = FileWindow::read(&mut file, path, 90_005, 5, 1 << 20).unwrap();
        assert_eq!((past.first, past.at_end, past.bytes.len()), (90_001, true, 0));
        let short = FileWindow::read(&mut file, path, 0, 1000, 100).unwrap();
        assert!(short.bytes.len() < 120 && short.bytes.ends_with(b"\n"));
    }
}
