//! `placet config`, and what a wrong file of settings says.

use crate::support::output::{Project, snapshot, snapshots};

const GROUP: &str = "settings";

#[test]
fn settings_are_shown_and_the_file_is_made() {
    let project = Project::new();
    let cases = [
        ("path", "config path"),
        ("show", "config show"),
        ("trust_nothing", "config trust"),
        ("init", "config init"),
        ("init_again", "config init"),
        ("init_unknown_provider", "config init --key anthropc"),
    ];
    snapshots(GROUP, &project, &cases);
    let key = "sk-secret-1";
    snapshot(GROUP, "init_key", &project.piped("config init --key anthropic", key).replace(key, "[KEY]"));
    snapshot(GROUP, "init_key_of_two_words", &project.piped("config init --key openai", "two words"));
}

#[test]
fn settings_with_their_origin() {
    let project = Project::new().config("model = \"mine\"\n[ui]\ntheme = \"dark\"\n");
    let set: Vec<String> =
        project.run("config show --origin --set max_turns=7").lines().map(String::from).collect();
    // Defaults are in the snapshot `show`.
    let shown: Vec<&str> =
        set.iter().map(String::as_str).filter(|line| !line.ends_with("# default")).collect();
    snapshot(GROUP, "show_origin", &format!("{}\n", shown.join("\n")));
}

#[test]
fn wrong_files_of_settings() {
    let cases = [
        ("syntax_error", "model = \"x\nmode = \"read\"\n"),
        ("unknown_key", "modell = \"x\"\n[ui]\n  thme = \"dark\"\n"),
        ("wrong_type", "max_turns = \"many\"\nmodel = 5\nhooks = 1\n"),
        ("wrong_choice", "mode = \"yolo\"\n[ui]\ncolor = \"blue\"\n"),
        ("wrong_rule", "[permission]\nallow = [\"raed(x)\"]\ndeny = [\"read([)\"]\n"),
        (
            "rule_against_its_examples",
            "[permission]\nallow = [{ rule = \"run(cargo *)\", not_match = [\"cargo publish\"] }]\n",
        ),
        (
            "provider_with_unknown_wire_format",
            "[providers.mine]\ndialect = \"nope\"\nbase_url = \"http://x\"\n",
        ),
    ];
    for (name, text) in cases {
        // The values that hold are in the snapshot `show`.
        let ran = Project::new().config(text).run("config show");
        let (_, rest) = ran.split_once("stderr:\n").unwrap_or(("", &ran));
        snapshot(GROUP, name, &format!("{text}\n$ placet config show\n[settings]\nstderr:\n{rest}"));
    }
}

#[test]
fn a_provider_that_does_not_exist_in_the_file() {
    let project = Project::new().config("provider = \"nobody\"\n");
    snapshot(GROUP, "unknown_provider_in_file", &project.run("-p help"));
}

#[test]
fn the_settings_of_a_project_are_used_once_they_are_trusted() {
    let project = Project::offline().file(".placet/config.toml", "mode = \"write\"\n");
    let cases = [
        ("project_not_trusted", "-p 'create a.txt with \"x\"'"),
        ("project_trust", "config trust"),
        ("project_trusted", "-p 'create a.txt with \"x\"'"),
        ("project_left_out", "-p 'create b.txt with \"x\"' --no-project"),
        ("path_with_project", "config path"),
    ];
    snapshots(GROUP, &project, &cases);
}
