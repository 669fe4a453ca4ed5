//! A picture in a terminal's own protocol: its pixels, its position, and the bytes that draw it there.
//!
//! All three protocols are written from the same pixels, scaled to whole cells already, so that a terminal only copies
//! them and a picture is no larger on the wire than on the screen. A picture that is partly scrolled away is cropped
//! here: no terminal would do it.

use super::protocol::PictureProtocol;
use super::sixel::SixelPicture;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use placet_media::Thumbnail;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Bytes of one piece of kitty's protocol.
const PIECE: usize = 4096;

/// Names pictures in this terminal. It begins where other programs are unlikely to have begun.
static NEXT: AtomicU32 = AtomicU32::new(0);

#[derive(Debug)]
pub struct TerminalPicture {
    id: u32,
    protocol: PictureProtocol,
    thumb: Thumbnail,
    indexed: Option<SixelPicture>,
    cell: (u32, u32),
    pub columns: u16,
    pub rows: u16,
    /// All of it as it is sent: scrolling moves it and makes nothing again.
    whole: Vec<u8>,
}

impl TerminalPicture {
    /// Quantises and encodes: not for the thread that draws.
    pub fn new(thumb: Thumbnail, cell: (u32, u32), protocol: PictureProtocol) -> TerminalPicture {
        let cell = (cell.0.max(1), cell.1.max(1));
        let count = |pixels: u32, one: u32| u16::try_from(pixels.div_ceil(one)).unwrap_or(u16::MAX);
        let id =
            (std::process::id() & 0xFFFF) << 12 | (NEXT.fetch_add(1, Ordering::Relaxed) & 0xFFF) | 1 << 28;
        let mut dots = TerminalPicture {
            id,
            protocol,
            columns: count(thumb.width, cell.0),
            rows: count(thumb.height, cell.1),
            indexed: (protocol == PictureProtocol::Sixel).then(|| SixelPicture::new(&thumb)),
            thumb,
            cell,
            whole: Vec::new(),
        };
        dots.whole = dots.encode(0, dots.rows);
        dots
    }

    /// Whether the terminal keeps it over cells that are written again.
    pub fn floats(&self) -> bool {
        self.protocol == PictureProtocol::Kitty
    }

    /// The bytes that draw rows of cells at the cursor.
    fn encode(&self, skip: u16, rows: u16) -> Vec<u8> {
        let (above, height) = (u32::from(skip) * self.cell.1, u32::from(rows) * self.cell.1);
        // What is left of the last row and column lets the ground through.
        let png = || self.thumb.png(above, (u32::from(self.columns) * self.cell.0, height));
        match self.protocol {
            PictureProtocol::Kitty => self.kitty(&png(), rows),
            PictureProtocol::Iterm => self.iterm(&png(), rows),
            PictureProtocol::Sixel => {
                let (above, height) = (above as usize, height as usize);
                self.indexed.as_ref().map(|of| of.encode(above..above + height)).unwrap_or_default()
            }
            PictureProtocol::HalfBlocks | PictureProtocol::Words => Vec::new(),
        }
    }

    /// Sends and shows in one; a picture of the same name is replaced.
    fn kitty(&self, png: &[u8], rows: u16) -> Vec<u8> {
        let text = STANDARD.encode(png);
        let pieces: Vec<&[u8]> = text.as_bytes().chunks(PIECE).collect();
        let mut out = Vec::with_capacity(text.len() + pieces.len() * 16);
        for (n, piece) in pieces.iter().enumerate() {
            let more = u8::from(n + 1 < pieces.len());
            let head = match n {
                // `q=2`: no answer, which would be read as keys. `C=1`: the cursor stays, nothing scrolls.
                0 => {
                    format!("\x1b_Ga=T,f=100,q=2,C=1,i={},p=1,c={},r={rows},m={more};", self.id, self.columns)
                }
                _ => format!("\x1b_Gm={more};"),
            };
            out.extend_from_slice(head.as_bytes());
            out.extend_from_slice(piece);
            out.extend_from_slice(b"\x1b\\");
        }
        out
    }

    fn iterm(&self, png: &[u8], rows: u16) -> Vec<u8> {
        let head = format!(
            "\x1b]1337;File=inline=1;size={};width={};height={rows};preserveAspectRatio=0;doNotMoveCursor=1:",
            png.len(),
            self.columns,
        );
        [head.as_bytes(), STANDARD.encode(png).as_bytes(), b"\x07"].concat()
    }
}

/// A picture at its place on the screen, or as much of it as is in view.
#[derive(Clone, Debug)]
pub struct PlacedPicture {
    pub dots: Arc<TerminalPicture>,
    pub x: u16,
    pub y: u16,
    /// Rows of it that are scrolled away above.
    pub skip: u16,
    /// Rows that are shown.
    pub rows: u16,
}

impl PartialEq for PlacedPicture {
    fn eq(&self, other: &PlacedPicture) -> bool {
        let place = |p: &PlacedPicture| (p.dots.id, p.x, p.y, p.skip, p.rows);
        place(self) == place(other)
    }
}

impl PlacedPicture {
    /// A picture at a place that ends at the row `bottom`; `None` where nothing of it is in view.
    pub fn within(
        dots: &Arc<TerminalPicture>,
        (x, y): (usize, usize),
        skip: usize,
        bottom: usize,
    ) -> Option<PlacedPicture> {
        let rows = usize::from(dots.rows).saturating_sub(skip).min(bottom.saturating_sub(y));
        let short = |n: usize| u16::try_from(n).ok();
        (rows > 0).then_some(())?;
        Some(PlacedPicture {
            dots: Arc::clone(dots),
            x: short(x)?,
            y: short(y)?,
            skip: short(skip)?,
            rows: short(rows)?,
        })
    }

    pub fn covers(&self, y: u16) -> bool {
        (self.y..self.y + self.rows).contains(&y)
    }

    /// Puts it on the screen. The cursor is anywhere afterwards.
    pub fn show(&self) -> Vec<u8> {
        let mut out = format!("\x1b[{};{}H", self.y + 1, self.x + 1).into_bytes();
        match (self.skip, self.rows) == (0, self.dots.rows) {
            true => out.extend_from_slice(&self.dots.whole),
            false => out.extend(self.dots.encode(self.skip, self.rows)),
        }
        out
    }

    /// Takes it off the screen, where writing its cells again does not do that.
    pub fn erase(&self) -> Vec<u8> {
        match self.dots.protocol {
            // `I`: the terminal forgets its pixels as well.
            PictureProtocol::Kitty => format!("\x1b_Ga=d,d=I,i={},q=2\x1b\\", self.dots.id).into_bytes(),
            _ => Vec::new(),
        }
    }
}
