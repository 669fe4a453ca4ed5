//! The reference pages of the guide, made from the tables in the code. A test compares them with what is in `docs/`.

use super::report;
use crate::config::{SettingKey, TrustRequirement};
use crate::permission::{Mode, protected_paths_table};
use crate::provider::{ApiKeyRequirement, ProviderPreset, catalog, grammar};
use crate::repl::COMMANDS;
use crate::tools::ToolRegistry;
use crate::ui;
use std::fmt::Write;

const MADE: &str = "<!-- Made from the code by `PLACET_UPDATE=1 cargo test reference`; do not edit. -->\n\n";

/// Every exit code of the program.
pub const EXIT_CODES: [u8; 7] = [
    report::DONE,
    report::ERROR,
    report::USAGE,
    report::REFUSED,
    report::PROVIDER,
    report::INCOMPLETE,
    report::INTERRUPTED,
];

/// Each page: its path below `docs/reference/`, and its text.
pub fn pages() -> Vec<(&'static str, String)> {
    vec![
        ("command-line.md", command_line()),
        ("commands.md", slash_commands()),
        ("configuration.md", configuration()),
        ("keys.md", keys()),
        ("modes.md", modes()),
        ("offline.md", offline()),
        ("protected-paths.md", protected_paths()),
        ("providers.md", providers()),
        ("tools.md", tools()),
        ("stream-json.schema.json", schema()),
    ]
}

fn page(title: &str) -> String {
    format!("# {title}\n\n{MADE}")
}

fn protected_paths() -> String {
    let mut out = page("Protected paths");
    out.push_str(
        "Files that a program runs or reads by itself. A change to such a file needs its own approval: see\n\
         [Modes](../guide/modes.md#protected-files). A path is matched from its end, in upper or lower case; `dir/`\n\
         means everything in the directory, `*` for any part of a name. A row whose program has \\* does not\n\
         apply in directories that package managers fill, such as `node_modules` and `vendor`. Executables in directories\n\
         of `PATH` run later as well. The setting `permission.protected` adds paths.\n",
    );
    out.push_str(&protected_paths_table());
    out
}

fn command_line() -> String {
    let mut out = page("Command line");
    let mut root = super::command_line::args::command_for_help().term_width(100);
    let shared: Vec<String> = root
        .get_arguments()
        .filter(|arg| arg.is_global_set() && !arg.is_hide_set())
        .filter_map(|arg| arg.get_long().map(|name| format!("`--{name}`")))
        .collect();
    let _ = write!(
        out,
        "Every command also takes {} and `-v`: see the options of `placet`.\n\n",
        shared.join(", ")
    );
    help(&mut out, &mut root, "placet");
    out
}

/// The options of every command are in the first text alone.
fn help(out: &mut String, command: &mut clap::Command, name: &str) {
    let text = command.clone().bin_name(name).render_help().to_string();
    let trimmed: Vec<&str> = text.lines().map(str::trim_end).collect();
    let _ = write!(out, "## `{name}`\n\n```text\n{}\n```\n\n", trimmed.join("\n").trim_end());
    for sub in command.get_subcommands_mut() {
        let full = format!("{name} {}", sub.get_name());
        let hidden = |arg: clap::Arg| if arg.is_global_set() { arg.hide(true) } else { arg };
        *sub = std::mem::take(sub).mut_args(hidden);
        help(out, sub, &full);
    }
}

fn slash_commands() -> String {
    let mut out = page("Commands of the shell");
    out.push_str("| command | what it does |\n|---|---|\n");
    for row in COMMANDS {
        let typed = format!("/{} {}", row.name, row.arguments);
        let typed = typed.trim().replace('|', "\\|");
        let _ = writeln!(out, "| `{typed}` | {} |", row.help);
    }
    out
}

fn configuration() -> String {
    let mut out = page("Configuration keys");
    out.push_str("| key | value | default | an untrusted project | meaning |\n|---|---|---|---|---|\n");
    for key in SettingKey::all() {
        let trust = match key.trust() {
            TrustRequirement::Tightens => "may make it stricter",
            TrustRequirement::Needed => "may not",
            TrustRequirement::Never => "never",
        };
        let default = if key.default.is_empty() { "".into() } else { format!("`{}`", key.default) };
        let kind = key.kind.describe();
        let _ = writeln!(out, "| `{}` | {kind} | {default} | {trust} | {} |", key.name, key.help);
    }
    out.push_str("\n`placet config init` writes a file with every key, as comments.\n");
    out
}

fn keys() -> String {
    let mut out = page("Keys of the screens");
    out.push_str(
        "Every action can have other keys: `keys.SCREEN.ACTION = \"a Ctrl-X\"` in the settings, keys with blanks \
         between them. Two actions of a screen that want the same key are an error that names both.\n\n",
    );
    screen(&mut out, "review", ui::review::TABLE);
    screen(&mut out, "transcript", ui::transcript::KEYS);
    screen(&mut out, "viewer", ui::viewer::KEYS);
    screen(&mut out, "pager", ui::pager::KEYS);
    screen(&mut out, "picker", ui::picker::KEYS);
    screen(&mut out, "scratchpads", ui::scratchpads::KEYS);
    screen(&mut out, "run", ui::run_page::KEYS);
    out
}

fn screen<A>(out: &mut String, name: &str, rows: &[ui::keymap::KeyBinding<A>]) {
    let _ = write!(out, "## {name}\n\n| action | keys | what it does |\n|---|---|---|\n");
    for row in rows {
        let keys: Vec<String> = row.keys.split(' ').map(|k| format!("`{}`", k.replace('|', "\\|"))).collect();
        let _ = writeln!(out, "| `keys.{name}.{}` | {} | {} |", row.name, keys.join(" "), row.help);
    }
    out.push('\n');
}

fn modes() -> String {
    let mut out = page("Modes");
    out.push_str("| prompt | name | meaning |\n|---|---|---|\n");
    for mode in Mode::ALL {
        let _ = writeln!(out, "| `[{}]` | {mode} | {} |", mode.letter(), mode.meaning());
    }
    out
}

fn offline() -> String {
    let mut out = page("Requests the offline provider understands");
    out.push_str("| request | for example |\n|---|---|\n");
    for row in grammar() {
        let _ = writeln!(out, "| `{}` | `{}` |", row.pattern, row.example.replace('|', "\\|"));
    }
    out
}

fn providers() -> String {
    let mut out = page("Built-in providers");
    out.push_str("| name | address | wire format | key | default model |\n|---|---|---|---|---|\n");
    for preset in ProviderPreset::all() {
        let need = if preset.key == ApiKeyRequirement::Required { "" } else { " (if needed)" };
        let model = preset.default_model.as_ref().map_or("name one".to_string(), |m| format!("`{m}`"));
        let address = match preset.base_url.as_str() {
            "" => "your own".to_string(),
            url => format!("`{url}`"),
        };
        let _ = writeln!(
            out,
            "| `{}` | {address} | {} | `{}`{need} | {model} |",
            preset.name,
            preset.wire.name(),
            preset.key_variable
        );
    }
    let _ = write!(
        out,
        "\nThis table was last compared with the vendors' public documentation in {}.\n\n",
        ProviderPreset::compared()
    );
    out.push_str("## Models\n\n");
    let _ = write!(
        out,
        "Compared in {}. Prices are dollars per million tokens: input, output, cache read and cache write. `-` means unknown. `models.toml` in the configuration directory overrides the table.\n\n",
        catalog::compared()
    );
    out.push_str("| provider | model | window | answer | pictures | input | output | cache read | cache write |\n|---|---|---|---|---|---|---|---|---|\n");
    for preset in ProviderPreset::all().iter().filter(|preset| preset.catalog.is_none()) {
        for (id, model) in catalog::of_provider(&preset.name) {
            model_row(&mut out, &preset.name, id, model);
        }
    }
    out
}

fn model_row(out: &mut String, provider: &str, id: &str, model: &catalog::CatalogModel) {
    let figure = |n: Option<u64>| n.map_or("-".to_string(), |n| n.to_string());
    let sees = model.vision.map_or("-", |sees| if sees { "yes" } else { "no" });
    let price = |pick: fn(&catalog::ModelPrice) -> Option<catalog::Money>| {
        let all = model.price.as_ref();
        let usual = all.and_then(pick).map_or("-".to_string(), |m| m.to_string());
        match all.and_then(|p| p.long.as_ref()).and_then(|tier| Some((tier.above, pick(&tier.price)?))) {
            Some((above, long)) => format!("{usual}; {long} above {above}"),
            None => usual,
        }
    };
    let _ = writeln!(
        out,
        "| {provider} | `{id}` | {} | {} | {sees} | {} | {} | {} | {} |",
        figure(model.window),
        figure(model.max_output),
        price(|p| p.input),
        price(|p| p.output),
        price(|p| p.cache_read),
        price(|p| p.cache_write)
    );
}

fn tools() -> String {
    let mut out = page("Tools");
    for spec in ToolRegistry::native().specs() {
        let schema = serde_json::to_string_pretty(&spec.schema).unwrap_or_default();
        let _ =
            write!(out, "## `{}`\n\n{}\n\n```json\n{schema}\n```\n\n", spec.name, spec.description.trim());
    }
    out
}

fn schema() -> String {
    serde_json::to_string_pretty(&crate::serve::schema()).unwrap_or_default() + "\n"
}
