//! Who may come in, and whose a run is.

mod session;

pub use session::{COOKIE, Sessions};

use axum::http::{HeaderMap, header};
use countersign::Str;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use subtle::ConstantTimeEq;

/// How long a token has to be, in bytes.
const TOKEN_MIN: usize = 16;

/// One who may come in: a label made of a token's name, never of anything that opens a door.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Who(pub Str);

/// A secret that opens the door. Only its digest is kept, and it is not printed.
#[derive(Clone)]
pub struct Token {
    owner: Who,
    digest: [u8; 32],
    /// Whether it was made here, and not chosen by the operator.
    made_here: bool,
}

/// A token that cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum TokenError {
    /// Too easy to guess.
    #[error("a token has at least {TOKEN_MIN} characters, and this one has {0}; leave it out to have one made")]
    Short(usize),
    /// It would not fit into a header.
    #[error("a token is made of letters, digits and signs, without spaces")]
    Signs,
    /// The system has no randomness to give.
    #[error("no token can be made: {0}")]
    NoRandomness(String),
}

impl Token {
    /// A token that somebody chose. Runs belong to its name, so that they stay whose they are when the secret is
    /// changed; without a name, to the secret's digest.
    pub fn new(name: Option<&str>, secret: &str) -> Result<Self, TokenError> {
        if secret.len() < TOKEN_MIN {
            return Err(TokenError::Short(secret.len()));
        }
        if !secret.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(TokenError::Signs);
        }
        let owner = Who(hex(&digest(&["owner", name.unwrap_or(secret)])[..8]).into());
        Ok(Self { owner, digest: digest(&["token", secret]), made_here: false })
    }

    /// One of a file's lines: `SECRET`, or `NAME SECRET`.
    pub fn read(line: &str) -> Result<Self, TokenError> {
        match line.trim().split_once(char::is_whitespace) {
            Some((name, secret)) => Self::new(Some(name), secret.trim()),
            None => Self::new(None, line.trim()),
        }
    }

    /// A new secret that nobody can guess, and its token. Runs belong to its name.
    pub fn generate(name: &str) -> Result<(String, Self), TokenError> {
        let secret = random_name().map_err(TokenError::NoRandomness)?;
        let token = Self::new(Some(name), &secret)?;
        Ok((secret, Self { made_here: true, ..token }))
    }

    /// To whom its runs belong.
    pub fn owner(&self) -> &Who {
        &self.owner
    }
}

/// Every token that opens the door.
#[derive(Clone, Default)]
pub struct Tokens(Vec<Token>);

impl Tokens {
    /// Adds one.
    pub fn add(&mut self, token: Token) {
        self.0.push(token);
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the operator chose each of them.
    pub fn are_given(&self) -> bool {
        self.0.iter().all(|token| !token.made_here)
    }

    /// Whose secret this is. Takes as long for a wrong one as for a right one.
    pub fn who(&self, secret: &str) -> Option<Who> {
        let said = digest(&["token", secret]);
        // Every token is looked at, whichever fits.
        self.0.iter().fold(None, |found, token| if bool::from(token.digest.ct_eq(&said)) { Some(token.owner.clone()) } else { found })
    }
}

/// The secret of an `Authorization: Bearer` header.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, secret) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
}

/// A name that nobody can guess: 128 bits, in hexadecimal.
pub fn random_name() -> Result<String, String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|e| e.to_string())?;
    Ok(hex(&bytes))
}

fn digest(parts: &[&str]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    hash.finalize().into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_token_opens_its_own_door_alone() {
        let mut tokens = Tokens::default();
        tokens.add(Token::read("ann 0123456789abcdef").unwrap());
        tokens.add(Token::read("fedcba9876543210").unwrap());
        let ann = tokens.who("0123456789abcdef").unwrap();
        let other = tokens.who("fedcba9876543210").unwrap();
        assert_ne!(ann, other);
        assert_eq!(tokens.who("0123456789abcdeF"), None);
        assert_eq!(tokens.who(""), None);
        // A new secret under the same name opens the same runs.
        assert_eq!(*Token::read("ann another-secret-of-ann").unwrap().owner(), ann);
    }

    #[test]
    fn what_is_too_short_is_refused() {
        assert_eq!(Token::read("short").err(), Some(TokenError::Short(5)));
        assert_eq!(Token::new(None, "has a space within it").err(), Some(TokenError::Signs));
    }
}
