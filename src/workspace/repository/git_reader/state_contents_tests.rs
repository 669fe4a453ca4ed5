use super::*;

const WIDTH: usize = 20;

fn id(digit: char) -> ObjectId {
    ObjectId::from_hex(digit.to_string().repeat(40).as_bytes()).unwrap()
}

fn hex(digit: char) -> String {
    digit.to_string().repeat(40)
}

/// The repository has the object `aaaa...`, the branch `beef`, and the label `there` of a rebase.
fn found(reader: StateFileReader, text: &str, known: &str) -> NamedObjects {
    let of_short_name =
        |short: &[u8]| if hex('a').as_bytes().starts_with(short) { vec![id('a')] } else { Vec::new() };
    let is_ref = |name: &str| ["refs/heads/beef", "refs/rewritten/there"].contains(&name);
    let lookup = NameLookup { width: WIDTH, of_short_name: &of_short_name, is_ref: &is_ref };
    lookup.objects_in(reader, text.as_bytes(), known.as_bytes())
}

fn is_understood(reader: StateFileReader, texts: &[&str]) {
    for text in texts {
        assert_eq!(found(reader, text, ""), Ok(BTreeSet::new()), "{reader:?}: {text}");
    }
}

fn is_not(reader: StateFileReader, texts: &[&str]) {
    for text in texts {
        assert!(found(reader, text, "").is_err(), "{reader:?}: {text}");
    }
}

#[test]
fn a_file_is_a_ref_where_its_name_ends() {
    let lookup = NameLookup { width: WIDTH, of_short_name: &|_| Vec::new(), is_ref: &|_| false };
    for end in ["", "\n", " junk", "\tx", "\0x"] {
        assert_eq!(lookup.as_ref((hex('c') + end).as_bytes()), Some(id('c')), "{end:?}");
    }
    for text in [hex('c') + "x", "c".repeat(39), " ".to_string() + &hex('c'), "a message\n".into()] {
        assert_eq!(lookup.as_ref(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn names_are_whole_or_short_and_nothing_else() {
    let (a, c) = (hex('a'), hex('c'));
    let both = BTreeSet::from([id('a'), id('c')]);
    assert_eq!(found(StateFileReader::Names, &format!("{c}\naaaaaaa\n"), ""), Ok(both.clone()));
    assert_eq!(found(StateFileReader::Words, &format!("# {c}:x {a}\nother"), ""), Ok(both));
    is_understood(StateFileReader::Names, &["", "\n", "ref: refs/heads/main\n"]);
    is_not(
        StateFileReader::Names,
        &["main", "main@{1}", "ddddddd", "abc", "ref: EVIL", &format!("{a}x"), &hex('a').repeat(2)],
    );
}

#[test]
fn the_place_to_go_back_to_is_a_branch_or_a_commit() {
    let a = Ok(BTreeSet::from([id('a')]));
    for name in [&*hex('a'), "aaaaaaa\n", "v1.0-3-gaaaaaaa"] {
        assert_eq!(found(StateFileReader::Start, name, ""), a, "{name}");
    }
    is_understood(StateFileReader::Start, &["main\n", "feature/x-1", "beef", "fix-gabcd", "@"]);
    is_not(
        StateFileReader::Start,
        &[
            "main~1",
            "main^{/x}",
            ":/x",
            "main@{1}",
            "--help",
            "a..b",
            "ddddddd",
            "v1.0-3-gddddddd",
            "MERGE_RR",
            "EVIL",
        ],
    );
}

#[test]
fn new_lines_of_a_log_name_objects_in_both_columns() {
    let line = |old: char, new: char, message: &str| {
        format!("{} {} A <a@x> 1 +0000\t{message}\n", hex(old), hex(new))
    };
    let known = line('1', '2', "commit: x");
    let log = |text: &str| found(StateFileReader::Log, text, &known);
    assert_eq!(log(&known), Ok(BTreeSet::new()));
    assert_eq!(log(&(known.clone() + &line('2', '3', "commit: y"))), Ok(BTreeSet::from([id('2'), id('3')])));
    assert_eq!(log(&line('0', '4', "x")), Ok(BTreeSet::from([id('0'), id('4')])), "a line is gone");
    let moved = |from: &str| log(&line('2', '2', &format!("checkout: moving from {from} to main")));
    assert_eq!(moved("other"), Ok(BTreeSet::from([id('2')])));
    assert_eq!(moved(&hex('c')), Ok(BTreeSet::from([id('2'), id('c')])));
    assert_eq!(moved("aaaa"), Ok(BTreeSet::from([id('2'), id('a')])));
    assert!(moved("main@{1}").is_err() && moved("dddd").is_err());
    assert_eq!(log(&line('2', '2', "checkout: moved from main~1 to x")), Ok(BTreeSet::from([id('2')])));
    assert!(log("no line\n").is_err());
}

#[test]
fn a_step_is_a_command_of_git_and_an_object() {
    let (a, c) = (hex('a'), hex('c'));
    let steps = format!(
        "# comment\n\nlabel onto\nreset onto\npick aaaaaaa main@{{1}} is the subject\n\tfixup -C {c} # x\nexec make\n\
         update-ref refs/heads/x\nlabel side\nreset [new root]\nmerge -C {a} side there # Merge branch 'evil'\nbreak\nnoop\n"
    );
    assert_eq!(found(StateFileReader::Steps, &steps, ""), Ok(BTreeSet::from([id('a'), id('c')])));
    // A name is a label below the step that makes it, and that of an object above.
    for steps in ["reset aaaaaaa\nlabel aaaaaaa\n", "label aaaaaaa\nmerge aaaaaaa\n"] {
        assert_eq!(found(StateFileReader::Steps, steps, ""), Ok(BTreeSet::from([id('a')])), "{steps}");
    }
    is_understood(StateFileReader::Steps, &["label fix-1-gaaaaaaa\nreset fix-1-gaaaaaaa\n"]);
    is_not(
        StateFileReader::Steps,
        &[
            "reset x\nlabel x",
            "merge fix-1-gaaaaaaa\nlabel fix-1-gaaaaaaa",
            "pick",
            "pick EVIL x",
            "pick main@{1} x",
            "pick :/text",
            "pick ddddddd",
            "reset main~1",
            "merge evil",
            "merge -C EVIL side",
            "update-ref HEAD",
            "sh -c id",
        ],
    );
}

#[test]
fn options_name_no_program() {
    is_understood(
        StateFileReader::Options,
        &[
            "",
            "[options]\n\tno-commit = true\n\tmainline = 1\n\tstrategy = ort\n\tstrategy-option = patience\n\tgpg-sign = 0A1B\n",
        ],
    );
    is_not(
        StateFileReader::Options,
        &[
            "[options]\n\tstrategy = x/y\n",
            "[options]\n\tstrategy = ort\n\tstrategy = x\n",
            "[options]\n\tnew-one = 1\n",
            "[include]\n\tpath = x\n",
            "[options\n",
        ],
    );
    is_understood(StateFileReader::Labels, &["", "refs/rewritten/onto\n"]);
    is_not(StateFileReader::Labels, &["refs/rewritten/onto\nrefs/heads/main\n"]);
    is_understood(StateFileReader::Strategy, &["", "ort\n", "ours"]);
    is_not(StateFileReader::Strategy, &["x/y", "ort x", "ort\nx"]);
    is_understood(
        StateFileReader::StrategyOptions,
        &["", " \"--ours\" \"--diff-algorithm=histogram\"", " --subtree=a/b"],
    );
    is_not(StateFileReader::StrategyOptions, &["\"--upload-pack=x\"", "--ours;id", "x"]);
    is_understood(StateFileReader::SigningOption, &["-S\n", "-S0A1B", "-Sa@x"]);
    is_not(StateFileReader::SigningOption, &["-S$(id)", "--exec=x", "-S--x", "-S\nx"]);
}

#[test]
fn options_of_apply_change_no_names() {
    is_understood(
        StateFileReader::ApplyOptions,
        &["", "\n", " '--whitespace=fix' '-p1' '-C2' '--exclude=*.o'"],
    );
    is_not(
        StateFileReader::ApplyOptions,
        &["--unsafe-paths", " '--directory=.github'", "'--build-fake-ancestor=x'", "'-p1' 'x'", "'-p1;id'"],
    );
}

#[test]
fn an_author_is_three_quoted_words() {
    is_understood(
        StateFileReader::Author,
        &["", "GIT_AUTHOR_NAME='O'\\''Brien'\nGIT_AUTHOR_EMAIL='a@x'\nGIT_AUTHOR_DATE='@1 +0000'\n"],
    );
    is_not(
        StateFileReader::Author,
        &["GIT_AUTHOR_NAME=$(id)", "GIT_AUTHOR_NAME='a';id", "PATH='.'", "GIT_AUTHOR_NAME='a' id 'b'", "id"],
    );
    let conflict = hex('a') + "\ta/b.txt\0";
    is_understood(StateFileReader::ConflictPaths, &["", &conflict]);
    is_not(StateFileReader::ConflictPaths, &[&(hex('a') + "\t../x\0"), &(hex('a') + "\t.git/config\0"), "x"]);
}
