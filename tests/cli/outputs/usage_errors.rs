//! Wrong options, values and names.

use crate::support::output::{Project, snapshots};
use crate::support::program::has_feature;

const GROUP: &str = "usage_errors";

#[test]
fn what_the_parser_refuses() {
    let cases = [
        ("unknown_option", "--provder x"),
        ("unknown_short_option", "-x"),
        ("unknown_command_word", "session lst"),
        ("two_words", "nope nope"),
        ("missing_value", "--mode"),
        ("unknown_format", "-p hi --output-format xml"),
        ("number_expected", "-p hi --max-turns x"),
        ("number_expected_for_losses", "apply --apply-loss x"),
        ("number_expected_for_a_transaction", "journal show zz"),
        ("options_that_exclude_each_other", "-p hi --apply --dry-run"),
        ("continue_and_resume", "-p hi -c -r x"),
        ("replay_and_provider", "-p hi --replay x --provider y"),
        ("prompt_twice", "-p one two"),
        ("session_rename_without_words", "session rename"),
        ("blame_without_file", "blame"),
        ("sandbox_run_without_command", "sandbox run"),
        ("completions_without_shell", "completions"),
        ("completions_unknown_shell", "completions csh"),
        ("metrics_port", "metrics serve --port x"),
        ("mcp_serve_unknown_word", "mcp serve x"),
        ("mcp_serve_unknown_option", "mcp serve --rot ."),
        ("changes_json_and_patch", "changes --json --patch"),
    ];
    snapshots(GROUP, &Project::new(), &cases);
}

#[test]
fn names_and_values_that_do_not_exist() {
    let cases = [
        ("unknown_mode", "-p hi --mode yolo"),
        ("unknown_provider", "-p hi --provider nope"),
        ("unknown_tool_set", "-p hi --dialect nope"),
        ("provider_without_model", "-p hi --provider openai-compatible"),
        ("set_without_equals_sign", "-p hi --set mode"),
        ("set_unknown_key", "-p hi --set modell=x"),
        ("set_wrong_type", "-p hi --set max_turns=many"),
        ("set_wrong_choice", "-p hi --set ui.color=blue"),
        ("rule_unknown_tool", "-p hi --allow raed(x)"),
        ("rule_without_end", "-p hi --allow run("),
        ("rule_wrong_glob", "-p hi --deny read([)"),
        ("unknown_session", "-p hi --resume zzz"),
        ("session_of_changes", "changes --session zzz"),
        ("session_of_apply", "apply --session zzz"),
        ("missing_directory", "-p hi --cwd /nope"),
        ("missing_added_directory", "-p hi --add-dir /nope"),
        ("missing_recording", "-p hi --replay nope"),
        ("recording_that_cannot_be_written", "-p hi --record /nope/x"),
        ("empty_prompt", "-p ''"),
        ("mcp_serve_missing_root", "mcp serve --root nope"),
        ("mcp_serve_without_client", "mcp serve"),
    ];
    snapshots(GROUP, &Project::offline(), &cases);
}

#[test]
fn a_command_of_another_build() {
    if has_feature(cfg!(feature = "otlp")) {
        return;
    }
    snapshots(GROUP, &Project::offline(), &[("metrics_push_without_feature", "metrics push")]);
}

#[test]
fn a_keyring_of_another_build() {
    if has_feature(cfg!(feature = "keyring")) {
        return;
    }
    let project =
        Project::new().config("provider = \"anthropic\"\nproviders.anthropic.keyring = \"anthropic\"\n");
    snapshots(GROUP, &project, &[("keyring_without_feature", "-p hi")]);
}
