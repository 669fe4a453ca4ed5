//! `placet session`.

use crate::support::output::{Project, snapshot};

const GROUP: &str = "sessions";

#[test]
fn there_is_no_session() {
    let cases = [
        ("none_list", "session list"),
        ("none_list_json", "session list --json"),
        ("none_search", "session search word"),
        ("none_prune", "session prune"),
        ("unknown_show", "session show zzz"),
        ("unknown_export", "session export zzz"),
        ("unknown_rename", "session rename zzz a title"),
        ("unknown_pin", "session pin zzz"),
        ("unknown_delete", "session delete zzz"),
        ("missing_import", "session import nope.json"),
        ("wrong_import", "session import notes.txt"),
        ("none_continue", "-p help --continue"),
    ];
    let project = Project::offline();
    for (name, line) in cases {
        let text = project.run(line);
        // The list of requests has its snapshot in `print`.
        let cut = text.find("- `show scratchpad").unwrap_or(text.len());
        let end = text[cut..].find("\nexit ").map_or(cut, |at| cut + at + 1);
        snapshot(GROUP, name, &format!("{}{}", &text[..cut], &text[end.max(cut)..]));
    }
}

#[test]
fn two_sessions() {
    let project = Project::offline();
    project.prepare("-p 'show notes.txt'", 0);
    project.prepare("-p 'create a.txt with \"x\"' --mode write", 0);
    let list = project.out("session list --json").stdout;
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    let id = list[1]["id"].as_str().unwrap();
    let cases = [
        ("list", "session list".to_string()),
        ("list_json", "session list --json".into()),
        ("list_one", "session list --limit 1".into()),
        ("show", format!("session show {id}")),
        ("show_ambiguous", "session show 0".into()),
        ("export_markdown", format!("session export {id}")),
        ("export_json", format!("session export {id} --format json")),
        ("export_to_a_file", format!("session export {id} --output out.md")),
        ("export_to_a_file_again", format!("session export {id} --output out.md")),
        ("search", "session search notes".into()),
        ("search_nothing", "session search zebra".into()),
        ("search_without_words", "session search".into()),
        ("rename", format!("session rename {id} A better title")),
        ("pin", format!("session pin {id}")),
        ("list_pinned", "session list".into()),
        ("unpin", format!("session unpin {id}")),
        ("unpin_again", format!("session unpin {id}")),
        ("prune_dry_run", "session prune --dry-run --set sessions.keep_days=1".into()),
        ("delete", format!("session delete {id}")),
        ("delete_again", format!("session delete {id}")),
    ];
    for (name, line) in cases {
        snapshot(GROUP, name, &project.run(&line));
    }
}
