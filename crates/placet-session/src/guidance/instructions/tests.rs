use super::*;
use std::fs;

fn repository() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(".git")).unwrap();
    dir
}

fn collected(cwd: &Path, own: Option<&Path>) -> CollectedInstructions {
    of_conversation(&InstructionsRequest { cwd, own, may_read: &|_| true })
}

fn names(found: &CollectedInstructions) -> Vec<String> {
    let name = |path: &String| Path::new(path).file_name().unwrap().to_string_lossy().into_owned();
    found.sources.iter().map(|source| name(&source.path)).collect()
}

#[test]
fn the_own_file_comes_first_and_other_names_count_where_no_agents_md_is() {
    let dir = repository();
    let leaf = dir.path().join("a");
    fs::create_dir(&leaf).unwrap();
    fs::write(dir.path().join("own.md"), "mine").unwrap();
    fs::write(dir.path().join("AGENTS.md"), "root").unwrap();
    fs::write(dir.path().join("CLAUDE.md"), "not read").unwrap();
    fs::write(leaf.join("CLAUDE.md"), "claude").unwrap();
    fs::write(leaf.join("GEMINI.md"), "gemini").unwrap();
    let found = collected(&leaf, Some(&dir.path().join("own.md")));
    assert_eq!(names(&found), ["own.md", "AGENTS.md", "CLAUDE.md", "GEMINI.md"]);
    assert!(!found.text.contains("not read"));
    // A link to the other name is one file.
    fs::remove_file(leaf.join("GEMINI.md")).unwrap();
    std::os::unix::fs::symlink("CLAUDE.md", leaf.join("GEMINI.md")).unwrap();
    assert_eq!(names(&collected(&leaf, None)), ["AGENTS.md", "CLAUDE.md"]);
}

#[test]
fn imports_are_read_inside_the_repository_and_each_once() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret.md"), "secret").unwrap();
    let dir = repository();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir(at("docs")).unwrap();
    let secret = outside.path().join("secret.md");
    fs::write(
        at("AGENTS.md"),
        format!("@docs/a.md @missing.md @someone/else @{} @docs/link.md", secret.display()),
    )
    .unwrap();
    fs::write(at("docs/a.md"), "rules of a, with @b.md and @../AGENTS.md").unwrap();
    fs::write(at("docs/b.md"), "rules of b, with @a.md").unwrap();
    std::os::unix::fs::symlink(&secret, at("docs/link.md")).unwrap();
    let found = collected(dir.path(), None);
    assert_eq!(names(&found), ["AGENTS.md", "a.md", "b.md"]);
    assert!(!found.text.contains("\nsecret"), "{}", found.text);
    let why: Vec<&str> = found.left_out.iter().map(|line| line.split(": ").nth(1).unwrap()).collect();
    assert_eq!(
        why,
        [
            "there is no such file",
            "it is imported from outside of the workspace",
            "it is imported from outside of the workspace"
        ]
    );
}

#[test]
fn imports_end_at_the_fifth_level_and_the_cap_is_reported() {
    let dir = repository();
    fs::write(dir.path().join("AGENTS.md"), "@1.md").unwrap();
    for level in 1..=6 {
        fs::write(dir.path().join(format!("{level}.md")), format!("level {level} @{}.md", level + 1))
            .unwrap();
    }
    let found = collected(dir.path(), None);
    assert_eq!(names(&found), ["AGENTS.md", "1.md", "2.md", "3.md", "4.md", "5.md"]);
    assert!(found.left_out[0].ends_with("6.md is left out: imports are read 5 levels deep"), "{found:?}");
    fs::write(dir.path().join("1.md"), "x".repeat(40_000)).unwrap();
    let found = collected(dir.path(), None);
    assert!(found.text.len() < MAX_BYTES + 200 && found.text.contains("[cut here: "));
    assert!(found.left_out[0].contains("of 40000 bytes are not sent"), "{:?}", found.left_out);
    assert!(found.sources[1].bytes < MAX_BYTES);
}

#[test]
fn a_deeper_directory_has_its_own_instructions_and_text_goes_to_the_nearest_file() {
    let dir = repository();
    let leaf = dir.path().join("a/b");
    fs::create_dir_all(&leaf).unwrap();
    fs::write(leaf.join("AGENTS.md"), "deep rules").unwrap();
    let found = of_directory(&leaf, dir.path(), MAX_BYTES, &|_| true);
    assert!(found.text.contains("deep rules") && names(&found) == ["AGENTS.md"]);
    assert!(of_directory(&leaf, dir.path(), MAX_BYTES, &|_| false).sources.is_empty());
    assert_eq!(instruction_file_of(&leaf, dir.path()), leaf.join("AGENTS.md"));
    assert_eq!(instruction_file_of(&dir.path().join("a"), dir.path()), dir.path().join("AGENTS.md"));
    fs::write(dir.path().join("a/CLAUDE.md"), "x").unwrap();
    assert_eq!(instruction_file_of(&dir.path().join("a"), dir.path()), dir.path().join("a/CLAUDE.md"));
}
