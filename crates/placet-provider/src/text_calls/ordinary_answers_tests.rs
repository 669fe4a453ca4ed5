//! Ordinary answers with JSON, XML and code that looks like a call: none of them is one.

use super::reading::TextReading;
use super::tests::{reading, streamed};

/// What answers contain that looks like a call.
fn bodies() -> Vec<(&'static str, String)> {
    let own = |lang: &'static str, text: &str| (lang, text.to_string());
    vec![
        own(
            "json",
            "{\n  \"name\": \"my-package\",\n  \"version\": \"1.0.0\",\n  \"scripts\": {\"test\": \"jest\"}\n}",
        ),
        own("json", "{\"name\": \"Anna\", \"input\": {\"age\": 3}}"),
        own("json", "[{\"name\": \"Anna\", \"age\": 3}, {\"name\": \"Bo\", \"age\": 4}]"),
        own("json", "{\"compilerOptions\": {\"strict\": true}, \"include\": [\"src\"]}"),
        own(
            "json",
            "{\"name\": \"read_file\", \"description\": \"Reads a file.\", \"parameters\": {\"type\": \"object\"}}",
        ),
        own(
            "json",
            "{\"type\": \"function\", \"function\": {\"name\": \"read_file\", \"description\": \"Reads.\", \"parameters\": {}}}",
        ),
        own("json", "{\"tool\": \"hammer\", \"parameters\": {\"weight\": 2}}"),
        own("json", "{\"function\": \"sin\", \"args\": [1]}"),
        own("json", "{\"id\": 7, \"type\": \"order\", \"name\": \"read_file\"}"),
        own(
            "json",
            "{\"jsonrpc\": \"2.0\", \"method\": \"tools/call\", \"params\": {\"name\": \"read_file\", \"arguments\": {\"path\": \"a\"}}}",
        ),
        own(
            "json",
            "{\"role\": \"assistant\", \"content\": null, \"tool_calls\": [{\"id\": \"1\", \"function\": {\"name\": \"read_file\", \"arguments\": \"{}\"}}]}",
        ),
        own("json", "{\"calls\": [{\"name\": \"read_file\", \"arguments\": {\"path\": \"a\"}}]}"),
        own("json", "{\"read_file\": {\"path\": \"a\"}, \"run_command\": {\"command\": \"ls\"}}"),
        own("json", "{\"arguments\": {\"path\": \"a\"}}"),
        own(
            "jsonc",
            "// the settings\n{\"name\": \"write_file\", /* no */ \"arguments\": {\"path\": \"a\", \"content\": \"b\"}}",
        ),
        own("yaml", "name: read_file\narguments:\n  path: a.rs"),
        own("toml", "[tool]\nname = \"read_file\"\n[tool.arguments]\npath = \"a.rs\""),
        own("xml", "<tool>\n  <name>read_file</name>\n  <arguments>{\"path\": \"a\"}</arguments>\n</tool>"),
        own("xml", "<project>\n  <dependency><name>serde</name></dependency>\n</project>"),
        own("html", "<form><input name=\"path\"><button>read_file</button></form>"),
        own("xml", "<function name=\"read_file\"><parameter key=\"path\">a</parameter></function>"),
        own("python", "def read_file(path):\n    with open(path) as f:\n        return f.read()"),
        own("python", "text = read_file(path=\"a.txt\")\nprint(len(text))"),
        own("python", "print(read_file(\"a.txt\"))"),
        own("python", "for name in names:\n    run_command(command=name)"),
        own("python", "read_file(path=config.path, limit=LIMIT)"),
        own("python", "import read_file\nread_file.main()"),
        own("rust", "fn read_file(path: &str) -> String {\n    std::fs::read_to_string(path).unwrap()\n}"),
        own("rust", "let text = read_file(path)?;\nwrite_file(path, &text)?;"),
        own("javascript", "const tools = [{ name: 'read_file', arguments: { path: 'a' } }];"),
        own("javascript", "await run_command({ command: 'ls' });"),
        own("bash", "curl -d '{\"name\": \"read_file\", \"arguments\": {\"path\": \"a\"}}' localhost"),
        own("sh", "[ -f a.txt ] && cat a.txt"),
        own("c", "int run_command(const char *command);"),
        own("go", "func list_directory(path string) ([]string, error) { return nil, nil }"),
        own("sql", "INSERT INTO calls (name, arguments) VALUES ('read_file', '{\"path\": \"a\"}');"),
        own("text", "[1] read_file\n[2] write_file\n[3] run_command"),
        own("markdown", "| tool | what |\n|---|---|\n| read_file | reads |"),
        own("diff", "-{\"name\": \"read_file\"}\n+{\"name\": \"write_file\"}"),
        own("ini", "[read_file]\npath=a"),
        own("json", "{}"),
        own("json", "[]"),
        own("bash", "cargo build --release"),
        own("call", "read_file a.rs"),
        own("callback", "read_file(path)"),
        own("diff", "<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE"),
        own("text", "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> branch"),
    ]
}

fn ordinary() -> Vec<String> {
    let mut all = Vec::new();
    for (lang, body) in bodies() {
        all.push(format!("Here it is:\n\n```{lang}\n{body}\n```"));
        all.push(format!("```{lang}\n{body}\n```\n\nEach line is explained in the manual."));
        all.push(format!(
            "Write this into the file:\n\n```{lang}\n{body}\n```\n\nThen start it again:\n\n```sh\nmake\n```"
        ));
        all.push(format!(
            "It begins with `{}` and goes on like this:\n\n{body}\n\nThat is all.",
            body.lines().next().unwrap()
        ));
        all.push(format!(
            "1. First\n\n   ```{lang}\n   {}\n   ```\n\n2. Second",
            body.replace('\n', "\n   ")
        ));
    }
    all
}

#[test]
fn two_hundred_ordinary_answers_are_no_calls_and_are_shown_whole() {
    let all = ordinary();
    assert!(all.len() >= 200, "{}", all.len());
    for text in all {
        assert_eq!(reading(&text), TextReading::Plain, "{text}");
        for size in [1, 5] {
            let (shown, answer) = streamed(&text, size);
            assert_eq!((shown.as_str(), answer.text().as_str()), (text.as_str(), text.as_str()));
        }
    }
}

#[test]
fn text_about_calls_is_text() {
    for text in [
        "Qwen writes `<tool_call>` and then JSON.",
        "The tag \"<tool_call>\" begins a call.",
        "Use <tool_call> for a call.",
        "A call of another program:\n\n<tool_call>{\"name\": \"get_weather\", \"arguments\": {}}</tool_call>\n\nThat is the form.",
        "[TOOL_CALLS] is a token of Mistral.",
        "The list [read_file, write_file] has two tools.",
        "read_file",
        "read_file reads a file",
        "{",
        "[",
        "```",
        "```json",
        "I would call read_file(path=\"a\") now",
    ] {
        assert_eq!(reading(text), TextReading::Plain, "{text}");
        assert_eq!(streamed(text, 1).0, text);
    }
}
