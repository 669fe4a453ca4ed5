//! Line ends. A carriage return without a following line feed is data and not a line end.

use memchr::memchr_iter;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnd {
    Lf,
    CrLf,
}

impl LineEnd {
    pub fn as_str(self) -> &'static str {
        match self {
            LineEnd::Lf => "\n",
            LineEnd::CrLf => "\r\n",
        }
    }
}

/// How many lines of a text have each line end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineEndCounts {
    pub lf: usize,
    pub crlf: usize,
}

impl LineEndCounts {
    pub fn count(text: &[u8]) -> LineEndCounts {
        let crlf = memchr::memmem::find_iter(text, b"\r\n").count();
        LineEndCounts { lf: memchr_iter(b'\n', text).count() - crlf, crlf }
    }

    /// The most frequent line end; `None` for a text without any line end.
    pub fn dominant(self) -> Option<LineEnd> {
        match (self.lf, self.crlf) {
            (0, 0) => None,
            (lf, crlf) if crlf > lf => Some(LineEnd::CrLf),
            _ => Some(LineEnd::Lf),
        }
    }

    pub fn mixed(self) -> bool {
        self.lf > 0 && self.crlf > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_carriage_return_ends_no_line() {
        let ends = LineEndCounts::count(b"a\rb\r\nc\nd\r\n\r");
        assert_eq!(ends, LineEndCounts { lf: 1, crlf: 2 });
        assert_eq!(ends.dominant(), Some(LineEnd::CrLf));
        assert_eq!(LineEndCounts::count(b"a\rb").dominant(), None);
    }
}
