//! Pages of the guide, and the tables in them.

use std::path::Path;

pub fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The rows below the table head that begins with `head`, as cells; backquotes are left out.
pub fn table(page: &str, head: &str) -> Vec<Vec<String>> {
    let lines = page.lines().skip_while(|line| !line.starts_with(head)).skip(2);
    let cells = |line: &str| {
        let inner = line.trim().trim_matches('|');
        inner.split(" | ").map(|cell| cell.replace('`', "").trim().to_string()).collect()
    };
    let rows: Vec<Vec<String>> = lines.take_while(|line| line.starts_with('|')).map(cells).collect();
    assert!(!rows.is_empty(), "there is no table `{head}`");
    rows
}
