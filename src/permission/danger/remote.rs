//! Commands that destroy what lies elsewhere: databases, containers, clusters, clouds.

use super::{CommandDanger, DangerSeverity};
use crate::permission::command::CommandSegment;

/// The program, then words that must all be among the arguments, in this order.
const TABLE: &[(&str, &[&str])] = &[
    ("docker", &["system", "prune"]),
    ("docker", &["volume", "rm"]),
    ("docker", &["volume", "prune"]),
    ("docker", &["image", "prune"]),
    ("docker", &["container", "prune"]),
    ("docker", &["compose", "down", "-v"]),
    ("docker", &["compose", "down", "--volumes"]),
    ("docker-compose", &["down", "-v"]),
    ("docker-compose", &["down", "--volumes"]),
    ("podman", &["system", "prune"]),
    ("podman", &["system", "reset"]),
    ("podman", &["volume", "rm"]),
    ("podman", &["volume", "prune"]),
    ("kubectl", &["delete"]),
    ("kubectl", &["drain"]),
    ("helm", &["uninstall"]),
    ("helm", &["delete"]),
    ("terraform", &["destroy"]),
    ("terraform", &["apply", "-destroy"]),
    ("tofu", &["destroy"]),
    ("pulumi", &["destroy"]),
    ("aws", &["s3", "rm"]),
    ("aws", &["s3", "rb"]),
    ("aws", &["terminate-instances"]),
    ("gsutil", &["rm"]),
    ("gh", &["repo", "delete"]),
    ("gh", &["release", "delete"]),
    ("npm", &["unpublish"]),
    ("redis-cli", &["flushall"]),
    ("redis-cli", &["flushdb"]),
    ("mysqladmin", &["drop"]),
    ("dropdb", &[]),
    ("cryptsetup", &["luksformat"]),
    ("lvremove", &[]),
    ("vgremove", &[]),
    ("zpool", &["destroy"]),
    ("zfs", &["destroy"]),
    ("btrfs", &["subvolume", "delete"]),
    ("userdel", &[]),
];

const DATABASES: &[&str] = &[
    "psql",
    "mysql",
    "mariadb",
    "sqlite3",
    "sqlite",
    "duckdb",
    "clickhouse-client",
    "mongo",
    "mongosh",
    "sqlcmd",
];

pub(super) fn danger(segment: &CommandSegment, line: &str) -> Option<CommandDanger> {
    let name = segment.program()?;
    let words: Vec<String> = segment.arguments().iter().map(|w| w.shown().to_ascii_lowercase()).collect();
    let in_order = |wanted: &[&str]| {
        let mut rest = words.iter();
        wanted.iter().all(|want| rest.any(|word| word == want))
    };
    if let Some((_, wanted)) = TABLE.iter().find(|(program, wanted)| *program == name && in_order(wanted)) {
        let what = std::iter::once(&name).chain(wanted.iter()).copied().collect::<Vec<_>>().join(" ");
        return Some(CommandDanger::of(&format!("`{what}` destroys data"), DangerSeverity::Loss));
    }
    if !DATABASES.contains(&name) {
        return None;
    }
    let mut said = words.join(" ");
    for redirect in &segment.redirects {
        said.push(' ');
        said.push_str(&redirect.target.source.to_ascii_lowercase());
    }
    // What a pipe brings in stands elsewhere in the line.
    if !segment.fed_by.is_empty() {
        said.push_str(&line.to_ascii_lowercase());
    }
    let squeezed = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let drops = [
        "drop table",
        "drop database",
        "drop schema",
        "truncate ",
        "dropdatabase",
        ".drop(",
        "deletemany({})",
    ];
    let deletes_all = squeezed.contains("delete from") && !squeezed.contains(" where ");
    let found = deletes_all || drops.iter().any(|d| squeezed.contains(d));
    found.then(|| {
        CommandDanger::of(&format!("the statement for `{name}` destroys data"), DangerSeverity::Loss)
    })
}
