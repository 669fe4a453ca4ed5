//! Damaged pictures: what is wrong with them is described in plain words, and never in those of a decoder's types.

use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use placet::media::{check, sniff};
use std::io::Cursor;

fn picture(format: ImageFormat) -> Vec<u8> {
    let pixels = RgbImage::from_fn(40, 30, |x, y| Rgb([x as u8, y as u8, (x * y) as u8]));
    let pixels = DynamicImage::from(pixels);
    let pixels = match format {
        ImageFormat::Farbfeld => pixels.into_rgba16().into(),
        ImageFormat::Hdr | ImageFormat::OpenExr => pixels.into_rgb32f().into(),
        ImageFormat::Ico => pixels.into_rgba8().into(),
        _ => pixels,
    };
    let mut bytes = Vec::new();
    pixels.write_to(&mut Cursor::new(&mut bytes), format).unwrap();
    bytes
}

fn reason(name: &str, bytes: &[u8]) -> Option<String> {
    let kind = sniff(bytes, name)?;
    check(kind, bytes).err().map(|error| error.to_string())
}

fn chunk(name: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let named = [&name[..], data].concat();
    let sum = !named.iter().fold(!0_u32, |crc, byte| {
        (0..8).fold(
            crc ^ u32::from(*byte),
            |crc, _| if crc & 1 == 1 { 0xEDB8_8320 ^ (crc >> 1) } else { crc >> 1 },
        )
    });
    [&u32::try_from(data.len()).unwrap().to_be_bytes()[..], &named, &sum.to_be_bytes()].concat()
}

#[test]
fn what_is_wrong_with_a_png_is_named() {
    let whole = picture(ImageFormat::Png);
    let header = |fields: [u8; 5]| [&[0, 0, 0, 4, 0, 0, 0, 4][..], &fields].concat();
    let png = |chunks: &[Vec<u8>]| [&whole[..8], &chunks.concat()].concat();
    let (end, grey) = (chunk(b"IEND", b""), chunk(b"IHDR", &header([8, 0, 0, 0, 0])));
    let mut changed = whole.clone();
    let data = changed.windows(4).position(|name| name == b"IDAT").unwrap();
    changed[data + 10] ^= 1;
    for (bytes, want) in [
        (changed, "the checksum of its chunk IDAT is wrong"),
        (whole[..whole.len() / 2].to_vec(), "its data ends in the chunk IDAT"),
        (whole[..whole.len() - 12].to_vec(), "its data ends before the picture does"),
        (png(std::slice::from_ref(&end)), "its first chunk is not IHDR"),
        (
            png(&[chunk(b"IHDR", &header([3, 2, 0, 0, 0])), end.clone()]),
            "its header has 3 bits per sample, which colour type 2 does not allow",
        ),
        (
            png(&[chunk(b"IHDR", &header([8, 5, 0, 0, 0])), end.clone()]),
            "its header has the colour type 5, which PNG does not have",
        ),
        (png(&[grey.clone(), end.clone()]), "it has no chunk IDAT"),
        (png(&[grey.clone(), chunk(b"IDAT", b"no zlib at all"), end.clone()]), "its image data is invalid"),
        (
            png(&[chunk(b"IHDR", &header([8, 3, 0, 0, 0])), chunk(b"IDAT", b"x"), end]),
            "its palette is missing",
        ),
    ] {
        let error = reason("a.png", &bytes).expect(want);
        assert_eq!(error, format!("it starts like a PNG picture but cannot be decoded: {want}"));
    }
}

#[test]
fn no_damage_is_described_with_the_types_of_a_decoder() {
    let formats = [
        (ImageFormat::Png, "a.png"),
        (ImageFormat::Jpeg, "a.jpg"),
        (ImageFormat::Gif, "a.gif"),
        (ImageFormat::WebP, "a.webp"),
        (ImageFormat::Bmp, "a.bmp"),
        (ImageFormat::Tiff, "a.tiff"),
        (ImageFormat::Ico, "a.ico"),
        (ImageFormat::Hdr, "a.hdr"),
        (ImageFormat::OpenExr, "a.exr"),
        (ImageFormat::Tga, "a.tga"),
        (ImageFormat::Pnm, "a.ppm"),
        (ImageFormat::Qoi, "a.qoi"),
        (ImageFormat::Farbfeld, "a.ff"),
    ];
    let mut errors = std::collections::BTreeSet::new();
    for (format, name) in formats {
        let whole = picture(format);
        let length = whole.len();
        let mut damaged: Vec<Vec<u8>> = (0..20).map(|n| whole[..length * n / 20].to_vec()).collect();
        for at in (0..120.min(length)).chain((0..40).map(|n| length * n / 40)) {
            for value in [0, 0xFF, whole[at] ^ 0x41] {
                let mut bytes = whole.clone();
                bytes[at] = value;
                damaged.push(bytes);
            }
        }
        errors.extend(damaged.iter().filter_map(|bytes| reason(name, bytes)));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || " :,.-()*".contains(c);
    let of_code = |error: &&String| {
        !error.chars().all(plain)
            || ["Error", "Invalid", "Format", "Some(", "::"].iter().any(|word| error.contains(word))
    };
    let wrong: Vec<&String> = errors.iter().filter(of_code).collect();
    assert!(errors.len() > 20, "{errors:#?}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Story: a PNG of 1.5 MB with a colour profile of 390 MB of zeros took 677 MB, and a Radiance picture of 2x2 with
/// 16,000,000 lines in its header took 1.8 GB.
#[test]
fn what_a_picture_holds_besides_its_pixels_has_a_limit_too() {
    let whole = picture(ImageFormat::Png);
    let with_profile = |bytes: usize| {
        let zeros = miniz_oxide::deflate::compress_to_vec_zlib(&vec![0; bytes], 6);
        let profile = chunk(b"iCCP", &[&b"p\0\0"[..], &zeros].concat());
        // Behind the header, which has 8 + 25 bytes with the signature.
        [&whole[..33], &profile, &whole[33..]].concat()
    };
    assert_eq!(reason("a.png", &with_profile(3 << 20)), None);
    assert_eq!(
        reason("a.png", &with_profile(17 << 20)).unwrap(),
        "PNG with a colour profile of more than 16 MB is not supported"
    );
    let light = picture(ImageFormat::Hdr);
    let with_lines = |lines: usize| {
        let start = light.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        [&light[..start], "A=b\n".repeat(lines).as_bytes(), &light[start..]].concat()
    };
    assert_eq!(reason("a.hdr", &with_lines(1000)), None);
    // Cut off in its header, a picture is damaged and not too large.
    let cut = reason("a.hdr", &with_lines(1000)[..2000]).unwrap();
    assert!(cut.starts_with("it starts like a Radiance HDR picture but cannot be decoded: "), "{cut}");
    assert_eq!(
        reason("a.hdr", &with_lines(20_000)).unwrap(),
        "Radiance HDR with a header of more than 64 kB is not supported"
    );
}

#[test]
fn a_side_that_is_too_long_and_one_of_nothing_are_named() {
    let whole = picture(ImageFormat::Png);
    let sized = |width: u32, height: u32| {
        let fields = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 0, 0, 0, 0]].concat();
        [&whole[..8], &chunk(b"IHDR", &fields), &whole[33..]].concat()
    };
    assert_eq!(
        reason("a.png", &sized(1, 65_536)).unwrap(),
        "the picture is 1x65536: a side may have at most 65535 pixels"
    );
    let mut gif = picture(ImageFormat::Gif);
    gif[6..10].fill(0);
    assert_eq!(
        reason("a.gif", &gif).unwrap(),
        "it starts like a GIF picture but cannot be decoded: its size is 0x0"
    );
}
