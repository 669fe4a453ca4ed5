//! A file's lines in blocks, in memory or on disk: a file of any size opens at once and only visible parts are read.
//!
//! A thread that reads the file once finds where lines begin. A very long line has several blocks: nothing of it is
//! left out, and only the visible part is laid out.

use crate::worker::Worker;
use placet_text::text::TextEncoding;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Lines of one block, and the bytes after which a block ends with its current line.
pub(super) const LINES: usize = 200;
const BYTES: u64 = 128 << 10;
/// Bytes of a line in one block; the rest of a longer line has blocks of its own.
const LINE: u64 = 16 << 10;
/// How much of the file is searched before the file is shown.
const FIRST: u64 = 1 << 20;
const PIECE: usize = 1 << 20;

/// Where a block begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BlockStart {
    offset: u64,
    line: usize,
    /// The block begins inside that line.
    within: bool,
}

enum ViewerContent {
    /// All of it, as UTF-8.
    Memory(Arc<str>),
    Disk {
        file: Arc<File>,
        size: u64,
        encoding: TextEncoding,
    },
}

#[derive(Default)]
struct BlockIndex {
    starts: Vec<BlockStart>,
    /// Where the last block ends so far, and how many lines there are up to there.
    end: u64,
    lines: usize,
    is_whole: bool,
    /// The last line has no end yet.
    open: bool,
    /// The last line of all has no end.
    is_unended: bool,
    /// Where the newest line begins.
    line_start: u64,
}

#[derive(Default)]
struct SharedBlockIndex(Mutex<BlockIndex>);

pub struct ViewerText {
    content: ViewerContent,
    shared: Arc<SharedBlockIndex>,
    /// Finds where lines begin in the rest of a file.
    indexer: Option<Worker<(), ()>>,
}

impl ViewerText {
    pub fn in_memory(text: Arc<str>) -> ViewerText {
        let mut index = BlockIndex::default();
        index.take(text.as_bytes());
        index.finish();
        let shared = Arc::new(SharedBlockIndex(Mutex::new(index)));
        ViewerText { content: ViewerContent::Memory(text), shared, indexer: None }
    }

    /// A file that is read where it is looked at; `encoding` must be one of single bytes per line end.
    pub fn on_disk(file: File, size: u64, encoding: TextEncoding) -> ViewerText {
        let file = Arc::new(file);
        let shared = Arc::<SharedBlockIndex>::default();
        let mut at = 0;
        while at < FIRST && !shared.lock().is_whole {
            at = shared.look(&file, at);
        }
        let (theirs, its_file) = (Arc::clone(&shared), Arc::clone(&file));
        let indexer = Worker::new("lines", move |mut inbox| {
            while inbox.wait().is_some() {
                while !inbox.is_closed() && !theirs.lock().is_whole {
                    at = theirs.look(&its_file, at);
                }
            }
        });
        if !shared.lock().is_whole {
            indexer.send(());
        }
        ViewerText { content: ViewerContent::Disk { file, size, encoding }, shared, indexer: Some(indexer) }
    }

    /// Why no more lines are found, reported once. The text ends where it is known to.
    pub fn failure(&mut self) -> Option<String> {
        let failure = self.indexer.as_mut()?.poll()?.err()?;
        self.shared.lock().is_whole = true;
        Some(format!("the rest of the file is not shown: {failure}"))
    }

    /// The whole text, where it is in memory.
    pub fn memory(&self) -> Option<&Arc<str>> {
        match &self.content {
            ViewerContent::Memory(text) => Some(text),
            ViewerContent::Disk { .. } => None,
        }
    }

    /// Blocks that can be looked at.
    pub fn blocks(&self) -> usize {
        let index = self.shared.lock();
        // The last one still grows.
        if index.is_whole { index.starts.len() } else { index.starts.len().saturating_sub(1) }
    }

    /// Lines known so far.
    pub fn line_count(&self) -> usize {
        self.shared.lock().lines
    }

    /// True once the number of lines is known.
    pub fn is_whole(&self) -> bool {
        self.shared.lock().is_whole
    }

    pub fn size(&self) -> u64 {
        match &self.content {
            ViewerContent::Memory(text) => text.len() as u64,
            ViewerContent::Disk { size, .. } => *size,
        }
    }

    /// The number of a block's first line.
    pub fn first_line(&self, block: usize) -> usize {
        self.shared.lock().starts.get(block).map_or(0, |start| start.line)
    }

    /// True when a block begins inside a line that the block before it began.
    pub fn is_within(&self, block: usize) -> bool {
        self.shared.lock().starts.get(block).is_some_and(|start| start.within)
    }

    /// The block that holds the beginning of a line, and which of its lines that is.
    pub fn place_of(&self, line: usize) -> (usize, usize) {
        let index = self.shared.lock();
        let begun = |start: &BlockStart| start.line < line || start.line == line && !start.within;
        let block = index.starts.partition_point(begun).saturating_sub(1);
        (block, line - index.starts.get(block).map_or(0, |start| start.line).min(line))
    }

    /// The lines of a block without their line feeds; a carriage return stays. The first and the last may be parts of a
    /// line.
    pub fn lines(&self, block: usize) -> Vec<String> {
        let Some((from, to)) = self.span(block) else { return Vec::new() };
        match &self.content {
            ViewerContent::Memory(text) => {
                let text = text.get(usize_of(from)..usize_of(to)).unwrap_or("");
                text.split_inclusive('\n')
                    .map(|line| line.strip_suffix('\n').unwrap_or(line).into())
                    .collect()
            }
            ViewerContent::Disk { file, encoding, .. } => {
                let bytes = read(file, from, usize_of((to - from).min(BYTES + 2 * LINE)));
                let line =
                    |line: &[u8]| encoding.decode(line.strip_suffix(b"\n").unwrap_or(line)).into_owned();
                bytes.split_inclusive(|byte| *byte == b'\n').map(line).collect()
            }
        }
    }

    /// Where a block begins and ends, in bytes.
    fn span(&self, block: usize) -> Option<(u64, u64)> {
        let index = self.shared.lock();
        let start = index.starts.get(block)?;
        Some((start.offset, index.starts.get(block + 1).map_or(index.end, |next| next.offset)))
    }

    /// The lines of a block that are not valid text, as bytes: they are shown by their bytes. Only a file on disk has
    /// such lines; a text in memory is valid.
    pub(super) fn stray_lines(&self, block: usize) -> BTreeMap<usize, Vec<u8>> {
        let ViewerContent::Disk { file, encoding, .. } = &self.content else { return BTreeMap::new() };
        let Some((from, to)) = self.span(block) else { return BTreeMap::new() };
        let bytes = read(file, from, usize_of((to - from).min(BYTES + 2 * LINE)));
        let lines = bytes.split_inclusive(|byte| *byte == b'\n').map(|l| l.strip_suffix(b"\n").unwrap_or(l));
        let says_more = |line: &&[u8]| {
            let text = encoding.decode(line);
            !encoding.encode(&text).is_ok_and(|again| again == *line)
        };
        lines.enumerate().filter(|(_, line)| says_more(line)).map(|(at, line)| (at, line.to_vec())).collect()
    }

    /// A whole line without its end.
    pub fn line(&self, line: usize) -> String {
        let (first, at) = self.place_of(line);
        let mut text = self.lines(first).into_iter().nth(at).unwrap_or_default();
        for block in (first + 1..self.blocks()).take_while(|block| self.is_within(*block)) {
            if self.first_line(block) > line {
                break;
            }
            text.extend(self.lines(block).into_iter().next());
        }
        text
    }

    /// True when the last line is known and has no line feed.
    pub fn is_unended(&self) -> bool {
        let index = self.shared.lock();
        index.is_whole && index.is_unended
    }

    /// The bytes of some lines, their ends included, if they are known and no more than `most`.
    pub fn bytes_of(&self, lines: &std::ops::Range<usize>, most: usize) -> Option<Vec<u8>> {
        let ViewerContent::Disk { file, .. } = &self.content else { return None };
        let (first, skip) = self.place_of(lines.start);
        let (last, _) = self.place_of(lines.end);
        let (from, to) = {
            let index = self.shared.lock();
            let next = index.starts.get(last + 1).map_or(index.end, |next| next.offset);
            (index.starts.get(first)?.offset, next)
        };
        let bytes = read(file, from, usize_of(to.saturating_sub(from)).min(most));
        let mut ends = memchr::memchr_iter(b'\n', &bytes).map(|feed| feed + 1);
        let start = if skip == 0 { 0 } else { ends.nth(skip - 1)? };
        let end = ends.nth(lines.len().checked_sub(1)?).unwrap_or(bytes.len());
        bytes.get(start..end).map(<[u8]>::to_vec)
    }
}

impl SharedBlockIndex {
    fn lock(&self) -> MutexGuard<'_, BlockIndex> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the next piece; returns where the following piece begins.
    fn look(&self, file: &File, at: u64) -> u64 {
        let piece = read(file, at, PIECE);
        let mut index = self.lock();
        match piece.is_empty() {
            true => index.finish(),
            false => index.take(&piece),
        }
        at + piece.len() as u64
    }
}

impl BlockIndex {
    fn take(&mut self, bytes: &[u8]) {
        if self.starts.is_empty() && !bytes.is_empty() {
            self.starts.push(BlockStart { offset: 0, line: 0, within: false });
        }
        for feed in memchr::memchr_iter(b'\n', bytes) {
            let here = self.end + feed as u64 + 1;
            self.long_line(bytes, here - 1);
            self.lines += 1;
            self.line_start = here;
            let last =
                self.starts.last().copied().unwrap_or(BlockStart { offset: 0, line: 0, within: false });
            if self.lines - last.line >= LINES || here - last.offset >= BYTES {
                self.starts.push(BlockStart { offset: here, line: self.lines, within: false });
            }
        }
        self.long_line(bytes, self.end + bytes.len() as u64);
        self.end += bytes.len() as u64;
        if let Some(last) = bytes.last() {
            self.open = *last != b'\n';
        }
    }

    /// Begins a block after every [`LINE`] bytes of the line that continues up to `to`.
    fn long_line(&mut self, bytes: &[u8], to: u64) {
        loop {
            let last = self.starts.last().map_or(0, |start| start.offset).max(self.line_start);
            let mut at = (last + LINE).max(self.end);
            // Not inside a character; at the edge of what was read, the rest of a character may be cut off.
            while bytes.get(usize_of(at.saturating_sub(self.end))).is_some_and(|b| b & 0xc0 == 0x80)
                && at < last + LINE + 3
            {
                at += 1;
            }
            if at >= to {
                return;
            }
            self.starts.push(BlockStart { offset: at, line: self.lines, within: true });
        }
    }

    fn finish(&mut self) {
        self.lines += usize::from(self.open);
        self.is_unended = self.open;
        self.open = false;
        // A block that would begin at the very end has no lines.
        if self.starts.last().is_some_and(|start| start.line >= self.lines && !start.within) {
            self.starts.pop();
        }
        self.is_whole = true;
    }
}

/// What can be read: less at the end of the file, or where it cannot be read.
fn read(file: &File, mut at: u64, most: usize) -> Vec<u8> {
    let mut bytes = vec![0; most];
    let mut filled = 0;
    while let Some(room) = bytes.get_mut(filled..).filter(|room| !room.is_empty()) {
        match file.read_at(room, at) {
            Ok(0) => break,
            Ok(n) => {
                filled += n;
                at += n as u64;
            }
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    bytes.truncate(filled);
    bytes
}

fn usize_of(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::time::{Duration, Instant};

    fn on_disk(bytes: &[u8]) -> ViewerText {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        let text = ViewerText::on_disk(file, bytes.len() as u64, TextEncoding::Utf8);
        let until = Instant::now() + Duration::from_secs(60);
        while !text.is_whole() {
            assert!(Instant::now() < until);
            std::thread::yield_now();
        }
        text
    }

    fn all(text: &ViewerText) -> Vec<String> {
        (0..text.blocks()).flat_map(|block| text.lines(block)).collect()
    }

    #[test]
    fn a_file_has_the_same_lines_in_memory_and_on_disk() {
        for source in [
            "",
            "\n",
            "a",
            "a\n",
            "a\r\nb",
            "\n\n\n",
            &"é line\n".repeat(LINES),
            &"x\n".repeat(LINES * 3 + 7),
        ] {
            let want: Vec<&str> = source.split_terminator('\n').collect();
            for text in [ViewerText::in_memory(source.into()), on_disk(source.as_bytes())] {
                assert_eq!(all(&text), want);
                assert_eq!((text.line_count(), text.is_whole()), (want.len(), true));
            }
        }
    }

    #[test]
    fn a_line_is_found_by_its_number_and_nothing_of_a_long_one_is_left_out() {
        let long = format!("{}é{}\r", "y".repeat(16 * 1024 - 1), "日".repeat(1 << 20));
        let source = format!("{}{long}\nlast\n", "short\n".repeat(1000));
        for text in [on_disk(source.as_bytes()), ViewerText::in_memory(source.as_str().into())] {
            assert_eq!((text.line(999).as_str(), text.line(1001).as_str()), ("short", "last"));
            let (block, line) = text.place_of(1001);
            assert_eq!((text.first_line(block) + line, text.line_count()), (1001, 1002));
            let (block, _) = text.place_of(1000);
            assert!(!text.is_within(block) && text.is_within(block + 1) && text.blocks() > block + 100);
            let shown = text.line(1000);
            assert!(shown == long, "{} bytes of {}", shown.len(), long.len());
        }
        assert_eq!(on_disk(source.as_bytes()).bytes_of(&(3..5), 1 << 20).unwrap(), b"short\nshort\n");
    }
}
