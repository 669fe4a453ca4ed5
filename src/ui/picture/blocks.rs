//! A picture as half blocks: two pixels in each cell, in the colours there are.
//!
//! It is what remains where a terminal has no protocol for pictures, or none that is known. It needs no erasing.

use crate::media::{sniff, thumb};
use crate::ui::ansi::ColorDepth;
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};

/// A picture as rows of half blocks, at most so many columns and rows. The error says why it cannot be shown.
pub fn half_blocks(
    bytes: &[u8],
    name: &str,
    (columns, rows): (usize, usize),
    depth: ColorDepth,
) -> Result<Vec<Line<'static>>, String> {
    let kind = sniff(bytes.get(..64).unwrap_or(bytes), name).ok_or("not a picture")?;
    let fits = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let small = thumb(kind, bytes, fits(columns), fits(rows * 2)).map_err(|e| e.to_string())?;
    let color = |pixel: [u8; 3]| {
        let [r, g, b] = pixel;
        depth.limit(Style::new().fg(Color::Rgb(r, g, b))).fg.unwrap_or(Color::Reset)
    };
    let row = |y: u32| {
        let cells = (0..small.width).map(|x| {
            let mut style = Style::new().fg(color(small.pixel(x, y).unwrap_or_default()));
            if let Some(below) = small.pixel(x, y + 1) {
                style = style.bg(color(below));
            }
            Span::styled("▀", style)
        });
        Line::from(cells.collect::<Vec<_>>())
    };
    Ok((0..small.height).step_by(2).map(row).collect())
}
