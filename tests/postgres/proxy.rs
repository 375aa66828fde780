//! Stands between a journal and its server, and cuts what is told to it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
use tokio::net::{TcpListener, TcpStream};

/// Passes everything on, until it is told to cut.
pub struct Proxy {
    pub address: SocketAddr,
    cuts: Arc<AtomicBool>,
    listens: tokio::task::JoinHandle<()>,
}

impl Proxy {
    pub async fn to(dsn: &str) -> Self {
        let server = dsn.split_once('@').unwrap().1.split_once('/').unwrap().0.to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, cuts) = (listener.local_addr().unwrap(), Arc::new(AtomicBool::new(false)));
        let flag = cuts.clone();
        let listens = tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let far = TcpStream::connect(&server).await.unwrap();
                tokio::spawn(pass(near, far, flag.clone()));
            }
        });
        Self { address, cuts, listens }
    }

    /// The next answer of the server is lost, and its connection with it: what was asked for has been done by then.
    pub fn cut(&self) {
        self.cuts.store(true, Ordering::SeqCst);
    }

    /// Nobody is let through any more.
    pub fn close(&self) {
        self.listens.abort();
    }

    /// Whether the cut was made.
    pub fn has_cut(&self) -> bool {
        !self.cuts.load(Ordering::SeqCst)
    }
}

async fn pass(near: TcpStream, far: TcpStream, cuts: Arc<AtomicBool>) {
    let ((mut from_near, mut to_near), (mut from_far, mut to_far)) = (near.into_split(), far.into_split());
    let asked = tokio::spawn(async move { copy(&mut from_near, &mut to_far).await });
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from_far.read(&mut bytes).await {
        if cuts.swap(false, Ordering::SeqCst) || to_near.write_all(&bytes[..count]).await.is_err() {
            break;
        }
    }
    asked.abort();
}
