use super::findings::MOST;
use super::*;
use crate::diagnostic::{Diagnostic, DiagnosticPlace};
use regex::Regex;

fn read(form: &CheckOutputForm, output: &[u8]) -> CheckFindings {
    let mut reader = FindingsReader::new(form, "/w".into());
    // In pieces, as a pipe delivers it.
    output.chunks(7).for_each(|piece| reader.push(piece));
    reader.finish()
}

/// One line for each diagnostic, then the counts.
fn shown(form: &CheckOutputForm, output: &str) -> String {
    let found = read(form, output.as_bytes());
    let mut out = String::new();
    for Diagnostic { place, level, message } in &found.diagnostics {
        if let Some(DiagnosticPlace { file, line, column }) = place {
            let figure = |number: &Option<u32>| number.map_or(String::new(), |n| format!(":{n}"));
            out.push_str(&format!("{}{}{} ", file.path().display(), figure(line), figure(column)));
        }
        out.push_str(&format!("{}: {message}\n", level.word()));
    }
    let tests =
        found.tests.map_or("no tests".into(), |t| format!("{} passed, {} failed", t.passed, t.failed));
    out + &format!("{} found; {tests}; first failure {:?}\n", found.found, found.first_failure)
}

#[test]
fn cargo_json_has_compiler_messages_and_failed_tests() {
    let output = concat!(
        "   Compiling a v0.1.0\n",
        r#"{"reason":"compiler-message","message":{"level":"warning","message":"unused variable: `x`","spans":[{"file_name":"src/lib.rs","line_start":2,"column_start":9,"is_primary":true}]}}"#,
        "\n",
        r#"{"reason":"compiler-message","message":{"level":"error","message":"mismatched types","spans":[{"file_name":"/w/src/a.rs","line_start":5,"column_start":1,"is_primary":false},{"file_name":"/w/src/a.rs","line_start":7,"column_start":3,"is_primary":true}]}}"#,
        "\n",
        r#"{"reason":"compiler-message","message":{"level":"error","message":"aborting due to 1 previous error","spans":[]}}"#,
        "\n",
        r#"{"reason":"build-finished","success":false}"#,
        "\n{broken\n",
        "test tests::adds ... FAILED\n",
        "thread 'tests::adds' (123) panicked at src/lib.rs:12:9:\nassertion `left == right` failed\n",
        "test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
        "error: test failed, to rerun pass `--lib`\n",
        "error: no matching package named `nope` found\n",
    );
    insta::assert_snapshot!(shown(&CheckOutputForm::CargoJson, output), @r#"
        src/lib.rs:2:9 warning: unused variable: `x`
        src/a.rs:7:3 error: mismatched types
        src/lib.rs:12:9 error: tests::adds: assertion `left == right` failed
        error: no matching package named `nope` found
        4 found; 3 passed, 1 failed; first failure Some(3)
        "#);
}

#[test]
fn line_formats_have_a_diagnostic_on_a_line() {
    let tsc = "src/a.ts(3,5): error TS2322: Type 'string' is not assignable.\nsrc/b.ts:1:2 - warning TS6133: unused\nerror TS18003: No inputs were found.\nFound 2 errors.\n";
    let text = "src/a.c:3:5: error: expected ';'\nsrc/a.c:9: warning: unused\nmake: *** [all] Error 1\nCMake Error at CMakeLists.txt:4 (add_x):\napp.py:2: error: Incompatible types  [assignment]\n";
    let pattern = Regex::new(r"^E (?P<file>\S+) (?P<line>\d+) (?P<message>.*)$").unwrap();
    let own = "E a.txt 3 wrong word\nfine\nE b.txt 0 no line\n";
    let all = [
        shown(&CheckOutputForm::Tsc, tsc),
        shown(&CheckOutputForm::Text, text),
        shown(&CheckOutputForm::Pattern(Box::new(pattern)), own),
    ];
    insta::assert_snapshot!(all.join("--\n"), @r#"
        src/a.ts:3:5 error: TS2322: Type 'string' is not assignable.
        src/b.ts:1:2 warning: TS6133: unused
        error: TS18003: No inputs were found.
        3 found; no tests; first failure Some(1)
        --
        src/a.c:3:5 error: expected ';'
        src/a.c:9 warning: unused
        CMakeLists.txt:4 error: (add_x):
        app.py:2 error: Incompatible types [assignment]
        4 found; no tests; first failure Some(1)
        --
        a.txt:3 error: wrong word
        b.txt error: no line
        2 found; no tests; first failure Some(1)
        "#);
}

#[test]
fn go_and_pytest_name_the_failed_tests() {
    let go = "# example.com/m\n./main.go:5:2: undefined: x\nvet: ./b.go:1:1: bad\n--- FAIL: TestSum (0.00s)\n    --- FAIL: TestSum/zero (0.00s)\n        sum_test.go:9: got 1\n--- FAIL: TestEnd (0.00s)\nFAIL\nFAIL\texample.com/m\t0.001s\nok  \texample.com/m/b\t0.001s\n";
    let pytest = "=================================== FAILURES ===================================\n_______________________________ TestCart.test_total ____________________________\n\n    def test_total(self):\n>       assert 1 == 2\nE       assert 1 == 2\n\ntests/test_cart.py:12: AssertionError\n=========================== short test summary info ============================\nFAILED tests/test_cart.py::TestCart::test_total - assert 1 == 2\nERROR tests/test_b.py - ImportError: no b\n=================== 1 failed, 3 passed, 1 error in 0.12s ====================\n";
    let all = [shown(&CheckOutputForm::Go, go), shown(&CheckOutputForm::Pytest, pytest)];
    insta::assert_snapshot!(all.join("--\n"), @r#"
        main.go:5:2 error: undefined: x
        b.go:1:1 error: bad
        sum_test.go:9 error: TestSum/zero: got 1
        error: TestEnd failed
        4 found; 0 passed, 2 failed; first failure Some(2)
        --
        tests/test_cart.py:12 error: TestCart::test_total: assert 1 == 2
        tests/test_b.py error: ImportError: no b
        2 found; 3 passed, 2 failed; first failure Some(8)
        "#);
}

#[test]
fn documents_may_have_other_text_around_them() {
    let eslint = "npm warn old\n[{\"filePath\":\"/w/src/a.js\",\"messages\":[{\"ruleId\":\"no-undef\",\"severity\":2,\"message\":\"'x' is not defined.\",\"line\":1,\"column\":2},{\"ruleId\":null,\"severity\":1,\"message\":\"old\"}]}]\ndone\n";
    let ruff = "[{\"code\":\"F401\",\"message\":\"unused import\",\"filename\":\"/w/a.py\",\"location\":{\"row\":1,\"column\":8}}]";
    let sarif = "{\"version\":\"2.1.0\",\"runs\":[{\"results\":[{\"ruleId\":\"S1\",\"level\":\"error\",\"message\":{\"text\":\"bad\"},\"locations\":[{\"physicalLocation\":{\"artifactLocation\":{\"uri\":\"file:///w/a%20b.c\"},\"region\":{\"startLine\":4}}}]},{\"message\":{\"text\":\"odd\"}}]}]}";
    let junit = "<?xml version=\"1.0\"?><!-- <failure> --><testsuite><testcase classname=\"a.B\" name=\"x\" file=\"t.py\" line=\"3\"><failure message=\"1 &lt; 2 &#38; &bomb; > 0\">text <![CDATA[<failure/>]]></failure></testcase><testcase name=\"y\"/><testcase name=\"z\"><skipped/></testcase><testcase name='w'><error/></testcase></testsuite>";
    let all = [
        shown(&CheckOutputForm::EslintJson, eslint),
        shown(&CheckOutputForm::RuffJson, ruff),
        shown(&CheckOutputForm::Sarif, sarif),
        shown(&CheckOutputForm::Junit, junit),
    ];
    insta::assert_snapshot!(all.join("--\n"), @r#"
        src/a.js:1:2 error: no-undef: 'x' is not defined.
        src/a.js warning: old
        2 found; no tests; first failure None
        --
        a.py:1:8 error: F401: unused import
        1 found; no tests; first failure None
        --
        a b.c:4 error: S1: bad
        warning: odd
        2 found; no tests; first failure None
        --
        t.py:3 error: a.B.x: 1 < 2 & &bomb; > 0
        error: w failed
        2 found; 1 passed, 2 failed; first failure None
        "#);
}

#[test]
fn hostile_output_is_read_in_bounded_memory() {
    let line = "a.c:1:1: warning: \u{1b}]0;x\u{7}\u{202e}w\n";
    let many = line.repeat(2000) + "b.c:2:2: error: at the end\n";
    let found = read(&CheckOutputForm::Text, many.as_bytes());
    assert_eq!((found.diagnostics.len(), found.found, found.first_failure), (MOST, 2001, Some(2001)));
    assert_eq!(found.diagnostics.last().unwrap().message, "at the end");

    // One endless line, and bytes that are no text.
    let mut reader = FindingsReader::new(&CheckOutputForm::CargoJson, "/w".into());
    let piece = vec![b'{'; 1 << 20];
    (0..100).for_each(|_| reader.push(&piece));
    reader.push(b"\n\xff\xfe\nerror: after it\n");
    let found = reader.finish();
    assert!(found.is_cut && found.found == 1 && found.diagnostics[0].message == "after it");

    // A document that is too long is not read, and a deep one is an error of its parser.
    let mut reader = FindingsReader::new(&CheckOutputForm::Sarif, "/w".into());
    (0..100).for_each(|_| reader.push(&piece));
    assert!(reader.finish().is_cut);
    assert_eq!(read(&CheckOutputForm::RuffJson, "[".repeat(100_000).as_bytes()).found, 0);
    assert_eq!(read(&CheckOutputForm::Junit, "<a b=\"".repeat(1000).as_bytes()).found, 0);
}

#[test]
fn every_form_reads_anything() {
    let pattern = CheckOutputForm::Pattern(Box::new(Regex::new("(?P<message>.*)").unwrap()));
    let forms = [
        CheckOutputForm::CargoJson,
        CheckOutputForm::Tsc,
        CheckOutputForm::EslintJson,
        CheckOutputForm::RuffJson,
        CheckOutputForm::Go,
        CheckOutputForm::Pytest,
        CheckOutputForm::Junit,
        CheckOutputForm::Sarif,
        CheckOutputForm::Text,
        pattern,
    ];
    let pieces = [
        "",
        "\n",
        "[]",
        "{}",
        "[[[",
        "{\"runs\":3}",
        "<",
        "<testcase",
        "</testcase>",
        "<failure>",
        "--- FAIL: ",
        "--- FAIL: \n x.go:1: y",
        "_ _",
        "____",
        "=",
        "= 1 failed in 0s =",
        "FAILED ",
        "thread '' panicked at :::",
        "thread 'ä' panicked at ä",
        "test result: ",
        "&#xD800;&#99999999;",
        "%",
        "ä(1,2): error TS1: ",
        "\0",
        "{\"reason\":\"compiler-message\",\"message\":{\"level\":\"\",\"message\":\"\",\"spans\":[]}}",
    ];
    for form in &forms {
        for first in pieces {
            for second in pieces {
                read(form, format!("{first}\n{second}").as_bytes());
                read(form, format!("{first}{second}").as_bytes());
            }
        }
    }
}
