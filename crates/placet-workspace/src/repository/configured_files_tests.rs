//! Settings as files of a test, and what is found by them.

use super::*;

fn found(files: &[(&str, &str)], path: &str) -> ConfiguredFiles {
    let read = |at: &Path, _: u64| {
        let of = files.iter().find(|(name, _)| Path::new("/w").join(name) == at);
        match of {
            Some((_, text)) if text.len() as u64 > LARGEST => Err(ContentReadError::TooLarge(LARGEST)),
            _ => Ok(of.map(|(_, text)| text.as_bytes().to_vec())),
        }
    };
    let is = |dir: &Path| {
        let inside = files.iter().any(|(name, _)| Path::new("/w").join(name).starts_with(dir));
        dir.ends_with(".git") && inside || dir.ends_with("bare.git")
    };
    ConfiguredFiles::find([Path::new("/w").join(path).as_path()], &is, &[&read])
}

#[test]
fn hooks_are_found_wherever_the_setting_stands() {
    let holds = |files: &[(&str, &str)], path: &str| found(files, path).holds(&Path::new("/w").join(path));
    let set = "[core]\n\thooksPath = githooks\n";
    assert!(holds(&[(".git/config", set)], "githooks/pre-commit"));
    assert!(holds(&[(".git/config", set)], "githooks/lib/helper"));
    assert!(holds(&[(".git/config.worktree", set)], "githooks/pre-commit"));
    assert!(holds(&[(".git/config", set)], "githooks/common.sample"));
    let own = "[core]\n\thooksPath = .git/hooks\n";
    assert!(!holds(&[(".git/config", own)], ".git/hooks/pre-commit.sample"));
    assert!(!holds(&[(".git/config", set)], "other/pre-commit"));
    let included = [(".git/config", "[include]\n\tpath = ../more\n"), ("more", set)];
    assert!(holds(&included, "githooks/pre-commit"));
    let conditional = [(".git/config", "[includeIf \"gitdir:x\"]\n\tpath = more\n"), (".git/more", set)];
    assert!(holds(&conditional, "githooks/pre-commit"));
    let endless = [(".git/config", "[include]\n\tpath = config\n[core]\n\thooksPath = githooks\n")];
    assert!(holds(&endless, "githooks/pre-commit"));
    let separate = [(".git", "gitdir: gd\n"), ("gd/commondir", "../common\n"), ("common/config", set)];
    assert!(holds(&separate, "githooks/pre-commit"));
    assert!(holds(&[("bare.git/config", set)], "bare.git/githooks/update"));
}

#[test]
fn files_that_settings_include_are_known() {
    for head in ["[include]", "[includeIf \"gitdir:x\"]"] {
        let files =
            [(".git/config", format!("{head}\n\tpath = ../gc\n")), ("gc", "[include]\npath=next".into())];
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let dirs = found(&files, "src/x");
        assert!(
            dirs.included.contains(Path::new("/w/gc")) && dirs.included.contains(Path::new("/w/next")),
            "{head}"
        );
        assert!(
            !dirs.included.contains(Path::new("/w/.git/config"))
                && !dirs.included.contains(Path::new("/w/src/x"))
        );
    }
}

#[test]
fn a_work_tree_as_directory_of_hooks_has_only_hooks_with_their_names() {
    for value in [".", "..", "/"] {
        let text = format!("[core]\n\thooksPath = {value}\n");
        let dirs = found(&[("a/.git/config", &text)], "a/src/main.rs");
        assert!(!dirs.holds(Path::new("/w/a/src/main.rs")) && !dirs.holds(Path::new("/w/a/Makefile")));
    }
    let dirs = found(&[(".git/config", "[core]\n\thooksPath = .\n")], "x");
    assert!(dirs.holds(Path::new("/w/pre-commit")) && !dirs.holds(Path::new("/w/src/pre-commit")));
}

#[test]
fn a_program_that_a_setting_names_is_known_by_its_setting() {
    let cases = [
        ("[core]\nfsmonitor = ./tools/x", "core.fsmonitor"),
        ("[core]\nfsmonitor = tools/x", "core.fsmonitor"),
        ("[core]\nsshCommand = sh tools/x -v", "core.sshcommand"),
        ("[core]\neditor = \"\\\"$(git rev-parse --show-toplevel)/tools/x\\\"\"", "core.editor"),
        ("[filter \"A b\"]\nsmudge = python3 tools/x %f", "filter.A b.smudge"),
        ("[diff \"x\"]\ntextconv = tools/x", "diff.x.textconv"),
        ("[credential]\nhelper = !./tools/x", "credential.helper"),
        ("[alias]\ny = !cd tools && ./x", "alias.y"),
        ("[alias]\ny = -c core.pager=./tools/x log", "alias.y"),
        ("[submodule \"tools\"]\nupdate = !./x", "submodule.tools.update"),
        ("[gpg]\nprogram = tools/x", "gpg.program"),
    ];
    for (text, key) in cases {
        let used = found(&[(".git/config", text)], "src/a").use_of(Path::new("/w/tools/x"), FileForm::File);
        assert_eq!(used, Some(ConfiguredUse::Program(key.into())), "{text}");
    }
    let none = [
        "[core]\nfsmonitor = true",
        "[core]\npager = less",
        "[alias]\ny = log tools",
        "[user]\nname = ./tools/x",
        "[core]\nworktree = ./tools/x",
        "[submodule \"tools\"]\nupdate = rebase",
        "[core]\nfsmonitor = ./tools/x\n[core",
    ];
    for text in none.iter().take(6) {
        let used = found(&[(".git/config", text)], "src/a").use_of(Path::new("/w/tools/x"), FileForm::File);
        assert_eq!(used, None, "{text}");
    }
    // git ends at the line that is not valid, and reads what comes before it.
    assert!(
        found(&[(".git/config", none[6])], "a").use_of(Path::new("/w/tools/x"), FileForm::File).is_some()
    );
}

#[test]
fn a_link_on_the_way_to_a_named_file_counts_and_a_file_does_not() {
    for text in
        ["[core]\nhooksPath = conf/a/hooks", "[gpg]\nprogram = conf/a/x", "[include]\npath = ../conf/a/x"]
    {
        let dirs = found(&[(".git/config", text)], "src/a");
        let used = |path: &str, form| dirs.use_of(&Path::new("/w").join(path), form);
        assert_eq!(used("conf", FileForm::Link), Some(ConfiguredUse::OnTheWay), "{text}");
        assert_eq!(used("conf/a", FileForm::Link), Some(ConfiguredUse::OnTheWay), "{text}");
        assert_eq!(used("conf", FileForm::File), None, "{text}");
        assert_eq!(used("con", FileForm::Link), None, "{text}");
    }
}

#[test]
fn settings_that_are_not_read_whole_make_every_file_below_wait() {
    let long = format!("[core]\n{}", "#".repeat(LARGEST as usize));
    let many = format!("[a]\n{}", "b = c\n".repeat(20_001));
    let words = format!("[alias]\nx = !true{}", (0..20_100).map(|n| format!(" w{n}")).collect::<String>());
    let chain: Vec<(String, String)> =
        (0..300).map(|n| (format!("f{n}"), format!("[include]\npath = f{}", n + 1))).collect();
    let mut files: Vec<(&str, &str)> = chain.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    files.push((".git/config", "[include]\npath = ../f0"));
    let cases = [
        (vec![(".git/config", long.as_str())], "1048576 bytes"),
        (vec![(".git/config", many.as_str())], "20000 settings"),
        (vec![(".git/config", words.as_str())], "20000 words"),
        (files, "256 files"),
    ];
    for (files, why) in cases {
        let used = found(&files, "src/a").use_of(Path::new("/w/src/a"), FileForm::File);
        let words = used.map(|used| used.words()).unwrap_or_default();
        assert!(words.contains(why), "{why}: {words}");
    }
}
