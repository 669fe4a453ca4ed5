//! Pictures in a terminal: in its own protocol where it is known to have one, else as half blocks of colour.
//!
//! What the terminal can do is told by its environment; it is never asked, so nothing waits and no answer is typed into
//! the prompt. Half blocks are cells like all others: they go everywhere cells go, and a multiplexer keeps them.

use super::ansi::Depth;
use crate::media::{Thumb, sniff, thumb};
use crate::text::sanitize;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};

/// Bytes of one piece of kitty's protocol.
const PIECE: usize = 4096;
/// The largest picture that is sent whole to a terminal, in bytes.
const MOST: usize = 4 << 20;

/// How this terminal shows pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Kitty,
    Iterm,
    HalfBlocks,
    /// No colours: only words.
    Words,
}

impl Protocol {
    /// By the environment. Inside a multiplexer half blocks are what surely arrives.
    pub fn detect(depth: Depth, variable: impl Fn(&str) -> Option<String>) -> Protocol {
        let set = |name: &str| variable(name).filter(|v| !v.is_empty());
        let is = |name: &str, value: &str| set(name).as_deref() == Some(value);
        if depth < Depth::Indexed {
            return Protocol::Words;
        }
        if set("TMUX").is_some() || set("STY").is_some() {
            return Protocol::HalfBlocks;
        }
        let kitty =
            set("KITTY_WINDOW_ID").is_some() || is("TERM", "xterm-kitty") || is("TERM_PROGRAM", "ghostty");
        match () {
            () if kitty => Protocol::Kitty,
            () if is("TERM_PROGRAM", "iTerm.app") || is("TERM_PROGRAM", "WezTerm") => Protocol::Iterm,
            () => Protocol::HalfBlocks,
        }
    }
}

/// A picture as rows of half blocks, at most so many columns and rows. The error says why it cannot be shown.
pub fn half_blocks(
    bytes: &[u8],
    name: &str,
    (columns, rows): (usize, usize),
    depth: Depth,
) -> Result<Vec<Line<'static>>, String> {
    let small = small(bytes, name, (columns, rows))?;
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

fn small(bytes: &[u8], name: &str, (columns, rows): (usize, usize)) -> Result<Thumb, String> {
    let kind = sniff(bytes.get(..64).unwrap_or(bytes), name).ok_or("it is no picture")?;
    let fits = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    thumb(kind, bytes, fits(columns), fits(rows * 2)).map_err(|e| e.to_string())
}

/// The bytes that show a picture at the cursor, `columns` wide, in the terminal's own protocol; `None` where there is
/// none or the picture is too large for it.
pub fn inline(bytes: &[u8], columns: usize, protocol: Protocol) -> Option<Vec<u8>> {
    if bytes.len() > MOST {
        return None;
    }
    match protocol {
        Protocol::Kitty => {
            // Only PNG is understood by all that speak it.
            bytes.starts_with(b"\x89PNG").then(|| kitty(bytes, columns))
        }
        Protocol::Iterm => {
            let head = format!(
                "\x1b]1337;File=inline=1;size={};width={columns};preserveAspectRatio=1:",
                bytes.len()
            );
            Some([head.as_bytes(), STANDARD.encode(bytes).as_bytes(), b"\x07"].concat())
        }
        Protocol::HalfBlocks | Protocol::Words => None,
    }
}

fn kitty(bytes: &[u8], columns: usize) -> Vec<u8> {
    let text = STANDARD.encode(bytes);
    let pieces: Vec<&[u8]> = text.as_bytes().chunks(PIECE).collect();
    let mut out = Vec::with_capacity(text.len() + pieces.len() * 16);
    for (n, piece) in pieces.iter().enumerate() {
        let more = u8::from(n + 1 < pieces.len());
        let head = match n {
            // `q=2`: no answer, which would be read as keys.
            0 => format!("\x1b_Ga=T,f=100,q=2,c={columns},m={more};"),
            _ => format!("\x1b_Gm={more};"),
        };
        out.extend_from_slice(head.as_bytes());
        out.extend_from_slice(piece);
        out.extend_from_slice(b"\x1b\\");
    }
    out
}

/// `logo.png: 640x480, 12.3k bytes, about 410 tokens`: what there is to know of a picture that is sent.
pub fn chip(name: &str, (width, height): (u32, u32), bytes: usize) -> String {
    // Providers count about a token for 750 pixels.
    let tokens = (u64::from(width) * u64::from(height)).div_ceil(750);
    format!(
        "{}: {width}x{height}, {} bytes, about {} tokens",
        sanitize::name(name),
        super::cell::short(bytes as u64),
        super::cell::short(tokens)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::{ImageFormat, Rgba, RgbaImage};
    use std::io::Cursor;

    fn png(width: u32, height: u32) -> Vec<u8> {
        let pixels = RgbaImage::from_fn(width, height, |x, _| {
            if x < width / 2 { Rgba([255, 0, 0, 255]) } else { Rgba([0, 0, 255, 255]) }
        });
        let mut out = Cursor::new(Vec::new());
        pixels.write_to(&mut out, ImageFormat::Png).unwrap();
        out.into_inner()
    }

    #[test]
    fn a_picture_is_rows_of_half_blocks_in_its_colours() {
        let lines = half_blocks(&png(4, 3), "a.png", (80, 24), Depth::True).unwrap();
        assert_eq!(lines.iter().map(ToString::to_string).collect::<Vec<_>>(), ["▀▀▀▀", "▀▀▀▀"]);
        let first = lines[0].spans[0].style;
        assert_eq!((first.fg, first.bg), (Some(Color::Rgb(255, 0, 0)), Some(Color::Rgb(255, 0, 0))));
        assert_eq!(lines[1].spans[3].style.bg, None);
        let large = half_blocks(&png(400, 300), "a.png", (20, 6), Depth::Indexed).unwrap();
        assert!(large.len() <= 6 && large.iter().all(|l| l.spans.len() <= 20));
        assert!(half_blocks(b"no picture", "a.png", (20, 6), Depth::True).is_err());
    }

    #[test]
    fn the_protocol_follows_the_environment_and_never_a_question() {
        let detect = |variables: &[(&str, &str)]| {
            Protocol::detect(Depth::True, |name| {
                variables.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_string())
            })
        };
        assert_eq!(detect(&[("TERM", "xterm-kitty")]), Protocol::Kitty);
        assert_eq!(detect(&[("TERM", "xterm-kitty"), ("TMUX", "x")]), Protocol::HalfBlocks);
        assert_eq!(detect(&[("TERM_PROGRAM", "iTerm.app")]), Protocol::Iterm);
        assert_eq!(detect(&[("TERM", "xterm-256color")]), Protocol::HalfBlocks);
        assert_eq!(Protocol::detect(Depth::None, |_| None), Protocol::Words);
    }

    #[test]
    fn kitty_gets_pieces_and_no_terminal_more_than_it_takes() {
        let picture = [png(64, 64), vec![0; 9000]].concat();
        let sent = String::from_utf8(inline(&picture, 40, Protocol::Kitty).unwrap()).unwrap();
        assert!(sent.starts_with("\x1b_Ga=T,f=100,q=2,c=40,m=1;") && sent.ends_with("\x1b\\"));
        let text: String = sent.split("\x1b\\").filter_map(|piece| Some(piece.split_once(';')?.1)).collect();
        assert_eq!(STANDARD.decode(text).unwrap(), picture);
        assert_eq!(inline(&vec![0; MOST + 1], 40, Protocol::Iterm), None);
        assert_eq!(inline(b"GIF89a", 40, Protocol::Kitty), None);
        assert!(
            inline(b"GIF89a", 40, Protocol::Iterm).unwrap().starts_with(b"\x1b]1337;File=inline=1;size=6;")
        );
    }
}
