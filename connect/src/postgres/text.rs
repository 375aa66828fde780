//! Postgres keeps every character in a text but NUL, and a tool's output may have one. It is written as `\0`, and a
//! backslash as two.

use countersign::Str;
use std::borrow::Cow;

/// As it is stored.
pub(super) fn stored(text: &str) -> Cow<'_, str> {
    if text.contains(['\0', '\\']) { text.replace('\\', r"\\").replace('\0', r"\0").into() } else { text.into() }
}

/// As it was.
pub(super) fn told(text: &str) -> Str {
    if !text.contains('\\') {
        return text.into();
    }
    let mut whole = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => whole.push(if letters.next() == Some('0') { '\0' } else { '\\' }),
            other => whole.push(other),
        }
    }
    whole.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_back() {
        for text in ["", "plain", r"C:\0\new", "a\0b", "\\\0", r"\\0", "\0\0", "end\\"] {
            let stored = stored(text);
            assert!(!stored.contains('\0'));
            assert_eq!(&*told(&stored), text);
        }
    }
}
