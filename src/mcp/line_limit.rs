//! A reader that ends when a line is too long: a message without an end would fill the memory, and one that is dropped
//! would leave a call without an answer until its time is over.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, ReadBuf};

/// The longest message of a server, in bytes.
pub(super) const LONGEST_MESSAGE: usize = 16 << 20;

pub(super) struct LineLimit<R> {
    inner: R,
    /// How long the present line is already.
    length: usize,
    longest: usize,
}

impl<R> LineLimit<R> {
    pub(super) fn new(inner: R, longest: usize) -> LineLimit<R> {
        LineLimit { inner, length: 0, longest }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for LineLimit<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        let new = buffer.filled().get(before..).unwrap_or_default();
        self.length = match memchr::memrchr(b'\n', new) {
            Some(end) => new.len() - end - 1,
            None => self.length.saturating_add(new.len()),
        };
        if self.length > self.longest {
            // An error must not come together with data.
            buffer.set_filled(before);
            return Poll::Ready(Err(io::Error::other("a message is too long")));
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt;

    #[tokio::test]
    async fn a_line_without_an_end_is_an_error_and_many_lines_are_not() {
        let many = "0123456789\n".repeat(1000);
        let mut read = String::new();
        LineLimit::new(many.as_bytes(), 10).read_to_string(&mut read).await.unwrap();
        assert_eq!(read, many);
        let mut endless = LineLimit::new(tokio::io::repeat(b'x'), 100_000);
        assert!(endless.read_to_end(&mut Vec::new()).await.is_err());
    }
}
