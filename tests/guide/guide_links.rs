//! The guide as a book: its order, its pages, and every link and anchor of the guide and of the pages next to it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A reader finds nothing in a longer list.
const MOST_ENTRIES: usize = 9;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()
}

fn walk(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { walk(&path, out) } else { out.push(path) }
    }
}

/// The pages of the guide, and the Markdown files at the root of the repository.
fn pages() -> Vec<PathBuf> {
    let mut files = Vec::new();
    walk(&root().join("docs"), &mut files);
    files.extend(fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path()));
    files.retain(|path| path.extension().is_some_and(|e| e == "md"));
    files.sort();
    files
}

/// Without the lines of code blocks: what is in them is not a heading and not a link.
fn prose(text: &str) -> String {
    let mut fence = None;
    let mut out = String::new();
    for line in text.lines() {
        let start = line.trim_start();
        let mark = start.chars().take_while(|c| *c == '`').count();
        match fence {
            None if mark >= 3 => fence = Some(mark),
            Some(open) if mark >= open && start.trim_matches('`').is_empty() => fence = None,
            None => out.push_str(line),
            Some(_) => {}
        }
        out.push('\n');
    }
    out
}

/// Without what is between backquotes in a line.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("")
}

/// The anchors of a page, as mdBook and GitHub make them from its headings.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut out = BTreeSet::new();
    for heading in prose(text).lines().filter(|line| line.starts_with('#')) {
        let title = heading.trim_start_matches('#').trim().to_lowercase();
        // A link in a heading counts with its text only.
        let title = title.split("](").map(|part| part.rsplit(')').next().unwrap_or(part)).collect::<String>();
        let keep = |c: char| (c.is_alphanumeric() || "-_".contains(c)).then_some(c);
        let id: String =
            title.chars().filter_map(|c| if c.is_whitespace() { Some('-') } else { keep(c) }).collect();
        let count = known.entry(id.clone()).or_default();
        out.insert(if *count == 0 { id } else { format!("{id}-{count}") });
        *count += 1;
    }
    out
}

/// What a page links to: `](target)`, and `src`, `srcset` and `href` in HTML.
fn targets(text: &str) -> Vec<String> {
    let text: String = prose(text).lines().map(|line| without_code(line) + "\n").collect();
    let markdown = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let html = ["src=\"", "srcset=\"", "href=\""].into_iter().flat_map(|attribute| {
        text.split(attribute).skip(1).filter_map(|rest| rest.split('"').next()).collect::<Vec<_>>()
    });
    markdown.chain(html).map(String::from).collect()
}

#[test]
fn every_link_and_every_anchor_leads_somewhere() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let shown = page.strip_prefix(root()).unwrap().display().to_string();
        for target in targets(&text) {
            if target.contains("://") || target.starts_with("mailto:") || target.is_empty() {
                continue;
            }
            checked += 1;
            let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let to = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            let Ok(linked) = fs::read(&to) else {
                if !to.is_dir() {
                    wrong.push(format!("{shown}: {target}: there is no such file"));
                }
                continue;
            };
            if !anchor.is_empty() && !anchors(&String::from_utf8_lossy(&linked)).contains(anchor) {
                wrong.push(format!("{shown}: {target}: there is no such heading"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked > 400, "{checked} links");
}

#[test]
fn every_page_is_in_the_summary_and_no_part_is_long() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let mut wrong = Vec::new();
    for page in pages() {
        let Ok(relative) = page.strip_prefix(&docs) else { continue };
        let relative = relative.display().to_string();
        let entries = summary.matches(&format!("({relative})")).count();
        if relative != "SUMMARY.md" && entries != 1 {
            wrong.push(format!("{relative} is {entries} times in SUMMARY.md"));
        }
    }
    for part in summary.split("\n# ").skip(1) {
        let entries = part.lines().filter(|line| line.starts_with("- ")).count();
        if entries > MOST_ENTRIES {
            let title = part.lines().next().unwrap_or_default();
            wrong.push(format!("the part {title} has {entries} entries; nest some of them"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_readme_is_short_and_names_the_commands() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.lines().count() < 100, "{} lines", readme.lines().count());
    for command in ["cargo test", "cargo run --release", "placet tour"] {
        assert!(readme.contains(command), "{command}");
    }
}

/// A picture that nobody shows is never looked at, and one without its other half is white on black in a white book.
#[test]
fn every_picture_is_shown_and_has_a_dark_and_a_light_half() {
    let text: String = pages().iter().map(|page| fs::read_to_string(page).unwrap()).collect();
    let mut pictures = Vec::new();
    walk(&root().join("docs/images"), &mut pictures);
    let mut wrong = Vec::new();
    let mut size = 0;
    for picture in &pictures {
        size += fs::metadata(picture).unwrap().len();
        let name = picture.file_name().unwrap().to_string_lossy().into_owned();
        if !text.contains(&format!("images/{name}")) {
            wrong.push(format!("no page shows {name}"));
        }
        let other = [("-dark.", "-light."), ("-light.", "-dark.")];
        for (half, other) in other.into_iter().filter(|(half, _)| name.contains(half)) {
            if !picture.with_file_name(name.replace(half, other)).exists() {
                wrong.push(format!("{name} has no {other} half"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(size < 4 << 20, "the pictures have {size} bytes");
}

#[test]
fn anchors_are_those_of_mdbook() {
    let page = "# A `b` c\n```sh\n# no heading\n```\n## What's new: 1.2, and more\n## Limits\n## Limits\n";
    let expected = ["a-b-c", "whats-new-12-and-more", "limits", "limits-1"];
    assert_eq!(anchors(page), expected.into_iter().map(String::from).collect());
}
