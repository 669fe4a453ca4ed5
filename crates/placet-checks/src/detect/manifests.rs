//! Proposals from the manifests of build systems and package managers.

use super::proposal::{ProjectFiles, ProposedCheck};
use serde_json::Value;

/// The files on which the result of a Rust build depends.
const RUST: [&str; 3] = ["*.rs", "Cargo.toml", "Cargo.lock"];

pub(super) fn cargo(files: &ProjectFiles<'_>) -> Vec<ProposedCheck> {
    const FROM: &str = "Cargo.toml";
    let Some(manifest) = files.read(FROM).and_then(|text| text.parse::<toml::Table>().ok()) else {
        return Vec::new();
    };
    if !manifest.contains_key("package") && !manifest.contains_key("workspace") {
        return Vec::new();
    }
    let all = if manifest.contains_key("workspace") { " --workspace" } else { "" };
    vec![
        ProposedCheck::new(
            "check",
            &format!("cargo check{all} --all-targets --message-format json"),
            "cargo-json",
            FROM,
        )
        .on(&RUST),
        ProposedCheck::new("test", &format!("cargo test{all}"), "cargo-json", FROM),
    ]
}

/// The scripts of `package.json` that are checks by their names.
pub(super) fn node(files: &ProjectFiles<'_>) -> Vec<ProposedCheck> {
    const FROM: &str = "package.json";
    let Some(package) = files.read(FROM).and_then(|text| serde_json::from_str::<Value>(&text).ok()) else {
        return Vec::new();
    };
    let run = match () {
        () if files.has("pnpm-lock.yaml") => "pnpm run",
        () if files.has("yarn.lock") => "yarn run",
        () if files.has("bun.lock") || files.has("bun.lockb") => "bun run",
        () => "npm run",
    };
    let scripts = package.get("scripts").and_then(Value::as_object);
    let script = |name: &str| scripts.and_then(|all| all.get(name)).and_then(Value::as_str);
    let mut found = Vec::new();
    for name in ["typecheck", "type-check", "check", "lint", "test"] {
        let Some(text) = script(name) else { continue };
        // What `npm init` writes.
        if text.contains("no test specified") {
            continue;
        }
        let output = if text.contains("tsc") || text.contains("vue-tsc") { "tsc" } else { "text" };
        let silent = if run == "npm run" { " --silent" } else { "" };
        found.push(ProposedCheck::new(name, &format!("{run}{silent} {name}"), output, FROM));
    }
    let is_typed = found.iter().any(|check| check.output == "tsc");
    if files.has("tsconfig.json") && !is_typed {
        let paths = ["*.ts", "*.tsx", "*.mts", "*.cts", "tsconfig*.json", "package.json"];
        found.push(
            ProposedCheck::new("types", "npx tsc --noEmit", "tsc", "tsconfig.json")
                .on(&paths)
                .with_one_of(&["tsc"]),
        );
    }
    found
}

pub(super) fn python(files: &ProjectFiles<'_>) -> Vec<ProposedCheck> {
    const FROM: &str = "pyproject.toml";
    let project = files.read(FROM).and_then(|text| text.parse::<toml::Table>().ok()).unwrap_or_default();
    let has_tool = |name: &str| {
        project.get("tool").and_then(|tools| tools.as_table()).is_some_and(|tools| tools.contains_key(name))
    };
    let mut found = Vec::new();
    if has_tool("ruff") || files.has("ruff.toml") || files.has(".ruff.toml") {
        let from = if has_tool("ruff") { FROM } else { "ruff.toml" };
        found.push(ProposedCheck::new("ruff", "ruff check --output-format json", "ruff-json", from).on(&[
            "*.py",
            "*.pyi",
            "pyproject.toml",
            "ruff.toml",
        ]));
    }
    if has_tool("mypy") || files.has("mypy.ini") {
        let from = if has_tool("mypy") { FROM } else { "mypy.ini" };
        found.push(ProposedCheck::new("mypy", "mypy .", "text", from));
    }
    let listed =
        |name: &'static str| files.read(name).filter(|text| text.contains("pytest")).map(move |_| name);
    let from = match () {
        () if has_tool("pytest") => Some(FROM),
        () if files.has("pytest.ini") => Some("pytest.ini"),
        () => [FROM, "requirements-dev.txt", "requirements.txt", "tox.ini", "setup.cfg"]
            .into_iter()
            .find_map(listed),
    };
    if let Some(from) = from {
        found.push(
            ProposedCheck::new("pytest", "python3 -m pytest -q", "pytest", from)
                .with_one_of(&["pytest", "pytest-3", "py.test"]),
        );
    }
    found
}

pub(super) fn go(files: &ProjectFiles<'_>) -> Vec<ProposedCheck> {
    const FROM: &str = "go.mod";
    if !files.has(FROM) {
        return Vec::new();
    }
    let vet = ProposedCheck::new("vet", "go vet ./...", "go", FROM);
    vec![vet.on(&["*.go", "go.mod", "go.sum"]), ProposedCheck::new("test", "go test ./...", "go", FROM)]
}

pub(super) fn cmake(files: &ProjectFiles<'_>) -> Vec<ProposedCheck> {
    const FROM: &str = "CMakeLists.txt";
    let Some(text) = files.read(FROM) else { return Vec::new() };
    let test = if text.contains("enable_testing") || text.contains("include(CTest)") {
        " && ctest --test-dir build --output-on-failure"
    } else {
        ""
    };
    let command = format!("cmake -S . -B build && cmake --build build{test}");
    vec![ProposedCheck::new("build", &command, "text", FROM)]
}
