//! A session as a document: Markdown and HTML for people, JSON for programs and for `import`.
//!
//! HTML and JSON are one file with the pictures in it. Markdown names the pictures, and with a target directory they
//! are files next to the Markdown file. Only the present conversation is written, not the branches that were left.

use crate::session::conversation::record::LoadedSession;
use crate::session::database::store::SessionRow;
use crate::session::scratchpad::{ScratchpadEntry, Scratchpads};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use placet_text::conversation::{AssistantBlock, CallInput, CallOutcome, Image, Message, Part};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What Markdown does with pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkdownPictures {
    /// They are named.
    Named,
    /// They are linked: [`pictures`] has the files.
    Beside,
}

/// The version of the JSON form that is written.
/// In the versions before the third, placet's notes are texts.
pub(in crate::session) const FORMAT: u64 = 3;

/// The whole conversation, readable.
pub fn markdown(row: &SessionRow, loaded: &LoadedSession, pictures: MarkdownPictures) -> String {
    let mut out = format!("# {}\n\nSession {} in `{}`\n", row.title, row.id, row.cwd.display());
    for message in loaded.transcript.messages() {
        match message {
            Message::User { parts } => {
                out.push_str("\n## You\n\n");
                for part in parts {
                    push_part(&mut out, part, pictures);
                }
            }
            Message::Assistant(answer) => {
                let model = if answer.model.is_empty() { "Agent" } else { &answer.model };
                let _ = write!(out, "\n## {model}\n\n");
                for block in &answer.blocks {
                    push_block(&mut out, block);
                }
            }
            Message::Results { results } => {
                for result in results {
                    let _ = write!(out, "\n### `{}`: {}\n\n", result.name, outcome(&result.outcome));
                    push_fenced(&mut out, "", &result.body());
                    for part in result.parts.iter().filter(|part| part.as_image().is_some()) {
                        push_part(&mut out, part, pictures);
                    }
                }
            }
        }
    }
    out
}

fn outcome(outcome: &CallOutcome) -> &'static str {
    match outcome {
        CallOutcome::Done => "result",
        CallOutcome::Failed => "failed",
        CallOutcome::Denied => "denied",
        CallOutcome::Interrupted => "interrupted",
    }
}

fn push_part(out: &mut String, part: &Part, pictures: MarkdownPictures) {
    let _ = match part {
        Part::Text { text } => writeln!(out, "{text}"),
        // A note is quoted: the person's text is not.
        Part::Note(note) => note.words().lines().try_for_each(|line| writeln!(out, "> {line}")),
        Part::Image(image) if image.is_pdf() => writeln!(out, "*PDF: {}*", image.describe()),
        Part::Image(image) if pictures == MarkdownPictures::Beside && !image.bytes.is_empty() => {
            let alt: String = image.name.chars().filter(|c| !matches!(c, '[' | ']' | '\n')).collect();
            writeln!(out, "![{alt}]({})", file_name(image))
        }
        Part::Image(image) => writeln!(out, "*picture: {}*", image.describe()),
    };
}

fn push_block(out: &mut String, block: &AssistantBlock) {
    match block {
        AssistantBlock::Text { text } => {
            let _ = writeln!(out, "{}", text.trim_end());
        }
        AssistantBlock::Thinking(thinking) if !thinking.text.is_empty() => {
            for line in thinking.text.lines() {
                let _ = writeln!(out, "> {line}");
            }
        }
        AssistantBlock::Thinking(_) => {}
        AssistantBlock::Call(call) => {
            let _ = write!(out, "\n### call `{}`\n\n", call.name);
            push_fenced(out, "json", &arguments(&call.input));
        }
    }
}

fn arguments(input: &CallInput) -> String {
    match input {
        CallInput::Object(value) => serde_json::to_string_pretty(value).unwrap_or_default(),
        CallInput::Malformed { raw, .. } => raw.clone(),
    }
}

/// A fence longer than any inside the text.
fn push_fenced(out: &mut String, language: &str, text: &str) {
    let longest = text.lines().map(|l| l.chars().take_while(|c| *c == '`').count()).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let _ = write!(out, "{fence}{language}\n{}\n{fence}\n", text.trim_end_matches('\n'));
}

/// The pictures of a conversation, each once.
fn images(loaded: &LoadedSession) -> BTreeMap<&str, &Image> {
    let parts = loaded.transcript.messages().iter().flat_map(Message::parts);
    let images = parts.filter_map(Part::as_image).filter(|image| !image.bytes.is_empty());
    images.map(|image| (image.hash.as_str(), image)).collect()
}

/// The files that Markdown links to: a name that cannot be anything else, and the bytes.
pub fn pictures(loaded: &LoadedSession) -> Vec<(String, std::sync::Arc<[u8]>)> {
    images(loaded).into_values().map(|image| (file_name(image), image.bytes.clone())).collect()
}

fn file_name(image: &Image) -> String {
    let kind = image.media_type.rsplit('/').next().unwrap_or_default();
    let kind: String = kind.chars().filter(char::is_ascii_alphanumeric).take(8).collect();
    format!("{}.{kind}", image.hash.get(..16).unwrap_or(&image.hash))
}

fn data_url(image: &Image) -> String {
    format!("data:{};base64,{}", image.media_type, STANDARD.encode(&image.bytes))
}

/// An entry of the scratchpads in the file; the bytes of a picture are among the pictures.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::session) enum ExportedScratchpad {
    Text(String),
    Image(Image),
}

/// The same without omissions; `import` reads this form.
pub fn to_json(row: &SessionRow, loaded: &LoadedSession, pads: &Scratchpads) -> Value {
    let images = images(loaded).into_iter();
    let mut pictures: BTreeMap<String, String> =
        images.map(|(hash, image)| (hash.to_string(), data_url(image))).collect();
    let (mut scratchpads, mut dropped) = (BTreeMap::new(), loaded.dropped.clone());
    for (name, _) in pads.list() {
        match pads.get(&name) {
            Ok(ScratchpadEntry::Text(text)) => drop(scratchpads.insert(name, ExportedScratchpad::Text(text))),
            Ok(ScratchpadEntry::Image(image)) => {
                pictures.insert(image.hash.clone(), data_url(&image));
                scratchpads.insert(name, ExportedScratchpad::Image(image));
            }
            Err(error) => dropped.push(format!("the scratchpad `{name}`: {error}")),
        }
    }
    let withheld: Vec<Value> =
        loaded.withheld.iter().map(|(hash, reason)| json!({"hash": hash, "reason": reason})).collect();
    json!({
        "version": FORMAT,
        "session": row,
        "usage": loaded.usage,
        "messages": loaded.transcript.messages(),
        "summaries": loaded.summaries,
        "withheld": withheld,
        "scratchpads": scratchpads,
        "pictures": pictures,
        "dropped": dropped,
    })
}

/// One page that needs nothing else. No word of the conversation is markup in it.
pub fn html(row: &SessionRow, loaded: &LoadedSession) -> String {
    let title = escaped(&row.title);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n\
         </head>\n<body>\n<h1>{title}</h1>\n<p class=\"about\">Session {} in <code>{}</code></p>\n",
        escaped(row.id.as_str()),
        escaped(&row.cwd.to_string_lossy())
    );
    for message in loaded.transcript.messages() {
        match message {
            Message::User { parts } => {
                out.push_str("<section class=\"you\">\n<h2>You</h2>\n");
                parts.iter().for_each(|part| push_html(&mut out, "p", part));
            }
            Message::Assistant(answer) => {
                let model = if answer.model.is_empty() { "Agent" } else { &answer.model };
                let _ = write!(out, "<section>\n<h2>{}</h2>\n", escaped(model));
                answer.blocks.iter().for_each(|block| push_html_block(&mut out, block));
            }
            Message::Results { results } => {
                out.push_str("<section>\n");
                for result in results {
                    let (name, word) = (escaped(&result.name), outcome(&result.outcome));
                    let _ = writeln!(out, "<details open><summary><code>{name}</code>: {word}</summary>");
                    result.parts.iter().for_each(|part| push_html(&mut out, "pre", part));
                    out.push_str("</details>\n");
                }
            }
        }
        out.push_str("</section>\n");
    }
    out + "</body>\n</html>\n"
}

const STYLE: &str = "\
:root { color-scheme: light dark; --ink: #1b1b1b; --page: #fcfcfa; --soft: #f0efea; --line: #c9c7bf; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e2dc; --page: #191919; --soft: #262624; --line: #4c4b47; } }
body { color: var(--ink); background: var(--page); font: 1rem/1.5 system-ui, sans-serif; max-width: 50rem;
  margin: 2rem auto; padding: 0 1rem; }
h2 { font-size: 1rem; margin: 2rem 0 .5rem; border-bottom: 1px solid var(--line); }
p { white-space: pre-wrap; overflow-wrap: anywhere; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--soft); padding: .5rem; font-size: .85rem; }
.you { border-left: 3px solid var(--line); padding-left: 1rem; }
.thought { font-style: italic; }
.note { border-left: 3px solid var(--line); opacity: .8; }
img { max-width: 100%; }
";

fn push_html(out: &mut String, element: &str, part: &Part) {
    let _ = match part {
        Part::Text { text } => writeln!(out, "<{element}>{}</{element}>", escaped(text)),
        Part::Note(note) => writeln!(out, "<pre class=\"note\">{}</pre>", escaped(&note.words())),
        Part::Image(image) if image.bytes.is_empty() || image.is_pdf() => {
            writeln!(out, "<p>{}: {}</p>", image.word(), escaped(&image.describe()))
        }
        Part::Image(image) => {
            writeln!(out, "<img alt=\"{}\" src=\"{}\">", escaped(&image.name), escaped(&data_url(image)))
        }
    };
}

fn push_html_block(out: &mut String, block: &AssistantBlock) {
    let _ = match block {
        AssistantBlock::Text { text } => writeln!(out, "<p>{}</p>", escaped(text.trim_end())),
        AssistantBlock::Thinking(thinking) if !thinking.text.is_empty() => {
            writeln!(out, "<p class=\"thought\">{}</p>", escaped(&thinking.text))
        }
        AssistantBlock::Thinking(_) => Ok(()),
        AssistantBlock::Call(call) => {
            let (name, arguments) = (escaped(&call.name), escaped(&arguments(&call.input)));
            writeln!(out, "<h3>call <code>{name}</code></h3>\n<pre>{arguments}</pre>")
        }
    };
}

/// Text that is text anywhere in HTML. Control characters and marks that change the direction of the following text are
/// left out: they are invisible, and hide something.
fn escaped(text: &str) -> String {
    let text = placet_text::text::visible::prose(text);
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
