//! Listening, connections that time out, and a graceful end.

use crate::server::api::{self, AppState};
use crate::server::backends::{Backends, Offer};
use crate::server::bridge::Monitor;
use crate::server::gallery::Gallery;
use crate::server::guard::{Bridge, Guard};
use crate::server::limits::Limits;
use crate::server::registry::Registry;
use crate::server::runs::Runs;
use crate::server::token::Token;
use crate::session::Api;
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{self, Runtime};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinHandle;
use tokio_io_timeout::TimeoutStream;

/// Options that a server is started with.
#[derive(Clone)]
pub struct Options {
    /// Address that the server listens on.
    pub listen: SocketAddr,
    /// Names that it goes by, beside addresses and `localhost`; for other places than loopback.
    pub names: Vec<String>,
    /// Folder with results of `gq run` and `gq compare`.
    pub runs: Option<PathBuf>,
    /// Folder with results of `gq reproduce`.
    pub gallery: Option<PathBuf>,
    /// Control socket of a bridge.
    pub bridge: Option<PathBuf>,
    /// Backends beside the simulator.
    pub hosts: Vec<Offer>,
    /// Limits on the use by strangers.
    pub limits: Limits,
}

/// Why a server could not be started.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The address is not to be had.
    #[error("{address} cannot be listened on: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// There is no randomness for a token.
    #[error("this machine has no randomness for a token: {0}")]
    Random(getrandom::Error),
    /// The runtime cannot be started.
    #[error("no threads can be started: {0}")]
    Threads(io::Error),
}

/// A server that runs, on threads of its own. Dropping it ends it: nothing new is taken in,
/// sessions stop, answers under way have a moment.
pub struct Server {
    address: SocketAddr,
    guard: Arc<Guard>,
    stop: Arc<Notify>,
    registry: Arc<Registry>,
    /// Taken at the end.
    running: Option<(Runtime, JoinHandle<()>)>,
}

/// Between two looks at whether to end.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Time that answers under way may take at the end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);
/// Time that sessions may take to notice the end.
const SESSIONS_TIMEOUT: Duration = Duration::from_secs(5);

impl Server {
    /// Starts to listen.
    ///
    /// # Errors
    /// When the address is taken or not allowed, or threads or randomness are missing.
    pub fn start(options: Options) -> Result<Self, ServerError> {
        let runtime = runtime::Builder::new_multi_thread()
            .worker_threads(options.limits.computing.clamp(1, 4))
            .thread_name("serve")
            .enable_all()
            .build()
            .map_err(ServerError::Threads)?;
        let wrong = |source| ServerError::Listen { address: options.listen, source };
        let listener = runtime.block_on(TcpListener::bind(options.listen)).map_err(wrong)?;
        let address = listener.local_addr().map_err(wrong)?;
        let token = Token::new().map_err(ServerError::Random)?;
        let bridge = if options.bridge.is_some() { Bridge::With } else { Bridge::Without };
        let guard = Arc::new(Guard::new(token, address, options.names, bridge));
        let inside = runtime.enter();
        let registry = Registry::new(options.limits, Backends::new(options.hosts));
        let state = Arc::new(AppState {
            guard: Arc::clone(&guard),
            limits: options.limits,
            api: Api::new(Arc::clone(&registry), options.limits.each, options.limits.uploads),
            runs: Runs(options.runs),
            gallery: Gallery(options.gallery),
            monitor: options.bridge.map(Monitor::start),
        });
        let stop = Arc::new(Notify::new());
        let accepting = runtime.spawn(accept(listener, api::router(state), options.limits, Arc::clone(&stop)));
        drop(inside);
        Ok(Self { address, guard, stop, registry, running: Some((runtime, accepting)) })
    }

    /// Returns the address that the server listens on.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Token that changes need to bring; on loopback pages get it by themselves.
    #[must_use]
    pub fn token(&self) -> &str {
        self.guard.token.text()
    }

    /// Returns the URL to open in a browser.
    #[must_use]
    pub fn page(&self) -> String {
        if self.guard.open {
            format!("http://{}/", self.address)
        } else {
            format!("http://{}/?token={}", self.address, self.guard.token.text())
        }
    }

    /// Waits until `stop` is set.
    pub fn wait(&self, stop: &AtomicBool) {
        let Some((runtime, _)) = &self.running else { return };
        runtime.block_on(async {
            while !stop.load(Ordering::Relaxed) {
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        });
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let Some((runtime, accepting)) = self.running.take() else { return };
        self.stop.notify_one();
        self.registry.end(SESSIONS_TIMEOUT);
        // It ends with its connections, or they with the runtime.
        let _ = runtime.block_on(async { tokio::time::timeout(SHUTDOWN_TIMEOUT, accepting).await });
        runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
    }
}

async fn accept(listener: TcpListener, router: Router, limits: Limits, stop: Arc<Notify>) {
    let places = Arc::new(Semaphore::new(limits.connections));
    let connections = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            () = stop.notified() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            // With all places taken a connection is closed at once.
            Ok((stream, _)) => {
                if let Ok(place) = Arc::clone(&places).try_acquire_owned() {
                    let connection = connections.watch(connection(stream, router.clone(), limits.client_timeout));
                    tokio::spawn(async move {
                        // An error of a connection concerns its other end.
                        let _ = connection.await;
                        drop(place);
                    });
                }
            }
            // Most often there are too many open files: a moment later there may be fewer.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
    let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT / 2, connections.shutdown()).await;
}

type Io = TokioIo<Pin<Box<TimeoutStream<TcpStream>>>>;

/// Builds a connection that ends when its other end takes `timeout` for a head, or to take data.
fn connection(stream: TcpStream, router: Router, timeout: Duration) -> http1::Connection<Io, TowerToHyperService<Router>> {
    // Frames are small and must not wait for each other.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(timeout));
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(timeout)
        .max_buf_size(64 << 10)
        .serve_connection(TokioIo::new(Box::pin(stream)), TowerToHyperService::new(router))
}
