//! `placet permission`, and the audit log.

use crate::support::den::sandbox_or_skip;
use crate::support::output::{Project, snapshots};
use placet::sandbox::SandboxBackend;

const GROUP: &str = "permission";

const RULES: &str = "provider = \"offline\"\n[permission]\nallow = [\"run(make *)\"]\n\
                     [[permission.deny]]\nrule = \"run(curl *)\"\nreason = \"no downloads\"\n";

#[test]
fn the_rules() {
    let cases = [("list_without_rules", "permission list"), ("list_json", "permission list --json")];
    snapshots(GROUP, &Project::offline(), &cases);
    let cases = [("list", "permission list"), ("list_with_an_option", "permission list --deny run")];
    snapshots(GROUP, &Project::offline().config(RULES), &cases);
}

#[test]
fn how_a_command_is_judged() {
    let cases = [
        ("check_read_mode", "permission check --no-view ls"),
        ("check_read_mode_in_view", "permission check --view 'rm notes.txt'"),
        ("check_allowed", "permission check --no-view --mode write 'cd src && make all > make.log; ls'"),
        ("check_asks", "permission check --no-view --mode write 'make && touch made'"),
        ("check_denied", "permission check --mode unrestricted 'timeout 5 curl x'"),
        ("check_dangerous", "permission check --mode unrestricted 'rm -rf ..'"),
        ("check_json", "permission check --no-view --mode write --json 'make all; touch x'"),
        ("check_unreadable", "permission check --no-view --mode write 'echo \"open'"),
        ("check_without_command", "permission check"),
    ];
    snapshots(GROUP, &Project::offline().config(RULES), &cases);
}

#[test]
fn a_command_is_judged_as_it_would_run() {
    if !sandbox_or_skip(SandboxBackend::Overlay) {
        return;
    }
    let cases = [
        ("check_as_it_runs", "permission check 'make && touch made'"),
        ("check_as_it_runs_denied", "permission check 'timeout 5 curl x'"),
    ];
    snapshots(GROUP, &Project::offline().config(RULES), &cases);
}

#[test]
fn the_audit_log() {
    let project = Project::offline();
    let cases = [("audit_verify_empty", "audit verify"), ("audit_show_empty", "audit show")];
    snapshots(GROUP, &project, &cases);
    project.prepare("-p 'show notes.txt'", 0);
    project.prepare("-p 'create a.txt with \"x\"'", 3);
    project.prepare("-p 'create a.txt with \"x\"' --mode ask", 3);
    project.prepare("apply", 0);
    project.prepare("undo", 0);
    let cases = [
        ("audit_show", "audit show"),
        ("audit_show_json", "audit show --json --limit 2"),
        ("audit_verify", "audit verify"),
    ];
    snapshots(GROUP, &project, &cases);
    let log = project.place.state_dir().join("audit/log.jsonl");
    let text = std::fs::read_to_string(&log).unwrap();
    std::fs::write(&log, text.replacen("notes.txt", "other.txt", 1)).unwrap();
    snapshots(GROUP, &project, &[("audit_verify_changed", "audit verify")]);
}
