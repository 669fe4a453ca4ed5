//! Output in bounded memory: its beginning and its end, and up to [`MOST`] bytes of it in a file without a name.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};

/// How many bytes of the beginning and of the end are stored in memory.
const HEAD: usize = 256 << 10;
const TAIL: usize = 64 << 10;
/// The most bytes of an output that are stored, in addition to its end. While the output becomes a result, several
/// copies are in memory at once, and no model reads as much.
const MOST: usize = 32 << 20;
const SPOOL: u64 = MOST as u64;

#[derive(Debug, Default)]
pub struct OutputCapture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    line_ends: usize,
    /// The last byte, if any, ends a line.
    is_line_whole: bool,
    spool: Option<File>,
    spooled: u64,
}

impl OutputCapture {
    pub fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        self.line_ends += memchr::memchr_iter(b'\n', bytes).count();
        self.is_line_whole = bytes.last().map_or(self.is_line_whole, |last| *last == b'\n');
        let room = HEAD - self.head.len();
        let (first, rest) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
        self.spool(bytes);
        self.head.extend_from_slice(first);
        let rest = rest.get(rest.len().saturating_sub(TAIL)..).unwrap_or(rest);
        let over = (self.tail.len() + rest.len()).saturating_sub(TAIL);
        self.tail.drain(..over);
        self.tail.extend(rest);
    }

    /// How many lines of output there were.
    pub fn lines(&self) -> usize {
        self.line_ends + usize::from(self.total > 0 && !self.is_line_whole)
    }

    /// How many bytes of output there were.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Everything, or the stored part: with a line that reports how much is missing in the middle.
    pub fn whole(&mut self) -> Vec<u8> {
        if self.total <= HEAD as u64 {
            return self.head.clone();
        }
        match self.spooled_bytes() {
            Some(bytes) if self.spooled == self.total => bytes,
            spooled => {
                let mut all = spooled.unwrap_or_else(|| self.head.clone());
                // The tail begins where the end of the output is a tail's length away.
                let (kept, tail) = (all.len() as u64, self.tail.len() as u64);
                let missing = self.total.saturating_sub(tail).saturating_sub(kept);
                let overlap = usize::try_from((kept + tail).saturating_sub(self.total)).unwrap_or(0);
                if missing > 0 {
                    all.extend_from_slice(format!("\n[... {missing} bytes not stored ...]\n").as_bytes());
                }
                all.extend(self.tail.iter().skip(overlap));
                all
            }
        }
    }

    /// The same as text of at most about [`MOST`] bytes. Bytes that are not UTF-8 become U+FFFD, and a NUL becomes its
    /// picture, because some providers refuse a request with a NUL. Both are longer than the bytes that they replace.
    pub fn text(mut self) -> String {
        let total = self.total;
        let bytes = self.whole();
        drop(self);
        let bytes = match bytes.contains(&0) {
            true => bytes,
            false => match String::from_utf8(bytes) {
                Ok(text) => return text,
                Err(error) => error.into_bytes(),
            },
        };
        let (text, read) = shown(&bytes, MOST);
        if read == bytes.len() {
            return text;
        }
        let end = bytes.get(bytes.len().saturating_sub(TAIL).max(read)..).unwrap_or_default();
        let missing = total.saturating_sub(read as u64).saturating_sub(end.len() as u64);
        // A byte becomes three at most (U+FFFD, U+2400), so nothing of the end is cut.
        let end = shown(end, 4 * TAIL).0;
        format!("{text}\n[... {missing} bytes not stored ...]\n{end}")
    }

    fn spool(&mut self, bytes: &[u8]) {
        if self.head.len() + bytes.len() <= HEAD {
            return;
        }
        if self.spool.is_none() && self.spooled == 0 {
            let file = tempfile::tempfile().and_then(|mut file| file.write_all(&self.head).map(|()| file));
            self.spool = file.ok();
            self.spooled = self.head.len() as u64;
        }
        let room = usize::try_from(SPOOL - self.spooled).unwrap_or(0);
        let part = bytes.get(..room).unwrap_or(bytes);
        if part.is_empty() {
            return;
        }
        if let Some(file) = &mut self.spool {
            match file.write_all(part) {
                Ok(()) => self.spooled += part.len() as u64,
                // A full disk: only the part in memory is stored.
                Err(_) => self.spool = None,
            }
        }
    }

    fn spooled_bytes(&mut self) -> Option<Vec<u8>> {
        let file = self.spool.as_mut()?;
        let mut all = Vec::with_capacity(usize::try_from(self.spooled).unwrap_or(0));
        file.seek(SeekFrom::Start(0)).ok()?;
        file.read_to_end(&mut all).ok()?;
        Some(all)
    }
}

/// `bytes` as text, up to about `most` bytes of it, and how many of them were read.
fn shown(bytes: &[u8], most: usize) -> (String, usize) {
    /// How much is converted to text at a time.
    const STEP: usize = 4096;
    let mut text = String::with_capacity(bytes.len().min(most));
    let mut read = 0;
    for chunk in bytes.utf8_chunks() {
        let mut valid = chunk.valid();
        while !valid.is_empty() {
            if text.len() >= most {
                return (text, read);
            }
            let cut = (0..=STEP.min(valid.len()))
                .rev()
                .find(|at| valid.is_char_boundary(*at))
                .unwrap_or(valid.len());
            let (piece, rest) = valid.split_at(cut.max(1).min(valid.len()));
            match piece.contains('\0') {
                true => text.push_str(&piece.replace('\0', "␀")),
                false => text.push_str(piece),
            }
            read += piece.len();
            valid = rest;
        }
        if !chunk.invalid().is_empty() {
            if text.len() >= most {
                return (text, read);
            }
            text.push(char::REPLACEMENT_CHARACTER);
            read += chunk.invalid().len();
        }
    }
    (text, read)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fed(total: usize, step: usize) -> (OutputCapture, Vec<u8>) {
        let all: Vec<u8> = (0..total).map(|n| (n % 251) as u8).collect();
        let mut capture = OutputCapture::default();
        all.chunks(step).for_each(|chunk| capture.push(chunk));
        (capture, all)
    }

    #[test]
    fn what_came_in_comes_out() {
        for (total, step) in
            [(0, 1), (1000, 7), (HEAD, 1000), (HEAD + 1, 4096), (3_000_000, 65_536), (500_000, 500_000)]
        {
            let (mut capture, all) = fed(total, step);
            assert_eq!(capture.total(), total as u64);
            assert!(capture.whole() == all, "{total} by {step}");
            assert!(capture.head.len() <= HEAD && capture.tail.len() <= TAIL);
        }
    }

    #[test]
    fn an_endless_output_is_cut_where_the_limit_is_and_says_so() {
        let mut capture = OutputCapture::default();
        let zeros = vec![0; 1 << 20];
        for _ in 0..48 {
            capture.push(&zeros);
        }
        capture.push(b"the end");
        let text = capture.text();
        assert!(text.len() < MOST + (1 << 20), "{} bytes", text.len());
        assert!(text.starts_with("␀␀") && text.ends_with("␀the end"));
        let signs = text.matches('␀').count() as u64;
        let missing = (48 << 20) - signs;
        assert!(text.contains(&format!("\n[... {missing} bytes not stored ...]\n")));
    }

    #[test]
    fn text_stays_and_what_is_none_is_marked() {
        let text = |bytes: &[u8]| {
            let mut capture = OutputCapture::default();
            capture.push(bytes);
            capture.text()
        };
        assert_eq!(text("plain é\n".as_bytes()), "plain é\n");
        assert_eq!(text(b"a\0b\xff\xc3"), "a␀b\u{fffd}\u{fffd}");
        assert_eq!(text(b""), "");
    }

    #[test]
    fn without_a_disk_the_beginning_and_the_end_remain() {
        let (mut capture, all) = fed(1_000_000, 1000);
        capture.spool = None;
        let kept = capture.whole();
        assert!(kept.starts_with(&all[..HEAD]) && kept.ends_with(&all[all.len() - TAIL..]));
        let missing = 1_000_000 - HEAD - TAIL;
        assert!(String::from_utf8_lossy(&kept).contains(&format!("[... {missing} bytes not stored ...]")));
    }
}
