//! `/export`: the conversation as a file.

use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use crate::session::{MarkdownPictures, html, markdown, to_json};
use std::path::Path;

pub(super) fn export(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
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
    write_new(&path, &text).map_err(|e| {
        let hint = "a file that is there already is left alone";
        CommandStop::with_hint(format!("cannot write `{}`: {e}", path.display()), hint)
    })?;
    context.output.note(&format!("wrote {}", path.display()));
    Ok(CommandFollowUp::Nothing)
}

fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    // A session is for this person alone, as `placet session export` has it.
    let options = std::fs::OpenOptions::new().write(true).create_new(true).mode(crate::private::FILE).clone();
    options.open(path)?.write_all(text.as_bytes())
}
