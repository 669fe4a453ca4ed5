use super::*;
use std::fs;

fn dir(root: &Path, origin: GuidanceOrigin) -> GuidanceDir {
    GuidanceDir { path: root.join("commands"), origin, root: root.into() }
}

fn catalog(root: &Path, origin: GuidanceOrigin) -> CommandCatalog {
    CommandCatalog::read(&[dir(root, origin)], &|_| true, &|_, _| false)
}

fn command(text: &str) -> CommandFile {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("commands")).unwrap();
    fs::write(home.path().join("commands/x.md"), text).unwrap();
    catalog(home.path(), GuidanceOrigin::Own).commands.remove(0)
}

fn text(command: &CommandFile, arguments: &[&str]) -> String {
    let words: Vec<String> = arguments.iter().map(|word| (*word).to_string()).collect();
    let pieces = command.pieces(&arguments.join(" "), &words).into_iter();
    let shown = pieces.map(|piece| match piece {
        CommandPiece::Text(text) => text,
        CommandPiece::Run(line) => format!("<{line}>"),
    });
    shown.collect()
}

#[test]
fn the_name_is_the_path_and_the_description_the_first_line_without_one() {
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join("commands").join(name);
    fs::create_dir_all(at("git/deep")).unwrap();
    fs::write(
        at("git/commit.md"),
        "---\ndescription: Commit what is staged\nargument-hint: [message]\n---\nx",
    )
    .unwrap();
    fs::write(at("git/deep/er.md"), "# Go deeper\n\ntext").unwrap();
    fs::write(at("git/git:push.md"), "push").unwrap();
    fs::create_dir(at(".github")).unwrap();
    fs::write(at(".github/CONTRIBUTING.md"), "no command").unwrap();
    fs::write(at("bad name.md"), "x").unwrap();
    fs::write(at("empty.md"), "---\ndescription: x\n---\n").unwrap();
    fs::write(at("notes.txt"), "x").unwrap();
    let found = catalog(home.path(), GuidanceOrigin::Own);
    let rows: Vec<(&str, &str, &str)> = found
        .commands
        .iter()
        .map(|c| (c.name.as_str(), c.description.as_str(), c.arguments.as_str()))
        .collect();
    assert_eq!(
        rows,
        [
            ("git:commit", "Commit what is staged", "[message]"),
            ("git:deep:er", "Go deeper", ""),
            ("git:push", "push", "")
        ]
    );
    assert_eq!(found.problems.len(), 2, "{:?}", found.problems);
    assert!(found.commands.iter().all(|command| command.is_trusted));
    assert!(catalog(home.path(), GuidanceOrigin::Project).commands.iter().all(|c| !c.is_trusted));
}

#[test]
fn arguments_take_their_places_and_a_shell_gets_each_as_one_word() {
    let fix = command("fix $1 in $2, all: $ARGUMENTS, cost \\$1 or $10 of $HOME");
    assert_eq!(text(&fix, &["a", "b c"]), "fix a in b c, all: a b c, cost $1 or $10 of $HOME");
    let plain = command("review the change");
    assert_eq!(text(&plain, &[]), "review the change");
    assert_eq!(text(&plain, &["now"]), "review the change\n\nArguments: now");
    let run = command("state:\n!`git log -1 $1`\nand !`ls $ARGUMENTS` end, no!`x` and !`open");
    assert_eq!(
        text(&run, &["a; rm -rf /", "b"]),
        "state:\n<git log -1 'a; rm -rf /'>\nand <ls 'a; rm -rf /' b> end, no!`x` and !`open"
    );
}

#[test]
fn allowed_tools_name_the_command_lines_that_they_permit() {
    let of = |list: &str| command(&format!("---\nallowed-tools: {list}\n---\nx")).allowed_commands();
    assert_eq!(of("Bash(git add:*), Read, Bash(npm test)"), ["git add *", "npm test"]);
    assert_eq!(of("run(cargo test *)"), ["cargo test *"]);
    assert_eq!(of("Bash, Bash(*), Bash(:*), Edit"), [] as [&str; 0]);
    let inherits = command("---\nmodel: inherit\n---\nx");
    assert_eq!(inherits.model, None);
    assert_eq!(command("---\nmodel: gpt-5\n---\nx").model.as_deref(), Some("gpt-5"));
}

#[test]
fn a_link_out_of_the_repository_is_not_read() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("w");
    fs::create_dir_all(root.join("commands")).unwrap();
    fs::write(home.path().join("secret.md"), "secret").unwrap();
    std::os::unix::fs::symlink(home.path().join("secret.md"), root.join("commands/x.md")).unwrap();
    let found = catalog(&root, GuidanceOrigin::Project);
    assert!(found.commands.is_empty() && found.problems[0].why.contains("link out of the repository"));
}
