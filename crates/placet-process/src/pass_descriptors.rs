//! Descriptors over a socket: a message carries bytes and descriptors, and the bytes say what each descriptor is.

use rustix::io::retry_on_intr;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The most descriptors that the kernel passes in one message (`SCM_MAX_FD`).
pub const MOST: usize = 253;

/// Sends `bytes` with `descriptors`. A descriptor can only be sent together with at least one byte.
pub fn send(line: &impl AsFd, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    if descriptors.len() > MOST {
        return Err(io::Error::other("too many descriptors for one message"));
    }
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut attached = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() {
        attached.push(SendAncillaryMessage::ScmRights(descriptors));
    }
    retry_on_intr(|| sendmsg(line, &[IoSlice::new(bytes)], &mut attached, SendFlags::empty()))?;
    Ok(())
}

/// Receives into `bytes`, and adds the descriptors that came with it. Returns how many bytes came; 0 is the end.
pub fn receive(line: &impl AsFd, bytes: &mut [u8], descriptors: &mut Vec<OwnedFd>) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut attached = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [IoSliceMut::new(bytes)];
    #[cfg(target_os = "linux")]
    let flags = RecvFlags::CMSG_CLOEXEC;
    #[cfg(not(target_os = "linux"))]
    let flags = RecvFlags::empty();
    let got = retry_on_intr(|| recvmsg(line, &mut parts, &mut attached, flags))?;
    for message in attached.drain() {
        if let RecvAncillaryMessage::ScmRights(passed) = message {
            #[cfg(target_os = "linux")]
            descriptors.extend(passed);
            #[cfg(not(target_os = "linux"))]
            for descriptor in passed {
                super::close_on_exec::close_on_exec(&descriptor)?;
                descriptors.push(descriptor);
            }
        }
    }
    Ok(got.bytes)
}
