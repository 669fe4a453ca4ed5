//! Prose as lines that fit: broken at words, further lines as far in as the first words.
//!
//! Only prose is broken here. Code, commands, paths and output stay whole lines, which the terminal wraps itself, so that
//! copying them is exact. For the same reason a word wider than the screen, such as an address, stays whole: the terminal
//! breaks the word at the margin. In the rows of a list such a word is broken after a `/`, and continues as far in as the
//! row does.

use placet_config::WrapSetting;
use placet_text::text::width;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;

/// Columns that words need next to their indent; with fewer the further lines have no indent.
const LEAST_COLUMNS: usize = 12;

/// Columns that the text next to a first column needs; with fewer it is below the first column.
pub const SECOND_COLUMN: usize = 24;

/// How far in a text is that stands below its first column.
pub const STACKED_INDENT: usize = 6;

/// How wide the screen is, and who breaks lines of prose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProseWidth {
    pub columns: usize,
    pub wrap: WrapSetting,
}

impl ProseWidth {
    pub fn new(columns: usize, wrap: WrapSetting) -> ProseWidth {
        ProseWidth { columns: columns.max(1), wrap }
    }

    /// Nothing is broken: for the terminal's own wrapping, and for screens that break lines when they draw.
    pub fn unbroken(columns: usize) -> ProseWidth {
        ProseWidth::new(columns, WrapSetting::Terminal)
    }
}

/// A piece of prose in one style.
#[derive(Clone, Debug)]
pub struct ProseSpan {
    pub span: Span<'static>,
    /// Code between words: no line is broken inside.
    pub is_whole: bool,
}

/// What the first line and the further lines begin with.
#[derive(Clone, Debug, Default)]
pub struct ProseIndent {
    pub first: Vec<Span<'static>>,
    pub further: String,
    /// A word wider than a line is broken here and not by the terminal: in rows of a list, where the indent shows what
    /// belongs together.
    pub breaks_words: bool,
}

/// The lines of `prose`.
pub fn lines(indent: ProseIndent, prose: Vec<ProseSpan>, width: ProseWidth) -> Vec<Line<'static>> {
    let ProseIndent { first, further, breaks_words } = indent;
    let of_first: usize = first.iter().map(|span| width::of(&span.content)).sum();
    let total: usize = of_first + prose.iter().map(|piece| width::of(&piece.span.content)).sum::<usize>();
    if width.wrap == WrapSetting::Terminal || total <= width.columns {
        let spans = first.into_iter().chain(prose.into_iter().map(|piece| piece.span));
        return vec![Line::from(spans.collect::<Vec<_>>())];
    }
    let has_room = width::of(&further) + LEAST_COLUMNS <= width.columns;
    let mut lines = ProseLines {
        columns: width.columns,
        indent: if has_room { further } else { String::new() },
        breaks_words,
        done: Vec::new(),
        line: first,
        used: of_first,
        is_empty: true,
        blanks: StyledText::default(),
        word: StyledText::default(),
        last: None,
    };
    for piece in &prose {
        lines.take(piece);
    }
    lines.finish()
}

/// Text in several styles, and its columns.
#[derive(Default)]
struct StyledText {
    spans: Vec<(String, Style)>,
    columns: usize,
}

impl StyledText {
    /// The word in pieces, each of which ends after a `/` or has `columns`.
    fn pieces(&self, columns: usize) -> Vec<StyledText> {
        let (mut pieces, mut piece) = (Vec::new(), StyledText::default());
        let graphemes = |(text, style): &(String, Style)| {
            let style = *style;
            text.graphemes(true).map(move |one| (one.to_string(), style)).collect::<Vec<_>>()
        };
        for (grapheme, style) in self.spans.iter().flat_map(graphemes) {
            let wide = width::of_grapheme(&grapheme);
            if piece.columns + wide > columns {
                pieces.push(std::mem::take(&mut piece));
            }
            piece.push(&grapheme, wide, style);
            if grapheme == "/" {
                pieces.push(std::mem::take(&mut piece));
            }
        }
        pieces.push(piece);
        pieces.retain(|piece| piece.columns > 0);
        pieces
    }

    fn push(&mut self, text: &str, columns: usize, style: Style) {
        self.columns += columns;
        match self.spans.last_mut() {
            Some((last, of_last)) if *of_last == style => last.push_str(text),
            _ => self.spans.push((text.to_string(), style)),
        }
    }
}

/// The lines while words are taken.
struct ProseLines {
    columns: usize,
    indent: String,
    breaks_words: bool,
    done: Vec<Line<'static>>,
    line: Vec<Span<'static>>,
    /// Columns of the last row of the line: a line with a word wider than the screen takes several rows.
    used: usize,
    /// The line has no word yet.
    is_empty: bool,
    blanks: StyledText,
    word: StyledText,
    /// The last character of the word.
    last: Option<char>,
}

impl ProseLines {
    fn take(&mut self, piece: &ProseSpan) {
        let style = piece.span.style;
        if !piece.is_whole && piece.span.content.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
            return self.take_ascii(&piece.span.content, style);
        }
        for grapheme in piece.span.content.graphemes(true) {
            if grapheme == " " && !piece.is_whole {
                self.place();
                self.blanks.push(grapheme, 1, style);
                continue;
            }
            let first = grapheme.chars().next().unwrap_or(' ');
            if !piece.is_whole && self.last.is_some_and(|last| may_break(last, first)) {
                self.place();
            }
            self.word.push(grapheme, width::of_grapheme(grapheme), style);
            self.last = grapheme.chars().next_back();
        }
    }

    /// The same word by word: most prose is of characters of one column each, between which only a blank breaks.
    fn take_ascii(&mut self, text: &str, style: Style) {
        for (at, word) in text.split(' ').enumerate() {
            if at > 0 {
                self.place();
                self.blanks.push(" ", 1, style);
            }
            let Some(first) = word.chars().next() else { continue };
            // The piece before may have ended with a character behind which a line may be broken.
            if self.last.is_some_and(|last| may_break(last, first)) {
                self.place();
            }
            self.word.push(word, word.len(), style);
            self.last = word.chars().next_back();
        }
    }

    /// Puts the word into the line, or into the next one where there is no room. The break replaces the blanks.
    fn place(&mut self) {
        let word = std::mem::take(&mut self.word);
        self.last = None;
        if word.spans.is_empty() {
            return;
        }
        let blanks = std::mem::take(&mut self.blanks);
        let of_line = self.columns.saturating_sub(width::of(&self.indent));
        let pieces = match self.breaks_words && word.columns > of_line {
            true => word.pieces(of_line),
            false => vec![word],
        };
        let mut gap = Some(blanks);
        for piece in pieces {
            let blanks = gap.take().unwrap_or_default();
            if !self.is_empty && self.used + blanks.columns + piece.columns > self.columns {
                self.end_line();
            } else {
                self.append(blanks);
            }
            self.append(piece);
            self.is_empty = false;
        }
    }

    fn end_line(&mut self) {
        let full = std::mem::take(&mut self.line);
        self.done.push(Line::from(full));
        self.used = width::of(&self.indent);
        if self.used > 0 {
            self.line.push(Span::raw(self.indent.clone()));
        }
    }

    fn append(&mut self, text: StyledText) {
        self.used += text.columns;
        if self.used > self.columns {
            self.used = (self.used - 1) % self.columns + 1;
        }
        for (text, style) in text.spans {
            match self.line.last_mut() {
                Some(last) if last.style == style => last.content.to_mut().push_str(&text),
                _ => self.line.push(Span::styled(text, style)),
            }
        }
    }

    fn finish(mut self) -> Vec<Line<'static>> {
        self.place();
        let blanks = std::mem::take(&mut self.blanks);
        if self.used + blanks.columns <= self.columns {
            self.append(blanks);
        }
        self.done.push(Line::from(self.line));
        self.done
    }
}

/// True where a line may be broken between two characters without a blank: in Chinese and Japanese, but not before a
/// closing sign and not behind an opening one.
fn may_break(before: char, after: char) -> bool {
    const NEVER_FIRST: &str =
        "、。，．）」』】〉》〕］｝！？：；・ー…々ぁぃぅぇぉっゃゅょァィゥェォッャュョ,.!?:;)]}\"'’”%";
    const NEVER_LAST: &str = "（「『【〈《〔［｛([{\"'‘“";
    let is_ideographic = |c: char| {
        matches!(u32::from(c), 0x2e80..=0x312f | 0x31a0..=0x31ff | 0x3400..=0x9fff | 0xf900..=0xfaff
            | 0xff00..=0xff60 | 0x20000..=0x3fffd)
    };
    (is_ideographic(before) || is_ideographic(after))
        && !NEVER_FIRST.contains(after)
        && !NEVER_LAST.contains(before)
        && width::of_grapheme(after.encode_utf8(&mut [0; 4])) > 0
}

/// Words of placet's own as prose: what is between backticks is whole, as far as one span says it.
pub fn of_spans(spans: impl IntoIterator<Item = Span<'static>>) -> Vec<ProseSpan> {
    let mut out = Vec::new();
    for span in spans {
        if !span.content.contains('`') {
            out.push(ProseSpan { span, is_whole: false });
            continue;
        }
        let style = span.style;
        let mut rest = span.content.as_ref();
        while let Some((from, to)) = code_range(rest) {
            let (before, code) = (rest.get(..from).unwrap_or(""), rest.get(from..to).unwrap_or(""));
            rest = rest.get(to..).unwrap_or("");
            out.push(ProseSpan { span: Span::styled(before.to_string(), style), is_whole: false });
            out.push(ProseSpan { span: Span::styled(code.to_string(), style), is_whole: true });
        }
        out.push(ProseSpan { span: Span::styled(rest.to_string(), style), is_whole: false });
    }
    out.retain(|piece| !piece.span.content.is_empty());
    out
}

/// The first text between backticks, with them.
fn code_range(text: &str) -> Option<(usize, usize)> {
    let from = text.find('`')?;
    let length = text.get(from + 1..)?.find('`')?;
    Some((from, from + length + 2))
}

#[cfg(test)]
#[path = "prose_tests.rs"]
mod tests;
