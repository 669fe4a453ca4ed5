//! The page of a running program: its rows, its keys, and what arrives while it is open.

use super::*;
use crate::test_screen::{assert_no_key_of_the_pager, dark, drawn, press, rows};
use crossterm::event::{KeyCode, KeyModifiers};
use placet_workspace::ChangeCount;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

fn host(state: RunPageHostState, name: &str, count: u64) -> RunPageHost {
    RunPageHost { state, name: name.into(), port: Some(443), count, program: Some("curl\u{1b}".into()) }
}

fn page() -> (RunPage, Sender<RunPageNews>, Receiver<RunPageWish>) {
    let (news, inbox) = channel();
    let (wishes, asked) = channel();
    let feed = RunPageFeed { news: inbox, wishes, is_over: Arc::default() };
    let keys = (Keymap::usual("run", KEYS), Keymap::usual("pager", crate::pager::KEYS));
    let opener = |key: KeyEvent| key.code == KeyCode::Char('5') && key.modifiers == KeyModifiers::CONTROL;
    let mut page = RunPage::new(
        ("claude", Instant::now() + Duration::from_secs(3600)),
        &dark(),
        keys,
        feed,
        Box::new(opener),
    );
    page.resize(60, 12);
    (page, news, asked)
}

fn change(path: &str, counts: Option<(usize, usize)>) -> RunPageChange {
    RunPageChange { letter: 'M', path: path.into(), at: PathBuf::from("/w").join(path), counts }
}

fn facts(changes: &[&str]) -> RunPageFacts {
    RunPageFacts {
        changes: changes.iter().map(|path| change(path, Some((12, 3)))).collect(),
        hosts: Some(vec![
            host(RunPageHostState::Connected, "api.example.org", 1),
            host(RunPageHostState::Refused, "pkg.example.org", 3),
        ]),
        programs: vec!["node".into()],
        ..RunPageFacts::default()
    }
}

#[test]
fn it_shows_what_the_program_did_and_allows_a_refused_host() {
    let (mut page, news, asked) = page();
    news.send(RunPageNews::Facts(facts(&["src/a.rs"]))).unwrap();
    assert!(page.tick());
    let shown = rows(&drawn(&page, (60, 12))).join("\n");
    for expected in [
        "❯  M src/a.rs  +12 -3",
        "connected api.example.org:443  curl␛",
        "refused   pkg.example.org:443  3 times  curl␛",
        "Enter show  a allow  ? keys  q back",
    ] {
        assert!(shown.contains(expected), "{expected} is missing:\n{shown}");
    }
    press(&mut page, 'a');
    assert!(asked.try_recv().is_err(), "this row is no host");
    // One step to the refused host, over rows on which no key acts, and back.
    for key in "jkj".chars() {
        press(&mut page, key);
    }
    // What comes in between moves the row, and not what the key acts on.
    news.send(RunPageNews::Facts(facts(&["a", "b", "src/a.rs"]))).unwrap();
    assert!(page.tick());
    press(&mut page, 'a');
    assert_eq!(asked.try_recv(), Ok(RunPageWish::Allow("pkg.example.org:443".into())));
    assert_eq!(page.key(KeyEvent::new(KeyCode::Char('5'), KeyModifiers::CONTROL)), PaneFlow::Close);
    assert_eq!(press(&mut page, '⎋'), PaneFlow::Close);
    assert!(!page.is_finished());
}

#[test]
fn enter_shows_the_difference_of_a_file_and_leads_back() {
    let (mut page, news, asked) = page();
    page.resize(40, 10);
    let long = "src/some/long/directory/with/a/file.rs";
    news.send(RunPageNews::Facts(facts(&[long]))).unwrap();
    assert!(page.tick());
    let shown = rows(&drawn(&page, (40, 10))).join("\n");
    assert!(shown.contains("❯  M src/some/") && shown.contains("/file.rs  +12 -3"), "{shown}");
    assert!(shown.contains("Enter show  ? keys  q back") && !shown.contains("a allow"), "{shown}");
    press(&mut page, '\n');
    let path = PathBuf::from("/w").join(long);
    assert_eq!(asked.try_recv(), Ok(RunPageWish::Open(path.clone())));
    let patch = b"diff --git a/x.rs b/x.rs\n--- a/x.rs\n+++ b/x.rs\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n";
    news.send(RunPageNews::Difference(path.clone(), Ok(patch.to_vec()))).unwrap();
    assert!(page.tick());
    let shown = rows(&drawn(&page, (40, 10))).join("\n");
    assert!(shown.contains(" 2 - two\n 2 + 2"), "{shown}");
    assert_eq!(press(&mut page, 'q'), PaneFlow::Stay);
    assert!(rows(&drawn(&page, (40, 10))).join("\n").contains("Changes so far"));
    // What nobody asks for any more does not open.
    news.send(RunPageNews::Difference(path.clone(), Ok(patch.to_vec()))).unwrap();
    page.tick();
    assert!(rows(&drawn(&page, (40, 10))).join("\n").contains("Changes so far"));
    press(&mut page, '\n');
    news.send(RunPageNews::Difference(path, Err(RunningFileError::NoText))).unwrap();
    page.tick();
    let shown = rows(&drawn(&page, (90, 10))).join("\n");
    assert!(shown.contains("file.rs cannot be shown: it is not text"), "{shown}");
}

#[test]
fn a_repository_is_one_row_with_what_happened_to_it() {
    let (mut page, news, _asked) = page();
    let repository = RunPageRepository {
        letter: 'M',
        path: ".git".into(),
        rows: vec!["commit 1f3a2c7 \"nine\u{1b}\" on main: 1 file +1 -0".into()],
    };
    let count = ChangeCount { files: 1, repositories: 1, ..ChangeCount::default() };
    let facts = RunPageFacts { repositories: vec![repository], count, ..facts(&["a.py"]) };
    news.send(RunPageNews::Facts(facts)).unwrap();
    assert!(page.tick());
    let shown = rows(&drawn(&page, (60, 12))).join("\n");
    for expected in
        ["Changes so far  1 file and 1 repository", " M .git\n", "     commit 1f3a2c7 \"nine", "M a.py"]
    {
        assert!(shown.contains(expected), "{expected} is missing:\n{shown}");
    }
    assert!(!shown.contains('\u{1b}'), "{shown}");
}

#[test]
fn no_key_is_taken_twice() {
    assert_no_key_of_the_pager("run", KEYS);
}
