//! The guide's tables on modes, permissions and headless use, cell by cell against the code.

use crate::support::binary::Place;
use crate::support::guide_page::{page, table};
use placet::conversation::CallId;
use placet::permission::{Access, AccessLocation, Decision, Mode, ModeCell, Policy, WritePolicy};
use placet::workspace::LossLimit;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What the policy answers, in the words of the guide.
fn answer(mode: Mode, reach: Access) -> &'static str {
    let policy = Policy::new(ModeCell::new(mode), Vec::new(), vec![PathBuf::from("/w")]);
    let writes = matches!(&reach, Access::Write { .. });
    match policy.decide(&CallId::new("c"), "run_command", vec![reach]) {
        Decision::Allow(permit) if writes && permit.write_policy() == WritePolicy::Hold => "pending",
        Decision::Allow(_) => "yes",
        Decision::Ask(_) => "asks",
        Decision::Deny(_) => "refused",
    }
}

fn write(path: &str, place: AccessLocation) -> Access {
    Access::Write { path: path.into(), place }
}

fn run(command: &str, confined: bool) -> Access {
    Access::Run { command: command.into(), cwd: "/w".into(), confined }
}

#[test]
fn what_still_asks_is_what_the_policy_asks() {
    let modes = [Mode::Read, Mode::Ask, Mode::Write, Mode::Unrestricted];
    let rows = table(&page("guide/modes.md"), "| | read | ask | write | unrestricted |");
    for row in &rows {
        // What the row is about, and what the second half of a cell is about.
        let (reach, other) = match row[0].as_str() {
            name if name.starts_with("read outside") => {
                (Access::Read { path: "/etc/hosts".into(), place: AccessLocation::Outside }, None)
            }
            name if name.starts_with("write outside") => (
                write("/etc/hosts", AccessLocation::Outside),
                Some(write("/home/me/.bashrc", AccessLocation::Outside)),
            ),
            name if name.starts_with("[protected files]") => {
                (write("/w/.envrc", AccessLocation::Protected), None)
            }
            name if name.starts_with("a read-only file") => (write("/w/a", AccessLocation::ReadOnly), None),
            name if name.starts_with("[pages of the web]") => (Access::Fetch { host: "a.b".into() }, None),
            name if name.starts_with("a [published port]") => (Access::Publish { port: 8123 }, None),
            name if name.starts_with("the [network]") => (Access::Network { host: "a.b".into() }, None),
            name if name.starts_with("a command, where there is no view") => {
                (run("cargo test", false), Some(run("rm -rf /", false)))
            }
            name => panic!("no reach for the row `{name}`"),
        };
        for (mode, cell) in modes.into_iter().zip(&row[1..]) {
            let (first, second) = cell.split_once("; ").map_or((cell.as_str(), None), |(a, b)| (a, Some(b)));
            assert_eq!(first, answer(mode, reach.clone()), "{}: {mode}", row[0]);
            if let Some(second) = second {
                assert!(second.ends_with("ask"), "{second}");
                assert_eq!(answer(mode, other.clone().unwrap()), "asks", "{}: {mode}: {second}", row[0]);
            }
        }
    }
    assert_eq!(rows.len(), 8);
}

#[test]
fn the_table_of_modes_is_what_the_modes_do() {
    let rows = table(&page("guide/modes.md"), "| prompt | mode | file tools |");
    assert_eq!(rows.len(), Mode::ALL.len());
    for (mode, row) in Mode::ALL.into_iter().zip(rows) {
        let inside = || write("/w/a", AccessLocation::Inside);
        let reads = answer(mode, Access::Read { path: "/w/a".into(), place: AccessLocation::Inside });
        let tools = match (reads, answer(mode, inside())) {
            ("refused", "refused") => "none",
            ("yes", "refused") => "those that change nothing",
            ("yes", "yes" | "pending") => "all",
            other => panic!("{mode}: {other:?}"),
        };
        let commands = match (answer(mode, run("cargo test", true)), mode.write_policy()) {
            ("refused", _) => "none",
            ("yes", WritePolicy::Direct) => "without a sandbox, with your rights",
            ("yes", _) => "in the view",
            other => panic!("{mode}: {other:?}"),
        };
        let becomes = match mode.write_policy() {
            _ if mode == Mode::None => "",
            WritePolicy::Discard => "discarded",
            WritePolicy::Hold => "[pending]",
            WritePolicy::Apply => "applied after each call",
            WritePolicy::Direct => "real at once",
        };
        assert_eq!(row[0], format!("[{}]", mode.letter()));
        assert_eq!((row[1].as_str(), row[2].as_str(), row[3].as_str()), (mode.name(), tools, commands));
        assert!(row.get(4).map_or("", String::as_str).starts_with(becomes), "{mode}: {row:?}");
    }
}

#[test]
fn the_table_of_protected_files_is_what_file_tools_and_commands_do() {
    let rows = table(&page("guide/modes.md"), "| | a file tool | a command |");
    let modes = [Mode::Read, Mode::Ask, Mode::Write, Mode::Unrestricted];
    for (mode, row) in modes.into_iter().zip(&rows) {
        assert_eq!(row[0], mode.name());
        let tool = match answer(mode, write("/w/.envrc", AccessLocation::Protected)) {
            "refused" => "refused",
            "pending" => "the change is pending, marked !",
            "asks" => "asks, each time",
            other => panic!("{mode}: {other}"),
        };
        assert_eq!(row[1], tool, "{mode}");
        let command = match mode.write_policy() {
            WritePolicy::Discard => "the change is discarded",
            WritePolicy::Hold => "the change is pending",
            WritePolicy::Apply => "all changes of the command are pending",
            WritePolicy::Direct => "the change is real at once",
        };
        assert!(row[2].starts_with(command), "{mode}: {row:?}");
    }
    assert_eq!(rows.len(), modes.len());
}

#[test]
fn the_loss_limit_of_the_guide_is_that_of_the_code() {
    let limit = LossLimit::default();
    let rows = table(&page("guide/modes.md"), "| stays pending | |");
    let loss = rows.iter().find(|row| row[0] == "a loss").unwrap();
    assert!(loss[1].contains(&format!("brake.files ({})", limit.files)), "{loss:?}");
    assert!(loss[1].contains("brake.bytes (1 MB)") && limit.bytes == 1 << 20, "{loss:?}");
}

/// The values of an enum in a schema, whatever its shape there.
fn values(schema: &Value, name: &str) -> BTreeSet<String> {
    let definition = &schema["$defs"][name];
    let of = |value: &Value| -> Vec<String> {
        let many = value["enum"].as_array().cloned().unwrap_or_default();
        many.iter().chain(value.get("const")).filter_map(|v| v.as_str().map(String::from)).collect()
    };
    let one_of = definition["oneOf"].as_array().cloned().unwrap_or_default();
    one_of.iter().chain([definition]).flat_map(of).collect()
}

fn first_cells(page: &str, head: &str) -> BTreeSet<String> {
    table(page, head).into_iter().map(|row| row[0].clone()).collect()
}

#[test]
fn the_tables_of_the_json_formats_are_what_the_schema_says() {
    let headless = page("guide/headless.md");
    let schema = &placet::serve::schema()["json"];
    assert_eq!(first_cells(&headless, "| `ending` | meaning |"), values(schema, "ReportedEnding"));
    assert_eq!(first_cells(&headless, "| `classification` | meaning |"), values(schema, "ReportedClass"));
    let fields = first_cells(&headless, "| field | |");
    let fields: BTreeSet<&str> = fields.iter().flat_map(|cell| cell.split(", ")).collect();
    let known = schema["$defs"]["ChangeReport"]["properties"].as_object().unwrap();
    assert_eq!(fields, known.keys().map(String::as_str).collect());
}

#[test]
fn the_exit_codes_of_the_guide_are_those_of_the_code() {
    let codes = first_cells(&page("guide/headless.md"), "| code | meaning |");
    let known = placet::cli::reference::EXIT_CODES.iter().map(ToString::to_string);
    assert_eq!(codes, known.collect());
}

#[test]
fn every_option_in_the_tables_is_one_of_the_command_line() {
    // The completions know the options that `--help` leaves out to fit a screen, too.
    let completions = Place::new().run(["completions", "bash"]).code(0).stdout;
    let options = format!("{} {completions}", page("reference/command-line.md"));
    for name in ["guide/modes.md", "guide/permissions.md", "guide/headless.md"] {
        let text = page(name);
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
        for word in rows.iter().flat_map(|row| row.split(['`', ' ', ',', '|', ';', '(', ')'])) {
            if word.len() > 2 && word.starts_with("--") && !word.starts_with("---") {
                let option = word.split('=').next().unwrap();
                assert!(options.contains(&format!("{option} ")), "{name}: `{option}`");
            }
        }
    }
    for flag in ["--apply-protected", "--apply-loss"] {
        for name in ["guide/modes.md", "guide/headless.md"] {
            assert!(page(name).lines().any(|l| l.starts_with('|') && l.contains(flag)), "{name}: {flag}");
        }
    }
}
