//! A file with a few bytes replaced, without a copy of it.

use std::io::{Cursor, Read, Result, Seek, SeekFrom};

#[derive(Debug)]
pub(super) struct TiffOverlay<'a> {
    file: Cursor<&'a [u8]>,
    /// The positions, and the bytes that are read there.
    replaced: Vec<(usize, Vec<u8>)>,
}

impl<'a> TiffOverlay<'a> {
    pub(super) fn new(bytes: &'a [u8], replaced: Vec<(usize, Vec<u8>)>) -> TiffOverlay<'a> {
        TiffOverlay { file: Cursor::new(bytes), replaced }
    }
}

impl Read for TiffOverlay<'_> {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        let from = usize::try_from(self.file.position()).unwrap_or(usize::MAX);
        let read = self.file.read(out)?;
        for (at, bytes) in &self.replaced {
            for (at, byte) in (*at..).zip(bytes) {
                let inside = at.checked_sub(from).filter(|at| *at < read);
                if let Some(to) = inside.and_then(|at| out.get_mut(at)) {
                    *to = *byte;
                }
            }
        }
        Ok(read)
    }
}

impl Seek for TiffOverlay<'_> {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        self.file.seek(to)
    }
}
