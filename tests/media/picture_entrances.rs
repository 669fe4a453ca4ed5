//! Pictures that are refused and pictures that are encoded again, through the real binary: named with `@` at the prompt,
//! dropped on the terminal, read over MCP and by `placet tool call`.

use crate::support::binary::Place;
use crate::support::mcp_client::McpClient;
use crate::support::mock_server::{MockServer, Reply, Say};
use crate::support::pty::{Pty, Start, shell};
use image::{DynamicImage, ImageFormat, RgbImage};
use std::path::PathBuf;

fn bmp(image: RgbImage) -> Vec<u8> {
    let mut out = std::io::Cursor::new(Vec::new());
    DynamicImage::from(image).write_to(&mut out, ImageFormat::Bmp).unwrap();
    out.into_inner()
}

/// A TIFF of 8 by 8 pixels in one strip, with this number for its compression.
fn tiff(compression: u32) -> Vec<u8> {
    let fields =
        [(256, 8), (257, 8), (258, 1), (259, compression), (262, 0), (273, 8), (277, 1), (278, 8), (279, 8)];
    let mut out = b"II*\0\x10\0\0\0\0\0\0\0\0\0\0\0".to_vec();
    out.extend((fields.len() as u16).to_le_bytes());
    for (tag, value) in fields {
        out.extend([u16::to_le_bytes(tag), [4, 0]].concat());
        out.extend([1, value].map(u32::to_le_bytes).concat());
    }
    out.extend([0; 4]);
    out
}

/// The start of a JPEG whose process is arithmetic coding.
fn arithmetic() -> Vec<u8> {
    let mut out = b"\xFF\xD8\xFF\xC9\0\x0B\x08\0\x08\0\x08\x01\x01\x11\0".to_vec();
    out.extend(b"\xFF\xDA\0\x08\x01\x01\0\0\x3F\0\x00\xFF\xD9");
    out
}

/// Each with the words that its refusal has.
fn refused() -> Vec<(&'static str, Vec<u8>, [&'static str; 2])> {
    vec![
        (
            "scan.tif",
            tiff(3),
            ["TIFF with CCITT Group 3 compression is not supported", "`magick FILE out.png`"],
        ),
        (
            "zstd.tif",
            tiff(50_000),
            ["TIFF with Zstandard compression is not supported", "`magick FILE out.png`"],
        ),
        (
            "arith.jpg",
            arithmetic(),
            ["JPEG with arithmetic coding is not supported", "`djpeg FILE > out.ppm`"],
        ),
        (
            "phone.heic",
            b"\0\0\0\x18ftypheic\0\0\0\0heicmif1".to_vec(),
            ["HEIC pictures are not supported", "`heif-convert FILE out.png`"],
        ),
        (
            "new.jxl",
            b"\xFF\x0A\xFA\x1F".to_vec(),
            ["JPEG XL pictures are not supported", "`djxl FILE out.png`"],
        ),
    ]
}

/// Pictures that are too large as they are: one colour becomes small, noise has to be scaled down.
fn large() -> [(&'static str, Vec<u8>, &'static str); 2] {
    let mut seed = 1_u32;
    let mut noise = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 24) as u8
    };
    let noise = RgbImage::from_fn(1400, 900, |_, _| image::Rgb([noise(), noise(), noise()]));
    [
        ("plain.bmp", bmp(RgbImage::new(1400, 900)), "encoded again from 3780054 bytes"),
        ("noise.bmp", bmp(noise), "scaled down from 1400x900 (3780054 bytes)"),
    ]
}

/// The words of a picture that was taken: `scaled down` only if it was.
#[track_caller]
fn taken(words: &str, done: &str) {
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(done), "{done}: {words}");
    assert_eq!(words.contains("scaled"), done.contains("scaled"), "{words}");
}

fn place() -> Place {
    let place = Place::new();
    for (name, bytes, _) in refused() {
        place.write(name, bytes);
    }
    for (name, bytes, _) in large() {
        place.write(name, bytes);
    }
    place
}

#[test]
fn over_mcp_and_by_a_call_a_form_that_is_lacking_is_named_with_the_command_that_converts_it() {
    let place = place();
    let mut client = McpClient::start(&place, &[]);
    let input = |name: &str| serde_json::json!({ "path": name });
    for (name, _, words) in refused() {
        let (error, text) = client.call("read_file", input(name));
        assert!(error && words.iter().all(|part| text.contains(part)), "{name}: {text}");
        assert!(!text.contains("damaged"), "{name}: {text}");
        let out = place.run(["tool", "call", "read_file", &input(name).to_string()]).code(1);
        assert_eq!(out.stderr.trim_end(), text.trim_end(), "{name}");
    }
    for (name, _, done) in large() {
        let (error, text) = client.call("read_file", input(name));
        assert!(!error, "{name}: {text}");
        taken(&text, done);
        let out = place.run(["tool", "call", "read_file", &input(name).to_string()]).code(0);
        taken(&out.stdout, done);
    }
    client.close();
}

fn with_model(server: &MockServer) -> Start {
    let options =
        ["--provider", "openai-compatible", "--model", "m", "--base-url", &server.url()].map(String::from);
    let set = ["--set", "vision=true", "--set", "context_window=100000000"].map(String::from);
    options.iter().chain(&set).fold(shell().size(160, 40), |start, arg| start.arg(arg))
}

/// Files outside of the tree, as they come with a drop.
fn files() -> (tempfile::TempDir, impl Fn(&str) -> PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    for (name, bytes, _) in refused() {
        std::fs::write(base.join(name), bytes).unwrap();
    }
    for (name, bytes, _) in large() {
        std::fs::write(base.join(name), bytes).unwrap();
    }
    (dir, move |name: &str| base.join(name))
}

fn flat(screen: &str) -> String {
    screen.replace('\n', "")
}

/// Sends the line and waits for the words.
fn refuses(pty: &mut Pty, name: &str, words: [&str; 2]) {
    pty.send("\r");
    pty.until("the refusal", |s| {
        let s = s.split_whitespace().collect::<Vec<_>>().join(" ");
        words.iter().all(|part| s.contains(part))
    });
    let screen = flat(&pty.screen());
    assert!(!screen.contains("damaged") && screen.contains(name), "{screen}");
}

#[test]
fn named_with_an_at_sign_or_dropped_it_is_refused_in_the_same_words_and_nothing_is_sent() {
    let (_dir, at) = files();
    for (name, _, words) in refused() {
        for dropped in [false, true] {
            let server = MockServer::start([Reply::openai(&[Say::Text("unused")])]);
            let mut pty = with_model(&server).open();
            let path = at(name).display().to_string();
            if dropped {
                pty.send(&format!("\x1b[200~{path}\x1b[201~"));
            } else {
                pty.send(&format!("@{path}"));
            }
            pty.until("the mention", |s| flat(s).contains(&format!("@{path}")));
            refuses(&mut pty, name, words);
            assert_eq!(server.requests().len(), 0, "{name}");
        }
    }
}

#[test]
fn named_with_an_at_sign_or_dropped_it_is_scaled_down_only_where_that_is_said() {
    let (_dir, at) = files();
    for (name, _, done) in large() {
        for dropped in [false, true] {
            let server = MockServer::start([Reply::openai(&[Say::Text("a picture indeed")])]);
            let mut pty = with_model(&server).open();
            let path = at(name).display().to_string();
            if dropped {
                pty.send(&format!("\x1b[200~{path}\x1b[201~"));
            } else {
                pty.send(&format!("@{path}"));
            }
            pty.until("the mention", |s| flat(s).contains(&format!("@{path}")));
            pty.send("\r");
            pty.until("the answer", |s| s.contains("a picture indeed"));
            taken(&pty.screen(), done);
        }
    }
}
