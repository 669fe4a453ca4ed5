//! Pictures in a terminal: in its own protocol where it is known to have one, else as half blocks of colour.
//!
//! What the terminal can do is told by its environment and the settings; it is never asked, so nothing waits and no
//! answer is typed into the prompt. Half blocks are cells like all others: they go everywhere cells go, and a
//! multiplexer keeps them. It draws nothing itself: [`super::FullScreenPainter`] knows what is on the screen already.

mod blocks;
mod sixel;
mod terminal_picture;

pub use blocks::half_blocks;
pub use terminal_picture::{PlacedPicture, TerminalPicture};

use super::ansi::ColorDepth;
use super::term;
use crate::config::PictureSetting;
use crate::conversation::Image;
use crate::media::{sniff, thumb};
use crate::text::sanitize;
use ratatui::text::Line;
use std::sync::Arc;

/// A cell in pixels, where nobody says: VT340's.
const CELL: (u32, u32) = (10, 20);

/// How this terminal shows pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureProtocol {
    Kitty,
    Iterm,
    Sixel,
    HalfBlocks,
    /// Only words.
    Words,
}

impl PictureProtocol {
    /// By the setting, or by the environment. Inside a multiplexer half blocks are what surely arrives.
    pub fn detect(
        setting: PictureSetting,
        depth: ColorDepth,
        variable: impl Fn(&str) -> Option<String>,
    ) -> PictureProtocol {
        let set = |name: &str| variable(name).filter(|v| !v.is_empty());
        let inside = set("TMUX").is_some() || set("STY").is_some();
        let cells =
            if depth >= ColorDepth::Indexed { PictureProtocol::HalfBlocks } else { PictureProtocol::Words };
        match setting {
            PictureSetting::Off => PictureProtocol::Words,
            PictureSetting::HalfBlocks if depth > ColorDepth::None => PictureProtocol::HalfBlocks,
            // These two are lost or misplaced in a multiplexer; sixel is drawn by those that know it.
            PictureSetting::Kitty if !inside => PictureProtocol::Kitty,
            PictureSetting::Iterm if !inside => PictureProtocol::Iterm,
            PictureSetting::Sixel => PictureProtocol::Sixel,
            PictureSetting::Auto if !inside && depth > ColorDepth::None => own(&set).unwrap_or(cells),
            _ => cells,
        }
    }
}

/// The protocol of a terminal that names itself.
fn own(set: &dyn Fn(&str) -> Option<String>) -> Option<PictureProtocol> {
    let term = set("TERM").unwrap_or_default();
    let program = set("TERM_PROGRAM").or_else(|| set("LC_TERMINAL")).unwrap_or_default();
    let named = |names: &[&str]| names.iter().any(|name| program.eq_ignore_ascii_case(name));
    let any = |names: &[&str]| names.iter().any(|name| set(name).is_some());
    let kitty = any(&["KITTY_WINDOW_ID", "GHOSTTY_RESOURCES_DIR"]) || named(&["ghostty"]);
    let konsole = set("KONSOLE_VERSION").and_then(|v| v.parse::<u32>().ok()).is_some_and(|v| v >= 220_400);
    match term.as_str() {
        "xterm-kitty" | "xterm-ghostty" => Some(PictureProtocol::Kitty),
        _ if kitty => Some(PictureProtocol::Kitty),
        _ if named(&["iTerm.app", "iTerm2", "WezTerm"]) || any(&["WEZTERM_PANE"]) => {
            Some(PictureProtocol::Iterm)
        }
        _ if ["foot", "mlterm", "yaft", "contour"].iter().any(|name| term.starts_with(name)) => {
            Some(PictureProtocol::Sixel)
        }
        _ if konsole || named(&["mintty", "rio"]) => Some(PictureProtocol::Sixel),
        _ => None,
    }
}

/// A picture made for a place on the screen.
#[derive(Clone, Debug)]
pub enum RenderedPicture {
    /// As cells.
    Cells(Vec<Line<'static>>),
    /// In the terminal's own protocol, over cells that stay blank.
    Dots(Arc<TerminalPicture>),
    /// Nothing can be shown, and why; empty where pictures are only named.
    Words(String),
}

/// What pictures are drawn with.
#[derive(Clone, Copy, Debug)]
pub struct PictureDisplay {
    pub protocol: PictureProtocol,
    pub depth: ColorDepth,
    /// Pixels of a cell, across and down, where the terminal says.
    pub cell: fn() -> Option<(u32, u32)>,
}

impl PictureDisplay {
    /// Of this terminal.
    pub fn of(
        setting: PictureSetting,
        depth: ColorDepth,
        variable: impl Fn(&str) -> Option<String>,
    ) -> PictureDisplay {
        PictureDisplay {
            protocol: PictureProtocol::detect(setting, depth, variable),
            depth,
            cell: term::cell,
        }
    }

    /// No pictures.
    pub fn words() -> PictureDisplay {
        PictureDisplay { protocol: PictureProtocol::Words, depth: ColorDepth::None, cell: || None }
    }

    /// Decodes and scales a picture to at most so many columns and rows. It takes as long as that takes: not for the
    /// thread that draws.
    pub fn draw(&self, bytes: &[u8], name: &str, (columns, rows): (usize, usize)) -> RenderedPicture {
        let drawn = match self.protocol {
            PictureProtocol::Words => Ok(RenderedPicture::Words(String::new())),
            PictureProtocol::HalfBlocks => {
                half_blocks(bytes, name, (columns, rows), self.depth).map(RenderedPicture::Cells)
            }
            PictureProtocol::Kitty | PictureProtocol::Iterm | PictureProtocol::Sixel => {
                self.dots(bytes, name, (columns, rows)).map(|dots| RenderedPicture::Dots(Arc::new(dots)))
            }
        };
        drawn.unwrap_or_else(RenderedPicture::Words)
    }

    fn dots(
        &self,
        bytes: &[u8],
        name: &str,
        (columns, rows): (usize, usize),
    ) -> Result<TerminalPicture, String> {
        let cell = (self.cell)().unwrap_or(CELL);
        let kind = sniff(bytes.get(..64).unwrap_or(bytes), name).ok_or("not a picture")?;
        let most = |count: usize, one: u32| u32::try_from(count).unwrap_or(u32::MAX).saturating_mul(one);
        let thumb =
            thumb(kind, bytes, most(columns, cell.0), most(rows, cell.1)).map_err(|e| e.to_string())?;
        Ok(TerminalPicture::new(thumb, cell, self.protocol))
    }
}

/// `logo.png: 640x480, 12.3k bytes, as it is, about 410 tokens`: what there is to know of a picture that is sent.
pub fn chip(image: &Image) -> String {
    if image.is_pdf() {
        return format!(
            "{}: {} bytes, some {} tokens, pages not counted",
            sanitize::name(&image.name),
            super::scrollback::short(image.size),
            super::scrollback::short(image.tokens())
        );
    }
    // What it became is told already.
    let made = image.notes.iter().map(|note| note.split_once(" to ").map_or(note.as_str(), |(made, _)| made));
    let made = match image.notes.is_empty() {
        true => "as it is".into(),
        false => made.collect::<Vec<_>>().join(", "),
    };
    format!(
        "{}: {}x{}, {} bytes, {}, about {} tokens",
        sanitize::name(&image.name),
        image.width,
        image.height,
        super::scrollback::short(image.bytes.len() as u64),
        sanitize::line(&made),
        super::scrollback::short(image.tokens())
    )
}

#[cfg(test)]
mod tests;
