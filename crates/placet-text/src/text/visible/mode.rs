//! How much of a text is made visible, and the signs that only placet itself draws.

/// How much of a text is made visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisibleMode {
    /// For everything that a person approves: the original bytes can be restored from the rendering.
    Exact,
    /// Like [`VisibleMode::Exact`], but spaces and tabs look normal. For the lines around a change.
    Quiet,
    /// For placet's own text with rendered parts in it: only a last guard, which leaves signs and spaces unchanged.
    Rendered,
    /// For answers and remarks: the joiners and selectors that emoji and several scripts need remain, and so do all
    /// spaces.
    Prose,
    /// For the output of commands, which nobody approves: like [`VisibleMode::Prose`], and the sequences that only
    /// choose colours or erase to the end of the line are dropped: `ESC [ ... m` and `ESC [ ... K` with digits, `;` and
    /// `:` only, and `ESC ( B`.
    Output,
}

/// Whether line breaks remain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineBreaks {
    Kept,
    Shown,
}

/// Columns between tab stops.
pub const TAB: usize = 4;

/// The sign in the margin of every line from placet itself. No other text can have it: the renderer writes it as a
/// number, and in prose and output also what looks like it at the beginning of a line.
pub const OWN: char = '◆';

/// The sign for a row that continues the line above it.
pub const CONTINUED: char = '↪';
