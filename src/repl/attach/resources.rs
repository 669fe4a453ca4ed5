//! `@server:uri`: attaches a resource of a server to the message; and everything that a message mentions, in its order.

use super::files::{AttachError, accepted, attach, named_file};
use crate::agent::ApprovalReply;
use crate::conversation::Part;
use crate::repl::context::CommandContext;
use crate::tools::{RESOURCE_TOOL, ServerPool};

/// A resource that a message names.
pub(crate) struct MentionedResource<'m> {
    pub(crate) server: &'m str,
    pub(crate) uri: &'m str,
}

impl<'m> MentionedResource<'m> {
    /// The resource that a mention names, if its server is in the settings.
    pub(crate) fn of(mention: &'m str, servers: &ServerPool) -> Option<MentionedResource<'m>> {
        let (server, uri) = mention.split_once(':').filter(|(_, uri)| !uri.is_empty())?;
        let mut definitions = servers.definitions();
        let is_server = definitions.any(|definition| definition.name == server && definition.is_enabled);
        is_server.then_some(MentionedResource { server, uri })
    }

    /// The value that the address lacks, if it is a template of the server, or the beginning of one.
    pub(crate) fn missing_value(&self, servers: &ServerPool) -> Option<AttachError> {
        let offers = servers.status(self.server).known?.offers;
        if offers.resources.iter().any(|resource| resource.uri == self.uri) {
            return None;
        }
        let missing = offers.templates.iter().find_map(|template| template.missing_value(self.uri));
        missing.map(|value| AttachError::NoValue { value })
    }

    /// What the tool that reads it is called with.
    pub(crate) fn input(&self) -> serde_json::Value {
        serde_json::json!({ "server": self.server, "uri": self.uri })
    }
}

/// The resource that a mention names, where no file has this name.
fn named_resource<'m>(context: &CommandContext<'_>, mention: &'m str) -> Option<MentionedResource<'m>> {
    let resource = MentionedResource::of(mention, context.app.tools.servers)?;
    named_file(context, mention).is_none().then_some(resource)
}

/// Reads the resource, through the gate of every call. The person has named it; what is denied stays denied.
fn attach_resource(
    context: &CommandContext<'_>,
    (mention, resource): (&str, &MentionedResource<'_>),
) -> Result<Vec<Part>, AttachError> {
    let agent = context.conversation.agent.as_ref().ok_or(AttachError::NoFile)?;
    let (result, _) =
        context.call_for_person(agent, ("attached", RESOURCE_TOOL), resource.input(), ApprovalReply::Yes);
    accepted(context, agent, result, mention)
}

/// The first mention that cannot be sent: it names neither a file nor a resource, or only the beginning of one.
pub(crate) fn unsendable<'m>(
    context: &CommandContext<'_>,
    mentioned: &'m [String],
) -> Option<(&'m String, AttachError)> {
    mentioned.iter().find_map(|mention| match named_resource(context, mention) {
        Some(resource) => Some((mention, resource.missing_value(context.app.tools.servers)?)),
        None if named_file(context, mention).is_some() => None,
        None => Some((mention, AttachError::NoFile)),
    })
}

/// Everything that a message mentions; an error with the mention that cannot be sent.
pub(crate) fn attach_all<'m>(
    context: &CommandContext<'_>,
    mentioned: &'m [String],
) -> Result<Vec<Part>, (&'m str, AttachError)> {
    let mut parts = Vec::new();
    for mention in mentioned {
        let attached = match named_resource(context, mention) {
            Some(resource) => attach_resource(context, (mention.as_str(), &resource)),
            None => attach(context, mention),
        };
        parts.extend(attached.map_err(|why| (mention.as_str(), why))?);
    }
    Ok(parts)
}
