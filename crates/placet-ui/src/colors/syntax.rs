//! Code in colours, for closed blocks only: the first line of a language costs milliseconds, so it is bounded by
//! lines, columns and time, and what is over the bound stays plain.

use super::contrast::ContrastAdjuster;
use super::syntax_themes::theme_named;
use super::theme::Theme;
use crate::terminal::ansi::ColorDepth;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use syntect::easy::HighlightLines;
use syntect::highlighting::{FontStyle, Theme as SyntaxTheme};
use syntect::parsing::{SyntaxReference, SyntaxSet};

const MAX_LINES: usize = 2000;
const MAX_COLUMNS: usize = 500;
const MAX_TIME: Duration = Duration::from_millis(150);

/// The lines of `code`, highlighted as `language` (a name or a file extension) where that can be done in time.
pub fn highlight(code: &str, language: &str, theme: &Theme) -> Vec<Line<'static>> {
    let plain = |line: &str| Line::raw(line.to_string());
    let lines: Vec<&str> = code.lines().collect();
    let too_much = lines.len() > MAX_LINES || lines.iter().any(|l| l.len() > MAX_COLUMNS);
    let colours = colours(&theme.syntax);
    let (Some(colours), false) = (colours, too_much || language.is_empty()) else {
        return lines.into_iter().map(plain).collect();
    };
    let set = syntaxes();
    let Some(syntax) = language_of(language, "") else {
        return lines.into_iter().map(plain).collect();
    };
    let started = Instant::now();
    let mut highlighter = HighlightLines::new(syntax, colours);
    let mut lift = theme.lift();
    let mut out = Vec::with_capacity(lines.len());
    for line in lines {
        let ended = format!("{line}\n");
        let spans =
            if started.elapsed() < MAX_TIME { highlighter.highlight_line(&ended, set).ok() } else { None };
        out.push(match spans {
            Some(spans) => Line::from(
                spans.into_iter().map(|(s, t)| span(s, t, theme.depth, &mut lift)).collect::<Vec<_>>(),
            ),
            None => plain(line),
        });
    }
    out
}

fn span(
    style: syntect::highlighting::Style,
    text: &str,
    depth: ColorDepth,
    lift: &mut ContrastAdjuster,
) -> Span<'static> {
    Span::styled(text.trim_end_matches('\n').to_string(), style_of(style, depth, lift))
}

/// Colour of the text, made readable, bold and italic; a syntax theme's backgrounds are never taken, the screen has its
/// own.
pub(crate) fn style_of(
    style: syntect::highlighting::Style,
    depth: ColorDepth,
    lift: &mut ContrastAdjuster,
) -> Style {
    // The `ansi` theme writes palette numbers into the red channel, marked by an alpha of 0; an alpha of 1 means the
    // terminal's own colour.
    let fg = match style.foreground.a {
        0 => Some(Color::Indexed(style.foreground.r)),
        1 => None,
        _ => Some(Color::Rgb(style.foreground.r, style.foreground.g, style.foreground.b)),
    };
    let mut out = Style { fg, ..Style::default() };
    if style.font_style.contains(FontStyle::BOLD) {
        out = out.add_modifier(Modifier::BOLD);
    }
    if style.font_style.contains(FontStyle::ITALIC) {
        out = out.add_modifier(Modifier::ITALIC);
    }
    let limited = lift.style(depth.limit(out));
    // Without colours there is no colour to set, not even the terminal's own.
    if limited.fg == Some(Color::Reset) { Style { fg: None, ..limited } } else { limited }
}

/// The syntax of a language's name, a file extension, or a path; else what the first line says it is.
pub(crate) fn language_of(name: &str, first_line: &str) -> Option<&'static SyntaxReference> {
    let set = syntaxes();
    let file = name.rsplit('/').next().unwrap_or(name);
    let by_name = match file.rsplit_once('.') {
        Some((_, extension)) => set
            .find_syntax_by_extension(file)
            .or_else(|| set.find_syntax_by_extension(extension))
            .or_else(|| set.find_syntax_by_extension(&extension.to_ascii_lowercase())),
        None if file.is_empty() => None,
        None if file.len() < name.len() => set.find_syntax_by_extension(file),
        None => set.find_syntax_by_token(file),
    };
    by_name.or_else(|| set.find_syntax_by_first_line(first_line).filter(|_| !first_line.is_empty()))
}

pub(crate) fn syntaxes() -> &'static SyntaxSet {
    static SET: OnceLock<SyntaxSet> = OnceLock::new();
    SET.get_or_init(two_face::syntax::extra_newlines)
}

/// The colours of a syntax theme; `None` where code is to stay plain.
pub(crate) fn colours(name: &str) -> Option<&'static SyntaxTheme> {
    static SET: OnceLock<two_face::theme::EmbeddedLazyThemeSet> = OnceLock::new();
    Some(SET.get_or_init(two_face::theme::extra).get(theme_named(name)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::ansi::ColorDepth;

    fn theme() -> Theme {
        Theme::parse("dark", include_str!("../../themes/dark.toml"), ColorDepth::True).unwrap()
    }

    #[test]
    fn highlighting_changes_colours_and_not_one_byte_of_text() {
        let code = "fn main() {\n\tlet x = \"é\"; // done\n\n}";
        for language in ["rust", "rs", "nonsense", ""] {
            let lines = highlight(code, language, &theme());
            let text: Vec<String> = lines.iter().map(ToString::to_string).collect();
            assert_eq!(text.join("\n"), code, "{language}");
            let coloured = lines.iter().flat_map(|l| &l.spans).any(|s| s.style.fg.is_some());
            assert_eq!(coloured, language.starts_with('r'), "{language}");
        }
    }

    #[test]
    fn a_language_is_known_by_its_name_a_path_or_the_first_line() {
        let name = |word: &str, first: &str| language_of(word, first).map(|s| s.name.as_str());
        for (word, first, want) in [
            ("rust", "", Some("Rust")),
            ("src/main.rs", "", Some("Rust")),
            ("a/b/Makefile", "", Some("Makefile")),
            ("UPPER.RS", "", Some("Rust")),
            ("bin/run", "#!/usr/bin/env python3", Some("Python")),
            ("notes/rust", "hello", None),
            ("", "", None),
        ] {
            assert_eq!(name(word, first), want, "{word}");
        }
    }

    #[test]
    fn a_very_long_line_stays_plain() {
        let code = format!("let x = \"{}\";", "y".repeat(1000));
        assert!(
            highlight(&code, "rust", &theme()).iter().flat_map(|l| &l.spans).all(|s| s.style.fg.is_none())
        );
    }
}
