use super::*;

#[test]
fn every_built_in_preset_is_complete() {
    let all = built_in().unwrap();
    assert_eq!(
        all.keys().collect::<Vec<_>>(),
        ["aider", "claude", "codex", "gemini", "opencode", "pi", "qwen"]
    );
    for (name, preset) in &all {
        preset.check().unwrap_or_else(|e| panic!("{name}: {}", e.message));
        let ports = preset
            .hosts
            .iter()
            .all(|host| host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok()));
        assert!(!preset.hosts.is_empty() && ports, "{name}: hosts {:?}", preset.hosts);
        assert!(!preset.keys.is_empty() && !preset.keep.is_empty() && !preset.later.is_empty(), "{name}");
        for key in &preset.keys {
            let shown = key.chars().all(|c| c == '_' || c.is_ascii_uppercase() || c.is_ascii_digit());
            assert!(shown, "{name}: {key}");
        }
        for text in &preset.later_keys {
            let (file, _) = text.split_once(':').unwrap();
            let kind = preset.kind_of(Path::new(file));
            assert!(matches!(kind, StateKind::Kept | StateKind::Credential), "{name}: {text}: {kind:?}");
        }
    }
}

#[test]
fn a_file_has_the_strictest_kind() {
    let claude = built_in().unwrap().remove("claude").unwrap();
    for (path, kind) in [
        (".claude/projects/x/1.jsonl", StateKind::Kept),
        (".claude/projects/x/memory/MEMORY.md", StateKind::RunsLater),
        // A kept directory may have anything in it.
        (".claude/projects/x/.git/hooks/post-commit", StateKind::RunsLater),
        (".claude/projects/.envrc", StateKind::RunsLater),
        (".claude/projects/x/.claude/settings.json", StateKind::RunsLater),
        (".claude/settings.json", StateKind::RunsLater),
        (".claude/.credentials.json", StateKind::Credential),
        (".claude.json", StateKind::Kept),
        (".claude.json.backup", StateKind::Dropped),
        (".cache/x", StateKind::Dropped),
    ] {
        assert_eq!(claude.kind_of(Path::new(path)), kind, "{path}");
    }
    let keys = claude.later_keys_of(Path::new(".claude.json"));
    assert!(
        keys.contains(&vec!["mcpServers"]) && keys.contains(&vec!["projects", "*", "allowedTools"]),
        "{keys:?}"
    );
}

#[test]
fn what_a_program_unpacks_at_each_start_ends_with_the_run() {
    let codex = built_in().unwrap().remove("codex").unwrap();
    for (path, kind) in [
        (".codex/skills/.system/imagegen/SKILL.md", StateKind::Dropped),
        (".codex/skills/mine/SKILL.md", StateKind::RunsLater),
    ] {
        assert_eq!(codex.kind_of(Path::new(path)), kind, "{path}");
    }
}

#[test]
fn a_directory_that_is_a_link_is_found_where_it_leads() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().canonicalize().unwrap();
    std::fs::create_dir_all(home.join("dotfiles/claude")).unwrap();
    std::os::unix::fs::symlink("dotfiles/claude", home.join(".claude")).unwrap();
    let claude = built_in().unwrap().remove("claude").unwrap().resolved_at(&home);
    assert_eq!(claude.kind_of(Path::new("dotfiles/claude/projects/a.jsonl")), StateKind::Kept);
    assert_eq!(claude.kind_of(Path::new("dotfiles/claude/settings.json")), StateKind::RunsLater);
    assert_eq!(claude.kind_of(Path::new("dotfiles/claude/.credentials.json")), StateKind::Credential);
}

#[test]
fn a_preset_of_the_settings_is_checked() {
    for (preset, why) in [
        (RunPreset { keep: vec!["/etc/passwd".into()], ..RunPreset::named("x") }, "is not a path below"),
        (RunPreset { later: vec!["../x".into()], ..RunPreset::named("x") }, "is not a path below"),
        (
            RunPreset { credentials: vec!["a/".into()], ..RunPreset::named("x") },
            "is not the path of one file",
        ),
        (RunPreset { environment: vec!["A".into()], ..RunPreset::named("x") }, "NAME=VALUE"),
        (RunPreset { environment: vec!["A;b=1".into()], ..RunPreset::named("x") }, "NAME=VALUE"),
        (RunPreset { later_keys: vec!["a".into()], ..RunPreset::named("x") }, "FILE:KEY"),
    ] {
        assert!(preset.check().unwrap_err().message.contains(why));
    }
}

#[test]
fn every_built_in_preset_continues_with_a_message() {
    for (name, preset) in built_in().unwrap() {
        for start in [Vec::new(), preset.headless.iter().take(1).cloned().collect()] {
            let resumed = preset.resumed(&start, Some("id"), "--the message").unwrap_or_default();
            assert!(resumed.iter().any(|word| word == "--the message"), "{name}: {resumed:?}");
            assert!(!resumed.iter().any(|word| word.contains('{')), "{name}: {resumed:?}");
        }
        let of_session = preset.resume.iter().any(|word| word == "{session}");
        assert_eq!(of_session, !preset.sessions.is_empty(), "{name}");
        for pattern in &preset.sessions {
            let path = pattern.replace('*', "x");
            assert_eq!(preset.kind_of(Path::new(&path)), StateKind::Kept, "{name}: {pattern}");
        }
        for text in &preset.harmless_keys {
            let (file, _) = text.split_once(':').unwrap();
            assert_eq!(preset.kind_of(Path::new(file)), StateKind::RunsLater, "{name}: {text}");
        }
    }
}
