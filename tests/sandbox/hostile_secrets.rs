//! What a command must not read: credential files, variables that hold secrets, classified content in a repository; and
//! placet's own files, which nobody else may read.

use crate::support::binary::{Out, Place};
use crate::support::require::has_view;
use crate::support::require::require;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// In no table of shapes, so that only what hides the file or the variable keeps it from a command.
const CANARY: &str = "canary orange tractor";

/// Story: 14 of 14 of these were readable.
const FILES: [&str; 24] = [
    ".cargo/credentials.toml",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".vault-token",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".config/rclone/rclone.conf",
    ".config/google-chrome/Default/Cookies",
    ".config/chromium/Default/Cookies",
    ".terraform.d/credentials.tfrc.json",
    ".m2/settings.xml",
    ".config/hub",
    ".bash_history",
    ".ssh/id_ed25519",
    ".aws/credentials",
    ".kube/config",
    ".docker/config.json",
    ".gnupg/secring.gpg",
    ".password-store/x.gpg",
    ".config/sops/age/keys.txt",
    ".gem/credentials",
    ".my.cnf",
    ".bitcoin/wallet.dat",
];

/// Story: 24 of 33 such variables reached commands.
const VARIABLES: [&str; 33] = [
    "STRIPE_KEY",
    "OPENAI_KEY",
    "RAILS_MASTER_KEY",
    "SUPABASE_SERVICE_ROLE_KEY",
    "MYSQL_PWD",
    "REDIS_URL",
    "MONGO_URI",
    "POSTGRES_URL",
    "DB_URL",
    "SLACK_WEBHOOK_URL",
    "JWT",
    "PASS",
    "SESSION_KEY",
    "COOKIE",
    "AUTHTOKEN",
    "API_KEY",
    "GITHUB_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "DATABASE_URL",
    "PGPASSWORD",
    "SECRET_KEY_BASE",
    "NPM_TOKEN",
    "SENTRY_DSN",
    "CLIENT_SECRET",
    "DB_PASS",
    "SMTP_PASSWORD",
    "TELEGRAM_BOT_TOKEN",
    "GH_PAT",
    "ENCRYPTION_KEY",
    "AMQP_URL",
    "BASIC_AUTH",
    "MNEMONIC",
    "APP_KEY",
];

fn run(place: &Place, mode: &str, line: &str) -> Out {
    command(place, mode, line, &[])
}

fn command(place: &Place, mode: &str, line: &str, more: &[(&str, &str)]) -> Out {
    let input = json!({"command": line}).to_string();
    let mut run = place.placet(["tool", "call", "run_command", &input, "--mode", mode]);
    for (name, value) in more {
        run = run.env(name, value);
    }
    run.go()
}

#[test]
fn credential_files_show_nothing_to_a_command_in_any_mode() {
    if !has_view() {
        return;
    }
    let place = Place::new();
    for file in FILES {
        let path = place.home.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, CANARY).unwrap();
    }
    std::fs::write(place.home.join(".harmless"), "can be read").unwrap();
    let all = FILES.map(|file| format!("~/{file}")).join(" ");
    for mode in ["read", "ask", "write"] {
        // One by one, and all that a search finds.
        for line in [format!("cat ~/.harmless {all}"), "cat ~/.harmless; grep -rs . ~".to_string()] {
            let out = run(&place, mode, &line);
            assert!(out.stdout.contains("can be read"), "{mode}: {out:#?}");
            assert!(!out.stdout.contains("tractor"), "{mode}, {line}: {out:#?}");
        }
    }
}

#[test]
fn a_file_of_settings_and_secrets_is_seen_without_its_secrets() {
    if !has_view() {
        return;
    }
    let place = Place::new();
    let files = [
        (".npmrc", "registry=https://plain.example/\n//plain.example/:_authToken=tractor\n"),
        (".docker/config.json", "{\"auths\": {\"plain.example\": {\"auth\": \"tractor\"}}}"),
        (".gitconfig", "[user]\n\tname = plain.example\n[github]\n\ttoken = tractor\n"),
        (".config/pip/pip.conf", "[global]\nindex-url = https://u:tractor@plain.example/\n"),
    ];
    for (file, text) in files {
        let path = place.home.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    // As people keep them: the file itself is somewhere else.
    std::fs::create_dir(place.home.join("dotfiles")).unwrap();
    std::fs::rename(place.home.join(".npmrc"), place.home.join("dotfiles/npmrc")).unwrap();
    std::os::unix::fs::symlink("dotfiles/npmrc", place.home.join(".npmrc")).unwrap();
    // In the home directory of one session nothing that a command does shows more to the next.
    let lines = [
        "cat ~/.npmrc ~/.docker/config.json ~/.gitconfig ~/.config/pip/pip.conf ~/dotfiles/npmrc",
        "mv ~/.docker ~/d; ln -s d/config.json ~/link; ln ~/.npmrc ~/hard; mv ~/.gitconfig ~/g; rm -f ~/.npmrc; \
         ln -s d ~/.docker; grep -rs . ~",
        "umount ~/.gitconfig; chmod 777 ~/.gitconfig; echo x >> ~/.gitconfig; grep -rs . ~",
    ];
    for mode in ["read", "ask", "write"] {
        for line in lines {
            let out = run(&place, mode, line);
            assert!(!out.stdout.contains("tractor"), "{mode}, {line}: {out:#?}");
        }
        let out = run(&place, mode, lines[0]);
        assert_eq!(out.stdout.matches("plain.example").count(), 5, "{mode}: {out:#?}");
    }
    let text = std::fs::read_to_string(place.home.join(".npmrc")).unwrap();
    assert!(text.contains("tractor"), "{text}");
}

/// The same where the home directory is the workspace: the file itself stays what it is.
#[test]
fn a_home_directory_that_is_the_workspace_shows_no_secret_of_its_settings() {
    if !has_view() {
        return;
    }
    let place = Place::new();
    let text = "[user]\n\tname = plain.example\n[github]\n\ttoken = tractor\n";
    place.home_file(".gitconfig", text);
    place.home_file(".config/pip/pip.conf", "[global]\nindex-url = https://u:tractor@plain.example/\n");
    for mode in ["read", "ask", "write"] {
        for line in [
            "cat .gitconfig .config/pip/pip.conf; git config --list",
            "grep -rs . .",
            "rm -f .gitconfig; mv .gitconfig g; cat g .gitconfig; echo x >> .gitconfig; cat .gitconfig",
        ] {
            let input = json!({"command": line}).to_string();
            let run = place.placet(["tool", "call", "run_command", &input, "--mode", mode]);
            let out = run.cwd(&place.home).go();
            assert!(out.stdout.contains("plain.example"), "{mode}, {line}: {out:#?}");
            assert!(!out.stdout.contains("tractor"), "{mode}, {line}: {out:#?}");
            assert!(!out.stdout.contains("[effects:"), "{mode}, {line}: {out:#?}");
        }
    }
    assert_eq!(std::fs::read_to_string(place.home.join(".gitconfig")).unwrap(), text);
}

#[test]
fn a_credential_file_that_the_person_names_is_passed() {
    if !has_view() {
        return;
    }
    let place = Place::new().config("sandbox.keep_files = [\"~/.npmrc\"]\n");
    for file in [".npmrc", ".pypirc"] {
        std::fs::write(place.home.join(file), format!("{CANARY} {file}")).unwrap();
    }
    let out = run(&place, "read", "cat ~/.npmrc ~/.pypirc");
    assert!(out.stdout.contains("tractor .npmrc") && !out.stdout.contains("tractor .pypirc"), "{out:#?}");
}

#[test]
fn variables_that_hold_secrets_do_not_reach_a_command_and_it_is_said() {
    if !has_view() {
        return;
    }
    let place = Place::new();
    let secret: Vec<(&str, &str)> = VARIABLES.iter().map(|name| (*name, "aVerySecretWord")).collect();
    let mut all = secret.clone();
    all.push(("PLAIN", "passed on"));
    all.push(("ODD_NAME", "redis://:aVerySecretWord@cache:6379"));
    for mode in ["read", "ask", "write"] {
        let out = command(&place, mode, "env", &all);
        assert!(out.stdout.contains("PLAIN=passed on"), "{mode}: {out:#?}");
        assert!(!out.stdout.contains("aVerySecretWord"), "{mode}: {out:#?}");
        assert!(
            out.stdout.contains("AMQP_URL") && out.stdout.contains("sandbox.keep_env"),
            "{mode}: {out:#?}"
        );
    }
    let kept = Place::new().config("sandbox.keep_env = [\"STRIPE_*\"]\n");
    let out = command(&kept, "read", "echo $STRIPE_KEY; echo $DB_URL", &all);
    assert!(out.stdout.starts_with("aVerySecretWord\n"), "{out:#?}");
    assert_eq!(out.stdout.matches("aVerySecretWord").count(), 1, "{out:#?}");
}

#[test]
fn the_report_comes_with_the_first_command_of_a_conversation_only() {
    if !has_view() {
        return;
    }
    let place = Place::new();
    let out =
        place.placet(["--mode", "read"]).env("STRIPE_KEY", "k").stdin("run echo one\nrun echo two\n").go();
    assert_eq!(out.stdout.matches("sandbox.keep_env").count(), 1, "{out:#?}");
    // Where nothing is withheld, nothing is said.
    let out = run(&place, "read", "echo one");
    assert!(!out.stdout.contains("keep_env") && !out.stderr.contains("keep_env"), "{out:#?}");
}

#[test]
fn builds_keep_working_with_a_usual_environment() {
    if !has_view() {
        return;
    }
    let place = Place::new().file("Makefile", "all:\n\t@echo made $(CC) $(GOFLAGS) $(CARGO_HOME)\n");
    let usual = [
        ("CC", "clang"),
        ("GOFLAGS", "-mod=vendor"),
        ("CARGO_HOME", "/opt/cargo"),
        ("LS_COLORS", "di=01;34:ln=01;36"),
    ];
    for (tool, line, said) in [
        ("make", "make", "made clang -mod=vendor /opt/cargo"),
        (
            "git",
            "git init -q r && cd r && git -c user.name=n -c user.email=e commit -q --allow-empty -m first && git log --oneline",
            "first",
        ),
        ("python3", "python3 -c 'import os; print(os.environ[\"GOFLAGS\"])'", "-mod=vendor"),
    ] {
        if require(tool) {
            let out = command(&place, "read", line, &usual);
            assert!(out.stdout.contains(said), "{tool}: {out:#?}");
        }
    }
}

#[test]
fn what_a_command_prints_under_the_name_of_a_secret_is_redacted() {
    let place = Place::new();
    let names = [
        "RAILS_MASTER_KEY",
        "SUPABASE_SERVICE_ROLE_KEY",
        "SLACK_WEBHOOK_URL",
        "MYSQL_PWD",
        "JWT",
        "PASS",
        "AUTHTOKEN",
    ];
    let text: String = names.iter().map(|name| format!("{name}=s3cretw0rdofmine\n")).collect();
    place.write("env.txt", &text);
    let out = place.run(["tool", "call", "read_file", r#"{"path":"env.txt"}"#]).code(0);
    assert!(!out.stdout.contains("s3cretw0rd"), "{out:#?}");
    assert_eq!(out.stdout.matches("[redacted: value]").count(), names.len(), "{out:#?}");
}

/// A repository whose history holds a restricted and a confidential file. It lies in the home directory, which commands
/// see as it is, unlike what is around it in `/tmp`.
fn classified(paths: &str) -> Option<Place> {
    if !has_view() || !require("git") {
        return None;
    }
    let mut place = Place::new().config(&format!("[classification]\npaths = [{paths}]\n"));
    place.tree = place.home.join("project");
    place.write("vault/key", "the restricted word\n");
    place.write("board/plan", "the confidential word\n");
    place.write("a.txt", "open\n");
    let line = "git init -q . && git add -A && git -c user.name=n -c user.email=e commit -qm one";
    let done = Command::new("sh").args(["-c", line]).current_dir(&place.tree).status().unwrap();
    assert!(done.success());
    Some(place)
}

#[test]
fn content_above_the_ceiling_is_not_read_out_of_the_repository() {
    let Some(place) = classified("\"RESTRICTED:vault/**\", \"CONFIDENTIAL:board/**\"") else { return };
    for line in [
        "git cat-file -p $(git rev-parse HEAD:$(echo dmF1bHQ=|base64 -d)/key)",
        "$(echo gi)t cat-file -p HEAD:$(echo dmF1bHQ=|base64 -d)/key",
        "x=git; $x log -p",
        "$(printf '\\147it') archive HEAD | tar xO",
        "python3 -c \"import zlib,glob; print([zlib.decompress(open(p,'rb').read()) for p in glob.glob('.g*/objects/??/*')])\"",
        "cp -r .gi[t] x; $(echo gi)t -C x --git-dir=. show HEAD",
        "for f in $(find .. -path '*objects/??/*' 2>/dev/null); do python3 -c \"import zlib,sys; print(zlib.decompress(open('$f','rb').read()))\"; done",
    ] {
        for mode in ["read", "write"] {
            let out = run(&place, mode, line);
            assert!(!format!("{}{}", out.stdout, out.stderr).contains("restricted word"), "{line}: {out:#?}");
        }
    }
    let refused = run(&place, "read", "git log -p").code(3);
    assert!(refused.stderr.contains("RESTRICTED") && refused.stderr.contains("ceiling"), "{refused:#?}");
    // A pattern of the person's for the repository itself allows it.
    let Some(place) = classified("\"PUBLIC:.git/**\", \"RESTRICTED:vault/**\"") else { return };
    run(&place, "read", "git log --oneline").code(0).says("one");
}

#[test]
fn a_repository_around_the_workspace_is_hidden_as_well() {
    let Some(place) = classified("\"RESTRICTED:vault/**\"") else { return };
    place.write("sub/b.txt", "b");
    let input =
        json!({"command": "$(echo gi)t show HEAD:$(echo dmF1bHQ=|base64 -d)/key; cat b.txt"}).to_string();
    let out = place.placet(["tool", "call", "run_command", &input]).cwd(&place.tree.join("sub")).go();
    assert!(out.stdout.contains('b') && !out.stdout.contains("restricted word"), "{out:#?}");
}

#[test]
fn a_repository_with_its_objects_elsewhere_is_hidden_as_well() {
    let layouts = [
        // The directory of the repository is another one.
        "git init -q --separate-git-dir ~/gd .",
        // A bare one beside the files, and one that borrows its objects.
        "git clone -q --bare . bare && rm -rf .git",
        "git clone -q --shared . ~/borrows && rm -rf ~/borrows/vault && cp -r .git ~/lender && echo ~/lender/objects > ~/borrows/.git/objects/info/alternates && rm -rf .git && mv ~/borrows/.git .git",
    ];
    for layout in layouts {
        let Some(place) = classified("\"RESTRICTED:vault/**\"") else { return };
        let done = Command::new("sh")
            .args(["-c", layout])
            .current_dir(&place.tree)
            .env("HOME", &place.home)
            .status();
        assert!(done.unwrap().success(), "{layout}");
        for line in [
            "$(echo gi)t",
            "$(echo gi)t --git-dir=bare",
            "$(echo gi)t --git-dir=$HOME/gd",
            "$(echo gi)t --git-dir=$HOME/lender",
        ] {
            let line = format!("{line} show HEAD:$(echo dmF1bHQ=|base64 -d)/key");
            let out = run(&place, "read", &line);
            assert!(
                !format!("{}{}", out.stdout, out.stderr).contains("restricted word"),
                "{layout}: {line}: {out:#?}"
            );
        }
    }
}

#[test]
fn reading_through_git_raises_the_level() {
    let Some(place) = classified("\"CONFIDENTIAL:board/**\"") else { return };
    let lines = "run git grep word HEAD\ncreate out.txt with \"the word\"\n";
    let out = place.placet(["--mode", "write"]).stdin(lines).go();
    assert!(out.stdout.contains("Write-down blocked"), "{out:#?}");
    assert!(!place.tree.join("out.txt").exists());
    // Before that, the repository shows nothing to a command whose words do not name it.
    let hidden = run(&place, "read", "$(echo gi)t grep word HEAD");
    assert!(!hidden.stdout.contains("confidential word"), "{hidden:#?}");
}

fn looser(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let (path, meta) = (entry.path(), entry.metadata().unwrap());
        // A layer has the modes of the workspace.
        let above = path.parent().unwrap();
        let layer = meta.is_dir() && (above.ends_with("pending") || above.ends_with("scratch"));
        if !layer && meta.permissions().mode() & 0o077 != 0 && !meta.is_symlink() {
            found.push(path.clone());
        }
        if meta.is_dir() && !layer {
            looser(&path, found);
        }
    }
}

/// Runs placet under a umask that hides nothing.
fn open_to_all(place: &Place, args: &[&str], stdin: &str) -> Out {
    let mut words = vec!["-c", "umask 0; exec \"$0\" \"$@\"", crate::support::program::placet()];
    words.extend(args);
    let mut command = Command::new("sh");
    command.args(words).env_clear().current_dir(&place.tree).env("HOME", &place.home);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    for (name, below) in
        [("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state"), ("XDG_CACHE_HOME", "cache")]
    {
        command.env(name, place.home.join(below));
    }
    crate::support::binary::Run::of(command).stdin(stdin).go()
}

#[test]
fn files_of_placet_s_own_are_for_their_owner_alone_whatever_the_umask_is() {
    let place = Place::new().file("a.txt", "old\n");
    for (args, stdin) in [
        (&["config", "init"][..], ""),
        (&["-p", "overwrite a.txt with \"new\" anyway", "--mode", "write"], ""),
        (
            &[
                "-p",
                "overwrite a.txt with \"newer\" anyway and then create b.txt with \"b\"",
                "--mode",
                "ask",
            ],
            "",
        ),
        (&["-p", "run echo hello", "--mode", "ask"], ""),
        (&["undo"], ""),
        (&["--mode", "write"], "create c.txt with \"c\"\n/journal\n"),
        (&["provider", "add", "mine", "--base-url", "http://127.0.0.1:1", "--wire", "openai-chat"], ""),
        (&["apply"], ""),
        (&["journal", "prune"], ""),
        (&["metrics"], ""),
        (&["doctor"], ""),
    ] {
        open_to_all(&place, args, stdin);
    }
    assert_eq!(place.read("c.txt"), "c");
    // What it makes in the workspace has the modes that the umask gives.
    let made = std::fs::metadata(place.tree.join("c.txt")).unwrap().permissions().mode() & 0o777;
    assert_eq!(made, 0o666);
    let mut found = Vec::new();
    for dir in ["config/placet", "state/placet", "cache/placet"] {
        let dir = place.home.join(dir);
        assert!(dir.is_dir(), "{}", dir.display());
        found.extend(
            (std::fs::metadata(&dir).unwrap().permissions().mode() & 0o077 != 0).then(|| dir.clone()),
        );
        looser(&dir, &mut found);
    }
    assert_eq!(found, Vec::<PathBuf>::new());
    assert!(
        place.state_dir().join("metrics.json").exists() && place.config_dir().join("config.toml").exists()
    );
}

#[test]
fn looser_files_of_earlier_versions_are_shut_and_doctor_names_them() {
    let place = Place::new().file("a.txt", "old\n").config("max_turns = 50\n");
    place.run(["-p", "overwrite a.txt with \"new\" anyway", "--mode", "write"]).code(0);
    let metrics = place.state_dir().join("metrics.json");
    let config = place.config_dir().join("config.toml");
    for path in [&metrics, &config, &place.config_dir(), &place.state_dir()] {
        let mode = if path.is_dir() { 0o755 } else { 0o644 };
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    // The directories and the settings at once, with whatever starts.
    place.run(["changes"]).code(0);
    for path in [&config, &place.config_dir(), &place.state_dir()] {
        assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o077, 0, "{}", path.display());
    }
    place.run(["doctor"]).says("metrics.json was 644; it is 600 now");
    assert_eq!(std::fs::metadata(&metrics).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_command_of_the_person_s_own_says_what_it_did_not_get() {
    if !has_view() {
        return;
    }
    let place = Place::new();
    let out =
        place.placet(["sandbox", "run", "--discard", "--", "env"]).env("STRIPE_KEY", "aVerySecretWord").go();
    assert!(!out.stdout.contains("aVerySecretWord"), "{out:#?}");
    assert!(
        out.stderr.contains("1 variable (STRIPE_KEY)") && out.stderr.contains("sandbox.keep_env"),
        "{out:#?}"
    );
}
