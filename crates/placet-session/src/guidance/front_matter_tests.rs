use super::*;

fn front(text: &str) -> Result<FrontMatter, FrontMatterError> {
    split_front_matter(&format!("---\n{text}\n---\nbody\n")).map(|(front, body)| {
        assert_eq!(body, "body\n");
        front
    })
}

fn text(yaml: &str) -> Option<String> {
    front(yaml).unwrap().value("description").map(String::from)
}

#[test]
fn a_text_is_read_in_every_way_in_which_skills_write_it() {
    for (yaml, want) in [
        ("description: Reads PDF files # quickly", "Reads PDF files"),
        ("description: Use when: the user asks: why", "Use when: the user asks: why"),
        ("description: \"a \\\"quoted\\\" \\u00e9\\n\"", "a \"quoted\" é"),
        ("description: 'it''s'", "it's"),
        ("description: >-\n  one\n  two\n\n  three\nname: x", "one two\nthree"),
        ("description: |\n  one\n    two\nname: x", "one\n  two"),
        ("description: one\n  two # not\n  three", "one two three"),
        ("description:\n  one\n  two", "one two"),
        ("description: \"one\n  two\"", "one two"),
        ("description: [issue] [priority]", "[issue] [priority]"),
        ("description: \"a\" or \"b\"", "\"a\" or \"b\""),
        ("description: C# and #hashtags", "C# and"),
        ("description: > quoted", "> quoted"),
        ("description: été\r", "été"),
        ("metadata:\n  author: x\n  deep:\n    er: 1\ndescription: y", "y"),
        ("metadata: {author: x}\ndescription: y", "y"),
    ] {
        assert_eq!(text(yaml).as_deref(), Some(want), "{yaml:?}");
    }
    assert_eq!(text("name: x"), None);
    assert_eq!(text("description:"), None);
}

#[test]
fn a_list_is_read_in_brackets_with_dashes_and_from_a_text() {
    for yaml in [
        "tools: [Read, \"Bash(git add:*)\"]",
        "tools:\n  - Read\n  - Bash(git add:*) # stage",
        "tools:\n- Read\n- 'Bash(git add:*)'\nname: x",
        "tools: Read, Bash(git add:*)",
        "tools: Read Bash(git add:*)",
        "tools: [\n  Read,\n  Bash(git add:*),\n]",
    ] {
        assert_eq!(front(yaml).unwrap().items("tools"), ["Read", "Bash(git add:*)"], "{yaml:?}");
    }
    assert!(front("tools: []").unwrap().items("tools").is_empty());
    assert!(front("off: Yes").unwrap().is_set("off") && !front("off: 1").unwrap().is_set("off"));
}

#[test]
fn what_cannot_be_read_is_an_error_with_its_line() {
    for (yaml, want) in [
        ("name: x\nname: y", FrontMatterError::Twice(3, "name".into())),
        ("name: x\nsome words", FrontMatterError::NoKey(3)),
        ("\tname: x", FrontMatterError::Tab(2)),
        ("name: &a x", FrontMatterError::Feature(2)),
        ("name: *a", FrontMatterError::Feature(2)),
        ("name: !!python/object x", FrontMatterError::Feature(2)),
        ("name: \"open", FrontMatterError::Quote(2)),
        ("name: [a, b", FrontMatterError::Bracket(2)),
    ] {
        assert_eq!(front(yaml).unwrap_err(), want, "{yaml:?}");
    }
    assert_eq!(split_front_matter("---\nname: x\n"), Err(FrontMatterError::Unclosed));
    let large = format!("---\ndescription: {}\n---\n", "x".repeat(1 << 20));
    assert_eq!(split_front_matter(&large).unwrap_err(), FrontMatterError::TooLarge);
    assert_eq!(split_front_matter("# no front matter\n").unwrap().1, "# no front matter\n");
}
