//! What can be known of a project without a model: how it is built and tested, what its CI runs, and where its files are.
//! `/init` writes it into an `AGENTS.md`, or sends it along with the request to write one.

use placet_text::text::{regular_file, visible, width};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The largest build file that is read.
const LARGEST: u64 = 1 << 20;
/// The most rows of a section.
const MOST: usize = 20;
/// The most entries of a directory that are counted.
const COUNTED: usize = 5000;
/// Directories that hold no files of the project's own.
const SKIPPED: [&str; 8] =
    ["target", "node_modules", "dist", "build", "vendor", "__pycache__", "venv", "coverage"];

/// A build file, and the command lines that usually go with it.
const BUILD_FILES: [(&str, &[(&str, &str)]); 12] = [
    ("Cargo.toml", &[("Build", "cargo build"), ("Test", "cargo test")]),
    ("go.mod", &[("Build", "go build ./..."), ("Test", "go test ./...")]),
    ("pom.xml", &[("Build", "mvn package"), ("Test", "mvn test")]),
    ("build.gradle", &[("Build", "gradle build"), ("Test", "gradle test")]),
    ("build.gradle.kts", &[("Build", "gradle build"), ("Test", "gradle test")]),
    (
        "CMakeLists.txt",
        &[("Build", "cmake -B build && cmake --build build"), ("Test", "ctest --test-dir build")],
    ),
    (
        "meson.build",
        &[("Build", "meson setup build && meson compile -C build"), ("Test", "meson test -C build")],
    ),
    ("mix.exs", &[("Build", "mix compile"), ("Test", "mix test")]),
    ("Gemfile", &[("Install", "bundle install")]),
    ("composer.json", &[("Install", "composer install")]),
    ("tox.ini", &[("Test", "tox")]),
    ("rustfmt.toml", &[("Format", "cargo fmt")]),
];

/// The lock file of a package manager of JavaScript.
const PACKAGE_MANAGERS: [(&str, &str); 5] = [
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("package-lock.json", "npm"),
];

/// The facts, as rows of Markdown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectFacts {
    /// The name of the project and what it is, if a file says so.
    about: Option<String>,
    commands: Vec<String>,
    checks: Vec<String>,
    layout: Vec<String>,
}

impl ProjectFacts {
    /// Reads build files, scripts, CI and the first level of directories. Runs nothing.
    pub fn read(root: &Path) -> ProjectFacts {
        let mut facts = ProjectFacts { about: about(root), ..ProjectFacts::default() };
        for (file, rows) in BUILD_FILES {
            if root.join(file).is_file() {
                rows.iter().for_each(|(what, line)| facts.command(what, line));
            }
        }
        facts.package_json(root);
        facts.python(root);
        for (file, program) in [("Makefile", "make"), ("justfile", "just"), ("Justfile", "just")] {
            for target in targets(&root.join(file)) {
                facts.command(&target, &format!("{program} {target}"));
            }
        }
        facts.checks = ci_lines(root);
        facts.layout = layout(root);
        facts.commands.truncate(MOST);
        facts
    }

    pub fn is_empty(&self) -> bool {
        self.commands.is_empty() && self.checks.is_empty() && self.layout.is_empty()
    }

    fn command(&mut self, what: &str, line: &str) {
        let row = format!("- {}: `{}`", plain(what), plain(line));
        if !self.commands.contains(&row) {
            self.commands.push(row);
        }
    }

    fn package_json(&mut self, root: &Path) {
        let Some(package) = read(&root.join("package.json")) else { return };
        let Ok(package) = serde_json::from_str::<Value>(&package) else { return };
        let manager = PACKAGE_MANAGERS.iter().find(|(lock, _)| root.join(lock).exists());
        let manager = manager.map_or("npm", |(_, name)| name);
        self.command("Install", &format!("{manager} install"));
        for name in package.get("scripts").and_then(Value::as_object).into_iter().flat_map(|all| all.keys()) {
            self.command(name, &format!("{manager} run {name}"));
        }
    }

    fn python(&mut self, root: &Path) {
        let project = read(&root.join("pyproject.toml"));
        if let Some(text) = &project {
            let runner = if root.join("uv.lock").exists() { "uv run " } else { "" };
            if root.join("uv.lock").exists() {
                self.command("Install", "uv sync");
            } else if root.join("poetry.lock").exists() {
                self.command("Install", "poetry install");
            }
            for (mark, what, line) in [
                ("pytest", "Test", "pytest"),
                ("ruff", "Lint", "ruff check"),
                ("mypy", "Types", "mypy ."),
                ("black", "Format", "black ."),
            ] {
                if text.contains(mark) {
                    self.command(what, &format!("{runner}{line}"));
                }
            }
        } else if root.join("requirements.txt").exists() {
            self.command("Install", "pip install -r requirements.txt");
        }
    }

    /// The rows under their titles.
    pub fn sections(&self) -> String {
        let mut out = String::new();
        for (title, rows) in
            [("Commands", &self.commands), ("Checks in CI", &self.checks), ("Layout", &self.layout)]
        {
            if !rows.is_empty() {
                let _ = write!(out, "\n## {title}\n\n{}\n", rows.join("\n"));
            }
        }
        out
    }

    /// A whole `AGENTS.md`.
    pub fn draft(&self) -> String {
        let about = self.about.as_ref().map_or(String::new(), |about| format!("\n{about}\n"));
        format!("# Instructions for agents\n{about}{}", self.sections())
    }
}

fn read(path: &Path) -> Option<String> {
    regular_file::read_to_string(path, LARGEST).ok()
}

/// A name or a line of a file, so that it can be between backticks in Markdown: on one line, nothing hidden, not endless.
fn plain(text: &str) -> String {
    width::cut(&visible::line(text.trim()).replace('`', "'"), 120)
}

fn about(root: &Path) -> Option<String> {
    let from_toml = |file: &str, table: &str| {
        let parsed: toml::Table = read(&root.join(file))?.parse().ok()?;
        let table = parsed.get(table)?.as_table()?;
        let text = |key: &str| table.get(key)?.as_str().map(String::from);
        Some((text("name")?, text("description")))
    };
    let from_json = || {
        let package: Value = serde_json::from_str(&read(&root.join("package.json"))?).ok()?;
        let text = |key: &str| package.get(key)?.as_str().map(String::from);
        Some((text("name")?, text("description")))
    };
    let found = from_toml("Cargo.toml", "package").or_else(|| from_toml("pyproject.toml", "project"));
    let (name, description) = found.or_else(from_json)?;
    let description = description.filter(|text| !text.trim().is_empty());
    Some(match description {
        Some(description) => format!("{}: {}", plain(&name), width::cut(&plain(&description), 300)),
        None => plain(&name),
    })
}

/// The targets of a Makefile, or the recipes of a justfile: names at the start of a line before a colon.
fn targets(path: &Path) -> Vec<String> {
    let Some(text) = read(path) else { return Vec::new() };
    let target = |line: &str| {
        let (head, after) = line.split_once(':')?;
        let name = head.split_whitespace().next()?.trim_start_matches('@');
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        let starts = line.starts_with(|c: char| c.is_ascii_alphabetic() || c == '@');
        (starts && is_name && !name.is_empty() && !after.starts_with('=')).then(|| name.to_string())
    };
    let mut found: Vec<String> = text.lines().filter_map(target).collect();
    found.dedup();
    found.truncate(MOST);
    found
}

/// The command lines of workflows, each once.
fn ci_lines(root: &Path) -> Vec<String> {
    let mut rows = Vec::new();
    let workflows = root.join(".github/workflows");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&workflows).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.sort();
    files.retain(|path| path.extension().is_some_and(|end| end == "yml" || end == "yaml"));
    for path in files {
        let Some(text) = read(&path) else { continue };
        for line in text.lines() {
            let line = line.trim().trim_start_matches("- ");
            let Some(run) = line.strip_prefix("run:").map(str::trim) else { continue };
            let is_line = !run.is_empty() && !run.starts_with(['|', '>']) && !run.contains("${{");
            let row = format!("- `{}`", plain(run.trim_matches(['"', '\''])));
            if is_line && !rows.contains(&row) {
                rows.push(row);
            }
        }
    }
    for (file, what) in
        [(".gitlab-ci.yml", "GitLab CI"), (".ci/run", "`.ci/run`"), ("Jenkinsfile", "Jenkins")]
    {
        if root.join(file).is_file() {
            rows.push(format!("- {what}: see `{file}`"));
        }
    }
    rows.truncate(MOST);
    rows
}

/// The directories of the first level, with what most of their files are.
fn layout(root: &Path) -> Vec<String> {
    let mut dirs: Vec<PathBuf> = std::fs::read_dir(root)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect();
    dirs.sort();
    let name = |dir: &Path| dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
    dirs.retain(|dir| !name(dir).starts_with('.') && !SKIPPED.contains(&name(dir).as_str()));
    let row = |dir: &PathBuf| {
        let mut kinds = BTreeMap::new();
        let mut left = COUNTED;
        count(dir, 6, &mut left, &mut kinds);
        let files: usize = kinds.values().sum();
        let most = kinds.iter().max_by_key(|(_, count)| **count).map(|(kind, _)| kind);
        let most = most.filter(|kind| !kind.is_empty() && files > 1);
        let most = most.map_or(String::new(), |kind| format!(", most of them `.{}`", plain(kind)));
        let at_least = if left == 0 { "at least " } else { "" };
        let noun = if files == 1 { "file" } else { "files" };
        format!("- `{}/`: {at_least}{files} {noun}{most}", plain(&name(dir)))
    };
    dirs.iter().take(MOST).map(row).collect()
}

fn count(dir: &Path, depth: usize, left: &mut usize, kinds: &mut BTreeMap<String, usize>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let Ok(kind) = entry.file_type() else { continue };
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if kind.is_dir() && depth > 0 && !name.starts_with('.') && !SKIPPED.contains(&name.as_str()) {
            count(&path, depth - 1, left, kinds);
        } else if kind.is_file() {
            let end = path.extension().unwrap_or_default().to_string_lossy().into_owned();
            *kinds.entry(end).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_draft_says_how_to_build_and_test_and_where_files_are() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at(".github/workflows")).unwrap();
        fs::create_dir_all(at("src/deep")).unwrap();
        fs::create_dir_all(at("target")).unwrap();
        fs::write(at("Cargo.toml"), "[package]\nname = \"tool\"\ndescription = \"Does `things`\"\n").unwrap();
        fs::write(at("package.json"), r#"{"scripts": {"lint": "eslint ."}}"#).unwrap();
        fs::write(at("yarn.lock"), "").unwrap();
        fs::write(at("Makefile"), "X := 1\nall: deps\n\techo hi\n.PHONY: all\n").unwrap();
        fs::write(
            at(".github/workflows/ci.yml"),
            "jobs:\n  - run: cargo test\n  - run: |\n      x\n  - run: \"make all\"\n",
        )
        .unwrap();
        fs::write(at("src/main.rs"), "").unwrap();
        fs::write(at("src/deep/a.rs"), "").unwrap();
        assert_eq!(
            ProjectFacts::read(dir.path()).draft(),
            "# Instructions for agents\n\ntool: Does 'things'\n\n## Commands\n\n- Build: `cargo build`\n\
             - Test: `cargo test`\n- Install: `yarn install`\n- lint: `yarn run lint`\n- all: `make all`\n\n\
             ## Checks in CI\n\n- `cargo test`\n- `make all`\n\n## Layout\n\n\
             - `src/`: 2 files, most of them `.rs`\n"
        );
        let empty = tempfile::tempdir().unwrap();
        assert!(ProjectFacts::read(empty.path()).is_empty());
    }
}
