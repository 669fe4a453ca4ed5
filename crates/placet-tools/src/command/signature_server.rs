//! Signatures for git in a command's view: the person is asked about each object, and the person's own program signs it
//! outside. The view gets a socket, and never a key, an agent, or a word in what runs.

use super::signature_client::{REFUSED, SIGNED};
use crate::{RunContext, ServerConsent, ServerConsentQuestion, ToolContext};
use placet_git::{MOST_PAYLOAD, PayloadError, PersonSigner, SigningError, check_payload};
use placet_process::CommandClock;
use placet_sandbox::{SandboxBackend, SandboxSpec, SignerSpec};
use std::convert::Infallible;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::time::timeout;

/// New and empty in every view: no other command finds the socket, and none can write what is about to be signed.
const PLACE: &str = "/var/tmp";

/// The client passes at once what git gave it. A program that keeps the line open must not keep out the others.
const LONGEST_REQUEST: Duration = Duration::from_secs(5);

/// The person may have to type a passphrase, or touch a key. The time of the command stands still meanwhile.
const LONGEST_SIGNING: Duration = Duration::from_secs(300);

#[derive(Debug, thiserror::Error)]
enum SignatureError {
    #[error("the object did not arrive in five seconds")]
    Incomplete,
    #[error(transparent)]
    Payload(#[from] PayloadError),
    #[error("nobody agreed")]
    Declined,
    #[error("{0}")]
    NotShown(String),
    #[error("`{0}` did not answer in five minutes")]
    TooSlow(String),
    #[error(transparent)]
    Signing(#[from] SigningError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The socket of one command. It is removed with this value.
pub(super) struct SignatureServer {
    listener: UnixListener,
    _dir: TempDir,
    /// The person wants no more questions of this call.
    is_refused: bool,
}

impl SignatureServer {
    /// Completes the view of a command, if the person signs its commits. Where no socket can be made, commits are not
    /// signed, and their rows say so.
    pub(super) fn open(env: &ToolContext, spec: &mut SandboxSpec) -> Option<SignatureServer> {
        let asks = env.commands.confining.as_ref().is_some_and(|confining| confining.asks_for_signatures);
        if !asks || spec.backend != SandboxBackend::Overlay {
            return None;
        }
        let program = env.commands.supervisor.to_str()?.to_string();
        let dir = own_directory().ok()?;
        let socket = dir.path().join("socket");
        let listener = UnixListener::bind(&socket).ok()?;
        spec.readable.push(dir.path().to_path_buf());
        spec.signer = Some(SignerSpec { program, socket });
        Some(SignatureServer { listener, _dir: dir, is_refused: false })
    }

    /// Answers one request after the other, until this future is dropped.
    pub(super) async fn serve(mut self, ctx: &RunContext, clock: &CommandClock) -> Infallible {
        loop {
            match self.listener.accept().await {
                Ok((mut client, _)) => {
                    let (kind, bytes) = match self.sign(&mut client, ctx, clock).await {
                        Ok(signature) => (SIGNED, signature),
                        Err(error) => (REFUSED, error.to_string().into_bytes()),
                    };
                    // A client that has ended, or does not read, needs no answer.
                    let answer = [&[kind][..], &bytes].concat();
                    let _ = timeout(LONGEST_REQUEST, client.write_all(&answer)).await;
                }
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    }

    async fn sign(
        &mut self,
        client: &mut UnixStream,
        ctx: &RunContext,
        clock: &CommandClock,
    ) -> Result<Vec<u8>, SignatureError> {
        let mut payload = Vec::new();
        let most = u64::try_from(MOST_PAYLOAD).unwrap_or(u64::MAX).saturating_add(1);
        let whole = timeout(LONGEST_REQUEST, client.take(most).read_to_end(&mut payload)).await;
        whole.map_err(|_| SignatureError::Incomplete)??;
        let (kind, text) = check_payload(&payload)?;
        if self.is_refused {
            return Err(SignatureError::Declined);
        }
        let root = ctx.env.workspace.cwd().to_path_buf();
        let signer = tokio::task::spawn_blocking(move || PersonSigner::of(&root)).await;
        let signer = signer.map_err(io::Error::other)??;
        let _waits = clock.pause();
        let question = ServerConsentQuestion {
            title: format!("sign this {kind} with your key?"),
            reason: format!(
                "git in the command asks; `{}` signs with the key {}",
                signer.program, signer.key
            ),
            detail: text.into(),
            yes: "sign".into(),
            no: "no".into(),
            takes_reason: false,
            is_exact: true,
        };
        match ctx.requests.consent(question).await {
            ServerConsent::Yes => {}
            ServerConsent::Because(why) => return Err(SignatureError::NotShown(why)),
            answer => {
                self.is_refused = answer == ServerConsent::Never;
                return Err(SignatureError::Declined);
            }
        }
        let dir = own_directory()?;
        let not_started = |error| SigningError::NotStarted(signer.program.clone(), error);
        let command = signer.command(&payload, dir.path()).map_err(not_started)?;
        let running = tokio::process::Command::from(command).kill_on_drop(true).output();
        let too_slow = |_| SignatureError::TooSlow(signer.program.clone());
        let output = timeout(LONGEST_SIGNING, running).await.map_err(too_slow)?.map_err(not_started)?;
        Ok(signer.signature(&output, dir.path())?)
    }
}

fn own_directory() -> io::Result<TempDir> {
    // A link would lead to a place that earlier commands may have written.
    if !std::fs::symlink_metadata(PLACE)?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    let own = std::fs::Permissions::from_mode(0o700);
    tempfile::Builder::new().prefix("placet-sign-").permissions(own).tempdir_in(PLACE)
}
