//! Output split into lines of bounded length.

/// A longer line is read up to here, and the rest of it is left out.
const LONGEST: usize = 1 << 20;

#[derive(Debug, Default)]
pub(super) struct LineSplitter {
    line: Vec<u8>,
    number: usize,
    is_long: bool,
    was_cut: bool,
}

impl LineSplitter {
    pub(super) fn push(&mut self, mut bytes: &[u8], on_line: &mut dyn FnMut(&str, usize)) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at(end);
            self.extend(line);
            self.emit(on_line);
            bytes = rest.get(1..).unwrap_or_default();
        }
        self.extend(bytes);
    }

    /// The last line may have no end.
    pub(super) fn end(&mut self, on_line: &mut dyn FnMut(&str, usize)) {
        if !self.line.is_empty() {
            self.emit(on_line);
        }
    }

    pub(super) fn is_cut(&self) -> bool {
        self.was_cut
    }

    fn extend(&mut self, bytes: &[u8]) {
        let room = LONGEST - self.line.len().min(LONGEST);
        self.is_long |= bytes.len() > room;
        self.line.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }

    fn emit(&mut self, on_line: &mut dyn FnMut(&str, usize)) {
        self.number += 1;
        self.was_cut |= std::mem::take(&mut self.is_long);
        let text = String::from_utf8_lossy(&self.line);
        on_line(text.trim_end_matches('\r'), self.number);
        drop(text);
        self.line.clear();
    }
}
