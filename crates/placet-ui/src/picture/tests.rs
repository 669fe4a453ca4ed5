//! Pictures as a terminal would show them: the tests read the written bytes as a terminal does.

use super::*;
use crate::terminal::ansi::ColorDepth;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use image::{ImageFormat, Rgba, RgbaImage};
use placet_config::PictureSetting;
use placet_text::conversation::Image;
use proptest::prelude::*;
use ratatui::style::Color;
use std::collections::HashMap;
use std::io::Cursor;

fn png(width: u32, height: u32) -> Vec<u8> {
    drawn(width, height, |x, _| if x < width / 2 { [255, 0, 0] } else { [0, 0, 255] })
}

fn drawn(width: u32, height: u32, pixel: impl Fn(u32, u32) -> [u8; 3]) -> Vec<u8> {
    let pixels = RgbaImage::from_fn(width, height, |x, y| {
        let [r, g, b] = pixel(x, y);
        Rgba([r, g, b, 255])
    });
    let mut out = Cursor::new(Vec::new());
    pixels.write_to(&mut out, ImageFormat::Png).unwrap();
    out.into_inner()
}

fn display(protocol: PictureProtocol) -> PictureDisplay {
    PictureDisplay { protocol, depth: ColorDepth::True, cell: || Some((10, 20)) }
}

fn placed(bytes: &[u8], protocol: PictureProtocol, room: (usize, usize)) -> PlacedPicture {
    let RenderedPicture::Dots(dots) = display(protocol).draw(bytes, "a.png", room) else { panic!("no dots") };
    PlacedPicture::within(&dots, (3, 4), 0, 100).unwrap()
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_picture_is_rows_of_half_blocks_in_its_colours() {
    let lines = half_blocks(&png(4, 3), "a.png", (80, 24), ColorDepth::True).unwrap();
    assert_eq!(lines.iter().map(ToString::to_string).collect::<Vec<_>>(), ["▀▀▀▀", "▀▀▀▀"]);
    let first = lines[0].spans[0].style;
    assert_eq!((first.fg, first.bg), (Some(Color::Rgb(255, 0, 0)), Some(Color::Rgb(255, 0, 0))));
    assert_eq!(lines[1].spans[3].style.bg, None);
    let large = half_blocks(&png(400, 300), "a.png", (20, 6), ColorDepth::Indexed).unwrap();
    assert!(large.len() <= 6 && large.iter().all(|l| l.spans.len() <= 20));
    assert!(half_blocks(b"no picture", "a.png", (20, 6), ColorDepth::True).is_err());
}

#[test]
fn the_protocol_follows_the_setting_and_the_environment_and_never_a_question() {
    use PictureProtocol::{HalfBlocks, Iterm, Kitty, Sixel, Words};
    type ProtocolCase<'c> = (PictureSetting, ColorDepth, &'c [(&'c str, &'c str)], PictureProtocol);
    let rows: &[ProtocolCase<'_>] = &[
        (PictureSetting::Auto, ColorDepth::True, &[("TERM", "xterm-kitty")], Kitty),
        (PictureSetting::Auto, ColorDepth::Sixteen, &[("TERM", "xterm-kitty")], Kitty),
        (PictureSetting::Auto, ColorDepth::True, &[("TERM_PROGRAM", "ghostty")], Kitty),
        (PictureSetting::Auto, ColorDepth::True, &[("TERM", "xterm-kitty"), ("TMUX", "x")], HalfBlocks),
        (PictureSetting::Auto, ColorDepth::True, &[("TERM_PROGRAM", "iTerm.app")], Iterm),
        (PictureSetting::Auto, ColorDepth::True, &[("LC_TERMINAL", "iTerm2")], Iterm),
        (PictureSetting::Auto, ColorDepth::True, &[("WEZTERM_PANE", "0")], Iterm),
        (PictureSetting::Auto, ColorDepth::True, &[("TERM", "foot")], Sixel),
        (PictureSetting::Auto, ColorDepth::True, &[("KONSOLE_VERSION", "230804")], Sixel),
        (PictureSetting::Auto, ColorDepth::True, &[("KONSOLE_VERSION", "210401")], HalfBlocks),
        (
            PictureSetting::Auto,
            ColorDepth::True,
            &[("VTE_VERSION", "7600"), ("TERM", "xterm-256color")],
            HalfBlocks,
        ),
        (PictureSetting::Auto, ColorDepth::Sixteen, &[("TERM", "linux")], Words),
        (PictureSetting::Auto, ColorDepth::None, &[("TERM", "xterm-kitty"), ("NO_COLOR", "1")], Words),
        (PictureSetting::Off, ColorDepth::True, &[("TERM", "xterm-kitty")], Words),
        (PictureSetting::HalfBlocks, ColorDepth::True, &[("TERM", "xterm-kitty")], HalfBlocks),
        (PictureSetting::Kitty, ColorDepth::True, &[("TERM", "xterm-256color")], Kitty),
        (PictureSetting::Kitty, ColorDepth::True, &[("TMUX", "x")], HalfBlocks),
        (PictureSetting::Sixel, ColorDepth::True, &[("TMUX", "x")], Sixel),
        (PictureSetting::Iterm, ColorDepth::True, &[], Iterm),
    ];
    for (setting, depth, variables, want) in rows {
        let got = PictureProtocol::detect(*setting, *depth, |name| {
            variables.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_string())
        });
        assert_eq!(got, *want, "{setting:?} {depth:?} {variables:?}");
    }
}

#[test]
fn kitty_gets_whole_cells_in_pieces_that_no_terminal_answers() {
    let noise = |x: u32, y: u32| [(x * 7 + y * 13) as u8, (x * y) as u8, (x ^ y) as u8];
    let picture = placed(&drawn(95, 130, noise), PictureProtocol::Kitty, (40, 10));
    assert_eq!((picture.dots.columns, picture.dots.rows), (10, 7));
    let sent = text(picture.show());
    let head = format!("\x1b[5;4H\x1b_Ga=T,f=100,q=2,C=1,i={},p=1,c=10,r=7,m=1;", id(&sent));
    assert!(sent.starts_with(&head) && sent.ends_with("\x1b\\"), "{:?}", &sent[..80]);
    let data: String = sent.split("\x1b\\").filter_map(|piece| Some(piece.split_once(';')?.1)).collect();
    let data = data.rsplit_once(';').map_or(data.clone(), |(_, rest)| rest.into());
    let shown = image::load_from_memory(&STANDARD.decode(data).unwrap()).unwrap().to_rgba8();
    assert_eq!(shown.dimensions(), (100, 140));
    let [r, g, b] = noise(94, 129);
    assert_eq!(shown.get_pixel(94, 129).0, [r, g, b, 255]);
    assert_eq!(shown.get_pixel(95, 0).0, [0; 4], "beyond the picture the ground is seen");
    assert_eq!(text(picture.erase()), format!("\x1b_Ga=d,d=I,i={},q=2\x1b\\", id(&sent)));
}

fn id(sent: &str) -> String {
    sent.split_once("i=").unwrap().1.split(',').next().unwrap().into()
}

#[test]
fn a_picture_that_is_partly_scrolled_away_is_cropped() {
    let bytes = drawn(30, 100, |_, y| [y as u8, 0, 0]);
    for protocol in [PictureProtocol::Iterm, PictureProtocol::Sixel] {
        let whole = placed(&bytes, protocol, (40, 10));
        let part = PlacedPicture::within(&whole.dots, (0, 1), 2, 3).unwrap();
        assert_eq!((part.skip, part.rows), (2, 2));
        let sent = text(part.show());
        match protocol {
            PictureProtocol::Iterm => {
                let (head, data) = sent.rsplit_once(':').unwrap();
                assert!(head.contains(";width=3;height=2;"), "{head}");
                let data = STANDARD.decode(data.trim_end_matches('\x07')).unwrap();
                let shown = image::load_from_memory(&data).unwrap().to_rgb8();
                assert_eq!((shown.dimensions(), shown.get_pixel(0, 0).0), ((30, 40), [40, 0, 0]));
            }
            _ => {
                let shown = decode(&sent);
                assert_eq!((shown.width, shown.height), (30, 40));
                assert!(shown.pixels[&(0, 0)][0].abs_diff(40) <= 2);
            }
        }
    }
    let whole = placed(&bytes, PictureProtocol::Sixel, (40, 10));
    assert_eq!(PlacedPicture::within(&whole.dots, (0, 9), 0, 9), None);
}

#[test]
fn what_is_no_picture_is_said_and_where_there_are_none_nothing_is_drawn() {
    for protocol in [PictureProtocol::Kitty, PictureProtocol::HalfBlocks] {
        assert!(
            matches!(display(protocol).draw(b"words", "a.png", (9, 9)), RenderedPicture::Words(w) if !w.is_empty())
        );
    }
    assert!(
        matches!(display(PictureProtocol::Words).draw(&png(4, 4), "a.png", (9, 9)), RenderedPicture::Words(w) if w.is_empty())
    );
}

/// A sixel picture as a terminal would understand it.
struct DecodedSixel {
    width: usize,
    height: usize,
    pixels: HashMap<(usize, usize), [u8; 3]>,
    registers: usize,
}

fn decode(sent: &str) -> DecodedSixel {
    let body = sent.split_once("\x1bP0;1;0q").unwrap().1.strip_suffix("\x1b\\").unwrap();
    let mut rest = body.chars().peekable();
    let number = |rest: &mut std::iter::Peekable<std::str::Chars<'_>>| {
        let mut n = 0;
        while let Some(digit) = rest.peek().and_then(|c| c.to_digit(10)) {
            n = n * 10 + digit as usize;
            rest.next();
        }
        n
    };
    let mut shown = DecodedSixel { width: 0, height: 0, pixels: HashMap::new(), registers: 0 };
    let mut colours: HashMap<usize, [u8; 3]> = HashMap::new();
    let (mut x, mut y, mut colour, mut run) = (0, 0, 0, 1);
    while let Some(c) = rest.next() {
        let mut numbers = |count: usize| -> Vec<usize> {
            let one = |n: usize| {
                if n > 0 {
                    assert_eq!(rest.next(), Some(';'));
                }
                number(&mut rest)
            };
            (0..count).map(one).collect()
        };
        match c {
            '"' => {
                let size = numbers(4);
                (shown.width, shown.height) = (size[2], size[3]);
            }
            '#' => {
                colour = numbers(1)[0];
                if rest.peek() == Some(&';') {
                    rest.next();
                    let parts: Vec<usize> = (0..4)
                        .map(|n| {
                            if n > 0 {
                                assert_eq!(rest.next(), Some(';'));
                            }
                            number(&mut rest)
                        })
                        .collect();
                    assert_eq!(parts[0], 2);
                    let part = |n: usize| u8::try_from((parts[n] * 255 + 50) / 100).unwrap();
                    colours.insert(colour, [part(1), part(2), part(3)]);
                }
            }
            '!' => run = numbers(1)[0],
            '$' => x = 0,
            '-' => (x, y) = (0, y + 6),
            dot @ '?'..='~' => {
                let bits = dot as usize - '?' as usize;
                for at in x..x + run {
                    for row in (0..6).filter(|row| bits >> row & 1 == 1) {
                        shown.pixels.insert((at, y + row), colours[&colour]);
                    }
                }
                (x, run) = (x + run, 1);
            }
            other => panic!("{other:?} in a sixel picture"),
        }
    }
    shown.registers = colours.len();
    shown
}

#[test]
fn a_photo_of_many_colours_fits_the_registers_and_stays_near_itself() {
    let photo = |x: u32, y: u32| [(x * 2) as u8, (y * 2) as u8, (x + y) as u8];
    let shown = decode(&text(placed(&drawn(120, 100, photo), PictureProtocol::Sixel, (40, 10)).show()));
    assert_eq!((shown.width, shown.height, shown.pixels.len()), (120, 100, 12_000));
    assert!(shown.registers <= 256, "{}", shown.registers);
    let off = |(at, pixel): (&(usize, usize), &[u8; 3])| {
        let want = photo(at.0 as u32, at.1 as u32);
        (0..3).map(|n| u32::from(pixel[n].abs_diff(want[n]))).max().unwrap()
    };
    let sum: u32 = shown.pixels.iter().map(off).sum();
    assert!(sum / 12_000 <= 12, "on average {} off", sum / 12_000);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn sixel_shows_every_pixel_of_a_picture_of_few_colours(
        width in 1u32..40,
        height in 1u32..20,
        seeds in prop::collection::vec(any::<[u8; 3]>(), 1..200),
    ) {
        let pixel = |x: u32, y: u32| seeds[(x * 31 + y * 17) as usize % seeds.len()];
        let shown = decode(&text(placed(&drawn(width, height, pixel), PictureProtocol::Sixel, (80, 20)).show()));
        prop_assert_eq!((shown.width, shown.height), (width as usize, height as usize));
        prop_assert_eq!(shown.pixels.len(), (width * height) as usize);
        for y in 0..height {
            for x in 0..width {
                let got = shown.pixels[&(x as usize, y as usize)];
                let want = pixel(x, y);
                // A part of a colour is sent as a percentage.
                let near = (0..3).all(|n| got[n].abs_diff(want[n]) <= 2);
                prop_assert!(near, "{x},{y}: {got:?} for {want:?}");
            }
        }
    }
}

#[test]
fn a_picture_that_is_sent_is_told_in_one_line() {
    let mut image = Image::new("image/png", 640, 480, "a\u{1b}.png", vec![0; 12_345].into());
    assert_eq!(chip(&image), "a␛.png: 640x480, 12.3k bytes, as it is, about 410 tokens");
    image.notes = vec![
        "converted from TIFF to PNG".into(),
        "scaled down from 3000x3000 (46936328 bytes) to 640x480 (12345 bytes)".into(),
    ];
    assert_eq!(
        chip(&image),
        "a␛.png: 640x480, 12.3k bytes, converted from TIFF, scaled down from 3000x3000 (46936328 bytes), \
         about 410 tokens"
    );
}
