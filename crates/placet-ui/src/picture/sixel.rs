//! Sixel, DEC's way of sending a picture: six rows of dots in a byte, in a palette of at most 256 colours.
//!
//! Colours that are too many are gathered into boxes which are cut in two where they are widest, until there are as
//! many as registers (Heckbert, "Color image quantization for frame buffer display", 1982). It neither scales nor
//! dithers: the pixels are those of the screen already.

use placet_media::Thumbnail;
use std::collections::HashMap;
use std::ops::Range;

/// Registers of a terminal that has enough.
const COLOURS: usize = 256;

type Pixel = [u8; 3];

/// A picture in the registers of a palette: what costs time, done once.
#[derive(Debug)]
pub(super) struct SixelPicture {
    width: usize,
    colours: Vec<Pixel>,
    /// The register of each pixel, row by row.
    registers: Vec<u8>,
}

impl SixelPicture {
    pub(super) fn new(thumb: &Thumbnail) -> SixelPicture {
        let palette = SixelPalette::of(thumb.pixels.iter().copied());
        let registers = thumb.pixels.iter().map(|pixel| palette.register(*pixel)).collect();
        SixelPicture { width: thumb.width as usize, colours: palette.colours, registers }
    }

    /// Rows of it as one sequence for the terminal, to be drawn at the cursor.
    pub(super) fn encode(&self, rows: Range<usize>) -> Vec<u8> {
        let pixels = self.registers.chunks(self.width.max(1));
        let rows: Vec<&[u8]> = pixels.skip(rows.start).take(rows.len()).collect();
        // `1` as second number: what is not drawn stays as it is.
        let mut out = format!("\x1bP0;1;0q\"1;1;{};{}", self.width, rows.len()).into_bytes();
        for (n, [r, g, b]) in self.colours.iter().enumerate() {
            // Parts of a colour are percentages.
            let part = |v: u8| (u32::from(v) * 100 + 127) / 255;
            out.extend_from_slice(format!("#{n};2;{};{};{}", part(*r), part(*g), part(*b)).as_bytes());
        }
        for (n, six) in rows.chunks(6).enumerate() {
            if n > 0 {
                out.push(b'-');
            }
            band(&mut out, six, self.width);
        }
        out.extend_from_slice(b"\x1b\\");
        out
    }
}

/// Six rows: the dots of each register, one register above the other.
fn band(out: &mut Vec<u8>, six: &[&[u8]], width: usize) {
    let mut used: Vec<Option<Vec<u8>>> = vec![None; COLOURS];
    for (y, row) in six.iter().enumerate() {
        for (x, register) in row.iter().enumerate() {
            let Some(slot) = used.get_mut(usize::from(*register)) else { continue };
            if let Some(dots) = slot.get_or_insert_with(|| vec![0; width]).get_mut(x) {
                *dots |= 1 << y;
            }
        }
    }
    let used = used.iter().enumerate().filter_map(|(n, dots)| Some((n, dots.as_ref()?)));
    for (at, (n, dots)) in used.enumerate() {
        if at > 0 {
            out.push(b'$');
        }
        out.extend_from_slice(format!("#{n}").as_bytes());
        // Blank dots at the end need not be sent.
        let end = dots.iter().rposition(|six| *six != 0).map_or(0, |at| at + 1);
        for run in dots.get(..end).unwrap_or_default().chunk_by(|a, b| a == b) {
            let dot = run.first().map_or(b'?', |six| six + b'?');
            match run.len() {
                short @ 1..=3 => out.extend(std::iter::repeat_n(dot, short)),
                long => {
                    out.extend_from_slice(format!("!{long}").as_bytes());
                    out.push(dot);
                }
            }
        }
    }
}

struct SixelPalette {
    colours: Vec<Pixel>,
    registers: HashMap<Pixel, u8>,
    /// Bits of each part that distinguish colours.
    bits: u32,
}

impl SixelPalette {
    /// As many colours as there are, or the nearest to them that registers suffice for.
    fn of(pixels: impl Iterator<Item = Pixel> + Clone) -> SixelPalette {
        let mut exact: HashMap<Pixel, usize> = HashMap::new();
        for pixel in pixels.clone() {
            *exact.entry(pixel).or_default() += 1;
            if exact.len() > COLOURS {
                return SixelPalette::gathered(pixels);
            }
        }
        let mut colours: Vec<Pixel> = exact.into_keys().collect();
        colours.sort_unstable();
        let registers = colours.iter().copied().zip(0..=u8::MAX).collect();
        SixelPalette { colours, registers, bits: 8 }
    }

    fn gathered(pixels: impl Iterator<Item = Pixel>) -> SixelPalette {
        const BITS: u32 = 5;
        let mut bins: HashMap<Pixel, ColorBin> = HashMap::new();
        for pixel in pixels {
            bins.entry(coarse(pixel, BITS)).or_default().add(pixel);
        }
        let mut all: Vec<(Pixel, ColorBin)> = bins.into_iter().collect();
        all.sort_unstable_by_key(|(key, _)| *key);
        let mut boxes = vec![all];
        while boxes.len() < COLOURS {
            let widest = boxes.iter().enumerate().max_by_key(|(_, of)| weight(of));
            let Some((at, _)) = widest.filter(|(_, of)| of.len() > 1) else { break };
            let halves = cut(boxes.swap_remove(at));
            boxes.extend(halves);
        }
        let mut palette = SixelPalette { colours: Vec::new(), registers: HashMap::new(), bits: BITS };
        for (of, n) in boxes.iter().zip(0..=u8::MAX) {
            let mut sum = ColorBin::default();
            for (key, bin) in of {
                palette.registers.insert(*key, n);
                sum.join(bin);
            }
            palette.colours.push(sum.mean());
        }
        palette
    }

    fn register(&self, pixel: Pixel) -> u8 {
        self.registers.get(&coarse(pixel, self.bits)).copied().unwrap_or_default()
    }
}

/// Pixels of nearly the same colour.
#[derive(Clone, Copy, Default)]
struct ColorBin {
    count: u64,
    sums: [u64; 3],
}

impl ColorBin {
    fn add(&mut self, pixel: Pixel) {
        self.join(&ColorBin { count: 1, sums: pixel.map(u64::from) });
    }

    fn join(&mut self, other: &ColorBin) {
        self.count += other.count;
        self.sums.iter_mut().zip(other.sums).for_each(|(sum, more)| *sum += more);
    }

    fn mean(&self) -> Pixel {
        self.sums.map(|sum| u8::try_from(sum / self.count.max(1)).unwrap_or(u8::MAX))
    }
}

fn coarse(pixel: Pixel, bits: u32) -> Pixel {
    pixel.map(|part| part.checked_shr(8 - bits).unwrap_or(part))
}

/// How far a part reaches in a box: which of the three, and from where to where.
fn reach(of: &[(Pixel, ColorBin)]) -> (usize, u8) {
    let part = |n: usize| {
        let parts = of.iter().filter_map(|(key, _)| key.get(n).copied());
        let (low, high) = parts.fold((u8::MAX, 0), |(low, high), v| (low.min(v), high.max(v)));
        high.saturating_sub(low)
    };
    (0..3).map(|n| (n, part(n))).max_by_key(|(_, wide)| *wide).unwrap_or_default()
}

/// What a box spoils: many pixels, far apart.
fn weight(of: &[(Pixel, ColorBin)]) -> u64 {
    let count: u64 = of.iter().map(|(_, bin)| bin.count).sum();
    count * u64::from(reach(of).1).pow(2)
}

/// In two along its widest part, with about as many pixels on both sides.
fn cut(mut of: Vec<(Pixel, ColorBin)>) -> [Vec<(Pixel, ColorBin)>; 2] {
    let (part, _) = reach(&of);
    of.sort_unstable_by_key(|(key, _)| (key.get(part).copied(), *key));
    let all: u64 = of.iter().map(|(_, bin)| bin.count).sum();
    let mut passed = 0;
    let middle = of.iter().position(|(_, bin)| {
        passed += bin.count;
        passed * 2 >= all
    });
    let at = middle.map_or(1, |at| at + 1).clamp(1, of.len().saturating_sub(1).max(1));
    let high = of.split_off(at.min(of.len()));
    [of, high]
}
