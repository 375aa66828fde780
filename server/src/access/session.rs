//! Sessions of the page: a token is exchanged for a cookie that scripts cannot read.

use super::{Who, digest, random_name};
use axum::http::{HeaderMap, header};
use dashmap::DashMap;
use std::time::{Duration, Instant};

/// The name of the cookie.
pub const COOKIE: &str = "countersign_session";

/// How long a session lasts.
const LASTS: Duration = Duration::from_secs(12 * 60 * 60);

/// Most sessions at the same time. The oldest make room.
const SESSIONS_MAX: usize = 10_000;

/// Sessions, by the digest of what the cookie holds. They do not outlive the process: one signs in again.
#[derive(Default)]
pub struct Sessions(DashMap<[u8; 32], Session>);

struct Session {
    who: Who,
    until: Instant,
}

impl Sessions {
    /// Begins a session, and says what its cookie holds.
    pub fn begin(&self, who: Who) -> Result<String, String> {
        let id = random_name()?;
        let now = Instant::now();
        if self.0.len() >= SESSIONS_MAX {
            self.0.retain(|_, session| session.until > now);
        }
        if self.0.len() >= SESSIONS_MAX {
            let oldest = self.0.iter().min_by_key(|session| session.until).map(|session| *session.key());
            oldest.and_then(|key| self.0.remove(&key));
        }
        self.0.insert(digest(&["session", &id]), Session { who, until: now + LASTS });
        Ok(id)
    }

    /// Whose session a request belongs to.
    pub fn who(&self, headers: &HeaderMap) -> Option<Who> {
        let session = self.0.get(&digest(&["session", cookie(headers)?]))?;
        (session.until > Instant::now()).then(|| session.who.clone())
    }

    /// Ends the session of a request, if it has one.
    pub fn end(&self, headers: &HeaderMap) {
        if let Some(id) = cookie(headers) {
            self.0.remove(&digest(&["session", id]));
        }
    }

    /// How the cookie is set.
    pub fn set_cookie(id: &str, headers: &HeaderMap) -> String {
        // Whoever stands before us and speaks TLS says so.
        let secure = if headers.get("x-forwarded-proto").is_some_and(|proto| proto == "https") { "; Secure" } else { "" };
        format!("{COOKIE}={id}; HttpOnly; SameSite=Strict; Path=/; Max-Age={}{secure}", LASTS.as_secs())
    }

    /// How it is taken away.
    pub fn drop_cookie() -> String {
        format!("{COOKIE}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0")
    }
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find_map(|(name, value)| (name == COOKIE).then_some(value))
}
