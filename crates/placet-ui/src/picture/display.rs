//! A picture made for a place on the screen: decoded, scaled, and in the form that the terminal shows.

use super::blocks::half_blocks;
use super::protocol::PictureProtocol;
use super::terminal_picture::TerminalPicture;
use super::thumbnail::{PictureError, thumbnail};
use crate::terminal::ansi::ColorDepth;
use crate::terminal::term;
use placet_config::PictureSetting;
use ratatui::text::Line;
use std::sync::Arc;

/// A cell in pixels, where the size is unknown: VT340's.
const CELL: (u32, u32) = (10, 20);

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
        drawn.unwrap_or_else(|error| RenderedPicture::Words(error.to_string()))
    }

    fn dots(
        &self,
        bytes: &[u8],
        name: &str,
        (columns, rows): (usize, usize),
    ) -> Result<TerminalPicture, PictureError> {
        let cell = (self.cell)().unwrap_or(CELL);
        let most = |count: usize, one: u32| u32::try_from(count).unwrap_or(u32::MAX).saturating_mul(one);
        let scaled = thumbnail(bytes, name, (most(columns, cell.0), most(rows, cell.1)))?;
        Ok(TerminalPicture::new(scaled, cell, self.protocol))
    }
}
