//! Signs that repeat in turn: `<(U+200B U+200C) x50000>` instead of 100,000 signs.
//!
//! The signs of a text come here one by one, as long as nothing else is between them. Up to eight signs wait until a
//! pattern is visible; from then on only the pattern and a count are stored. Signs that do not repeat often enough are
//! emitted one by one, unchanged.

use super::{VisiblePiece, VisiblePieceKind};

/// The most signs in one pattern.
pub(super) const LONGEST: usize = 4;
/// A pattern is counted from this number of repetitions on.
const OFTEN: usize = 8;

/// One sign.
#[derive(Clone, Debug)]
pub(super) struct Token {
    /// The sign as it is drawn alone: `␛`, `<U+200B x2>`.
    pub(super) piece: VisiblePiece,
    /// The sign as it is written in a pattern: `U+001B`, `U+200B x2`.
    pub(super) what: String,
}

#[derive(Debug, Default)]
pub(super) struct Repeats {
    /// The waiting signs; the pattern, once there is one.
    tokens: Vec<Token>,
    /// How many signs came since the pattern began; 0 without a pattern.
    count: usize,
}

impl Repeats {
    /// Takes a sign, and returns the pieces that are now ready.
    #[must_use]
    pub(super) fn push(&mut self, token: Token) -> Vec<VisiblePiece> {
        if self.count > 0 {
            let expected = self.tokens.get(self.count % self.tokens.len());
            if expected.is_some_and(|expected| expected.what == token.what) {
                self.count += 1;
                return Vec::new();
            }
            let (mut out, rest) = self.close();
            rest.into_iter().chain([token]).for_each(|token| out.extend(self.push(token)));
            return out;
        }
        self.tokens.push(token);
        let half = self.tokens.len() / 2;
        let (one, other) = self.tokens.split_at(half);
        let repeats = half > 1 && one.iter().map(|t| &t.what).eq(other.iter().map(|t| &t.what));
        if repeats {
            self.count = self.tokens.len();
            self.tokens.truncate(half);
        } else if self.tokens.len() == 2 * LONGEST {
            let mut tokens = std::mem::take(&mut self.tokens).into_iter();
            let mut out: Vec<VisiblePiece> = tokens.next().map(|token| token.piece).into_iter().collect();
            tokens.for_each(|token| out.extend(self.push(token)));
            return out;
        }
        Vec::new()
    }

    /// Returns all waiting pieces, because something else follows.
    #[must_use]
    pub(super) fn flush(&mut self) -> Vec<VisiblePiece> {
        if self.count == 0 {
            return self.tokens.drain(..).map(|token| token.piece).collect();
        }
        let (mut out, rest) = self.close();
        out.extend(rest.into_iter().map(|token| token.piece));
        out
    }

    /// Ends the pattern: returns its pieces, and the signs after its last whole repetition.
    fn close(&mut self) -> (Vec<VisiblePiece>, Vec<Token>) {
        let pattern = std::mem::take(&mut self.tokens);
        let count = std::mem::take(&mut self.count);
        let (times, over) = (count / pattern.len().max(1), count % pattern.len().max(1));
        let start = pattern.first().map_or(0, |token| token.piece.bytes.start);
        let length: usize = pattern.iter().map(|token| token.piece.bytes.len()).sum();
        let at = |time: usize, token: &Token| {
            let bytes = token.piece.bytes.start + time * length..token.piece.bytes.end + time * length;
            Token { piece: VisiblePiece { bytes, ..token.piece.clone() }, what: token.what.clone() }
        };
        let rest = pattern.iter().take(over).map(|token| at(times, token)).collect();
        if times < OFTEN {
            let all = (0..times).flat_map(|time| pattern.iter().map(move |token| at(time, token).piece));
            return (all.collect(), rest);
        }
        let what: Vec<&str> = pattern.iter().map(|token| token.what.as_str()).collect();
        let text = format!("<({}) x{times}>", what.join(" "));
        (
            vec![VisiblePiece { bytes: start..start + times * length, text, kind: VisiblePieceKind::Sign }],
            rest,
        )
    }
}
