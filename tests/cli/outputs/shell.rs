//! The shell's own commands, typed at its prompt: what the terminal shows from one prompt to the next. Commands that
//! open a full screen are in `screens.rs`.

use crate::support::den::sandbox_or_skip;
use crate::support::output::{Commands, snapshot};
use crate::support::pty::shell;
use placet::sandbox::SandboxBackend;

const GROUP: &str = "shell";

fn all(commands: &mut Commands, cases: &[(&str, &str)]) {
    for (name, line) in cases {
        snapshot(GROUP, name, &commands.run(line));
    }
}

fn offline() -> Commands {
    Commands::open(shell().arg("--provider").arg("offline").arg("--mode").arg("read"))
}

#[test]
fn before_anything_was_said() {
    let cases = [
        ("help", "/help"),
        ("help_of_a_command", "/help mode"),
        ("mode", "/mode"),
        ("mode_unknown", "/mode yolo"),
        ("plan", "/plan"),
        ("plan_unknown", "/plan maybe"),
        ("model", "/model"),
        ("provider", "/provider"),
        ("provider_unknown", "/provider nope"),
        ("changes_nothing", "/changes"),
        ("apply_nothing", "/apply"),
        ("discard_nothing", "/discard"),
        ("undo_nothing", "/undo"),
        ("redo_nothing", "/redo"),
        ("rewind_nothing", "/rewind"),
        ("tree_nothing", "/tree"),
        ("fork_nothing", "/fork"),
        ("journal_nothing", "/journal"),
        ("batch_wrong", "/batch {"),
        ("context_nothing", "/context"),
        ("context_summary_nothing", "/context summary"),
        ("compact_nothing", "/compact"),
        ("jobs_nothing", "/jobs"),
        ("jobs_unknown", "/jobs kill 7"),
        ("resume_unknown", "/resume zzz"),
        ("title_nothing", "/title"),
        ("search_without_words", "/search"),
        ("model_of_offline", "/model zz"),
        ("search_nothing", "/search zebra"),
        ("view_without_file", "/view"),
        ("view_missing_file", "/view nope.txt"),
        ("last_nothing", "/last"),
        ("copy_nothing", "/copy"),
        ("retry_nothing", "/retry"),
        ("export_nothing", "/export"),
        ("scratchpad_nothing", "/scratchpad"),
        ("scratchpad_unknown", "/scratchpad nope"),
        ("tools", "/tools"),
        ("tools_unknown", "/tools nope"),
        ("cost_nothing", "/cost"),
        ("permission", "/permission"),
        ("permission_check_nothing", "/permission check"),
        ("permission_grant_nothing", "/permission grant"),
        ("permission_grant_rule", "/permission grant run(ls *)"),
        ("plan_reject_nothing", "/plan reject"),
        ("undo_zero", "/undo 0"),
        ("permission_wrong", "/permission revoke 7"),
        ("taint", "/taint"),
        ("taint_wrong", "/taint nope"),
        ("config_key", "/config mode"),
        ("config_unknown", "/config modee"),
        ("theme_unknown", "/theme nope"),
        ("cd_before", "/cd -"),
        ("cd_missing", "/cd nowhere"),
        ("unknown_command", "/modle"),
        ("unknown_command_far", "/xyzzy"),
        ("command_of_another_program", "/diff"),
        ("help_keys", "/help ?"),
        ("own_command", "!echo hi"),
        ("own_command_fails", "!exit 3"),
    ];
    all(&mut offline(), &cases);
}

#[test]
fn a_command_is_judged_as_it_would_run() {
    if !sandbox_or_skip(SandboxBackend::Overlay) {
        return;
    }
    all(&mut offline(), &[("permission_check", "/permission check make all")]);
}

#[test]
fn after_a_turn() {
    let mut commands = offline();
    let cases = [
        ("turn", "show notes.txt"),
        ("tree", "/tree"),
        ("last", "/last"),
        ("title", "/title my notes"),
        ("pin", "/pin"),
        ("pin_off", "/pin off"),
        ("retry", "/retry"),
        ("export", "/export out.md"),
        ("export_again", "/export out.md"),
        ("export_into_nowhere", "/export no/out.md"),
        ("title_alone", "/title"),
        ("cost", "/cost"),
        ("context", "/context"),
        ("status", "/status"),
        ("copy_unknown", "/copy 9"),
        ("rewind_unknown", "/rewind 9 files"),
        ("resume_itself", "/resume 1"),
        ("scratchpad_saved", "save that as kept"),
        ("scratchpad", "/scratchpad"),
        ("scratchpad_shown", "/scratchpad kept"),
        ("fork", "/fork"),
        ("new", "/new"),
    ];
    all(&mut commands, &cases);
}

#[test]
fn changes_in_write_mode() {
    let mut commands = offline();
    let cases = [
        ("mode_write", "/mode write"),
        ("write_turn", "create a.txt with \"x\""),
        ("journal", "/journal"),
        ("journal_entry", "/journal 1"),
        ("journal_unknown", "/journal 99"),
        ("undo", "/undo"),
        ("undo_unknown", "/undo nope.txt"),
        ("redo", "/redo"),
        ("mode_none", "/mode none"),
        ("mode_ask", "/mode ask"),
        ("plan_on", "/plan on"),
        ("plan_approve", "/plan approve"),
        ("mode_unrestricted", "/mode unrestricted"),
    ];
    all(&mut commands, &cases);
}

#[test]
fn a_mode_that_the_settings_do_not_permit() {
    let start = shell().arg("--provider").arg("offline").arg("--mode").arg("read").arg("--set");
    let mut commands = Commands::open(start.arg("permission.modes=[\"read\",\"ask\"]"));
    all(&mut commands, &[("mode_not_permitted", "/mode write")]);
}

#[test]
fn changes_in_ask_mode() {
    let start = shell().arg("--provider").arg("offline").arg("--mode").arg("ask");
    let mut commands = Commands::open(start);
    let asked = commands.answering("create a.txt with \"x\"", "k");
    snapshot(GROUP, "ask_turn_left_pending", &asked);
    let cases = [
        ("changes", "/changes"),
        ("changes_of_a_path", "/changes a.txt"),
        ("changes_of_another_path", "/changes notes.txt"),
        ("discard", "/discard"),
        ("undo_of_a_discard", "/undo"),
    ];
    all(&mut commands, &cases);
    let asked = commands.answering("/apply", "a");
    snapshot(GROUP, "apply", &asked);
    let asked = commands.answering("overwrite notes.txt with \"x\" anyway", "a");
    snapshot(GROUP, "ask_turn_applied", &asked);
}
