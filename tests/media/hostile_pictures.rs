//! The memory that a picture takes: the largest picture of each kind that is decoded at all, in the real binary.
//!
//! The files are made by hand and hold one colour, so that a small file becomes as many pixels as the limit lets through.

use crate::support::binary::Place;
use crate::support::is_full;
use crate::support::program::placet;
use placet::media::{admit, sniff};
use std::process::{Command, Stdio};
use std::time::Duration;

/// What the guide states.
const STATED: u64 = 400 << 20;

/// A larger file is not read as a picture.
const LARGEST_FILE: usize = 256 << 20;

/// A file whose header states so many rows, and which has data for so many.
type Build = fn(u32, u32) -> Vec<u8>;

/// Those that are quick in a debug build.
const ALL: &[(&str, Build)] = &[
    ("lossless.webp", webp),
    ("baseline.jpg", |rows, data| jpeg(rows, data, Scan::All)),
    ("run-length.bmp", bmp),
];

/// Those that are slow in a debug build, many because they become PNG before they are sent.
const SLOW: &[(&str, Build)] = &[
    ("rgb.png", |rows, data| png(rows, data, 8, 2)),
    ("rows.gif", gif),
    ("parts.jpg", |rows, data| jpeg(rows, data, Scan::Single)),
    ("progressive.jpg", |rows, data| jpeg(rows, data, Scan::First)),
    ("sixteen.png", |rows, data| png(rows, data, 16, 6)),
    ("grey-alpha.png", |rows, data| png(rows, data, 8, 4)),
    ("rgb.tif", |rows, data| tiff(rows, data, 3, 8)),
    ("rgba.tif", |rows, data| tiff(rows, data, 4, 8)),
    ("float.tif", |rows, data| tiff(rows, data, 4, 32)),
    ("png.ico", icon),
    ("light.hdr", hdr),
    ("light.exr", |rows, data| exr(rows, data, &["B", "G", "R"])),
    ("light-alpha.exr", |rows, data| exr(rows, data, &["A", "B", "G", "R"])),
    ("rgb.qoi", |rows, data| qoi(rows, data, 3)),
    ("rgba.qoi", |rows, data| qoi(rows, data, 4)),
    ("rgba.tga", tga),
    ("bits.pbm", pbm),
    ("grey-alpha.pam", pam),
    ("blocks.dds", dds),
    ("wide.ff", farbfeld),
];

/// These have too many bytes to be sent, and are scaled down. They take minutes: measured with `PLACET_FULL=1`, the rule
/// itself by [`scaling_down_takes_little_more_memory_than_the_pixels`].
const SCALED: &[(&str, Build)] = &[
    ("noise.png", noisy_png),
    ("noise.jpg", noisy_jpeg),
    ("noise.bmp", noisy_bmp),
    ("noise.tga", noisy_tga),
    ("noise.ppm", noisy_ppm),
];

const WIDE: u32 = 12_700;

#[test]
fn the_largest_pictures_are_decoded_within_the_memory_that_the_guide_states() {
    let place = Place::new();
    let usual = peak(&place, "small.bmp", &bmp(1, 1));
    let slow = std::env::var_os("PLACET_BINARY").map_or(&[][..], |_| SLOW);
    println!("a picture of one row: {} MB in all", usual >> 20);
    let mut wrong = Vec::new();
    let scaled = if is_full() { SCALED } else { &[] };
    for (name, build) in ALL.iter().chain(slow).chain(scaled) {
        let admitted = |rows: u32| {
            let bytes = build(rows, 0);
            admit(sniff(&bytes[..bytes.len().min(64)], name).expect(name), &bytes).is_ok()
        };
        let (mut most, mut over) = (1, 65_536);
        assert!(admitted(most), "{name}");
        while over - most > 64 {
            let rows = (most + over) / 2;
            if admitted(rows) { most = rows } else { over = rows }
        }
        let mut bytes = build(most, most);
        let kind = sniff(&bytes[..bytes.len().min(64)], name).unwrap();
        // The size of the file counts, too. Most kinds have as many bytes in each row, and to build hundreds of megabytes
        // again for each twentieth would take half a minute.
        if bytes.len() > LARGEST_FILE {
            most = (u64::from(most) * LARGEST_FILE as u64 / bytes.len() as u64) as u32;
            bytes = build(most, most);
        }
        while bytes.len() > LARGEST_FILE || admit(kind, &bytes).is_err() {
            most -= most / 20;
            bytes = build(most, most);
        }
        let (file, took) = (bytes.len() as u64, peak(&place, name, &bytes));
        let decoding = took.saturating_sub(usual + file);
        let [decoding_mb, file_mb, took_mb] = [decoding, file, took].map(|bytes| bytes >> 20);
        println!("{name}: {WIDE}x{most}, {decoding_mb} MB, a file of {file_mb} MB, {took_mb} MB in all");
        if decoding > STATED {
            wrong.push(format!("{name}: {WIDE}x{most} took {} MB", decoding >> 20));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A picture of noise has too many bytes to be sent, and is scaled down.
#[test]
fn scaling_down_takes_little_more_memory_than_the_pixels() {
    if !is_full() {
        return;
    }
    let place = Place::new();
    let usual = peak(&place, "small.bmp", &bmp(1, 1));
    let (width, height) = (3000_u32, 2400_u32);
    let pixels = u64::from(width) * u64::from(height) * 3;
    let image = image::RgbImage::from_raw(width, height, noise(pixels as usize)).unwrap();
    for (name, format) in [("noise.bmp", image::ImageFormat::Bmp), ("noise.jpg", image::ImageFormat::Jpeg)] {
        let mut bytes = std::io::Cursor::new(Vec::new());
        image.write_to(&mut bytes, format).unwrap();
        let bytes = bytes.into_inner();
        assert!(bytes.len() > 4_000_000, "{name}: {}", bytes.len());
        // The decoder of JPEG copies the file.
        let files = bytes.len() as u64 * if name.ends_with("jpg") { 2 } else { 1 };
        let scaling = peak(&place, name, &bytes).saturating_sub(usual + files);
        assert!(
            scaling < pixels + (16 << 20),
            "{name}: {} MB for {} MB of pixels",
            scaling >> 20,
            pixels >> 20
        );
    }
}

/// The most memory that a process had that read this picture.
fn peak(place: &Place, name: &str, bytes: &[u8]) -> u64 {
    let path = place.write(name, bytes);
    let mut command = Command::new(placet());
    command.args(["tool", "call", "read_file", &format!("{{\"path\":{name:?}}}")]);
    command.current_dir(&place.tree).env_clear().env("HOME", place.beside("home"));
    command.env("PATH", std::env::var_os("PATH").unwrap());
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut most = 0;
    let status = loop {
        let now = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = now.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        most = most.max(kilobytes.unwrap_or(0) << 10);
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let mut said = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
    assert!(status.success(), "{name}: {said}");
    std::fs::remove_file(path).unwrap();
    most
}

/// Bytes that no compression of a picture makes fewer.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let next = |_: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    let block: Vec<u8> = (0..1_000_003).map(next).collect();
    let mut noise = block.repeat(length.div_ceil(block.len()));
    noise.truncate(length);
    noise
}

fn noisy(rows: u32) -> Vec<u8> {
    noise(WIDE as usize * rows as usize * 3)
}

fn noisy_png(rows: u32, data_rows: u32) -> Vec<u8> {
    let row = 1 + WIDE as usize * 3;
    let mut data = noise(row * data_rows as usize);
    data.iter_mut().step_by(row).for_each(|filter| *filter = 0);
    png_of(rows, 8, 2, &miniz_oxide::deflate::compress_to_vec_zlib(&data, 0))
}

fn noisy_jpeg(rows: u32, data_rows: u32) -> Vec<u8> {
    if data_rows == 0 {
        return jpeg(rows, 0, Scan::All);
    }
    let mut out = Vec::new();
    let encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut out, 40);
    let image = image::RgbImage::from_raw(WIDE, data_rows, noisy(data_rows)).unwrap();
    image.write_with_encoder(encoder).unwrap();
    out
}

fn noisy_bmp(rows: u32, data_rows: u32) -> Vec<u8> {
    let header =
        [&b"BM"[..], &le(0), &le(0), &le(54), &le(40), &le(WIDE), &le(rows), &[1, 0, 24, 0], &[0; 24]];
    [header.concat(), noisy(data_rows)].concat()
}

fn noisy_tga(rows: u32, data_rows: u32) -> Vec<u8> {
    let header = [&[0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &le_pair(WIDE, rows), &[24, 0x20]].concat();
    [header, noisy(data_rows)].concat()
}

fn noisy_ppm(rows: u32, data_rows: u32) -> Vec<u8> {
    [format!("P6\n{WIDE} {rows}\n255\n").into_bytes(), noisy(data_rows)].concat()
}

fn be(number: u32) -> [u8; 4] {
    number.to_be_bytes()
}

fn le(number: u32) -> [u8; 4] {
    number.to_le_bytes()
}

fn le_pair(width: u32, height: u32) -> Vec<u8> {
    let both = [width, height].map(|n| u16::try_from(n).unwrap().to_le_bytes());
    both.concat()
}

fn png(rows: u32, data_rows: u32, depth: u8, colour: u8) -> Vec<u8> {
    let samples = match colour {
        2 => 3,
        4 => 2,
        _ => 4,
    };
    let row = 1 + WIDE as usize * samples * usize::from(depth / 8);
    png_of(
        rows,
        depth,
        colour,
        &miniz_oxide::deflate::compress_to_vec_zlib(&vec![0; row * data_rows as usize], 1),
    )
}

fn png_of(rows: u32, depth: u8, colour: u8, data: &[u8]) -> Vec<u8> {
    let chunk = |name: &[u8; 4], data: &[u8]| {
        let named = [&name[..], data].concat();
        [&be(u32::try_from(data.len()).unwrap())[..], &named, &be(crc(&named))].concat()
    };
    let header = [&be(WIDE)[..], &be(rows), &[depth, colour, 0, 0, 0]].concat();
    [b"\x89PNG\r\n\x1a\n".to_vec(), chunk(b"IHDR", &header), chunk(b"IDAT", data), chunk(b"IEND", b"")]
        .concat()
}

fn crc(bytes: &[u8]) -> u32 {
    let table: Vec<u32> = (0..256_u32)
        .map(|n| (0..8).fold(n, |c, _| if c & 1 == 1 { 0xEDB8_8320 ^ (c >> 1) } else { c >> 1 }))
        .collect();
    !bytes.iter().fold(!0_u32, |c, byte| table[usize::from(c as u8 ^ byte)] ^ (c >> 8))
}

/// An icon with a PNG of any size in it.
fn icon(rows: u32, data_rows: u32) -> Vec<u8> {
    let png = png(rows, data_rows, 8, 6);
    let length = u32::try_from(png.len()).unwrap();
    [&[0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 32, 0][..], &le(length), &le(22), &png].concat()
}

/// Codes of one length: the table is cleared before it would need longer ones.
fn gif(rows: u32, data_rows: u32) -> Vec<u8> {
    let pixels = WIDE as usize * data_rows as usize;
    let mut codes = [&[0x80_u8][..], &[0; 120]].concat().repeat(pixels.div_ceil(120));
    codes.truncate(pixels + pixels.div_ceil(120));
    codes.push(0x81);
    let mut out =
        [&b"GIF89a"[..], &le_pair(WIDE, rows), &[0xF6, 0, 0], &[0; 128 * 3], &[0x2C, 0, 0, 0, 0]].concat();
    out.extend(le_pair(WIDE, rows));
    out.extend([0, 7]);
    for block in codes.chunks(255) {
        out.push(u8::try_from(block.len()).unwrap());
        out.extend_from_slice(block);
    }
    out.extend([0, 0x3B]);
    out
}

/// Prefix codes of one symbol take no bits, so all of the picture is its header.
fn webp(rows: u32, _: u32) -> Vec<u8> {
    let rows = rows.min(16_383);
    let mut bits: Vec<bool> = Vec::new();
    let mut put =
        |value: u32, count: u32| bits.extend((0..count).map(|bit| u64::from(value) >> bit & 1 == 1));
    put(0x2F, 8);
    put(WIDE - 1, 14);
    put(rows - 1, 14);
    put(0, 1 + 3 + 1 + 1 + 1);
    // One symbol of one bit, 0, for each of the five codes.
    (0..5).for_each(|_| put(0b0001, 4));
    put(0, 60);
    let data: Vec<u8> =
        bits.chunks(8).map(|byte| byte.iter().rev().fold(0, |n, bit| n << 1 | u8::from(*bit))).collect();
    let data = &data[..data.len() & !1];
    let length = u32::try_from(data.len()).unwrap();
    [b"RIFF", &le(length + 12)[..], b"WEBPVP8L", &le(length), data].concat()
}

/// What the one scan of a JPEG holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scan {
    All,
    /// One of three components.
    Single,
    /// The first coefficient of each block: the picture is progressive.
    First,
}

/// The tables of the encoder, and a scan in which each block is a difference of 0 and an end of block.
fn jpeg(rows: u32, data_rows: u32, how: Scan) -> Vec<u8> {
    let mut small = Vec::new();
    let encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut small, 90);
    image::RgbImage::new(8, 8).write_with_encoder(encoder).unwrap();
    let frame = small.windows(2).position(|w| w == [0xFF, 0xC0]).unwrap();
    small[frame + 5..frame + 7].copy_from_slice(&u16::try_from(rows).unwrap().to_be_bytes());
    small[frame + 7..frame + 9].copy_from_slice(&u16::try_from(WIDE).unwrap().to_be_bytes());
    let scan = small.windows(2).position(|w| w == [0xFF, 0xDA]).unwrap();
    small.truncate(scan);
    let last = if how == Scan::First { 0 } else { 63 };
    if how == Scan::Single {
        small.extend([0xFF, 0xDA, 0, 8, 1, 1, 0, 0, last, 0]);
    } else {
        small.extend([0xFF, 0xDA, 0, 12, 3, 1, 0x00, 2, 0x11, 3, 0x11, 0, last, 0]);
    }
    let units = WIDE.div_ceil(8) as usize * data_rows.div_ceil(8) as usize;
    let bytes = if how == Scan::First {
        small[frame + 1] = 0xC2;
        vec![0; (units * 6).div_ceil(8)]
    } else {
        let unit = "00101000000000".repeat(4);
        let four: Vec<u8> = (0..7).map(|n| u8::from_str_radix(&unit[n * 8..n * 8 + 8], 2).unwrap()).collect();
        four.repeat(units.div_ceil(4))
    };
    [small, bytes, vec![0xFF, 0xD9]].concat()
}

fn bmp(rows: u32, data_rows: u32) -> Vec<u8> {
    let mut row: Vec<u8> = [255_u8, 0].repeat(WIDE as usize / 255);
    row.extend([u8::try_from(WIDE % 255).unwrap(), 0, 0, 0]);
    let mut data = row.repeat(data_rows as usize);
    data.extend([0, 1]);
    let size = u32::try_from(data.len()).unwrap();
    let header = [
        &b"BM"[..],
        &le(size + 1078),
        &le(0),
        &le(1078),
        &le(40),
        &le(WIDE),
        &le(rows),
        &[1, 0, 8, 0],
        &le(1),
        &le(size),
        &le(0),
        &le(0),
        &le(256),
        &le(0),
        &[0; 1024],
    ];
    [header.concat(), data].concat()
}

fn tiff(rows: u32, data_rows: u32, samples: u32, bits: u8) -> Vec<u8> {
    let bytes = WIDE as usize * data_rows as usize * samples as usize * usize::from(bits / 8);
    // Runs of 128.
    let data = [0x81_u8, 0].repeat(bytes.div_ceil(128));
    let float = bits == 32;
    let count = 10 + u32::from(samples == 4) + u32::from(float);
    let depths = 8 + 2 + count * 12 + 4;
    let formats = depths + 8;
    let start = formats + 8;
    let short = |tag: u16, value: u32| (tag, 3_u16, 1_u32, value);
    let mut fields = vec![
        short(256, WIDE),
        (257, 4, 1, rows),
        (258, 3, samples, depths),
        short(259, 32_773),
        short(262, 2),
        (273, 4, 1, start),
        short(277, samples),
        (278, 4, 1, rows),
        (279, 4, 1, u32::try_from(data.len()).unwrap()),
        short(284, 1),
    ];
    if samples == 4 {
        fields.push(short(338, 2));
    }
    if float {
        fields.push((339, 3, samples, formats));
    }
    let mut out = [&b"II*\0"[..], &le(8), &u16::try_from(count).unwrap().to_le_bytes()].concat();
    for (tag, kind, count, value) in fields {
        out.extend([&tag.to_le_bytes()[..], &kind.to_le_bytes(), &le(count), &le(value)].concat());
    }
    out.extend([&le(0)[..], &[bits, 0].repeat(4), &[3, 0].repeat(4), &data].concat());
    out
}

fn hdr(rows: u32, data_rows: u32) -> Vec<u8> {
    let mut row = vec![2, 2, u8::try_from(WIDE >> 8).unwrap(), (WIDE & 255) as u8];
    row.extend([255_u8, 0].repeat(4 * WIDE as usize / 127));
    let header = format!("#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y {rows} +X {WIDE}\n");
    [header.into_bytes(), row.repeat(data_rows as usize)].concat()
}

fn exr(rows: u32, data_rows: u32, channels: &[&str]) -> Vec<u8> {
    let mut out = vec![0x76, 0x2F, 0x31, 0x01, 2, 0, 0, 0];
    let mut attribute = |name: &str, kind: &str, value: &[u8]| {
        let length = u32::try_from(value.len()).unwrap();
        out.extend([name.as_bytes(), &[0], kind.as_bytes(), &[0], &le(length), value].concat());
    };
    // Half floats, not subsampled.
    let channel = |name: &&str| [name.as_bytes(), &[0], &le(1), &[0; 4], &le(1), &le(1)].concat();
    let list: Vec<u8> = channels.iter().flat_map(channel).chain([0]).collect();
    let window = [le(0), le(0), le(WIDE - 1), le(rows - 1)].concat();
    attribute("channels", "chlist", &list);
    attribute("compression", "compression", &[0]);
    attribute("dataWindow", "box2i", &window);
    attribute("displayWindow", "box2i", &window);
    attribute("lineOrder", "lineOrder", &[0]);
    attribute("pixelAspectRatio", "float", &1.0_f32.to_le_bytes());
    attribute("screenWindowCenter", "v2f", &[0; 8]);
    attribute("screenWindowWidth", "float", &1.0_f32.to_le_bytes());
    out.push(0);
    let length = WIDE as usize * channels.len() * 2;
    let first = out.len() + rows as usize * 8;
    (0..rows as usize).for_each(|row| out.extend(((first + row * (length + 8)) as u64).to_le_bytes()));
    for row in 0..data_rows {
        out.extend([le(row), le(u32::try_from(length).unwrap())].concat());
        out.resize(out.len() + length, 0);
    }
    out
}

fn qoi(rows: u32, data_rows: u32, channels: u8) -> Vec<u8> {
    let pixels = WIDE as usize * data_rows as usize;
    let runs = vec![0xC0 | 61; pixels / 62];
    let rest = (pixels % 62).checked_sub(1).map(|rest| 0xC0 | u8::try_from(rest).unwrap());
    let header = [&b"qoif"[..], &be(WIDE), &be(rows), &[channels, 0]].concat();
    [header, runs, rest.into_iter().collect(), vec![0, 0, 0, 0, 0, 0, 0, 1]].concat()
}

fn tga(rows: u32, data_rows: u32) -> Vec<u8> {
    let pixels = WIDE as usize * data_rows as usize;
    let header = [&[0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &le_pair(WIDE, rows), &[32, 8]].concat();
    let mut data = [0xFF_u8, 9, 9, 9, 255].repeat(pixels / 128);
    if let Some(rest) = (pixels % 128).checked_sub(1) {
        data.extend([0x80 | u8::try_from(rest).unwrap(), 9, 9, 9, 255]);
    }
    [header, data].concat()
}

fn raw(header: String, bytes: usize) -> Vec<u8> {
    let mut out = header.into_bytes();
    out.resize(out.len() + bytes, 0xFF);
    out
}

fn pbm(rows: u32, data_rows: u32) -> Vec<u8> {
    raw(format!("P4\n{WIDE} {rows}\n"), WIDE.div_ceil(8) as usize * data_rows as usize)
}

fn pam(rows: u32, data_rows: u32) -> Vec<u8> {
    let head = "DEPTH 2\nMAXVAL 255\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\n";
    raw(format!("P7\nWIDTH {WIDE}\nHEIGHT {rows}\n{head}"), WIDE as usize * data_rows as usize * 2)
}

fn dds(rows: u32, data_rows: u32) -> Vec<u8> {
    // Whole blocks only.
    let rows = rows.next_multiple_of(4);
    let blocks = WIDE.div_ceil(4) as usize * data_rows.div_ceil(4) as usize;
    let mut out = [&b"DDS "[..], &le(124), &le(0x81007), &le(rows), &le(WIDE)].concat();
    out.resize(76, 0);
    out.extend([&le(32)[..], &le(4), b"DXT5"].concat());
    out.resize(128, 0);
    out.resize(128 + blocks * 16, 0);
    out
}

fn farbfeld(rows: u32, data_rows: u32) -> Vec<u8> {
    let header = [&b"farbfeld"[..], &be(WIDE), &be(rows)].concat();
    [header, vec![0xFF; WIDE as usize * data_rows as usize * 8]].concat()
}
