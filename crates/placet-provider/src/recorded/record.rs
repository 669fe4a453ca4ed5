//! `--record FILE`: another provider's answers, recorded as they pass. A line that cannot be written ends the answer
//! with an error: a recording with a gap is worse than none.

use super::recording_format::{MAGIC, RecordingHeader, RecordingLine, VERSION, canonical};
use crate::answer::event_stream::flow;
use crate::{AnswerStream, ModelRequest, Provider, ProviderError, StreamEvent};
use futures_util::StreamExt;
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// A provider that records the answers of another one. One request at a time.
pub struct RecordingProvider {
    inner: Arc<dyn Provider>,
    tape: Arc<Mutex<RecordingWriter>>,
}

struct RecordingWriter {
    file: File,
    /// The messages of the request before.
    before: Vec<Value>,
}

impl RecordingProvider {
    /// Begins a recording in `path`, readable by its owner only. An older recording is replaced; any other file that is
    /// not empty is refused with [`io::ErrorKind::AlreadyExists`] and left as it is.
    pub fn create(path: &Path, inner: Arc<dyn Provider>) -> io::Result<RecordingProvider> {
        let mut options = OpenOptions::new();
        // Not truncated yet: a file that is not a recording must stay as it is.
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut file = options.open(path)?;
        let mut start = Vec::new();
        (&file).take(MAGIC.len() as u64).read_to_end(&mut start)?;
        if !start.is_empty() && start != MAGIC.as_bytes() {
            let words = format!("`{}` is not a recording", path.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, words));
        }
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        let header = RecordingHeader { version: VERSION, provider: inner.name().to_string() };
        let mut tape = RecordingWriter { file, before: Vec::new() };
        tape.write(&header)?;
        Ok(RecordingProvider { inner, tape: Arc::new(Mutex::new(tape)) })
    }
}

impl RecordingWriter {
    fn write(&mut self, line: &impl serde::Serialize) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(line)?;
        bytes.push(b'\n');
        self.file.write_all(&bytes)
    }

    fn request(&mut self, request: &ModelRequest) -> io::Result<()> {
        let messages: Vec<Value> = request.messages.iter().map(canonical).collect();
        let keep = self.before.iter().zip(&messages).take_while(|(a, b)| a == b).count();
        let new = messages.get(keep..).unwrap_or_default().to_vec();
        self.before = messages;
        self.write(&RecordingLine::Request { model: request.model.name.clone(), keep, messages: new })
    }
}

impl Provider for RecordingProvider {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn wire(&self) -> Option<&'static str> {
        self.inner.wire()
    }

    fn answer(&self, request: ModelRequest, cancel: CancellationToken) -> AnswerStream {
        let tape = Arc::clone(&self.tape);
        let write = move |write: &dyn Fn(&mut RecordingWriter) -> io::Result<()>| {
            let mut tape = tape.lock().unwrap_or_else(PoisonError::into_inner);
            write(&mut tape).map_err(|e| ProviderError::Record(e.to_string()))
        };
        let inner = Arc::clone(&self.inner);
        flow(|emit| async move {
            if let Err(error) = write(&|tape| tape.request(&request)) {
                return emit.fail(error).await;
            }
            let mut stream = inner.answer(request, cancel);
            while let Some(item) = stream.next().await {
                let line = match &item {
                    Ok(event) => RecordingLine::Event(event.clone()),
                    Err(error) => RecordingLine::Error(error.clone()),
                };
                // The person's own interrupt is not part of the provider's answer.
                let cancelled = matches!(item, Err(ProviderError::Cancelled));
                if !cancelled && let Err(error) = write(&|tape| tape.write(&line)) {
                    return emit.fail(error).await;
                }
                match item {
                    Ok(event @ StreamEvent::Finished(_)) => return emit.send(event).await,
                    Ok(event) => emit.send(event).await,
                    Err(error) => return emit.fail(error).await,
                }
            }
        })
    }
}
