//! Tools at the sizes where they would break: large files, large directories, many matches, many operations, and
//! pictures of each kind, beside the program that one would use instead.
//!
//! `cargo bench --bench scale` for a short run, `cargo bench --bench scale -- heavy` for the sizes in the guide (4 GB
//! of disk; the 10 GB are sparse). Ours runs in this process, theirs is started anew each time: that costs them a
//! millisecond or two. What is not installed is left out.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::panic,
    reason = "a bench stops at the first surprise and prints"
)]

mod desk;

use desk::{Bench, median, other, report};
use image::{DynamicImage, ImageFormat};
use placet::media::{OversizePolicy, load, sniff};
use serde_json::{Value, json};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

/// How much of everything.
struct Sizes {
    entries: usize,
    files: usize,
    edits: &'static [usize],
    operations: usize,
    side: u32,
}

const SHORT: Sizes = Sizes { entries: 5_000, files: 2_000, edits: &[1, 10], operations: 500, side: 256 };
const HEAVY: Sizes =
    Sizes { entries: 100_000, files: 50_000, edits: &[1, 100, 1000], operations: 10_000, side: 2048 };

fn main() {
    let heavy = std::env::args().any(|arg| arg == "heavy");
    let sizes = if heavy { HEAVY } else { SHORT };
    listing(&sizes);
    searching(&sizes);
    edits(&sizes);
    window();
    pictures(&sizes);
    batch(&sizes);
}

fn ground() -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = std::fs::canonicalize(dir.path()).unwrap();
    (dir, root)
}

fn listing(sizes: &Sizes) {
    let (_dir, root) = ground();
    for number in 0..sizes.entries {
        std::fs::write(root.join(format!("entry-{number:06}.txt")), "x").unwrap();
    }
    let bench = Bench::new(&root);
    let ours = median(|| drop(bench.call("list_directory", json!({}))));
    report(&format!("list of {} entries", sizes.entries), ours, "ls -la", other(&root, "ls", &["-la"]));
    let ours = median(|| drop(bench.call("find_files", json!({"pattern": "*99.txt"}))));
    report("find among them", ours, "fdfind", other(&root, "fdfind", &["-g", "*99.txt"]));
    report("", ours, "rg --files", other(&root, "rg", &["--files", "-g", "*99.txt"]));
}

fn searching(sizes: &Sizes) {
    let (_dir, root) = ground();
    for number in 0..sizes.files {
        let dir = root.join(format!("d{:03}", number / 100));
        if number % 100 == 0 {
            std::fs::create_dir(&dir).unwrap();
        }
        let lines: String = (0..40).map(|n| format!("let value_{n} = compute({number}, {n});\n")).collect();
        let needle = if number % 997 == 0 { "// NEEDLE, na\u{ef}ve \u{6d4b}\u{8bd5}\n" } else { "" };
        std::fs::write(dir.join(format!("f{number}.rs")), lines + needle).unwrap();
    }
    let bench = Bench::new(&root);
    for (name, pattern) in [
        ("a literal", "NEEDLE"),
        ("a regex", "value_3[0-9] = .*99, 7"),
        ("unicode", "\u{6d4b}\u{8bd5}|na\\w+ve"),
        ("many matches", "compute"),
        ("no match", "there is no such line"),
    ] {
        let ours = median(|| drop(bench.call("search_contents", json!({ "pattern": pattern }))));
        let name = format!("search, {name}, {} files", sizes.files);
        report(&name, ours, "rg -n", other(&root, "rg", &["-n", pattern]));
    }
}

fn edits(sizes: &Sizes) {
    for megabytes in sizes.edits {
        let (_dir, root) = ground();
        let file = std::fs::File::create(root.join("big")).unwrap();
        let chunk = format!("{}\n", "y".repeat(99)).repeat(10_000);
        for _ in 0..*megabytes {
            (&file).write_all(chunk.as_bytes()).unwrap();
        }
        (&file).write_all(b"the end\n").unwrap();
        file.sync_all().unwrap();
        // Whoever still has it open for writing counts as writing to it.
        drop(file);
        let bench = Bench::new(&root);
        bench.call("read_file", json!({"path": "big", "offset": megabytes * 10_000, "limit": 1}));
        let mut turn = false;
        let ours = median(|| {
            turn = !turn;
            let (old, new) = if turn { ("the end", "an end") } else { ("an end", "the end") };
            bench.call("edit_file", json!({"path": "big", "old_string": old, "new_string": new}));
        });
        // What it costs to write as many bytes and make them durable, which is the least that can be done.
        let copy = ["if=big", "of=copy", "bs=1M", "conv=fsync", "status=none"];
        report(&format!("edit_file in {megabytes} MB"), ours, "dd, synced", other(&root, "dd", &copy));
    }
}

fn window() {
    let (_dir, root) = ground();
    let mut file = std::fs::File::create(root.join("sparse")).unwrap();
    file.write_all("a line\n".repeat(10_000).as_bytes()).unwrap();
    file.seek(SeekFrom::Start(10 << 30)).unwrap();
    file.write_all(b"\nthe end\n").unwrap();
    let bench = Bench::new(&root);
    let ours =
        median(|| drop(bench.call("read_file", json!({"path": "sparse", "offset": 5000, "limit": 100}))));
    let theirs = other(&root, "sed", &["-n", "5001,5100p;5100q", "sparse"]);
    report("read_file, 100 lines in 10 GB (sparse)", ours, "sed", theirs);
}

fn pictures(sizes: &Sizes) {
    let (_dir, root) = ground();
    let side = sizes.side;
    let pixels = image::RgbImage::from_fn(side, side, |x, y| {
        image::Rgb([(x / 8) as u8, (y / 8) as u8, (x ^ y) as u8])
    });
    for (name, format) in [
        ("a.tiff", ImageFormat::Tiff),
        ("a.tga", ImageFormat::Tga),
        ("a.ppm", ImageFormat::Pnm),
        ("a.qoi", ImageFormat::Qoi),
        ("a.hdr", ImageFormat::Hdr),
        ("a.exr", ImageFormat::OpenExr),
        ("a.png", ImageFormat::Png),
        ("a.jpg", ImageFormat::Jpeg),
        ("a.webp", ImageFormat::WebP),
        ("a.bmp", ImageFormat::Bmp),
        ("a.gif", ImageFormat::Gif),
    ] {
        picture(&root, name, format, &pixels);
    }
}

/// To PNG what must become PNG; what is sent as it is must be decoded all the same.
fn picture(root: &Path, name: &str, format: ImageFormat, pixels: &image::RgbImage) {
    let image = DynamicImage::from(pixels.clone());
    let image = match format {
        ImageFormat::Hdr | ImageFormat::OpenExr => DynamicImage::from(image.to_rgb32f()),
        _ => image,
    };
    let path = root.join(name);
    image.save_with_format(&path, format).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let kind = sniff(&bytes, name).unwrap();
    let work = || drop(load(kind, name, bytes.clone(), usize::MAX, OversizePolicy::ScaleDown).unwrap());
    let ours = median(work);
    let verb = if kind.media_type().is_some() { "checked" } else { "to PNG" };
    let target = if kind.media_type().is_some() { "null:" } else { "out.png" };
    let side = pixels.width();
    let theirs = other(root, "convert", &[name, target]);
    report(&format!("{kind}, {side}x{side}, {verb}"), ours, "convert", theirs);
}

fn batch(sizes: &Sizes) {
    let (_dir, root) = ground();
    let bench = Bench::new(&root);
    let mut round = 0;
    let ours = median(|| {
        round += 1;
        let step = |n: usize| json!({"op": "write", "path": format!("r{round}/d{}/f{n}", n / 100), "content": "x\n"});
        let steps: Vec<Value> = (0..sizes.operations).map(step).collect();
        drop(bench.call("operations", json!({ "operations": steps })));
    });
    let script = format!(
        "rm -rf s; mkdir s; cd s; i=0; while [ $i -lt {} ]; do mkdir -p d$((i/100)); echo x > d$((i/100))/f$i; i=$((i+1)); done; sync -f .",
        sizes.operations
    );
    report(
        &format!("batch of {} files written", sizes.operations),
        ours,
        "sh, synced",
        other(&root, "bash", &["-c", &script]),
    );
}
