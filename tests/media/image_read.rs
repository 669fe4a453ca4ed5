//! Pictures through read_file: the bytes decide, all of them are decoded, and what is sent fits.

use crate::support::tool_bench::Bench;
use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use placet::conversation::{Image, Part};
use placet::media::{PictureLimits, fit, to_png};
use placet::tools::ToolLimits;
use serde_json::json;
use std::io::Cursor;

fn gradient(width: u32, height: u32) -> DynamicImage {
    DynamicImage::ImageRgb8(RgbImage::from_fn(width, height, |x, y| Rgb([x as u8, y as u8, (x ^ y) as u8])))
}

fn noise(width: u32, height: u32) -> DynamicImage {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    DynamicImage::ImageRgb8(RgbImage::from_fn(width, height, |_, _| Rgb([next(), next(), next()])))
}

fn encoded(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Vec::new();
    let image = match format {
        ImageFormat::Farbfeld => DynamicImage::ImageRgba16(image.to_rgba16()),
        ImageFormat::Hdr | ImageFormat::OpenExr => DynamicImage::ImageRgb32F(image.to_rgb32f()),
        ImageFormat::Ico => DynamicImage::ImageRgba8(image.to_rgba8()),
        _ => image.clone(),
    };
    image.write_to(&mut Cursor::new(&mut bytes), format).unwrap();
    bytes
}

fn look(bench: &Bench, path: &str) -> (String, Image) {
    let got = bench.call("read_file", json!({"path": path}));
    let image = got.0.for_model.iter().find_map(|p| match p {
        Part::Image(image) => Some(image.clone()),
        Part::Text { .. } | Part::Note(_) => None,
    });
    let body = got.done();
    (body.clone(), image.unwrap_or_else(|| panic!("no picture: {body}")))
}

#[test]
fn five_kinds_pass_through_with_their_own_bytes() {
    let bench = Bench::new();
    for (format, media_type) in [
        (ImageFormat::Png, "image/png"),
        (ImageFormat::Jpeg, "image/jpeg"),
        (ImageFormat::Gif, "image/gif"),
        (ImageFormat::WebP, "image/webp"),
        (ImageFormat::Bmp, "image/bmp"),
    ] {
        let bytes = encoded(&gradient(40, 30), format);
        // The name lies; the bytes decide.
        bench.write("pic.txt", &bytes);
        let (body, image) = look(&bench, "pic.txt");
        assert_eq!((image.media_type.as_str(), image.width, image.height), (media_type, 40, 30));
        assert_eq!(&image.bytes[..], &bytes[..]);
        assert_eq!(body, format!("pic.txt ({media_type}, 40x30, {} bytes)", bytes.len()));
    }
}

#[test]
fn other_kinds_become_png() {
    let bench = Bench::new();
    for (format, name, kind) in [
        (ImageFormat::Tiff, "a.tiff", "TIFF"),
        (ImageFormat::Ico, "a.ico", "ICO"),
        (ImageFormat::Hdr, "a.hdr", "Radiance HDR"),
        (ImageFormat::OpenExr, "a.exr", "OpenEXR"),
        (ImageFormat::Tga, "a.tga", "TGA"),
        (ImageFormat::Pnm, "a.ppm", "PNM"),
        (ImageFormat::Qoi, "a.qoi", "QOI"),
        (ImageFormat::Farbfeld, "a.farbfeld", "farbfeld"),
    ] {
        bench.write(name, encoded(&gradient(40, 30), format));
        let (body, image) = look(&bench, name);
        assert_eq!((image.media_type.as_str(), image.width, image.height), ("image/png", 40, 30), "{name}");
        assert!(body.ends_with(&format!("; converted from {kind} to PNG")), "{body}");
        let pixels = image::load_from_memory_with_format(&image.bytes, ImageFormat::Png).unwrap();
        assert!(matches!(pixels, DynamicImage::ImageRgb8(_)), "{name}");
    }
    for (text, name) in [
        ("P1\n2 2\n1 0\n0 1\n", "a.pbm"),
        ("P2\n# c\n2 1\n255\n0 200\n", "a.pgm"),
        ("P3\n1 1\n255\n1 2 3\n", "a.pnm"),
    ] {
        bench.write(name, text);
        assert_eq!(look(&bench, name).1.media_type, "image/png");
    }
    bench.write("a.dds", dds());
    assert_eq!(look(&bench, "a.dds").1.width, 4);
}

/// One DXT1 block: the image crate reads this format and does not write it.
fn dds() -> Vec<u8> {
    let mut words = [0u32; 31];
    words[0] = 124;
    words[1] = 0x0008_1007;
    (words[2], words[3], words[4]) = (4, 4, 8);
    words[18] = 32;
    words[19] = 4;
    words[20] = u32::from_le_bytes(*b"DXT1");
    words[26] = 0x1000;
    let mut bytes = b"DDS ".to_vec();
    bytes.extend(words.iter().flat_map(|w| w.to_le_bytes()));
    bytes.extend([0xFF, 0xFF, 0, 0, 0, 0, 0, 0]);
    bytes
}

#[test]
fn bright_light_is_mapped_and_not_clipped() {
    let bench = Bench::new();
    let light = image::Rgb32FImage::from_fn(4, 1, |x, _| Rgb([[0.0, 0.5, 5.0, 50.0][x as usize]; 3]));
    bench.write("sun.exr", encoded(&DynamicImage::ImageRgb32F(light), ImageFormat::OpenExr));
    let (_, image) = look(&bench, "sun.exr");
    let pixels = image::load_from_memory(&image.bytes).unwrap().to_rgb8();
    let row: Vec<u8> = pixels.pixels().map(|p| p.0[0]).collect();
    assert!(row[0] == 0 && row[0] < row[1] && row[1] < row[2] && row[2] < row[3] && row[3] == 255, "{row:?}");
}

#[test]
fn damaged_and_monstrous_pictures_are_refused_in_bounded_time() {
    let bench = Bench::new();
    let jpeg = encoded(&gradient(300, 200), ImageFormat::Jpeg);
    bench.write("cut.jpg", &jpeg[..jpeg.len() / 2]);
    let png = encoded(&gradient(300, 200), ImageFormat::Png);
    bench.write("cut.png", &png[..png.len() / 2]);
    bench.write("magic.png", [b"\x89PNG\r\n\x1a\n".as_slice(), &[7; 200]].concat());
    let mut bomb = encoded(&gradient(1, 1), ImageFormat::Png);
    bomb[16..24].copy_from_slice(&[0, 0, 0xEA, 0x60, 0, 0, 0xEA, 0x60]);
    let crc = crc32(&bomb[12..29]);
    bomb[29..33].copy_from_slice(&crc.to_be_bytes());
    bench.write("bomb.png", &bomb);
    let gif = encoded(&gradient(60, 60), ImageFormat::Gif);
    bench.write("cut.gif", &gif[..gif.len() / 2]);
    bench.write("photo.heic", b"\0\0\0\x18ftypheic\0\0\0\0mif1heic");
    bench.write("x.avif", b"\0\0\0\x18ftypavif\0\0\0\0mif1avif");
    bench.write("x.jxl", b"\xFF\x0A\xFA\x1F");
    bench.write("bad.tga", [0u8, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 90, 0, 90, 0, 24, 0, 1, 2, 3]);
    for (path, want) in [
        ("cut.jpg", "starts like a JPEG picture but cannot be decoded: its data ends"),
        ("cut.png", "starts like a PNG picture but cannot be decoded"),
        ("magic.png", "starts like a PNG picture but cannot be decoded"),
        ("bomb.png", "the picture is 60000x60000: decoding it would take more memory"),
        ("cut.gif", "starts like a GIF picture but cannot be decoded"),
        ("photo.heic", "HEIC pictures are not supported\nhint: convert it with a command: `heif-convert"),
        ("x.avif", "AVIF pictures are not supported\nhint: convert it with a command: `avifdec"),
        ("x.jxl", "JPEG XL pictures are not supported\nhint: convert it with a command: `djxl"),
        ("bad.tga", "starts like a TGA picture but cannot be decoded"),
    ] {
        let error = bench.call("read_file", json!({"path": path})).failed();
        assert!(error.contains(want), "{path}: {error}");
    }
    bench.write("page.png", "<html></html>\n");
    assert!(bench.call("read_file", json!({"path": "page.png"})).done().contains("1│<html>"));
    bench.write("json.jpg", "{}\n");
    assert!(bench.call("read_file", json!({"path": "json.jpg"})).done().contains("1│{}"));
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, byte| {
        (0..8).fold(
            crc ^ u32::from(*byte),
            |crc, _| if crc & 1 == 1 { 0xEDB8_8320 ^ (crc >> 1) } else { crc >> 1 },
        )
    })
}

#[test]
fn what_is_too_large_is_scaled_and_said_or_refused_when_it_must_be_exact() {
    let bench = Bench::with_limits(ToolLimits { image_bytes: 100_000, ..ToolLimits::default() });
    let png = encoded(&noise(400, 300), ImageFormat::Png);
    bench.write("big.png", &png);
    let (body, image) = look(&bench, "big.png");
    assert!(image.bytes.len() <= 100_000 && image.width < 400, "{body}");
    let want = format!(
        "scaled down from 400x300 ({} bytes) to {}x{} ({} bytes)",
        png.len(),
        image.width,
        image.height,
        image.bytes.len()
    );
    assert!(body.contains(&want), "{body}");
    let error = bench.call("read_file", json!({"path": "big.png", "exact": true})).failed();
    assert!(error.contains(&format!("the picture has {} bytes, more than the 100000", png.len())), "{error}");
    bench.write("big.ppm", encoded(&noise(400, 300), ImageFormat::Pnm));
    let (body, image) = look(&bench, "big.ppm");
    assert!(
        image.bytes.len() <= 100_000 && body.contains("converted from PNM to PNG; scaled down from 400x300"),
        "{body}"
    );
    bench.write("big.jpg", encoded(&noise(900, 600), ImageFormat::Jpeg));
    let (_, image) = look(&bench, "big.jpg");
    assert!(image.media_type == "image/jpeg" && image.bytes.len() <= 100_000);
    // A thin one keeps a side of at least one pixel.
    bench.write("thin.png", encoded(&noise(1, 50_000), ImageFormat::Png));
    let (_, image) = look(&bench, "thin.png");
    assert_eq!(image.width, 1);
}

#[test]
fn a_request_gets_what_its_provider_takes() {
    let types: Vec<String> = ["image/png", "image/jpeg", "image/gif"].map(String::from).to_vec();
    let rules = PictureLimits { max_bytes: 100_000, max_side: 200, types: &types, animated_gif: false };
    let image = |format: ImageFormat, media_type: &str, pixels: &DynamicImage| {
        let bytes = encoded(pixels, format);
        Image::new(media_type, pixels.width(), pixels.height(), "p", bytes.into())
    };
    let small = image(ImageFormat::Png, "image/png", &gradient(20, 20));
    let fitted = fit(&small, &rules).unwrap();
    assert!(fitted.note.is_none() && fitted.image == small);
    let bmp = image(ImageFormat::Bmp, "image/bmp", &gradient(20, 20));
    let fitted = fit(&bmp, &rules).unwrap();
    assert_eq!(fitted.image.media_type, "image/png");
    let wide = image(ImageFormat::Jpeg, "image/jpeg", &gradient(1000, 100));
    let fitted = fit(&wide, &rules).unwrap();
    assert_eq!(
        (fitted.image.width, fitted.image.height, fitted.image.media_type.as_str()),
        (200, 20, "image/jpeg")
    );
    let mut bytes = Vec::new();
    let mut gif = image::codecs::gif::GifEncoder::new(&mut bytes);
    gif.encode_frames([10, 20].map(|n| image::Frame::new(gradient(n, n).to_rgba8()))).unwrap();
    drop(gif);
    let moving = Image::new("image/gif", 10, 10, "p", bytes.into());
    let fitted = fit(&moving, &rules).unwrap();
    assert!(fitted.image.media_type == "image/png" && fitted.note.unwrap().ends_with("its first frame only"));
    assert_eq!(fit(&moving, &PictureLimits { animated_gif: true, ..rules }).unwrap().image, moving);
    assert_eq!(to_png(&wide).unwrap().width, 1000);
}

#[test]
fn a_turned_jpeg_is_upright_once_it_is_encoded_again() {
    let jpeg = encoded(&gradient(60, 20), ImageFormat::Jpeg);
    // An Exif segment that says: turn by 90 degrees (orientation 6).
    let mut exif = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0".to_vec();
    let mut turned = jpeg[..2].to_vec();
    turned.extend([0xFF, 0xE1]);
    turned.extend(((exif.len() + 2) as u16).to_be_bytes());
    turned.append(&mut exif);
    turned.extend(&jpeg[2..]);
    let image = Image::new("image/jpeg", 60, 20, "p", turned.into());
    let upright = to_png(&image).unwrap();
    assert_eq!((upright.width, upright.height), (20, 60));
}

#[test]
fn a_picture_stays_one_in_a_scratchpad() {
    let bench = Bench::new();
    bench.write("p.png", encoded(&gradient(8, 8), ImageFormat::Png));
    let line = bench.call("read_file", json!({"path": "p.png", "scratchpad": "pic"})).done();
    assert!(line.starts_with("stored in the scratchpad `pic`: p.png (image/png, 8x8"), "{line}");
    let got = bench.call("scratchpad", json!({"action": "read", "name": "pic"}));
    assert!(matches!(got.0.for_model.last(), Some(Part::Image(image)) if image.width == 8));
    bench.call("scratchpad", json!({"action": "load", "name": "again", "path": "p.png"})).done();
    bench.call("scratchpad", json!({"action": "save", "name": "again", "path": "out.png"})).done();
    assert_eq!(bench.bytes("out.png"), bench.bytes("p.png"));
}
