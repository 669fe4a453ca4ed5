//! The transport that rmcp's service speaks over. A request is sent by a task of the service, which ends with it.

use super::failure::HttpFailure;
use super::link::{HttpAccess, HttpLink};
use crate::definition::HttpServer;
use crate::message_text::ServerMessage;
use rmcp::service::{RoleClient, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::sync::Arc;
use tokio::sync::mpsc;

/// How many messages wait for the service. With more, the connection is not read.
const WAITING: usize = 8;

pub(crate) struct HttpTransport {
    link: Arc<HttpLink>,
    inbound: mpsc::Receiver<ServerMessage>,
}

impl HttpTransport {
    /// Connects to nothing yet.
    pub(crate) async fn new(
        server: (&str, &HttpServer),
        access: HttpAccess,
    ) -> Result<HttpTransport, HttpFailure> {
        let (sender, inbound) = mpsc::channel(WAITING);
        Ok(HttpTransport { link: Arc::new(HttpLink::new(server, access, sender).await?), inbound })
    }

    pub(crate) fn link(&self) -> Arc<HttpLink> {
        Arc::clone(&self.link)
    }
}

impl Transport<RoleClient> for HttpTransport {
    type Error = HttpFailure;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), HttpFailure>> + Send + 'static {
        Arc::clone(&self.link).send(message)
    }

    async fn receive(&mut self) -> Option<ServerMessage> {
        tokio::select! {
            biased;
            message = self.inbound.recv() => message,
            () = self.link.ended.cancelled() => None,
        }
    }

    async fn close(&mut self) -> Result<(), HttpFailure> {
        // A task that waits for the service would wait forever.
        self.inbound.close();
        self.link.close().await;
        Ok(())
    }
}

impl Drop for HttpTransport {
    fn drop(&mut self) {
        self.link.stop_listening();
    }
}
