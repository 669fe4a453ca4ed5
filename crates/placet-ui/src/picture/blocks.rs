//! A picture as half blocks: two pixels in each cell, in the available colours.
//!
//! Half blocks are used where a terminal has no known protocol for pictures. They need no erasing.

use super::thumbnail::{PictureError, thumbnail};
use crate::terminal::ansi::ColorDepth;
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};

/// A picture as rows of half blocks, at most so many columns and rows.
pub fn half_blocks(
    bytes: &[u8],
    name: &str,
    (columns, rows): (usize, usize),
    depth: ColorDepth,
) -> Result<Vec<Line<'static>>, PictureError> {
    let fits = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let small = thumbnail(bytes, name, (fits(columns), fits(rows * 2)))?;
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
