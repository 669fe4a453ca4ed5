//! Undo of a mode, in a file whose content somebody else changed since.

use crate::support::binary::Place;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

fn mode(place: &Place) -> u32 {
    std::fs::metadata(place.tree.join("run.sh")).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_mode_goes_back_and_the_persons_line_stays() {
    for (command, before, after) in [
        ("run chmod 755 run.sh", "one\ntwo\n", "one\ntwo\n"),
        ("run chmod 755 run.sh && sed -i s/one/1/ run.sh", "one\ntwo\n", "1\ntwo\n"),
    ] {
        let place = Place::new().file("run.sh", before);
        let first = mode(&place);
        assert_ne!(first, 0o755);
        place.run(["-p", command, "--mode", "ask", "--apply"]).code(0);
        assert_eq!((place.read("run.sh").as_str(), mode(&place)), (after, 0o755));
        let path = place.tree.join("run.sh");
        std::fs::OpenOptions::new().append(true).open(path).unwrap().write_all(b"mine\n").unwrap();
        place.run(["undo"]).code(0);
        assert_eq!((place.read("run.sh"), mode(&place)), (format!("{before}mine\n"), first));
        let redone = place.run(["redo"]).code(0);
        assert!(!redone.stderr.contains("damaged"), "{}", redone.stderr);
        assert_eq!((place.read("run.sh"), mode(&place)), (format!("{after}mine\n"), 0o755));
        assert!(!place.run(["doctor"]).stdout.contains("the file is missing"));
    }
}
