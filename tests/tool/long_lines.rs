//! A line that is longer than a page: it is read in parts, searched, edited and overwritten, and what was shown of it is
//! what may be changed.

use crate::support::tool_bench::Bench;
use placet::conversation::CallOutcome;
use placet::tools::ToolSet;
use serde_json::{Value, json};

/// One line of JSON of about so many bytes, and how many items it has.
fn one_line(bytes: usize) -> (String, usize) {
    let (mut line, mut count) = (String::from("{\"k\":["), 0);
    while line.len() < bytes {
        line.push_str(&format!("{{\"id\":{count},\"name\":\"item-{count:07}-\u{e4}\"}},"));
        count += 1;
    }
    (format!("{line}0],\"tail\":1}}"), count)
}

fn bench(bytes: usize) -> (Bench, usize) {
    bench_of(ToolSet::Native, bytes)
}

fn bench_of(set: ToolSet, bytes: usize) -> (Bench, usize) {
    let bench = Bench::of(set);
    let (line, count) = one_line(bytes);
    bench.write("data.json", line);
    (bench, count)
}

fn item(number: usize) -> String {
    format!("\"item-{number:07}-")
}

fn edit(number: usize, new: &str) -> Value {
    json!({"path": "data.json", "old_string": item(number), "new_string": format!("\"{new}-")})
}

const SIZES: [usize; 3] = [30_000, 300_000, 10_000_000];
/// The last is larger than what is loaded for a search.
const SEARCHED: [usize; 3] = [30_000, 300_000, 18_000_000];
/// The tool sets in which lines have to be read before they are edited.
const READ_FIRST: [ToolSet; 2] = [ToolSet::Native, ToolSet::Agsh];

#[test]
fn what_a_search_showed_of_a_long_line_may_be_edited_and_nothing_else() {
    for (set, size) in READ_FIRST.into_iter().flat_map(|set| SEARCHED.map(|size| (set, size))) {
        let (bench, count) = bench_of(set, size);
        let (near, far) = (count / 2, count / 3);
        let found = bench.call("search_contents", json!({"pattern": item(near)})).done();
        assert!(found.contains(&item(near)), "{found}");
        let before = bench.bytes("data.json");
        let error = bench.call("edit_file", edit(far, "no")).failed();
        assert!(error.contains("line 1 of `data.json` was not shown to you"), "{error}");
        bench.call("edit_file", edit(near, "found")).done();
        let after = bench.text("data.json");
        assert_eq!(after, String::from_utf8(before).unwrap().replace(&item(near), "\"found-"));
        // The edit wrote a part of the line, and the rest of the line is as unknown as before.
        bench.call("edit_file", edit(far, "no")).failed();
        let again = json!({"path": "data.json", "old_string": "\"found-", "new_string": "\"twice-"});
        bench.call("edit_file", again).done();
    }
}

#[test]
fn the_hint_of_a_refused_edit_leads_to_the_part_that_licenses_it() {
    for (set, size) in READ_FIRST.into_iter().flat_map(|set| SIZES.map(|size| (set, size))) {
        for number in [|count: usize| count - 1, |count| count / 2, |_| 1] {
            let (bench, count) = bench_of(set, size);
            let number = number(count);
            let error = bench.call("edit_file", edit(number, "x")).failed();
            let call = match error.split_once("hint: read_file(path: \"data.json\", offset: 0, column: ") {
                Some((_, column)) => {
                    let column: usize = column.trim_end_matches(')').parse().unwrap();
                    json!({"path": "data.json", "offset": 0, "column": column})
                }
                None => json!({"path": "data.json"}),
            };
            let got = bench.call("read_file", call);
            // A file that cannot be read whole says how its parts are.
            let page = if got.0.outcome == CallOutcome::Done { got.done() } else { got.failed() };
            assert!(page.len() <= if set == ToolSet::Agsh { 1 << 20 } else { 30_000 }, "{}", page.len());
            if page.contains(&item(number)) {
                bench.call("edit_file", edit(number, "x")).done();
            } else {
                // The first read was the one that every file needs.
                let error = bench.call("edit_file", edit(number, "x")).failed();
                assert!(error.contains("column: "), "{error}");
            }
        }
    }
}

#[test]
fn a_pattern_shows_the_part_around_its_match() {
    for size in SIZES {
        let (bench, count) = bench(size);
        let page = bench.call("read_file", json!({"path": "data.json", "pattern": item(count - 5)})).done();
        assert!(page.len() < 30_000 && page.contains(&item(count - 5)), "{page}");
        bench.call("edit_file", edit(count - 5, "y")).done();
        bench.call("edit_file", edit(2, "y")).failed();
    }
}

#[test]
fn after_all_parts_were_read_the_file_may_be_overwritten() {
    for size in [30_000, 300_000] {
        let (bench, _) = bench(size);
        let (mut column, mut all) = (0, String::new());
        loop {
            let call = json!({"path": "data.json", "offset": 0, "column": column});
            let overwrite = json!({"path": "data.json", "content": "{}\n"});
            assert!(!bench.call("write_file", overwrite).failed().is_empty());
            let page = bench.call("read_file", call).done();
            page.lines().filter_map(|row| row.split_once('│')).for_each(|(_, row)| all.push_str(row));
            let Some((_, next)) = page.split_once("continue with offset 0 and column ") else { break };
            column = next.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap();
        }
        assert_eq!(all, bench.text("data.json"));
        bench.call("write_file", json!({"path": "data.json", "content": "{}\n"})).done();
    }
}

/// Whole lines and parts of lines of a large file, beside lines that a window showed: each stays known.
#[test]
fn what_a_search_and_a_window_showed_of_a_large_file_may_be_edited_and_nothing_else() {
    for set in READ_FIRST {
        let bench = Bench::of(set);
        let (line, count) = one_line(1_000_000);
        let rows: String = (0..900_000).map(|n| format!("row {n:07} {}\r\n", "x".repeat(8))).collect();
        bench.write("data.json", format!("{rows}{line}\n"));
        let edit = |old: &str| {
            let call = json!({"path": "data.json", "old_string": old, "new_string": old.replace('0', "-")});
            bench.call("edit_file", call).0.outcome == CallOutcome::Done
        };
        bench.call("read_file", json!({"path": "data.json", "offset": 10, "limit": 2})).done();
        bench.call("search_contents", json!({"pattern": "row 0400000|row 0400001"})).done();
        bench.call("search_contents", json!({"pattern": item(count / 2)})).done();
        bench.call("read_file", json!({"path": "data.json", "offset": 600_000, "limit": 2})).done();
        for (old, may) in [
            ("row 0600001", true),
            ("row 0600020", false),
            ("row 0000010", true),
            ("row 0000020", false),
            ("row 0400000", true),
            ("row 0400020", false),
            (&item(count / 2), true),
            (&item(count / 4), false),
            ("row 0400001", true),
            ("row 0000011", true),
        ] {
            assert_eq!(edit(old), may, "{set:?} {old}");
        }
    }
}

/// For every pair of places: an edit goes ahead where the row that was shown has its text, and only there.
#[test]
fn an_edit_goes_ahead_exactly_where_the_shown_row_has_its_text() {
    let (line, count) = one_line(40_000);
    for shown in (0..count).step_by(97) {
        for wanted in (0..count).step_by(89).chain(shown.saturating_sub(8)..(shown + 12).min(count)) {
            let bench = Bench::new();
            bench.write("data.json", format!("before\n{line}\nafter\n"));
            let found = bench.call("search_contents", json!({"pattern": item(shown)})).done();
            let got = bench.call("edit_file", edit(wanted, "z")).0;
            let is_done = got.outcome == CallOutcome::Done;
            assert_eq!(is_done, found.contains(&item(wanted)), "{shown} {wanted}: {found}");
        }
    }
}

#[test]
fn a_change_by_others_takes_back_what_was_known_of_a_part() {
    let (bench, count) = bench(60_000);
    bench.call("search_contents", json!({"pattern": item(count / 2)})).done();
    bench.write("data.json", format!("{}\n", bench.text("data.json").replace(&item(3), "\"other-")));
    let error = bench.call("edit_file", edit(count / 2, "mine")).failed();
    assert!(error.contains("changed since you read it"), "{error}");
    bench.call("search_contents", json!({"pattern": item(count / 2)})).done();
    bench.call("edit_file", edit(count / 2, "mine")).done();
}

#[test]
fn a_batch_edits_the_part_that_was_shown() {
    let (bench, count) = bench(60_000);
    bench.call("search_contents", json!({"pattern": item(count / 2)})).done();
    let on = |number: usize| json!({"op": "edit", "path": "data.json", "old_string": item(number), "new_string": "\"b-"});
    let error = bench.call("operations", json!({"operations": [on(1)]})).failed();
    assert!(error.contains("column: 0"), "{error}");
    bench.call("operations", json!({"operations": [on(count / 2)]})).done();
    assert!(!bench.text("data.json").contains(&item(count / 2)));
    bench.call("operations", json!({"operations": [on(count / 2 + 1)]})).done();
}

#[test]
fn what_was_known_of_a_part_is_saved_with_the_session() {
    let (bench, count) = bench(60_000);
    bench.call("search_contents", json!({"pattern": item(count / 2)})).done();
    let saved = serde_json::to_string(&bench.env.ledger.lock().unwrap().snapshot()).unwrap();
    let restored = placet::workspace::ReadLedger::restore(&serde_json::from_str(&saved).unwrap());
    *bench.env.ledger.lock().unwrap() = restored;
    bench.call("edit_file", edit(count / 2, "kept")).done();
    bench.call("edit_file", edit(1, "no")).failed();
}

/// A tool set whose document has no columns stores such a line, or shows all of it where its page has room.
#[test]
fn tool_sets_without_columns_read_search_and_edit_a_long_line() {
    for size in SIZES {
        let (line, count) = one_line(size);
        for (set, tool, call) in [
            (
                ToolSet::Agsh,
                "edit_file",
                json!({"path": "data.json", "old_string": item(count / 2), "new_string": "z", "force": true}),
            ),
            (
                ToolSet::Deepagents,
                "edit_file",
                json!({"file_path": "/data.json", "old_string": item(count / 2), "new_string": "z"}),
            ),
            (
                ToolSet::Triggerfish,
                "edit_file",
                json!({"path": "data.json", "old_text": item(count / 2), "new_text": "z"}),
            ),
        ] {
            let bench = Bench::of(set);
            bench.write("data.json", &line);
            let argument = if set == ToolSet::Deepagents { "file_path" } else { "path" };
            let path = if set == ToolSet::Deepagents { "/data.json" } else { "data.json" };
            bench.call("read_file", json!({argument: path})).done();
            bench.call(tool, call).done();
            assert_eq!(bench.text("data.json"), line.replace(&item(count / 2), "z"));
        }
    }
}
