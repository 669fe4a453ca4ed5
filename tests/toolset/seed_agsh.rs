//! The rules of agsh's document, each by a test that quotes it.

use crate::support::tool_bench::Bench;
use placet::conversation::Part;
use placet::permission::Mode;
use placet::tools::ToolSet;
use serde_json::json;

/// A picture of so many random pixels to a side, which no format packs well.
fn noise(side: u32, format: image::ImageFormat) -> Vec<u8> {
    let mut state = 7u32;
    let pixels = image::RgbImage::from_fn(side, side, |_, _| {
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        image::Rgb([next(), next(), next()])
    });
    let mut out = std::io::Cursor::new(Vec::new());
    // An icon holds nothing but RGBA.
    match format {
        image::ImageFormat::Ico => {
            image::DynamicImage::from(pixels).to_rgba8().write_to(&mut out, format).unwrap()
        }
        _ => pixels.write_to(&mut out, format).unwrap(),
    }
    out.into_inner()
}

#[test]
fn when_offset_and_limit_are_both_omitted_defaults_to_the_first_2000_lines() {
    let bench = Bench::of(ToolSet::Agsh);
    let text: String = (1..=2500).map(|n| format!("{n}\n")).collect();
    bench.write("long.txt", &text);
    let body = bench.call("read_file", json!({"path": "long.txt"})).done();
    assert!(body.contains("2000│2000\n") && !body.contains("2001│"), "{body}");
    assert!(body.contains("lines 1-2000 of 2500; continue with offset 2000"), "a truncation notice: {body}");
    let page = bench.call("read_file", json!({"path": "long.txt", "offset": 10, "limit": 2})).done();
    assert!(page.starts_with("11│11\n12│12\n"), "0-based: {page}");
}

#[test]
fn recognized_image_extensions_are_returned_as_base64_encoded_multimodal_content() {
    let bench = Bench::of(ToolSet::Agsh);
    for (name, format) in [
        ("a.png", image::ImageFormat::Png),
        ("a.jpg", image::ImageFormat::Jpeg),
        ("a.gif", image::ImageFormat::Gif),
        ("a.webp", image::ImageFormat::WebP),
        ("a.bmp", image::ImageFormat::Bmp),
    ] {
        let bytes = noise(4, format);
        bench.write(name, &bytes);
        let got = bench.call("read_file", json!({"path": name}));
        let image = got.0.for_model.iter().find_map(|part| match part {
            Part::Image(image) => Some(image.clone()),
            Part::Text { .. } | Part::Note(_) => None,
        });
        assert_eq!(image.unwrap().bytes.as_ref(), bytes.as_slice(), "{name} is passed through");
    }
}

#[test]
fn convertible_images_are_decoded_and_re_encoded_as_png_transparently() {
    let bench = Bench::of(ToolSet::Agsh);
    for (name, format) in [
        ("a.tiff", image::ImageFormat::Tiff),
        ("a.ico", image::ImageFormat::Ico),
        ("a.tga", image::ImageFormat::Tga),
        ("a.ppm", image::ImageFormat::Pnm),
        ("a.qoi", image::ImageFormat::Qoi),
    ] {
        bench.write(name, noise(4, format));
        let got = bench.call("read_file", json!({"path": name}));
        let png = got.0.for_model.iter().any(|part| match part {
            Part::Image(image) => image.media_type == "image/png" && image.bytes.starts_with(b"\x89PNG"),
            Part::Text { .. } | Part::Note(_) => false,
        });
        assert!(png, "{name}: {}", got.body());
    }
}

#[test]
fn images_are_rejected_if_the_final_payload_exceeds_3_75_mb() {
    let bench = Bench::of(ToolSet::Agsh);
    bench.write("big.tiff", noise(1200, image::ImageFormat::Tiff));
    let body = bench.call("read_file", json!({"path": "big.tiff"})).failed();
    assert!(body.contains("3750000"), "rejected, not scaled: {body}");
}

#[test]
fn unsupported_images_fall_through_to_text_read() {
    let bench = Bench::of(ToolSet::Agsh);
    bench.write("a.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n");
    let body = bench.call("read_file", json!({"path": "a.svg"})).done();
    assert!(body.contains("1│<svg"), "{body}");
    bench.write("a.jxl", b"\xff\x0a\x00\x01\x02".as_slice());
    bench.call("read_file", json!({"path": "a.jxl"})).failed();
}

#[test]
fn by_default_only_the_first_occurrence_of_old_string_is_replaced() {
    let bench = Bench::of(ToolSet::Agsh);
    bench.write("a.txt", "x x\nx\n");
    bench.call("read_file", json!({"path": "a.txt"})).done();
    bench.call("edit_file", json!({"path": "a.txt", "old_string": "x", "new_string": "y"})).done();
    assert_eq!(bench.text("a.txt"), "y x\nx\n");
}

#[test]
fn set_replace_all_to_replace_every_occurrence() {
    let bench = Bench::of(ToolSet::Agsh);
    bench.write("a.txt", "x x\nx\n");
    bench.call("read_file", json!({"path": "a.txt"})).done();
    let all = json!({"path": "a.txt", "old_string": "x", "new_string": "y", "replace_all": true});
    bench.call("edit_file", all).done();
    assert_eq!(bench.text("a.txt"), "y y\ny\n");
}

#[test]
fn the_file_must_have_been_previously_read_with_read_file() {
    let bench = Bench::of(ToolSet::Agsh);
    bench.write("a.txt", "x\n");
    let edit = json!({"path": "a.txt", "old_string": "x", "new_string": "y"});
    let body = bench.call("edit_file", edit).failed();
    assert!(body.contains("has not been read"), "{body}");
    assert_eq!(bench.text("a.txt"), "x\n");
}

#[test]
fn set_force_to_bypass_this_requirement() {
    let bench = Bench::of(ToolSet::Agsh);
    bench.write("a.txt", "x\n");
    let edit = json!({"path": "a.txt", "old_string": "x", "new_string": "y", "force": true});
    bench.call("edit_file", edit).done();
    assert_eq!(bench.text("a.txt"), "y\n");
}

#[test]
fn if_old_string_is_not_found_the_tool_returns_an_error_without_modifying_the_file() {
    let bench = Bench::of(ToolSet::Agsh);
    bench.write("a.txt", "x\n");
    bench.call("read_file", json!({"path": "a.txt"})).done();
    bench.call("edit_file", json!({"path": "a.txt", "old_string": "z", "new_string": "y"})).failed();
    assert_eq!(bench.text("a.txt"), "x\n");
}

#[test]
fn write_creates_parent_directories_if_they_do_not_exist() {
    let bench = Bench::of(ToolSet::Agsh);
    bench.call("write_file", json!({"path": "a/b/c.txt", "content": "new"})).done();
    assert_eq!(bench.text("a/b/c.txt"), "new");
}

#[test]
fn overwrites_the_file_if_it_already_exists() {
    let bench = Bench::of(ToolSet::Agsh);
    bench.write("a.txt", "old\n");
    bench.call("write_file", json!({"path": "a.txt", "content": "new\n"})).done();
    assert_eq!(bench.text("a.txt"), "new\n");
}

#[test]
fn save_output_to_the_scratchpad_under_this_name() {
    let bench = Bench::of(ToolSet::Agsh);
    bench.write("a.txt", "kept\n");
    let body = bench.call("read_file", json!({"path": "a.txt", "scratchpad": "pad"})).done();
    assert!(body.contains("stored in the scratchpad `pad`"), "{body}");
    let pad = bench.call("scratchpad_read", json!({"name": "pad"})).done();
    assert!(pad.contains("kept"), "{pad}");
}

#[test]
fn permission_read_reads_and_permission_write_writes() {
    let mut bench = Bench::of(ToolSet::Agsh);
    bench.mode = Mode::Read;
    bench.write("a.txt", "x\n");
    bench.call("read_file", json!({"path": "a.txt"})).done();
    let denied = bench.call("write_file", json!({"path": "a.txt", "content": "y"})).failed();
    assert!(denied.contains("read mode"), "{denied}");
    let denied = bench.call("edit_file", json!({"path": "a.txt", "old_string": "x", "new_string": "y"}));
    assert!(denied.failed().contains("read mode"));
    assert_eq!(bench.text("a.txt"), "x\n");
}
