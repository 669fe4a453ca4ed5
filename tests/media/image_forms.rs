//! Forms of pictures: what the guide's table says of each, and how the less usual ones look.
//!
//! The values that are expected are those of libtiff (`tiff2rgba`) and ImageMagick for the same files; where the two
//! differ, libtiff's.

use crate::support::guide_page::table;
use crate::support::tool_bench::Bench;
use image::{DynamicImage, ImageFormat, Rgb, RgbImage, Rgba, RgbaImage};
use placet::conversation::{Image, Part};
use placet::media::{self, OversizePolicy, PictureFormat, sniff, thumb};
use placet::tools::ToolLimits;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Cursor;

/// A TIFF with little-endian fields of 32 bits and one strip; a field without values is left out.
fn tiff((width, height): (u32, u32), fields: &[(u16, &[u32])], data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).unwrap();
    let usual = [
        (256, width),
        (257, height),
        (258, 8),
        (259, 1),
        (262, 1),
        (273, 8),
        (277, 1),
        (278, height),
        (279, length),
    ];
    let mut all: BTreeMap<u16, Vec<u32>> = usual.into_iter().map(|(tag, value)| (tag, vec![value])).collect();
    all.extend(fields.iter().map(|(tag, values)| (*tag, values.to_vec())));
    all.retain(|_, values| !values.is_empty());
    let mut out = [&b"II*\0\0\0\0\0"[..], data].concat();
    out.resize(out.len().next_multiple_of(4), 0);
    let mut entries = Vec::new();
    for (tag, values) in &all {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let place = u32::try_from(out.len()).unwrap();
        let count = u32::try_from(values.len()).unwrap();
        let value = if values.len() == 1 { values[0] } else { place };
        // The decoder insists on 16 bits for this one.
        let kind: u16 = if *tag == 338 { 3 } else { 4 };
        entries.extend([&tag.to_le_bytes()[..], &kind.to_le_bytes()].concat());
        entries.extend([count.to_le_bytes(), value.to_le_bytes()].concat());
        if values.len() > 1 {
            out.extend(bytes);
        }
    }
    let directory = u32::try_from(out.len()).unwrap();
    out[4..8].copy_from_slice(&directory.to_le_bytes());
    out.extend(u16::try_from(all.len()).unwrap().to_le_bytes());
    out.extend([&entries[..], &[0; 4]].concat());
    out
}

const RGB: &[(u16, &[u32])] = &[(258, &[8, 8, 8]), (262, &[2]), (277, &[3])];

fn rgb_with(fields: &[(u16, &[u32])], data: &[u8]) -> Vec<u8> {
    tiff((2, 1), &[RGB, fields].concat(), data)
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn small() -> DynamicImage {
    RgbImage::from_fn(8, 8, |x, y| Rgb([x as u8 * 30, y as u8 * 30, 90])).into()
}

fn encoded(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Vec::new();
    image.write_to(&mut Cursor::new(&mut bytes), format).unwrap();
    bytes
}

/// A JPEG with another process or depth in its header.
fn jpeg(marker: u8, precision: u8) -> Vec<u8> {
    let mut bytes = encoded(&small(), ImageFormat::Jpeg);
    let at = bytes.windows(2).position(|w| w == [0xFF, 0xC0]).unwrap();
    (bytes[at + 1], bytes[at + 4]) = (marker, precision);
    bytes
}

fn bmp(compression: u8) -> Vec<u8> {
    let mut bytes = encoded(&small(), ImageFormat::Bmp);
    bytes[30] = compression;
    bytes
}

fn dds(code: &[u8; 4], format: u8) -> Vec<u8> {
    let mut bytes = vec![0; 128 + 64];
    bytes[..8].copy_from_slice(b"DDS \x7C\0\0\0");
    bytes[8..12].copy_from_slice(&[7, 0x10, 8, 0]);
    (bytes[12], bytes[16], bytes[76], bytes[80], bytes[128]) = (4, 4, 32, 4, format);
    // A plane, one of them.
    (bytes[132], bytes[140]) = (3, 1);
    bytes[84..88].copy_from_slice(code);
    if code == b"\0\0\0\0" {
        bytes[80] = 0x40;
    }
    bytes
}

/// The file of a plain OpenEXR with some bytes replaced by as many others.
fn exr(from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut bytes = encoded(&small().to_rgb32f().into(), ImageFormat::OpenExr);
    let at = bytes.windows(from.len()).position(|w| w == from).unwrap();
    bytes[at..at + to.len()].copy_from_slice(to);
    bytes
}

fn ico(entries: &[(u8, u16, Vec<u8>)]) -> Vec<u8> {
    let mut out = vec![0, 0, 1, 0, u8::try_from(entries.len()).unwrap(), 0];
    let mut at = 6 + 16 * entries.len();
    for (side, bits, data) in entries {
        out.extend([*side, *side, 0, 0, 1, 0]);
        out.extend(bits.to_le_bytes());
        out.extend(u32::try_from(data.len()).unwrap().to_le_bytes());
        out.extend(u32::try_from(at).unwrap().to_le_bytes());
        at += data.len();
    }
    entries.iter().for_each(|(_, _, data)| out.extend(data));
    out
}

/// A bitmap of an icon in one colour, whose mask hides the left column.
fn bitmap(side: u8, colour: [u8; 4]) -> Vec<u8> {
    let wide = u32::from(side);
    let mut out =
        [&[40, 0, 0, 0][..], &wide.to_le_bytes(), &(wide * 2).to_le_bytes(), &[1, 0, 32, 0]].concat();
    out.resize(40, 0);
    let [r, g, b, a] = colour;
    out.extend([b, g, r, a].repeat((wide * wide) as usize));
    out.extend([0x80, 0, 0, 0].repeat(wide as usize));
    out
}

fn pixels(bytes: &[u8], name: &str) -> RgbaImage {
    let kind = sniff(bytes, name).unwrap();
    let loaded = media::load(kind, name, bytes.to_vec(), usize::MAX, OversizePolicy::Refuse);
    let image = loaded.unwrap_or_else(|e| panic!("{name}: {e}")).image;
    image::load_from_memory_with_format(&image.bytes, ImageFormat::Png).unwrap().to_rgba8()
}

fn row(bytes: &[u8]) -> Vec<[u8; 4]> {
    pixels(bytes, "a.tif").pixels().map(|pixel| pixel.0).collect()
}

/// The files of one row of the guide's table.
fn files(format: &str, form: &str) -> Vec<Vec<u8>> {
    let compressed = |number: u32| vec![tiff((2, 1), &[(259, &[number])], &[1, 2])];
    let depth = |bits: u32, kind: u32| vec![tiff((2, 1), &[(258, &[bits]), (339, &[kind])], &[0; 16])];
    let all = |format: ImageFormat| vec![encoded(&small(), format)];
    match (format, form) {
        ("PNG", "") => all(ImageFormat::Png),
        ("PNG", "of Apple's form (CgBI)") => {
            let png = encoded(&small(), ImageFormat::Png);
            vec![[&png[..8], b"\0\0\0\x04CgBI\0\0\0\0\0\0\0\0", &png[8..]].concat()]
        }
        ("JPEG", "") => all(ImageFormat::Jpeg),
        ("JPEG", "with arithmetic coding") => vec![jpeg(0xC9, 8), jpeg(0xCA, 8)],
        ("JPEG", "without loss (lossless process)") => vec![jpeg(0xC3, 8)],
        ("JPEG", "with 12 bits per sample") => vec![jpeg(0xC1, 12)],
        ("GIF", "") => all(ImageFormat::Gif),
        ("WebP", "") => all(ImageFormat::WebP),
        ("BMP", "") => all(ImageFormat::Bmp),
        ("BMP", "with JPEG compression") => vec![bmp(4)],
        ("BMP", "with PNG compression") => vec![bmp(5)],
        ("BMP", "with CMYK colours") => vec![bmp(11)],
        ("TIFF", "") => {
            let planar: &[(u16, &[u32])] = &[(284, &[2]), (273, &[8, 10, 12]), (279, &[2, 2, 2])];
            vec![
                tiff((2, 1), &[], &[1, 2]),
                tiff((2, 1), &[(258, &[4]), (262, &[0])], &[0x12]),
                tiff((2, 1), &[(258, &[16])], &[0, 1, 2, 3]),
                tiff((2, 1), &[(258, &[32]), (339, &[3])], &floats(&[0.0, 1.0])),
                tiff((2, 1), &[(262, &[3]), (320, &[0; 768])], &[1, 2]),
                tiff((2, 1), &[(262, &[5]), (277, &[4]), (258, &[8; 4])], &[0; 8]),
                rgb_with(&[], &[0; 6]),
                rgb_with(planar, &[0; 6]),
                rgb_with(&[(277, &[4]), (258, &[8; 4]), (338, &[1])], &[0; 8]),
            ]
        }
        ("TIFF", "with CCITT Group 3 compression") => compressed(3),
        ("TIFF", "with CCITT RLE compression") => compressed(2),
        ("TIFF", "with old-style JPEG compression") => compressed(6),
        ("TIFF", "with old-style LZW compression") => vec![tiff((2, 1), &[(259, &[5])], &[0, 1])],
        ("TIFF", "with JPEG 2000 compression") => compressed(34_712),
        ("TIFF", "with LZMA compression") => compressed(34_925),
        ("TIFF", "with Zstandard compression") => compressed(50_000),
        ("TIFF", "with WebP compression") => compressed(50_001),
        ("TIFF", "with LogLuv compression") => compressed(34_676),
        ("TIFF", "with 12 bits per sample") => depth(12, 1),
        ("TIFF", "with signed samples of 16 bits") => depth(16, 2),
        ("TIFF", "with floating-point samples of 24 bits") => depth(24, 3),
        ("TIFF", "with complex numbers as samples") => depth(64, 6),
        ("TIFF", "with channels of different depth") => vec![rgb_with(&[(258, &[5, 6, 5])], &[0; 6])],
        ("TIFF", "with the bits of each byte in reverse order (FillOrder 2)") => {
            vec![tiff((2, 1), &[(266, &[2])], &[1, 2])]
        }
        ("TIFF", "with CIE L*a*b* colours") => vec![rgb_with(&[(262, &[8])], &[0; 6])],
        ("TIFF", "with subsampled YCbCr colours") => vec![rgb_with(&[(262, &[6])], &[0; 6])],
        ("TIFF", "with the raw data of a sensor (CFA)") => vec![tiff((2, 1), &[(262, &[32_803])], &[1, 2])],
        ("TIFF", "without a photometric interpretation") => vec![tiff((2, 1), &[(262, &[])], &[1, 2])],
        ("ICO", "") => vec![
            ico(&[(8, 32, encoded(&small(), ImageFormat::Png))]),
            ico(&[(2, 32, bitmap(2, [1, 2, 3, 4]))]),
        ],
        ("Radiance HDR", "") => vec![encoded(&small().to_rgb32f().into(), ImageFormat::Hdr)],
        ("Radiance HDR", "with XYZ colours") => {
            vec![b"#?RADIANCE\nFORMAT=32-bit_rle_xyze\n\n-Y 1 +X 1\n\x01\x02\x03\x04".to_vec()]
        }
        ("OpenEXR", "") => vec![encoded(&small().to_rgb32f().into(), ImageFormat::OpenExr)],
        ("OpenEXR", "with deep data") => {
            let mut bytes = encoded(&small().to_rgb32f().into(), ImageFormat::OpenExr);
            // A flag of the version field.
            bytes[5] |= 8;
            vec![bytes]
        }
        ("OpenEXR", "without the channels R, G and B") => {
            vec![exr(b"chlist\0\x37\0\0\0B\0", b"chlist\0\x37\0\0\0Y\0")]
        }
        ("TGA", "") => all(ImageFormat::Tga),
        ("PNM", "") => all(ImageFormat::Pnm),
        ("PNM", "with a tuple type of its own (PAM)") => {
            vec![b"P7\nWIDTH 1\nHEIGHT 1\nDEPTH 1\nMAXVAL 255\nTUPLTYPE DEPTHMAP\nENDHDR\n\x01".to_vec()]
        }
        ("QOI", "") => all(ImageFormat::Qoi),
        ("DDS", "") => vec![dds(b"DXT1", 0), dds(b"DX10", 71)],
        ("DDS", "without block compression") => vec![dds(b"\0\0\0\0", 0)],
        ("DDS", "with BC7 compression") => vec![dds(b"DX10", 98)],
        ("DDS", "with ATI2 compression") => vec![dds(b"ATI2", 0)],
        ("farbfeld", "") => {
            vec![encoded(&DynamicImage::ImageRgba16(small().to_rgba16()), ImageFormat::Farbfeld)]
        }
        ("JPEG XL", "") => vec![b"\xFF\x0A\xFA\x1F".to_vec()],
        ("HEIC", "") => vec![b"\0\0\0\x18ftypheic\0\0\0\0mif1heic".to_vec()],
        ("AVIF", "") => vec![b"\0\0\0\x18ftypavif\0\0\0\0mif1avif".to_vec()],
        ("JPEG 2000", "") => {
            vec![b"\0\0\0\x0CjP  \r\n\x87\n\0".to_vec(), b"\xFF\x4F\xFF\x51\0\x2F".to_vec()]
        }
        ("ICNS", "") => vec![b"icns\0\0\0\x10ic07\0\0\0\x08".to_vec()],
        ("PCX", "") => vec![b"\x0A\x05\x01\x08\0\0\0\0\x01\0\x01\0".to_vec()],
        ("SGI", "") => vec![b"\x01\xDA\x01\x01\0\x03\0\x02\0\x02\0\x03".to_vec()],
        ("PFM", "") => vec![b"Pf\n1 1\n-1.0\n\0\0\0\0".to_vec()],
        ("Photoshop", "") => vec![b"8BPS\0\x01\0\0\0\0\0\0\0\x03".to_vec()],
        ("GIMP", "") => vec![b"gimp xcf v011\0\0\0\0\x01".to_vec()],
        other => panic!("no file for the row {other:?}"),
    }
}

#[test]
fn each_form_is_treated_as_its_row_says() {
    let rows = table(include_str!("picture-forms.md"), "| format | form |");
    assert!(rows.len() > 40, "{}", rows.len());
    let bench = Bench::new();
    for row in &rows {
        let [format, form, does] = &row[..] else { panic!("{row:?}") };
        let form = if form == "any other" { String::new() } else { form.replace('\\', "") };
        for bytes in files(format, &form) {
            let path = if format == "TGA" { "a.tga" } else { "a.bin" };
            bench.write(path, &bytes);
            let got = bench.call("read_file", json!({"path": path}));
            let image = got.0.for_model.iter().find_map(Part::as_image).cloned();
            let body = got.body();
            match (does.as_str(), image) {
                ("sent as it is", Some(image)) => assert_eq!(&image.bytes[..], &bytes[..], "{row:?}"),
                ("converted to PNG", Some(image)) => {
                    assert_eq!(image.media_type, "image/png", "{row:?}");
                    assert!(body.contains(&format!("converted from {format} to PNG")), "{row:?}: {body}");
                }
                (refused, None) => {
                    let command =
                        refused.strip_prefix("refused: ").unwrap_or_else(|| panic!("{row:?}: {body}"));
                    let what = match form.as_str() {
                        "" => format!("{format} pictures are not supported"),
                        form => format!("{format} {form} is not supported"),
                    };
                    assert!(body.contains(&format!(": {what}\n")), "{row:?}: {body}");
                    assert!(body.replace('`', "").contains(command), "{row:?}: {body}");
                    assert!(!body.contains("damaged"), "{row:?}: {body}");
                }
                (_, image) => panic!("{row:?}: {body} {}", image.is_some()),
            }
        }
    }
}

#[test]
fn damage_is_called_damage_and_not_a_form_that_is_lacking() {
    let bench = Bench::new();
    let whole = rgb_with(&[], &[9; 6]);
    let (short, packed) =
        (rgb_with(&[(279, &[6]), (273, &[900_000])], &[9; 6]), rgb_with(&[(259, &[8])], &[9; 6]));
    let icon = ico(&[(8, 32, encoded(&small(), ImageFormat::Png))]);
    // The fuzzer's: sizes whose product is more than any number here.
    let mut huge = ico(&[(2, 32, bitmap(2, [1, 2, 3, 4]))]);
    huge[26..34].fill(0xFF);
    for bytes in [&whole[..whole.len() - 30], &short, &packed, &icon[..60], &huge] {
        bench.write("a.bin", bytes);
        let error = bench.call("read_file", json!({"path": "a.bin"})).failed();
        assert!(error.contains("picture but cannot be decoded"), "{error}");
        assert!(error.contains("hint: the file is cut off or damaged"), "{error}");
    }
}

#[test]
fn alpha_that_colours_were_multiplied_with_is_taken_out_of_them() {
    let data = [64, 32, 0, 128, 10, 10, 10, 0];
    let fields: &[(u16, &[u32])] = &[(258, &[8; 4]), (277, &[4])];
    let with = |kind: u32| rgb_with(&[fields, &[(338, &[kind])]].concat(), &data);
    assert_eq!(row(&with(1)), [[128, 64, 0, 128], [10, 10, 10, 0]]);
    assert_eq!(row(&with(2)), [[64, 32, 0, 128], [10, 10, 10, 0]]);
    // In planes, each sample on its own.
    let places: &[(u16, &[u32])] = &[(284, &[2]), (273, &[8, 10, 12, 14]), (279, &[2; 4]), (338, &[1])];
    let planes = rgb_with(&[fields, places].concat(), &[64, 10, 32, 10, 0, 10, 128, 0]);
    assert_eq!(row(&planes), [[128, 64, 0, 128], [10, 10, 10, 0]]);
    let grey = tiff((1, 1), &[(277, &[2]), (258, &[8, 8]), (338, &[1])], &[50, 100]);
    assert_eq!(row(&grey), [[128, 128, 128, 100]]);
}

#[test]
fn numbers_in_floating_point_are_levels_from_nought_to_one() {
    let fields: &[(u16, &[u32])] = &[(258, &[32; 3]), (339, &[3; 3])];
    let data = floats(&[0.0, 0.5, 1.0, 2.0, -1.0, f32::NAN]);
    assert_eq!(row(&rgb_with(fields, &data)), [[0, 128, 255, 255], [255, 0, 0, 255]]);
    let grey = tiff((2, 1), &[(258, &[32]), (339, &[3])], &floats(&[0.25, 0.75]));
    assert_eq!(row(&grey), [[64, 64, 64, 255], [191, 191, 191, 255]]);
    let half = tiff((2, 1), &[(258, &[16]), (339, &[3])], &[0x00, 0x38, 0x00, 0x3C]);
    assert_eq!(row(&half), [[128, 128, 128, 255], [255; 4]]);
    let alpha: &[(u16, &[u32])] = &[(258, &[32; 4]), (339, &[3; 4]), (277, &[4]), (338, &[1])];
    let data = floats(&[0.25, 0.125, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(row(&rgb_with(alpha, &data)), [[128, 64, 0, 128], [0; 4]]);
}

#[test]
fn palettes_inks_and_small_depths_become_colours() {
    let mut map = [0; 12];
    (map[1], map[5], map[9]) = (65_535, 32_768, 0);
    let palette = tiff((2, 1), &[(258, &[2]), (262, &[3]), (320, &map)], &[0b0001_0000]);
    assert_eq!(row(&palette), [[0, 0, 0, 255], [255, 128, 0, 255]]);
    let inks = tiff((1, 1), &[(262, &[5]), (277, &[4]), (258, &[8; 4])], &[255, 0, 51, 51]);
    assert_eq!(row(&inks), [[0, 204, 163, 255]]);
    let white = tiff((2, 1), &[(258, &[4]), (262, &[0])], &[0x0F]);
    assert_eq!(row(&white), [[255; 4], [0, 0, 0, 255]]);
    let bits = tiff((3, 1), &[(258, &[3])], &[0b1110_0000, 0]);
    assert_eq!(row(&bits), [[255; 4], [0, 0, 0, 255], [0, 0, 0, 255]]);
    let wide = tiff((1, 1), &[(258, &[32])], &[255; 4]);
    assert_eq!(row(&wide), [[255; 4]]);
    let ycbcr = rgb_with(&[(262, &[6]), (530, &[1, 1])], &[76, 85, 255, 255, 128, 128]);
    assert_eq!(row(&ycbcr), [[254, 0, 0, 255], [255; 4]]);
}

#[test]
fn of_an_icon_the_largest_picture_is_shown_also_when_it_is_a_png_without_alpha() {
    let png = |side: u32, colour: [u8; 3]| {
        encoded(&RgbImage::from_pixel(side, side, Rgb(colour)).into(), ImageFormat::Png)
    };
    // The directory gives the small one more depth.
    let both = ico(&[(4, 32, bitmap(4, [1, 2, 3, 255])), (16, 0, png(16, [7, 8, 9]))]);
    assert_eq!(*pixels(&both, "a.ico").get_pixel(15, 15), Rgba([7, 8, 9, 255]));
    assert_eq!(pixels(&both, "a.ico").dimensions(), (16, 16));
    let loaded = media::load(PictureFormat::Ico, "a.ico", both, usize::MAX, OversizePolicy::Refuse).unwrap();
    assert_eq!(loaded.notes, ["converted from ICO to PNG", "the largest of 2 pictures"]);
    // Where there is alpha the mask means nothing; where all of it is zero only the mask does.
    let alpha = pixels(&ico(&[(2, 32, bitmap(2, [9, 9, 9, 100]))]), "a.ico");
    assert!(alpha.pixels().all(|pixel| pixel.0 == [9, 9, 9, 100]), "{alpha:?}");
    let masked = pixels(&ico(&[(2, 32, bitmap(2, [9, 9, 9, 0]))]), "a.ico");
    let alphas: Vec<u8> = masked.pixels().map(|pixel| pixel.0[3]).collect();
    assert_eq!(alphas, [0, 255, 0, 255]);
}

#[test]
fn of_several_pages_the_first_is_sent_and_the_others_are_counted() {
    let mut bytes = rgb_with(&[], &[9; 6]);
    let first = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
    let next = u32::try_from(bytes.len()).unwrap();
    let directory = bytes[first..].to_vec();
    let end = bytes.len() - 4;
    bytes[end..].copy_from_slice(&next.to_le_bytes());
    bytes.extend(directory);
    let loaded = |bytes: &[u8]| {
        media::load(PictureFormat::Tiff, "a", bytes.to_vec(), usize::MAX, OversizePolicy::Refuse).unwrap()
    };
    assert_eq!(loaded(&bytes).notes, ["converted from TIFF to PNG", "page 1 of 2"]);
    // A directory that names itself as the next is not the file's end.
    let end = bytes.len() - 4;
    bytes[end..].copy_from_slice(&next.to_le_bytes());
    assert_eq!(loaded(&bytes).notes, ["converted from TIFF to PNG", "page 1 of 2"]);
}

#[test]
fn scaled_down_is_said_only_of_a_picture_that_became_smaller() {
    let bench = Bench::with_limits(ToolLimits { image_bytes: 100_000, ..ToolLimits::default() });
    let plain = RgbImage::from_fn(300, 200, |x, _| Rgb([x as u8; 3]));
    let bytes = encoded(&plain.into(), ImageFormat::Bmp);
    bench.write("plain.bmp", &bytes);
    let got = bench.call("read_file", json!({"path": "plain.bmp"}));
    let image: Image = got.0.for_model.iter().find_map(Part::as_image).cloned().unwrap();
    let body = got.done();
    assert_eq!((image.width, image.height, image.media_type.as_str()), (300, 200, "image/png"));
    let want = format!("; encoded again from {} bytes to {} bytes", bytes.len(), image.bytes.len());
    assert!(body.contains(&want) && !body.contains("scaled"), "{body}");
}

#[test]
fn a_refused_picture_is_refused_in_the_same_words_wherever_it_comes_in() {
    let bench = Bench::new();
    let cut = encoded(&small(), ImageFormat::Png);
    for bytes in [rgb_with(&[(262, &[8])], &[0; 6]), cut[..60].to_vec(), b"\xFF\x0A\xFA\x1F".to_vec()] {
        bench.write("a.bin", &bytes);
        let kind = sniff(&bytes, "a.bin").unwrap();
        let words =
            media::load(kind, "a.bin", bytes.clone(), 9, OversizePolicy::ScaleDown).unwrap_err().to_string();
        let read = bench.call("read_file", json!({"path": "a.bin"})).failed();
        assert!(read.contains(&words), "{read}");
        let pad = json!({"action": "load", "name": "p", "path": "a.bin"});
        assert_eq!(bench.call("scratchpad", pad).failed(), read);
        // The viewer, the review and the panes with pictures.
        assert_eq!(media::check(kind, &bytes).unwrap_err().to_string(), words);
        assert_eq!(media::admit(kind, &bytes).map_or(words.clone(), |()| words.clone()), words);
        assert_eq!(thumb(kind, &bytes, 9, 9).unwrap_err().to_string(), words);
        let cells =
            placet::ui::picture::half_blocks(&bytes, "a.bin", (9, 9), placet::ui::ansi::ColorDepth::True);
        assert_eq!(cells.unwrap_err().to_string(), words);
    }
}

/// Story: the error said that a picture of 1x1 pixels had to be scaled down.
#[test]
fn what_is_large_in_a_small_picture_is_named() {
    let mut gif = encoded(&small(), ImageFormat::Gif);
    // The image descriptor: a comma, left, top, width, height (GIF89a, section 20).
    let at = gif.iter().position(|byte| *byte == b',').unwrap();
    gif[at + 5..at + 9].copy_from_slice(&[0xFF; 4]);
    let error = media::check(PictureFormat::Gif, &gif).unwrap_err().to_string();
    assert_eq!(error, "GIF with a frame that takes more than 400 MB is not supported");
}
