//! A running command goes from the foreground to the background, without a new mount.
//!
//! A command in the foreground sees the layers themselves: nobody changes them while it runs. A command in the background
//! needs layers that never change. So the layers are copied, and each copy changes places with its layer in one step. The
//! command is not disturbed: a mounted overlay holds its directories, whatever their names are, and its own layer was
//! private before. The view continues with the copies.

use super::layer_snapshot::LayerSnapshot;
use crate::apply::sync_file_system;
use crate::files::metadata::path_state::WritableDirGuard;
use crate::view::View;
use crate::view::command::command_view::{CommandDir, CommandView};
use crate::view::layers::layer::{self, Layer, open_dir};
use rustix::fs::{CWD, RenameFlags};
use std::fs::File;
use std::io;
use std::path::Path;

impl View {
    /// Lets others use the view while the command runs. After an error the command is in the foreground as before. Copies
    /// what is pending; not to be called on an asynchronous thread.
    pub fn move_to_background(&self, command: &mut CommandView) -> io::Result<()> {
        if command.frozen.is_some() {
            return Err(io::Error::other("an attempt before failed in the middle"));
        }
        self.take_layers(command)?;
        command.write_job_record()?;
        if let Some((view, home)) = &mut command.home {
            view.take_layers(home)?;
            drop(home.gate.take());
        }
        drop(command.gate.take());
        Ok(())
    }

    /// Gives the command the layers that it sees, and this view copies of them.
    fn take_layers(&self, command: &mut CommandView) -> io::Result<()> {
        crate::view::command::command_dir::private(self.dir())?;
        // Where the layers are: an exchange works only within one file system.
        let dir = CommandDir::make(self.dir())?;
        // What was applied since the command began is not what the command saw.
        let mut taken = LayerSnapshot::new(dir, millis(command.since.own));
        let mut pairs = Vec::new();
        for (index, mount) in command.own_mounts().iter().enumerate() {
            // The last one is the workspace.
            let above = mount.lowers.len().saturating_sub(1);
            let mut layers = Vec::new();
            for (number, lower) in mount.lowers.iter().take(above).enumerate() {
                let copy = taken.dir.path().join(format!("{index}-{number}"));
                std::fs::create_dir(&copy)?;
                layer::copy_tree(&open_dir(lower)?, &open_dir(&copy)?)?;
                pairs.push((lower.clone(), copy.clone()));
                layers.push(Layer::at(copy));
            }
            taken.roots.push(layers);
        }
        if !pairs.is_empty() {
            // What is pending was on the disk, and must not be there in part after a power failure.
            sync_file_system(&File::open(taken.dir.path())?)?;
        }
        for (at, (layer, copy)) in pairs.iter().enumerate() {
            if let Err(error) = exchange(layer, copy) {
                for (layer, copy) in pairs.iter().take(at).rev() {
                    drop(exchange(layer, copy));
                }
                // It may still contain a layer that the command sees.
                command.frozen = Some(taken);
                return Err(error);
            }
        }
        command.frozen = Some(taken);
        Ok(())
    }
}

/// Exchanges two directories. A directory gets another parent only if its owner may write it.
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    let (first, second) = (open_dir(one)?, open_dir(other)?);
    let _eased = (WritableDirGuard::of(&first), WritableDirGuard::of(&second));
    Ok(rustix::fs::renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

/// Milliseconds since 1970, from seconds and nanoseconds.
fn millis((seconds, nanoseconds): (i64, i64)) -> u64 {
    u64::try_from(seconds.saturating_mul(1000).saturating_add(nanoseconds / 1_000_000)).unwrap_or(0)
}

#[cfg(test)]
#[path = "to_background_tests.rs"]
mod tests;
