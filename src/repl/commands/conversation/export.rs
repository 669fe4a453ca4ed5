//! `/export`: the conversation as a file.

use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use crate::session::{MarkdownPictures, html, markdown, to_json};
use crate::text::visible;
use std::io::{Error, ErrorKind};
use std::path::Path;

pub(in crate::repl::commands) fn export(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let (store, id) = context.saved()?;
    let row = store.find(id.as_str())?;
    let (loaded, pads) = (store.load(&id)?, store.scratchpads(&id)?);
    if rest.is_empty() {
        context.output.quote(&markdown(&row, &loaded, MarkdownPictures::Named));
        return Ok(CommandFollowUp::Nothing);
    }
    let path = context.app.cwd().join(rest);
    let text = match path.extension().and_then(|kind| kind.to_str()) {
        Some("json") => {
            serde_json::to_string_pretty(&to_json(&row, &loaded, &pads)).unwrap_or_default() + "\n"
        }
        Some("html" | "htm") => html(&row, &loaded),
        _ => markdown(&row, &loaded, MarkdownPictures::Named),
    };
    write_new(&path, &text).map_err(|e| not_written(&path, &e))?;
    context.output.note(&format!("wrote {}", path.display()));
    Ok(CommandFollowUp::Nothing)
}

fn not_written(path: &Path, error: &Error) -> CommandStop {
    let name = visible::path(path);
    match (error.kind(), path.parent()) {
        (ErrorKind::AlreadyExists, _) => CommandStop::with_hint(
            format!("`{name}` already exists"),
            "choose another name: /export does not replace files",
        ),
        (ErrorKind::NotFound, Some(dir)) => CommandStop::with_hint(
            format!("the directory `{}` does not exist", visible::path(dir)),
            "make the directory first, or choose another name",
        ),
        _ => CommandStop::error(format!("cannot write `{name}`: {error}")),
    }
}

fn write_new(path: &Path, text: &str) -> Result<(), Error> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    // A session is for this person alone, as `placet session export` has it.
    let options = std::fs::OpenOptions::new().write(true).create_new(true).mode(crate::private::FILE).clone();
    options.open(path)?.write_all(text.as_bytes())
}
