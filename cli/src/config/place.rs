//! What is wrong with a file, and where.

use std::fmt;
use std::ops::Range;

/// What is wrong with a file: the place, its line, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    file: String,
    line: usize,
    column: usize,
    shown: String,
    width: usize,
    message: String,
}

impl Wrong {
    /// Something wrong at these bytes of a text.
    pub fn at(file: &str, text: &str, bytes: Range<usize>, message: String) -> Self {
        let before = text.get(..bytes.start).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let shown = text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default().to_owned();
        let column = text.get(start..bytes.start).map_or(1, |said| said.chars().count() + 1);
        let marked = text.get(bytes.clone()).and_then(|said| said.lines().next()).map_or(1, |said| said.chars().count());
        Self { file: file.to_owned(), line: before.matches('\n').count() + 1, column, shown, width: marked.max(1), message }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, blank) = (self.line.to_string(), " ".repeat(self.line.to_string().len()));
        writeln!(f, "{}", self.message.trim_end())?;
        writeln!(f, "{blank}--> {}:{}:{}", self.file, self.line, self.column)?;
        writeln!(f, "{blank} |")?;
        writeln!(f, "{number} | {}", self.shown)?;
        write!(f, "{blank} | {}{}", " ".repeat(self.column - 1), "^".repeat(self.width))
    }
}

impl std::error::Error for Wrong {}
