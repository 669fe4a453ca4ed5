//! Which source defines an MCP server. A server has one definition, from one source: if the keys of two sources were
//! joined, the command of a project would get the rights that the person gave to a program of their own.

use super::layer::SettingsLayer;
use super::settings::first;
use super::trust::ProjectSettings;
use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

/// A server of a project's file that is not used, because a stronger source defines a server of that name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShadowedServer {
    pub name: String,
    /// The file whose definition is not used.
    pub path: PathBuf,
    /// The file of the project that defines it; `None` for the person's own settings.
    pub by: Option<PathBuf>,
}

impl fmt::Display for ShadowedServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: the server `{}` is not used: ", self.path.display(), self.name)?;
        match &self.by {
            None => f.write_str("your own settings have one of that name"),
            Some(path) => write!(f, "{} has one of that name", path.display()),
        }
    }
}

/// Removes from the files of a project each server that a stronger source defines: the person's own layers, then the
/// project's settings, then its `.mcp.json`.
pub(super) fn separate(
    own: &[&SettingsLayer],
    mut project: Option<&mut ProjectSettings>,
    mcp_file: Option<&mut ProjectSettings>,
) -> Vec<ShadowedServer> {
    let own: BTreeSet<String> = own.iter().flat_map(|layer| names(layer)).collect();
    let mut shadowed = Vec::new();
    if let Some(project) = project.as_deref_mut() {
        remove(&own, None, project, &mut shadowed);
    }
    let Some(mcp_file) = mcp_file else { return shadowed };
    remove(&own, None, mcp_file, &mut shadowed);
    // Settings that the person does not trust cannot take the place of a file that the person trusts.
    if let Some(project) = project.filter(|project| project.trusted || !mcp_file.trusted) {
        remove(&names(&project.layer), Some(project.path.clone()), mcp_file, &mut shadowed);
    }
    shadowed
}

/// The names of the servers of a layer.
fn names(layer: &SettingsLayer) -> BTreeSet<String> {
    layer.values.iter().filter_map(|(key, ..)| server_of(key).map(String::from)).collect()
}

/// The server that a key belongs to.
fn server_of(key: &str) -> Option<&str> {
    first(key.strip_prefix("mcp.servers.")?)
}

fn remove(
    taken: &BTreeSet<String>,
    by: Option<PathBuf>,
    file: &mut ProjectSettings,
    shadowed: &mut Vec<ShadowedServer>,
) {
    let own = names(&file.layer);
    let removed = own.intersection(taken);
    let of = |name: &String| ShadowedServer { name: name.clone(), path: file.path.clone(), by: by.clone() };
    shadowed.extend(removed.map(of));
    file.layer.values.retain(|(key, ..)| server_of(key).is_none_or(|server| !taken.contains(server)));
}
