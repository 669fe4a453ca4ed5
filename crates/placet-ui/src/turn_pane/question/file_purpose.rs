//! What a file is for, by its name: the order in which a person reads changes.

use std::path::Path;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FilePurpose {
    #[default]
    Source,
    Test,
    /// A tool writes it: a lock file, a bundle, a snapshot.
    Generated,
}

const TEST_DIRECTORIES: [&str; 7] = ["test", "tests", "spec", "specs", "__tests__", "testdata", "fixtures"];
const GENERATED_DIRECTORIES: [&str; 6] =
    ["dist", "node_modules", "vendor", "snapshots", "__snapshots__", "generated"];
const GENERATED_ENDS: [&str; 12] = [
    ".lock",
    "-lock.json",
    "-lock.yaml",
    "lock.lockb",
    "npm-shrinkwrap.json",
    "go.sum",
    ".min.js",
    ".min.css",
    ".map",
    ".snap",
    "_pb2.py",
    ".pb.go",
];
const TEST_ENDS: [&str; 7] = ["_test", ".test", "_tests", "_spec", ".spec", "Test", "Tests"];

impl FilePurpose {
    pub(super) fn of(name: &str) -> FilePurpose {
        let path = Path::new(name);
        let file = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let stem = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        let is_below = |names: &[&str]| {
            let mut directories = path.parent().into_iter().flat_map(Path::iter);
            directories.any(|part| part.to_str().is_some_and(|part| names.contains(&part)))
        };
        if is_below(&GENERATED_DIRECTORIES) || GENERATED_ENDS.iter().any(|end| file.ends_with(end)) {
            return FilePurpose::Generated;
        }
        let is_test = file.starts_with("test_") || TEST_ENDS.iter().any(|end| stem.ends_with(end));
        if is_test || is_below(&TEST_DIRECTORIES) { FilePurpose::Test } else { FilePurpose::Source }
    }
}

#[cfg(test)]
mod tests {
    use super::FilePurpose::{self, Generated, Source, Test};

    #[test]
    fn source_comes_before_tests_and_those_before_what_tools_write() {
        for (name, purpose) in [
            ("src/app.rs", Source),
            ("README.md", Source),
            ("src/latest.py", Source),
            ("tests/cli.rs", Test),
            ("src/app_test.go", Test),
            ("src/app.test.tsx", Test),
            ("test_app.py", Test),
            ("src/test/java/AppTest.java", Test),
            ("Cargo.lock", Generated),
            ("web/package-lock.json", Generated),
            ("pnpm-lock.yaml", Generated),
            ("tests/__snapshots__/app.ts", Generated),
            ("web/dist/app.js", Generated),
        ] {
            assert_eq!(FilePurpose::of(name), purpose, "{name}");
        }
    }
}
