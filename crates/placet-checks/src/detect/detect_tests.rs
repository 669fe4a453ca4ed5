use super::*;

fn proposed(files: &[(&str, &str)]) -> String {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let line = |check: ProposedCheck| {
        let ProposedCheck { name, command, output, paths, from, .. } = check;
        format!("{name} = {command} ({output}) {} <- {from}\n", paths.join(" "))
    };
    propose(dir.path()).into_iter().map(line).collect()
}

#[test]
fn each_build_system_suggests_its_checks() {
    let cargo = proposed(&[("Cargo.toml", "[workspace]\nmembers = ['a']\n")]);
    let node = proposed(&[
        ("package.json", r#"{"scripts": {"lint": "eslint .", "test": "vitest", "deploy": "rm -rf /"}}"#),
        ("tsconfig.json", "{}"),
        ("pnpm-lock.yaml", ""),
    ]);
    let python = proposed(&[("pyproject.toml", "[tool.ruff]\n[tool.pytest.ini_options]\n")]);
    let go = proposed(&[("go.mod", "module x\n")]);
    let cmake = proposed(&[("CMakeLists.txt", "enable_testing()\n")]);
    insta::assert_snapshot!([cargo, node, python, go, cmake].join("--\n"), @r#"
        check = cargo check --workspace --all-targets --message-format json (cargo-json) *.rs Cargo.toml Cargo.lock <- Cargo.toml
        test = cargo test --workspace (cargo-json)  <- Cargo.toml
        --
        lint = pnpm run lint (text)  <- package.json
        test = pnpm run test (text)  <- package.json
        types = npx tsc --noEmit (tsc) *.ts *.tsx *.mts *.cts tsconfig*.json package.json <- tsconfig.json
        --
        ruff = ruff check --output-format json (ruff-json) *.py *.pyi pyproject.toml ruff.toml <- pyproject.toml
        pytest = python3 -m pytest -q (pytest)  <- pyproject.toml
        --
        vet = go vet ./... (go) *.go go.mod go.sum <- go.mod
        test = go test ./... (go)  <- go.mod
        --
        build = cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure (text)  <- CMakeLists.txt
        "#);
}

#[test]
fn recipes_and_workflows_add_what_nothing_else_covers() {
    let workflow = "jobs:\n  a:\n    steps:\n      - run: cargo clippy -- -D warnings\n      - run: |\n          cargo fmt --all --check\n          ./deploy && rm -rf target\n      - run: mypy ${{ matrix.dir }}\n";
    let all = proposed(&[
        ("Makefile", "VERSION := 1\ncheck: build\n\ttrue\nlint:\n\ttrue\ndeploy:\n\ttrue\n"),
        ("justfile", "test *args:\n  true\nlint path:\n  true\n"),
        (".github/workflows/ci.yml", workflow),
    ]);
    insta::assert_snapshot!(all, @r#"
        make-check = make check (text)  <- Makefile
        make-lint = make lint (text)  <- Makefile
        just-test = just test (text)  <- justfile
        clippy = cargo clippy -- -D warnings (text)  <- .github/workflows/ci.yml
        format = cargo fmt --all --check (text)  <- .github/workflows/ci.yml
        "#);
}

#[test]
fn a_check_whose_program_is_not_installed_is_not_proposed() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    write("Makefile", "test:\n\ttrue\n");
    write("tsconfig.json", "{}");
    write("package.json", "{}");
    let is_installed = |name: &str| name == "make";
    let added = addition::addition(dir.path(), &[], "", &is_installed).unwrap();
    assert_eq!(
        (added.text.matches("[checks.").count(), added.missing.as_slice()),
        (1, &["tsc".to_string()][..])
    );
    let none = addition::addition(dir.path(), &[], "", &|_| false);
    assert_eq!(none.unwrap_err().to_string(), "not installed: tsc, make");
}

#[test]
fn files_that_cannot_be_understood_suggest_nothing() {
    assert_eq!(proposed(&[("Cargo.toml", "[[["), ("package.json", "{"), ("pyproject.toml", "=")]), "");
    let npm = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#;
    assert_eq!(proposed(&[("package.json", npm)]), "");
}
