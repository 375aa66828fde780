//! Documents that are broken: what can be read of them is, and what is wrong is said.

use super::{Fault, SourceError};

/// Breaks in one document that are mended before it is given up.
const MENDED_MAX: usize = 1000;

/// Makes JSON of a text that is not quite. An escape that is none is what a hand left that replaced something: its
/// backslash is doubled. Where a list breaks off, the elements before the break are kept.
pub(super) fn mend(text: &mut String) -> Result<Vec<Fault>, SourceError> {
    let mut faults = Vec::new();
    while let Err(why) = serde_json::from_str::<serde::de::IgnoredAny>(text) {
        let broken = || SourceError::broken(&why);
        if faults.len() >= MENDED_MAX {
            return Err(broken());
        }
        let fault = Fault { line: u32::try_from(why.line()).unwrap_or(u32::MAX), why: within_line(&why) };
        let at = offset(text, &why).ok_or_else(broken)?;
        if why.to_string().contains("escape") {
            let backslash = stray_backslash(text, at).ok_or_else(broken)?;
            text.insert(backslash, '\\');
        } else {
            let whole = before_the_break(text, at).ok_or_else(broken)?;
            *text = whole;
        }
        faults.push(fault);
    }
    Ok(faults)
}

/// What the parser says of one line: its column counts, its line does not.
pub(super) fn within_line(why: &serde_json::Error) -> String {
    let said = why.to_string();
    let said = said.split(" at line ").next().unwrap_or_default();
    format!("{said} (column {})", why.column())
}

/// Where in the text the parser stopped.
fn offset(text: &str, why: &serde_json::Error) -> Option<usize> {
    let start = match why.line() {
        0 | 1 => 0,
        line => memchr::memchr_iter(b'\n', text.as_bytes()).nth(line - 2)? + 1,
    };
    Some((start + why.column()).min(text.len()))
}

/// The backslash of the escape at which the parser stopped: an escape is at most six bytes long.
fn stray_backslash(text: &str, stopped: usize) -> Option<usize> {
    let near = stopped.saturating_sub(7);
    memchr::memrchr(b'\\', text.as_bytes().get(near..stopped)?).map(|at| near + at)
}

/// The document up to the last whole element of its outermost list that is open at the break, closed again.
fn before_the_break(text: &str, stopped: usize) -> Option<String> {
    // What is open: its bracket, and behind which element of it the last comma stands.
    let mut open: Vec<(u8, Option<usize>)> = Vec::new();
    let (mut in_string, mut escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate().take(stopped) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => open.push((byte, None)),
            b']' | b'}' => drop(open.pop()),
            b',' => {
                if let Some((_, comma)) = open.last_mut() {
                    *comma = Some(at);
                }
            }
            _ => {}
        }
    }
    let list = open.iter().position(|(bracket, comma)| *bracket == b'[' && comma.is_some())?;
    let mut whole = text.get(..open.get(list)?.1?)?.to_owned();
    whole.extend(open.get(..=list)?.iter().rev().map(|(bracket, _)| if *bracket == b'[' { ']' } else { '}' }));
    Some(whole)
}
