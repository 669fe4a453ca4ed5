//! `@server:uri`: attaches a resource of a server to the message; and everything that a message mentions, in its order.

use super::files::{AttachError, accepted, attach, named_file};
use crate::agent::ApprovalReply;
use crate::conversation::Part;
use crate::repl::context::CommandContext;
use crate::tools::RESOURCE_TOOL;

/// A resource that a message names.
struct MentionedResource<'m> {
    server: &'m str,
    uri: &'m str,
}

/// The resource that a mention names: its server is in the settings, and no file has this name.
fn named_resource<'m>(context: &CommandContext<'_>, mention: &'m str) -> Option<MentionedResource<'m>> {
    let (server, uri) = mention.split_once(':').filter(|(_, uri)| !uri.is_empty())?;
    let mut servers = context.app.tools.servers.definitions();
    let is_server = servers.any(|definition| definition.name == server && definition.is_enabled);
    (is_server && named_file(context, mention).is_none()).then_some(MentionedResource { server, uri })
}

/// Reads the resource, through the gate of every call. The person has named it; what is denied stays denied.
fn attach_resource(
    context: &CommandContext<'_>,
    MentionedResource { server, uri }: MentionedResource<'_>,
) -> Result<Vec<Part>, AttachError> {
    let agent = context.conversation.agent.as_ref().ok_or(AttachError::NoFile)?;
    let input = serde_json::json!({ "server": server, "uri": uri });
    let (result, _) = context.call_for_person(agent, ("attached", RESOURCE_TOOL), input, ApprovalReply::Yes);
    accepted(context, agent, result, &format!("{server}:{uri}"))
}

/// The first mention that names neither a file nor a resource.
pub(crate) fn missing<'m>(context: &CommandContext<'_>, mentioned: &'m [String]) -> Option<&'m String> {
    mentioned.iter().find(|one| named_file(context, one).is_none() && named_resource(context, one).is_none())
}

/// Everything that a message mentions; an error with the mention that cannot be sent.
pub(crate) fn attach_all<'m>(
    context: &CommandContext<'_>,
    mentioned: &'m [String],
) -> Result<Vec<Part>, (&'m str, AttachError)> {
    let mut parts = Vec::new();
    for mention in mentioned {
        let attached = match named_resource(context, mention) {
            Some(resource) => attach_resource(context, resource),
            None => attach(context, mention),
        };
        parts.extend(attached.map_err(|why| (mention.as_str(), why))?);
    }
    Ok(parts)
}
