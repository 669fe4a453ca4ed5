//! More than anybody can hold: files of a terabyte, endless output, endless input.

use crate::support::binary::Place;
use crate::support::require::has_view;
use std::os::unix::fs::MetadataExt;

const TERABYTE: u64 = 1 << 40;

#[test]
fn a_terabyte_of_nothing_is_shown_applied_and_undone_at_once_and_stays_a_hole() {
    let place = Place::new();
    let too_large = std::fs::File::create(place.beside("tried")).unwrap().set_len(3 * TERABYTE).is_err();
    if !has_view() || too_large {
        eprintln!("skipped: no view here, or no files of three terabytes");
        return;
    }
    let apply = |line: &str| place.run(["sandbox", "run", "--apply", "--", line]).code(0).warns("f");
    let size_and_room = || {
        let meta = std::fs::metadata(place.tree.join("f")).unwrap();
        (meta.len(), meta.blocks() * 512 < 10 << 20)
    };
    apply("truncate -s 1T f && echo end >> f");
    assert_eq!(size_and_room(), (TERABYTE + 4, true));
    apply("truncate -s 2T f && echo other >> f");
    assert_eq!(size_and_room(), (2 * TERABYTE + 6, true));
    place.run(["undo"]).code(0);
    assert_eq!(size_and_room(), (TERABYTE + 4, true));
    place.run(["undo"]).code(0);
    assert!(!place.tree.join("f").exists());
    place.run(["redo"]).code(0);
    assert_eq!(size_and_room(), (TERABYTE + 4, true));
    // Pending, looked at, and with another view beside it.
    place.run(["sandbox", "run", "--", "truncate -s 3T f"]).code(3);
    place.run(["changes"]).code(0).says("f");
    place.run(["changes", "--patch"]).code(0);
    place.run(["discard"]).code(0);
    assert_eq!(size_and_room(), (TERABYTE + 4, true));
}

#[test]
fn sandbox_run_passes_standard_input_on() {
    if !has_view() {
        return;
    }
    let place = Place::new();
    let run = |line: &str, input: Vec<u8>| {
        place.placet(["sandbox", "run", "--discard", "--", line]).stdin(input).go()
    };
    let input = [b"5\n".to_vec(), vec![b'x'; 300_000]].concat();
    let out = run("read x; echo \"got $x\"; wc -c", input).code(0);
    assert_eq!(out.stdout.split_whitespace().collect::<Vec<_>>(), ["got", "5", "300000"]);
    run("cat", Vec::new()).code(0);
    // What is not read keeps nothing from ending.
    run("true", vec![b'x'; 1 << 20]).code(0);
    let out = run("sort > sorted; wc -c < sorted", b"b\na\n".to_vec()).code(0);
    assert_eq!(out.stdout.trim(), "4");
}

#[test]
fn the_middle_of_an_endless_output_is_dropped_with_a_report() {
    if !has_view() {
        return;
    }
    let place = Place::new();
    let line = "run head -c 10000000 /dev/zero; echo the-end";
    let out = place.run(["-p", line, "--mode", "write", "--allow", "run_command"]).code(0);
    let told = format!("{}{}", out.stdout, out.stderr);
    assert!(told.contains("the-end"), "{}", told.chars().take(500).collect::<String>());
}
