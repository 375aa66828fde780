//! A key from the environment. It is in no event, no log line and no error.

use std::fmt;

/// A provider's key. It cannot be printed; `Debug` shows that there is one.
#[derive(Clone)]
pub struct Key(String);

/// A key that is not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the environment variable `{0}` holds no key; set it, or name another in `key_env`")]
pub struct NoKey(pub String);

impl Key {
    /// Reads a variable of the environment.
    pub fn from_env(name: &str) -> Result<Self, NoKey> {
        let key = std::env::var(name).ok().map(|k| k.trim().to_owned());
        key.filter(|k| !k.is_empty()).map(Self).ok_or_else(|| NoKey(name.to_owned()))
    }

    /// A key from elsewhere.
    pub fn new(key: &str) -> Self {
        Self(key.to_owned())
    }

    /// What is sent to the provider.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }

    /// Takes the key out of a text, such as an error of the provider that echoes it.
    pub(super) fn strike(&self, text: &str) -> String {
        if self.0.is_empty() { text.to_owned() } else { text.replace(&self.0, "[key]") }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[key]")
    }
}
