//! What a command wrote: the beginning and the end in memory, everything in a nameless file, up to a cap.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// Kept in memory on either end.
const KEPT: usize = 64 * 1024;
/// The most that is written to disk; the end beyond it is still kept in memory.
pub(super) const SPOOLED: u64 = 256 * 1024 * 1024;

/// Both streams in the order in which they arrived.
#[derive(Debug, Default)]
pub struct Captured {
    pub head: Vec<u8>,
    pub tail: Vec<u8>,
    pub total: u64,
    spool: Option<File>,
    spooled: u64,
}

impl Captured {
    pub(super) fn push(&mut self, mut bytes: &[u8]) {
        self.total += bytes.len() as u64;
        self.spool(bytes);
        let room = KEPT.saturating_sub(self.head.len());
        if room > 0 {
            let (first, rest) = bytes.split_at(room.min(bytes.len()));
            self.head.extend_from_slice(first);
            bytes = rest;
        }
        self.tail.extend_from_slice(bytes);
        // Trimmed rarely, so that each byte is moved once on average.
        if self.tail.len() > 2 * KEPT {
            self.tail.drain(..self.tail.len() - KEPT);
        }
    }

    /// Losing the spool (a full disk) loses the middle of a long output, and nothing else.
    fn spool(&mut self, bytes: &[u8]) {
        if self.total <= KEPT as u64 || self.spooled >= SPOOLED {
            return;
        }
        if self.spool.is_none() {
            self.spool = tempfile::tempfile().ok();
            let head = self.head.clone();
            let first = bytes.len() as u64 == self.total;
            if !first {
                self.write(&head);
            }
        }
        self.write(bytes);
    }

    fn write(&mut self, bytes: &[u8]) {
        let room = usize::try_from(SPOOLED.saturating_sub(self.spooled)).unwrap_or(usize::MAX);
        let bytes = bytes.get(..room.min(bytes.len())).unwrap_or(&[]);
        if let Some(file) = &mut self.spool {
            if file.write_all(bytes).is_ok() {
                self.spooled += bytes.len() as u64;
            }
        }
    }

    /// True when `head` holds everything.
    pub fn is_whole(&self) -> bool {
        self.head.len() as u64 == self.total
    }

    /// The output from its beginning, at most `cap` bytes: less than `total` when it was longer than the cap or than
    /// what could be kept.
    pub fn complete(&mut self, cap: u64) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        match &mut self.spool {
            Some(file) => {
                file.seek(SeekFrom::Start(0))?;
                file.take(cap).read_to_end(&mut out)?;
            }
            None => {
                out.extend_from_slice(&self.head);
                out.extend_from_slice(&self.tail);
                out.truncate(usize::try_from(cap).unwrap_or(usize::MAX));
            }
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_can_be_read_back_however_it_arrived() {
        let whole: Vec<u8> = (0..400_000u32).flat_map(u32::to_le_bytes).collect();
        for step in [1 << 20, 70_000, 65_536, 4096, 999] {
            let mut captured = Captured::default();
            for piece in whole.chunks(step) {
                captured.push(piece);
            }
            assert_eq!(captured.total, whole.len() as u64);
            assert!(captured.complete(u64::MAX).unwrap() == whole, "step {step}");
            assert!(whole.starts_with(&captured.head) && whole.ends_with(&captured.tail));
            assert!(captured.head.len() + captured.tail.len() <= 3 * KEPT + step);
            assert_eq!(captured.complete(10).unwrap(), whole[..10]);
        }
    }

    #[test]
    fn a_short_output_needs_no_file() {
        let mut captured = Captured::default();
        captured.push(b"one ");
        captured.push(b"two");
        assert!(captured.is_whole() && captured.spool.is_none());
        assert_eq!(captured.complete(u64::MAX).unwrap(), b"one two");
    }
}
