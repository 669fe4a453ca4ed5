//! read_file: every kind of file has its own clear answer.

use crate::support::tool_bench::Bench;
use serde_json::json;

fn read(bench: &Bench, path: &str) -> String {
    bench.call("read_file", json!({"path": path})).body()
}

#[test]
fn lines_are_numbered_and_a_cut_says_where_to_go_on() {
    let bench = Bench::new();
    bench.write("a.txt", (0..5000).map(|n| format!("l{n}\n")).collect::<String>());
    let body = read(&bench, "a.txt");
    assert!(body.starts_with("   1│l0\n   2│l1\n"), "{}", &body[..80]);
    assert!(
        body.ends_with("2000│l1999\n[lines 1-2000 of 5000; continue with offset 2000]\n"),
        "{}",
        &body[body.len() - 100..]
    );
    let body = bench.call("read_file", json!({"path": "a.txt", "offset": 4998, "limit": 10})).done();
    assert_eq!(body, "4999│l4998\n5000│l4999\n[lines 4999-5000 of 5000]\n");
    let body = bench.call("read_file", json!({"path": "a.txt", "pattern": "99[89]$", "limit": 2})).done();
    assert_eq!(body, " 999│l998\n1000│l999\n[10 of 5000 lines match, 2 shown]\n");
    let body = bench.call("read_file", json!({"path": "a.txt", "offset": 5000})).failed();
    assert_eq!(
        body,
        "error: offset 5000 is past the end: the file has 5000 lines\nhint: the last line is at offset 4999"
    );
}

#[test]
fn a_page_fills_the_room_there_is_and_says_where_to_go_on() {
    let bench = Bench::new();
    bench.write("a.txt", (0..1000).map(|n| format!("{n} {}\n", "x".repeat(90))).collect::<String>());
    let body = read(&bench, "a.txt");
    assert!(body.len() <= 30_000 && body.len() > 28_000, "{}", body.len());
    let next: usize =
        body.rsplit_once("continue with offset ").unwrap().1.trim_end_matches("]\n").parse().unwrap();
    let body = bench.call("read_file", json!({"path": "a.txt", "offset": next})).done();
    assert!(body.contains(&format!("│{next} xxx")));
    let line = bench.call("read_file", json!({"path": "a.txt", "scratchpad": "all"})).done();
    assert!(line.starts_with("stored in the scratchpad `all`: 1000 lines, "), "{line}");
    assert_eq!(bench.pad("all").lines().count(), 1000);
}

#[test]
fn every_kind_of_file_has_its_own_answer() {
    let bench = Bench::new();
    bench.write("empty", "");
    bench.write("dir/x", "");
    bench.write("nul", b"abc\0def");
    bench.write("doc.txt", b"%PDF-1.4\n%\xE2\xE3\xCF\xD3\n");
    bench.write("data", b"SQLite format 3\0\x10\0");
    bench.write("zip", b"PK\x03\x04\x14\0\0\0");
    bench.write("elf", b"\x7FELF\x02\x01\x01\0\0\0");
    bench.write("wide", b"\xFF\xFEh\0i\0\r\0\n\0");
    bench.write("latin", b"caf\xE9 au lait\nna\xEFve\n");
    bench.write("crlf", b"a\r\nb");
    bench.write("pic.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>\n");
    crate::support::special::fifo(&bench.path("fifo"));
    let sparse = std::fs::File::create(bench.path("sparse")).unwrap();
    sparse.set_len(10 << 30).unwrap();
    for (path, want) in [
        ("empty", "[the file is empty: 0 bytes]\n"),
        ("dir", "is a directory\nhint: list it with list_directory"),
        ("nul", "error: `nul` is binary data (a NUL byte at offset 3) of 7 bytes, not text"),
        ("doc.txt", "doc.txt (application/pdf, 15 bytes)"),
        ("data", "is a SQLite database of 18 bytes"),
        ("zip", "is a zip archive"),
        ("elf", "is an ELF binary of 10 bytes"),
        ("wide", "1│hi\n[encoding: UTF-16LE with a byte order mark; CRLF line ends"),
        ("latin", "1│café au lait\n2│naïve\n[encoding: windows-1252]\n"),
        (
            "crlf",
            "1│a\n2│b\n[CRLF line ends: write plain line breaks, edits preserve CRLF; no line end at the end of the file]\n",
        ),
        ("pic.svg", "1│<svg "),
        ("fifo", "is a named pipe (FIFO)"),
        ("/dev/zero", "is a character device"),
        ("/proc/self/status", "Name:"),
        ("sparse", "is binary data of 10737418240 bytes"),
        ("missing.rs", "does not exist"),
        ("empyt", "`.` has `empty`; did you mean that?"),
        ("crlf/x", "is not a directory"),
    ] {
        let start = std::time::Instant::now();
        let body = read(&bench, path);
        assert!(body.contains(want), "{path}: {body}");
        assert!(start.elapsed() < crate::support::wait::DEADLINE, "{path} took {:?}", start.elapsed());
        assert!(body.len() < 800 || path.starts_with("/proc"), "{path}: {body}");
    }
}

#[test]
fn files_too_large_to_load_are_read_by_windows() {
    let bench = Bench::new();
    let line = format!("{}\n", "y".repeat(99));
    bench.write("big", line.repeat(200_000));
    bench.write("endless", "z".repeat(20_000_000));
    let body = read(&bench, "big");
    assert!(
        body.starts_with("error: `big` is 20000000 bytes: too large to read whole\nhint: give offset"),
        "{body}"
    );
    let body = bench.call("read_file", json!({"path": "big", "offset": 150_000, "limit": 2})).done();
    assert!(
        body.starts_with("150001│yyy")
            && body.ends_with(
                "[lines 150001-150002 of a file of 20000000 bytes; continue with offset 150002]\n"
            ),
        "{body}"
    );
    let body = bench.call("read_file", json!({"path": "big", "offset": 200_000, "limit": 2})).failed();
    assert!(body.contains("past the end: the file has 200000 lines"), "{body}");
    let body = read(&bench, "endless");
    assert!(body.contains("its first line alone is longer than 1 MB"), "{body}");
    // An edit of a line that was in the window goes ahead, another does not.
    let same = "y".repeat(99);
    let edit = json!({"path": "big", "old_string": format!("{same}\n{same}\n{same}"), "new_string": "z"});
    assert!(bench.call("edit_file", edit).failed().contains("times in `big`"));
}

#[test]
fn long_lines_are_split_and_join_to_the_line() {
    let bench = Bench::new();
    let line: String = (0..1500).map(|n| format!("{n},")).collect();
    bench.write("long", format!("{line}\nshort\n"));
    let body = read(&bench, "long");
    let rows = body.lines().filter_map(|row| row.split_once('│')).filter(|(n, _)| n.trim().starts_with('1'));
    assert_eq!(rows.map(|(_, text)| text).collect::<String>(), line);
    assert!(body.contains("continues in rows numbered n.2"), "{body}");
}
