//! Checks: `[checks.NAME]`. Each is a command that placet runs without a question, and so a project's file must be trusted
//! first.

use super::field::SettingTexts;
use super::table::settings_table;

const OUTPUTS: [&str; 10] =
    ["text", "cargo-json", "tsc", "eslint-json", "ruff-json", "go", "pytest", "junit", "sarif", "regex"];

const MOMENTS: [&str; 4] = ["never", "edit", "turn", "apply"];

settings_table! {
    /// One `[checks.NAME]`.
    pub struct CheckSettings {
        /// The command line of the check. Exit code 0 means that it passed.
        "checks.*.command" => command: Option<String>;

        /// Globs of the files on which the result depends: `*.rs`. Changes of other files do not need the check. Without
        /// a glob every change needs it.
        "checks.*.paths" => paths: SettingTexts = [];

        /// The deadline of a run, in seconds.
        "checks.*.timeout" => timeout: u64 = 600;

        /// How its output is read into diagnostics.
        "checks.*.output" => output: String in OUTPUTS = "text";

        /// With the output `regex`: the pattern of a line with a diagnostic. Its groups are `message`, and where the line
        /// has them `file`, `line`, `column` and `level`.
        "checks.*.pattern" => pattern: Option<String>;

        /// When placet starts the check by itself: `apply` is when the apply question opens, `turn` is the end of
        /// each turn that changed something; then failures go back to the agent. `edit` is after the edits of each
        /// answer of the model: new diagnostics are added to the result of the edit.
        "checks.*.when" => when: String in MOMENTS = "never";

        /// With `when = "turn"`: how often its failures go back to the agent in one turn.
        "checks.*.rounds" => rounds: u64 = 2;

        /// `placet apply --checked` and the apply question apply changes only when the check passed on exactly them.
        "checks.*.required" => required: bool = false;
    }
}
