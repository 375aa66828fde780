//! Secrets are not shown. What looks like one is struck out of everything that leaves the server.

use regex::{Captures, Regex, RegexSet};
use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

/// What stands in place of a secret.
const STRUCK: &str = "[redacted]";

/// What secrets look like. None of these reaches over a quote or a backslash, so that JSON stays what it is.
const LOOKS: [&str; 10] = [
    // A header, or what was copied out of one.
    r"(?i)(?-u:\b)(?P<keep>(?:bearer|basic)\s+)[a-z0-9._~+/=-]{12,}",
    // Keys that say whose they are.
    r"(?-u:\b)(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}",
    r"(?-u:\b)(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,})",
    r"(?-u:\b)(?:AKIA|ASIA)[0-9A-Z]{16}(?-u:\b)",
    r"(?-u:\b)AIza[0-9A-Za-z_-]{30,}",
    r"(?-u:\b)xox[abeoprs]-[A-Za-z0-9-]{10,}",
    r"(?-u:\b)eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    r#"-----BEGIN [A-Z ]*PRIVATE KEY-----[^"]*?-----END [A-Z ]*PRIVATE KEY-----"#,
    // A name and a value, in a text, a query, or JSON within JSON.
    r#"(?i)(?-u:\b)(?P<keep>(?:api[_-]?key|client[_-]?secret|secret[_-]?key|access[_-]?token|auth[_-]?token|password|passwd)\\?["']?\s*[:=]\s*\\?["']?)[^\s"'\\,;&}\]]{6,}"#,
    // Whoever stands before the host of an address.
    r#"(?P<keep>(?-u:\b)[a-z][a-z0-9+.-]*://[^\s/:@"\\]{1,64}:)[^\s/@"\\]{3,}(?P<end>@)"#,
];

/// All of them in one pass: most texts hold none.
static ANY: LazyLock<Option<RegexSet>> = LazyLock::new(|| RegexSet::new(LOOKS).ok());

/// Each by itself. They are constants, and a test looks that every one is well made.
static SECRETS: LazyLock<Vec<Regex>> = LazyLock::new(|| LOOKS.iter().filter_map(|look| Regex::new(look).ok()).collect());

/// A function that strikes out of a text what it knows to be secret.
pub type Strike = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Strikes secrets out: those that look like one, and those that an operator's own function knows.
#[derive(Clone, Default)]
pub struct Redactor {
    own: Vec<Strike>,
}

impl Redactor {
    /// Adds a function of the operator's own. It gets text as it is sent, JSON as often as not, and says `None`
    /// where there is nothing to strike out.
    #[must_use]
    pub fn with(mut self, own: Strike) -> Self {
        self.own.push(own);
        self
    }

    /// The text without what looks like a secret.
    pub fn strike<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut struck = Cow::Borrowed(text);
        if ANY.as_ref().is_none_or(|any| any.is_match(text)) {
            for look in SECRETS.iter() {
                if let Cow::Owned(text) = look.replace_all(&struck, keep) {
                    struck = Cow::Owned(text);
                }
            }
        }
        for own in &self.own {
            if let Some(text) = own(&struck) {
                struck = Cow::Owned(text);
            }
        }
        struck
    }
}

/// What stands round the secret stays, so that a reader sees what was there.
fn keep(found: &Captures<'_>) -> String {
    let part = |name| found.name(name).map_or("", |part| part.as_str());
    format!("{}{STRUCK}{}", part("keep"), part("end"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_look_is_well_made() {
        assert_eq!(SECRETS.len(), LOOKS.len());
        assert!(ANY.is_some());
    }

    #[test]
    fn secrets_are_struck_out_and_the_rest_stays() {
        let redactor = Redactor::default();
        let secrets = [
            ("Authorization: Bearer abcdefghijklmnop123", "Authorization: Bearer [redacted]"),
            ("use sk-proj-abcdefghijklmnop1234 for it", "use [redacted] for it"),
            ("ghp_abcdefghijklmnopqrstuvwx", "[redacted]"),
            ("AKIAABCDEFGHIJKLMNOP", "[redacted]"),
            (r#"{"api_key":"abcdef123456","n":1}"#, r#"{"api_key":"[redacted]","n":1}"#),
            (r#"{"args":"{\"password\":\"hunter22\"}"}"#, r#"{"args":"{\"password\":\"[redacted]\"}"}"#),
            ("postgres://ann:s3cret@db.example/shop", "postgres://ann:[redacted]@db.example/shop"),
            ("eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSMeKKF2QT4", "[redacted]"),
        ];
        for (text, struck) in secrets {
            assert_eq!(redactor.strike(text), struck);
        }
        for text in ["the bearer of this letter", r#"{"tokens":2000000,"event":"response_delta"}"#, "https://example.org/a:b", "sk-ip it"] {
            assert!(matches!(redactor.strike(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn an_operator_strikes_out_what_he_knows() {
        let own: Strike = Arc::new(|text| text.contains("Bletchley").then(|| text.replace("Bletchley", "[place]")));
        assert_eq!(Redactor::default().with(own).strike("at Bletchley, with sk-abcdefghijklmnopqrst"), "at [place], with [redacted]");
    }
}
