//! What commands did in the copy-on-write view, pending and applied; skipped where a machine has no such view.

use crate::support::den::sandbox_or_skip;
use crate::support::output::{Project, snapshots};
use placet::sandbox::SandboxBackend;

const GROUP: &str = "sandbox";
const ALL_KINDS: &str = "-p 'run mv notes.txt moved.txt; ln -s src link; chmod 755 src/main.rs; \
                         head -c 9 /dev/zero > zeros.bin; mkdir sub; echo x > sub/y' --mode ask";

#[test]
fn every_kind_of_change_made_by_a_command() {
    if !sandbox_or_skip(SandboxBackend::Overlay) {
        return;
    }
    let cases = [
        ("kinds_made", ALL_KINDS),
        ("kinds", "changes"),
        ("kinds_patch", "changes --patch"),
        ("kinds_apply", "apply"),
        ("kinds_journal", "journal show 1"),
        ("kinds_undo", "undo"),
    ];
    snapshots(GROUP, &Project::offline(), &cases);
}

#[test]
fn a_command_in_each_mode() {
    if !sandbox_or_skip(SandboxBackend::Overlay) {
        return;
    }
    let cases = [
        ("read_mode", "-p 'run echo hi; echo x > a.txt' --mode read"),
        ("ask_mode", "-p 'run echo hi; echo x > a.txt' --mode ask"),
        ("write_mode", "-p 'run echo hi; echo x > b.txt' --mode write"),
        ("command_fails", "-p 'run echo no >&2; exit 7' --mode read"),
    ];
    snapshots(GROUP, &Project::offline(), &cases);
}

#[test]
fn sandbox_run_applies_discards_or_leaves_its_changes() {
    if !sandbox_or_skip(SandboxBackend::Overlay) {
        return;
    }
    let cases = [
        ("run_without_changes", "sandbox run -- echo hi"),
        ("run_discard", "sandbox run --discard -- touch x"),
        ("run_apply", "sandbox run --apply -- touch x"),
        ("run_pending", "sandbox run -- touch y"),
        ("run_fails", "sandbox run --discard -- sh -c 'exit 7'"),
    ];
    snapshots(GROUP, &Project::offline(), &cases);
}

#[test]
fn a_large_loss_waits_for_a_yes_of_its_own() {
    if !sandbox_or_skip(SandboxBackend::Overlay) {
        return;
    }
    let project = (1..=25).fold(Project::offline(), |p, k| p.file(&format!("many/{k}.txt"), "some text\n"));
    let cases = [
        ("loss_made", "-p 'run rm -r many' --mode write"),
        ("loss", "changes"),
        ("loss_apply", "apply"),
        ("loss_apply_wrong_number", "apply --apply-loss 3"),
        ("loss_apply_it", "apply --apply-loss 25"),
    ];
    snapshots(GROUP, &project, &cases);
}
