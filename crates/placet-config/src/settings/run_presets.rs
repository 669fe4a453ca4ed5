//! Presets of `placet run`: `[run.presets.NAME]`. A preset gives a program hosts, keys and files of the home directory, so
//! no project may set one.

use super::field::SettingTexts;
use super::table::settings_table;

settings_table! {
    /// One `[run.presets.NAME]`. Lists are added to those of a built-in preset of the same name.
    pub struct RunPresetSettings {
        /// The program, by name or path. The default is the name of the preset.
        "run.presets.*.program" => program: Option<String>;

        /// Hosts that the program may connect to, with the port: `api.example.org:443`.
        "run.presets.*.hosts" => hosts: SettingTexts = [];

        /// Its own state, below your home directory, that is written for real when the program has ended: `.agent/sessions/`.
        "run.presets.*.keep" => keep: SettingTexts = [];

        /// Its login files, below your home directory: readable in the view, and written for real while the program runs.
        "run.presets.*.credentials" => credentials: SettingTexts = [];

        /// Files below your home directory that make something run later: the question shows them, marked `!`.
        "run.presets.*.later" => later: SettingTexts = [];

        /// Keys of a JSON file in `keep` or `credentials`; a change of one of them runs later: `.agent.json:mcpServers`.
        "run.presets.*.later_keys" => later_keys: SettingTexts = [];

        /// Keys of a JSON or TOML file in `later` that make nothing run later; a change of only these is written for
        /// real: `.agent/settings.json:theme`. `*` is any key.
        "run.presets.*.harmless_keys" => harmless_keys: SettingTexts = [];

        /// Hosts that it asks for and does not need: placet's page lists them, and the end of the run does not.
        "run.presets.*.harmless_hosts" => harmless_hosts: SettingTexts = [];

        /// Arguments before yours, in place of those of a built-in preset.
        "run.presets.*.flags" => flags: SettingTexts = [];

        /// Environment variables that are set: `NAME=VALUE`.
        "run.presets.*.environment" => environment: SettingTexts = [];

        /// Environment variables with the program's own keys, which are passed: `EXAMPLE_API_KEY`.
        "run.presets.*.keys" => keys: SettingTexts = [];

        /// Files in `keep` whose names have the id of a conversation, a UUID: `.agent/sessions/*.jsonl`.
        "run.presets.*.sessions" => sessions: SettingTexts = [];

        /// Arguments that continue a conversation with a message, in place of those of a built-in preset: words, with
        /// `{message}`, `{session}` for its id, and `{options}` for those of `repeat`.
        "run.presets.*.resume" => resume: SettingTexts = [];

        /// The same for a start with a word of `headless`.
        "run.presets.*.resume_headless" => resume_headless: SettingTexts = [];

        /// Arguments with which the program has no screen of its own: `-p`, `exec`.
        "run.presets.*.headless" => headless: SettingTexts = [];

        /// Options of yours that a resumed start gets again: `--yes`, `--model=` with its value, `--tools...` with all
        /// values after it; `*` for all arguments, but not `!--message=`.
        "run.presets.*.repeat" => repeat: SettingTexts = [];
    }
}
