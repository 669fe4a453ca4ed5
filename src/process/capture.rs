//! Output in bounded memory: its beginning and its end, and all of it in a file without a name.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};

/// Bytes kept in memory of the beginning and of the end, and the most that is kept on disk.
const HEAD: usize = 256 << 10;
const TAIL: usize = 64 << 10;
const SPOOL: u64 = 256 << 20;

#[derive(Debug, Default)]
pub struct Capture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    spool: Option<File>,
    spooled: u64,
}

impl Capture {
    pub fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = HEAD - self.head.len();
        let (first, rest) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
        self.spool(bytes);
        self.head.extend_from_slice(first);
        let rest = rest.get(rest.len().saturating_sub(TAIL)..).unwrap_or(rest);
        let over = (self.tail.len() + rest.len()).saturating_sub(TAIL);
        self.tail.drain(..over);
        self.tail.extend(rest);
    }

    /// Bytes of output there were.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Everything, or what could be kept of it: with a line that says how much is missing in the middle.
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
                    all.extend_from_slice(format!("\n[... {missing} bytes were not kept ...]\n").as_bytes());
                }
                all.extend(self.tail.iter().skip(overlap));
                all
            }
        }
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
                // A full disk: what is in memory must do.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn fed(total: usize, step: usize) -> (Capture, Vec<u8>) {
        let all: Vec<u8> = (0..total).map(|n| (n % 251) as u8).collect();
        let mut capture = Capture::default();
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
    fn without_a_disk_the_beginning_and_the_end_remain() {
        let (mut capture, all) = fed(1_000_000, 1000);
        capture.spool = None;
        let kept = capture.whole();
        assert!(kept.starts_with(&all[..HEAD]) && kept.ends_with(&all[all.len() - TAIL..]));
        let missing = 1_000_000 - HEAD - TAIL;
        assert!(String::from_utf8_lossy(&kept).contains(&format!("[... {missing} bytes were not kept ...]")));
    }
}
