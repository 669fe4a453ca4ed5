use super::*;
use crate::{AppliedSetting, ColorSetting, WrapSetting};
use std::path::Path;

fn user(text: &str) -> SettingsLayer {
    SettingsLayer::user_file(Path::new("/u/config.toml"), text)
}

fn project(text: &str, trusted: bool) -> Option<ProjectSettings> {
    let path = Path::new("/p/.placet/config.toml");
    Some(ProjectSettings {
        layer: SettingsLayer::project_file(path, text),
        trusted,
        ..ProjectSettings::none(path)
    })
}

/// As `config show --origin` prints it.
fn origin(config: &Config, name: &str) -> String {
    config.all().into_iter().find(|(key, ..)| key == name).map(|(_, _, origin)| origin).unwrap()
}

#[test]
fn the_strongest_layer_wins_and_each_value_knows_its_origin() {
    let mut flags = SettingsLayer::default();
    flags.set("ui.theme=mono");
    let environment = SettingsLayer::environment([
        ("PLACET_MODEL".to_string(), "from-env".to_string()),
        ("PLACET_MAX_TURNS".to_string(), "7".to_string()),
        ("PLACET_FULL".to_string(), "1".to_string()),
    ]);
    let config = Config::merge(SettingsSources {
        user: user("model = \"from-file\"\nmode = \"ask\"\n[ui]\ntheme = \"dark\"\n"),
        environment,
        flags,
        ..SettingsSources::default()
    });
    assert!(config.problems.is_empty(), "{:?}", config.problems);
    assert_eq!(config.merged.text("model"), Some("from-env"));
    assert_eq!(config.merged.text("mode"), Some("ask"));
    assert_eq!(config.merged.text("ui.theme"), Some("mono"));
    assert_eq!(config.merged.number("max_turns"), Some(7));
    assert_eq!(origin(&config, "mode"), "user file /u/config.toml, line 2");
    assert_eq!(origin(&config, "model"), "environment PLACET_MODEL");
    assert_eq!(origin(&config, "ui.color"), "default");
}

#[test]
fn mistakes_are_told_with_their_place_and_the_rest_applies() {
    let config = Config::merge(SettingsSources {
        user: user(
            "model = \"m\"\nmax_turns = \"many\"\nproviderr = \"x\"\n[ui]\n  thme = \"dark\"\n  color = \"sometimes\"\n",
        ),
        ..SettingsSources::default()
    });
    let told: Vec<String> = config.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "/u/config.toml:2:1: `max_turns` must be a whole number, 0 or more, not \"many\"",
            "/u/config.toml:3:1: unknown setting `providerr`\n  hint: did you mean `provider`?",
            "/u/config.toml:5:3: unknown setting `ui.thme`\n  hint: did you mean `ui.theme`?",
            "/u/config.toml:6:3: `ui.color` must be one of auto, always, never, not \"sometimes\"",
        ]
    );
    assert_eq!(config.merged.text("model"), Some("m"));
    assert_eq!(config.merged.number("max_turns"), Some(200));
    assert!(!config.strict());
    let tables = "[providers.a]\nprotocol = \"x\"\nbase_urll = \"x\"\n[mcp.servers.b]\ncomand = \"x\"\n";
    let config = Config::merge(SettingsSources { user: user(tables), ..SettingsSources::default() });
    let told: Vec<String> = config.problems.iter().map(ToString::to_string).collect();
    assert!(
        told[0].contains("hint: the keys of `providers.a` are ") && told[0].contains("base_url"),
        "{}",
        told[0]
    );
    assert!(told[1].ends_with("did you mean `providers.a.base_url`?"), "{}", told[1]);
    assert!(told[2].ends_with("did you mean `mcp.servers.b.command`?"), "{}", told[2]);
}

#[test]
fn doubt_about_permissions_falls_to_the_stricter_side() {
    for text in [
        "mode = \"yolo\"",
        "mode = 3",
        "[permission]\ndeny = \"read(.env)\"",
        "[permission]\ndenny = [\"x\"]",
        "[permission]\nallow = [1]",
        "not toml at all [",
        "mode = \"read\"\nmode = \"ask\"",
    ] {
        let config = Config::merge(SettingsSources { user: user(text), ..SettingsSources::default() });
        assert!(config.strict(), "{text}");
        assert!(!config.problems.is_empty(), "{text}");
    }
    let config =
        Config::merge(SettingsSources { user: user("\u{FEFF}mode = \"ask\""), ..SettingsSources::default() });
    assert!(!config.strict(), "a byte order mark is no mistake");
}

#[test]
fn an_untrusted_project_may_only_tighten() {
    let text = "mode = \"write\"\nmax_turns = 500\nmodel = \"theirs\"\nbase_url = \"http://evil\"\n\
                [permission]\nallow = [\"run_command\"]\ndeny = [\"read(.env)\"]\n[ui]\ntheme = \"light\"\n\
                wrap = \"terminal\"\nlinear = true\napplied = \"line\"\n";
    let config =
        Config::merge(SettingsSources { project: project(text, false), ..SettingsSources::default() });
    assert_eq!(config.merged.text("mode"), Some("read"));
    assert_eq!(config.merged.number("max_turns"), Some(200));
    assert_eq!(config.merged.text("model"), None);
    assert!(config.merged.rules("permission.allow").is_empty());
    assert_eq!(config.merged.rules("permission.deny").len(), 1);
    let ui = &config.settings().ui;
    assert_eq!((ui.theme.as_str(), ui.wrap, ui.linear), ("auto", WrapSetting::Words, false));
    assert_eq!(ui.applied, AppliedSetting::Difference);
    assert_eq!(config.untrusted.len(), 9, "{:?}", config.untrusted);

    let config =
        Config::merge(SettingsSources { project: project(text, true), ..SettingsSources::default() });
    assert_eq!(config.merged.text("mode"), Some("write"));
    assert!(config.untrusted.is_empty());

    let stricter = "mode = \"none\"\nmax_turns = 3\n";
    let config =
        Config::merge(SettingsSources { project: project(stricter, false), ..SettingsSources::default() });
    assert_eq!(config.merged.text("mode"), Some("none"));
    assert_eq!(config.merged.number("max_turns"), Some(3));
}

/// Values of a key, as a file would write them.
fn values(key: &SettingKey) -> Vec<String> {
    let some = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
    match key.kind {
        SettingKind::Text => some(&["\"a\"", "\"../b\""]),
        SettingKind::Word(words) => words.iter().map(|word| format!("\"{word}\"")).collect(),
        SettingKind::Number => some(&["0", "1", "7", "9000000000"]),
        SettingKind::Flag => some(&["true", "false"]),
        SettingKind::Texts => some(&["[]", "[\"a\"]", "[\"b\", \"c\"]"]),
        SettingKind::Rules => some(&["[]", "[\"run(a)\"]", "[\"run(b)\"]"]),
        SettingKind::Hooks => {
            some(&["[]", "[{ point = \"p\", deny = \"a\" }]", "[{ point = \"p\", allow = \"b\" }]"])
        }
    }
}

/// Every key with every pair of values: what is stricter is judged here without the table that decides it.
#[test]
fn no_setting_of_an_untrusted_project_is_used_but_where_it_is_stricter() {
    let (mut refused, mut stricter) = (0, 0);
    for key in SettingKey::all() {
        let name = key.name.replace('*', "mine");
        for (own, theirs) in
            values(key).iter().flat_map(|own| values(key).into_iter().map(move |b| (own.clone(), b)))
        {
            let own = format!("{name} = {own}\n");
            let alone = Config::merge(SettingsSources { user: user(&own), ..SettingsSources::default() });
            let project = project(&format!("{name} = {theirs}\n"), false);
            let both =
                Config::merge(SettingsSources { user: user(&own), project, ..SettingsSources::default() });
            if alone.all() == both.all() {
                refused += 1;
                continue;
            }
            stricter += 1;
            let (before, after) = (&alone.merged, &both.merged);
            let unlimited = |n: u64| if n == 0 && name.starts_with("max_") { u64::MAX } else { n };
            let is_stricter = match key.kind {
                SettingKind::Number => {
                    unlimited(after.number(&name).unwrap()) < unlimited(before.number(&name).unwrap())
                }
                SettingKind::Word(words) => {
                    let rank =
                        |values: &MergedSettings| words.iter().position(|w| Some(*w) == values.text(&name));
                    !name.starts_with("ui.") && rank(after) < rank(before)
                }
                SettingKind::Texts => after.list(&name).starts_with(before.list(&name)),
                SettingKind::Rules => after.rules(&name).starts_with(before.rules(&name)),
                SettingKind::Hooks => after.hooks().starts_with(before.hooks()),
                SettingKind::Text | SettingKind::Flag => false,
            };
            assert!(is_stricter, "{own}{theirs}");
        }
    }
    assert!(refused > 700 && stricter > 40, "{refused} {stricter}");
}

#[test]
fn every_default_in_the_table_is_valid_and_every_key_is_found() {
    let config = Config::merge(SettingsSources::default());
    assert!(config.problems.is_empty());
    for key in SettingKey::all() {
        assert!(SettingKey::find(&key.name.replace('*', "mine")).is_some(), "{}", key.name);
        let known = config.all().iter().any(|(name, ..)| name == key.name);
        assert_eq!(known, !key.default.is_empty() && !key.name.contains('*'), "{}", key.name);
    }
}

#[test]
fn a_rule_may_be_a_table_and_knows_its_line() {
    let text = "[permission]\nallow = [\n  \"run(ls)\",\n  { rule = \"run(make *)\", match = [\"make x\"], \
                not_match = [\"rm x\"], reason = \"the\n build\" },\n]\n[[permission.deny]]\nrule = \"read(.env)\"\n"
        .replace("the\n build", "the  build");
    let mut flags = SettingsLayer::default();
    flags.flag_list("permission.allow", &["run(a, b)".to_string()], "--allow");
    let config = Config::merge(SettingsSources { user: user(&text), flags, ..SettingsSources::default() });
    assert!(config.problems.is_empty(), "{:?}", config.problems);
    let told: Vec<String> = config
        .merged
        .rules("permission.allow")
        .iter()
        .map(|(rule, origin)| format!("{rule} ({origin})"))
        .collect();
    assert_eq!(
        told,
        [
            "\"run(ls)\" (user file /u/config.toml, line 3)",
            "{ rule = \"run(make *)\", match = [\"make x\"], not_match = [\"rm x\"], reason = \"the build\" } (user file /u/config.toml, line 4)",
            "\"run(a, b)\" (flag --allow)",
        ]
    );
    assert_eq!(config.merged.rules("permission.deny").len(), 1);
}

#[test]
fn a_rule_table_with_a_mistake_falls_to_the_strict_side_and_names_its_line() {
    for (entry, told) in [
        ("{ rul = \"x\" }", "has the unknown key `rul`; known are rule, match, not_match, reason"),
        ("{ match = [] }", "has a table without `rule`"),
        ("{ rule = 1 }", "has a `rule` that is not a string"),
        ("{ rule = \"run(x)\", match = \"x\" }", "has a `match` that is not a list of strings"),
        ("3", "contains 3, which is not a rule"),
    ] {
        let text = format!("[permission]\ndeny = [\n  \"run(y)\",\n  {entry},\n]\n");
        let config = Config::merge(SettingsSources { user: user(&text), ..SettingsSources::default() });
        assert!(config.strict(), "{entry}");
        let first = config.problems.first().unwrap().to_string();
        assert!(first.starts_with(&format!("/u/config.toml:4:3: `permission.deny` {told}")), "{first}");
    }
}

#[test]
fn an_untrusted_project_may_deny_and_ask_with_tables_and_never_allow() {
    let text = "[permission]\nallow = [{ rule = \"run_command\", match = [\"x\"] }]\n\
                ask = [{ rule = \"run(make *)\", reason = \"r\" }]\n[[permission.deny]]\nrule = \"read(.env)\"\n";
    let config =
        Config::merge(SettingsSources { project: project(text, false), ..SettingsSources::default() });
    assert!(config.problems.is_empty() && config.merged.rules("permission.allow").is_empty());
    assert_eq!(
        (config.merged.rules("permission.ask").len(), config.merged.rules("permission.deny").len()),
        (1, 1)
    );
    assert_eq!(config.untrusted, ["permission.allow = [{ rule = \"run_command\", match = [\"x\"] }]"]);
    let tables = "[[permission.allow]]\nrule = \"run_command\"\n";
    let config =
        Config::merge(SettingsSources { project: project(tables, false), ..SettingsSources::default() });
    assert!(config.merged.rules("permission.allow").is_empty() && config.untrusted.len() == 1);
    let config =
        Config::merge(SettingsSources { project: project(text, true), ..SettingsSources::default() });
    assert_eq!(config.merged.rules("permission.allow").len(), 1);
}

#[test]
fn a_default_that_is_read_the_short_way_is_the_one_that_would_be_read_from_a_file() {
    let mut plain = 0;
    for key in SettingKey::all().filter(|k| !k.default.is_empty() && !k.name.contains('*')) {
        assert_eq!(
            SettingKey::find_below(key.name).map(|found| found.name),
            Some(key.name),
            "one way or the other"
        );
        let written = written_default(key);
        assert!(written.problems.is_empty(), "{}: {:?}", key.name, written.problems);
        if let Some(setting) = plain_default(key) {
            let values: Vec<(&str, &SettingValue)> =
                written.values.iter().map(|(n, s, _)| (n.as_str(), s)).collect();
            assert_eq!(values, [(key.name, &setting)]);
            plain += 1;
        }
    }
    assert!(plain > 40, "{plain}");
}

#[test]
fn a_field_without_a_value_has_the_default_of_its_row() {
    let filled = Config::merge(SettingsSources::default());
    let mut bare = Settings::read(FieldReader::of(&MergedSettings::default()));
    // The only list with a default.
    bare.conversation.modes = filled.settings().conversation.modes.clone();
    assert_eq!(*filled.settings(), bare);
    assert_eq!(filled.settings().conversation.modes.to_vec(), ["read", "ask", "write"]);
    assert_eq!(filled.settings().network.silence_seconds, None, "a default that is only shown");
    let mount = MountSettings::read(FieldReader::named(&MergedSettings::default(), "mine"));
    assert_eq!((mount.path, mount.region.as_str()), (None, "us-east-1"));
}

#[test]
fn the_typed_values_are_those_of_the_layers_and_follow_a_doubt() {
    let mut flags = SettingsLayer::default();
    ["ui.linear=true", "ui.color=never", "ui.theme=", "ui.fold_lines=9", "network.silence_seconds=180"]
        .iter()
        .for_each(|assignment| flags.set(assignment));
    let text = "mode = \"write\"\n[providers.\"llama.cpp\"]\nmodel = \"m\"\n[mounts.a]\npath = \"/m/\"\n\
                [keys.review]\naccept = \"y\"\nquit = \"\"\n";
    let mut config = Config::merge(SettingsSources { user: user(text), flags, ..SettingsSources::default() });
    assert!(config.problems.is_empty(), "{:?}", config.problems);
    let ui = &config.settings().ui;
    assert_eq!((ui.linear, ui.color, ui.fold_lines), (true, ColorSetting::Never, 9));
    assert_eq!(ui.theme, "auto", "an empty text is one that nobody set");
    assert_eq!(config.settings().network.silence_seconds, Some(180));
    assert_eq!(config.provider_names(), ["llama.cpp"]);
    assert_eq!(config.provider("llama.cpp").model.as_deref(), Some("m"));
    assert_eq!(config.provider("llama.cpp").dialect, None);
    let mounts = config.mounts();
    let (name, mount) = mounts.first().unwrap();
    assert_eq!((mounts.len(), name.as_str(), mount.path.as_deref()), (1, "a", Some("/m/")));
    assert_eq!(config.screen_keys("review"), [("accept".to_string(), "y".to_string())]);
    assert_eq!(config.settings().conversation.mode, "write");
    config.add_permission_problem(ConfigProblem::of_value(&SettingOrigin::Default, "x".into()));
    config.restrict_mode();
    assert_eq!(config.settings().conversation.mode, "read");
    assert_eq!(origin(&config, "mode"), "restricted: a permission setting cannot be read");
}

/// A project's `.mcp.json` with a server `g`.
fn mcp_file(text: &str, trusted: bool) -> Option<ProjectSettings> {
    let path = Path::new("/p/.mcp.json");
    let layer = super::super::mcp_file::layer(path, text);
    Some(ProjectSettings { layer, trusted, ..ProjectSettings::none(path) })
}

#[test]
fn a_server_has_one_source_and_no_key_of_two_is_joined() {
    let own = "[mcp.servers.g]\ncommand = \"good\"\noutside = true\ntrusted = true\nhosts = [\"h\"]\nenv = [\"T\"]\n";
    let file = r#"{"mcpServers": {"g": {"command": "evil", "args": ["x"], "env": {"E": "1"}}, "h": {"command": "own"}}}"#;
    let settings =
        "[mcp.servers.g]\nenabled = false\nkeep_running = true\n[mcp.servers.h]\ncommand = \"settings\"\n";
    let told = |config: &Config| -> Vec<String> {
        config.shadowed_servers.iter().map(ToString::to_string).collect()
    };
    let server = |config: &Config, name: &str| {
        config.mcp_servers().into_iter().find(|(one, _)| one == name).unwrap().1
    };
    let alone = Config::merge(SettingsSources { user: user(own), ..SettingsSources::default() });
    for trusted in [true, false] {
        let config = Config::merge(SettingsSources {
            user: user(own),
            project: project(settings, trusted),
            mcp_file: mcp_file(file, trusted),
            ..SettingsSources::default()
        });
        assert_eq!(server(&config, "g"), server(&alone, "g"));
        assert!(config.problems.is_empty(), "{:?}", config.problems);
        assert_eq!(
            told(&config),
            [
                "/p/.placet/config.toml: the server `g` is not used: your own settings have one of that name",
                "/p/.mcp.json: the server `g` is not used: your own settings have one of that name",
                "/p/.mcp.json: the server `h` is not used: /p/.placet/config.toml has one of that name",
            ]
        );
        // The trust question shows only what would be used.
        let asked: &[&str] = if trusted { &[] } else { &["mcp.servers.h.command = \"settings\""] };
        assert_eq!(config.untrusted, asked);
    }
    // What the person gives to a name on the command line is not given to a project's program.
    let mut flags = SettingsLayer::default();
    flags.set("mcp.servers.g.outside=true");
    let config = Config::merge(SettingsSources {
        mcp_file: mcp_file(file, true),
        flags,
        ..SettingsSources::default()
    });
    assert_eq!((server(&config, "g").command, server(&config, "h").command.as_deref()), (None, Some("own")));
    // Settings without trust hide no server of a trusted file, and change none.
    let config = Config::merge(SettingsSources {
        project: project(settings, false),
        mcp_file: mcp_file(file, true),
        ..SettingsSources::default()
    });
    assert_eq!(server(&config, "h").command.as_deref(), Some("own"));
    assert!(server(&config, "g").enabled && !server(&config, "g").keep_running && told(&config).is_empty());
}
