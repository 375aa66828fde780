//! Which commands may be run: each whole command has to match a whole pattern.

use crate::tool::Folder;
use countersign::ToolError;

/// A command that may be run, argument by argument.
///
/// Written as words: `{path}` is one path inside the folder, `{paths}` any number of them (at the end),
/// `{word}` a name such as `core` or `my_test-2`, `{number}` a number. Anything else is itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    words: Vec<Word>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Word {
    Is(String),
    Path,
    Paths,
    Name,
    Number,
}

/// A pattern that says nothing, or what cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// There is no program.
    #[error("a command pattern begins with a program, such as `cargo`; this one does not")]
    NoProgram,
    /// A place that is not known.
    #[error("`{0}` is no place for an argument; there are `{{path}}`, `{{paths}}`, `{{word}}` and `{{number}}`")]
    UnknownPlace(String),
    /// Words after `{paths}`.
    #[error("`{{paths}}` stands at the end of a pattern; nothing may follow it")]
    AfterPaths,
}

impl Pattern {
    /// Reads a pattern, word by word.
    pub fn new<S: AsRef<str>>(words: &[S]) -> Result<Self, PatternError> {
        let words: Vec<Word> = words.iter().map(|w| Word::parse(w.as_ref())).collect::<Result<_, _>>()?;
        match words.first() {
            Some(Word::Is(program)) if !program.is_empty() => {}
            _ => return Err(PatternError::NoProgram),
        }
        match words.iter().position(|w| *w == Word::Paths) {
            Some(at) if at + 1 < words.len() => Err(PatternError::AfterPaths),
            _ => Ok(Self { words }),
        }
    }

    /// Whether a whole command matches. `Err` says which path stands in the way of one that does otherwise.
    pub(super) fn admits(&self, folder: &Folder, argv: &[String]) -> Result<bool, ToolError> {
        let (fixed, many) = match self.words.split_last() {
            Some((Word::Paths, fixed)) => (fixed, true),
            _ => (self.words.as_slice(), false),
        };
        let Some((begin, rest)) = argv.split_at_checked(fixed.len()) else { return Ok(false) };
        if !rest.is_empty() && !many || !fixed.iter().zip(begin).all(|(word, arg)| word.fits(arg)) {
            return Ok(false);
        }
        // The form is right: now the paths have to be.
        let placed = fixed.iter().zip(begin).filter(|(word, _)| **word == Word::Path).map(|(_, arg)| arg);
        placed.chain(rest).try_for_each(|arg| is_path(folder, arg))?;
        Ok(true)
    }
}

impl Word {
    fn parse(word: &str) -> Result<Self, PatternError> {
        Ok(match word {
            "{path}" => Self::Path,
            "{paths}" => Self::Paths,
            "{word}" => Self::Name,
            "{number}" => Self::Number,
            place if place.starts_with('{') && place.ends_with('}') => return Err(PatternError::UnknownPlace(place.to_owned())),
            word => Self::Is(word.to_owned()),
        })
    }

    /// Whether an argument has the form that stands here; a path is looked at later.
    fn fits(&self, arg: &str) -> bool {
        let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
        match self {
            Self::Is(word) => word == arg,
            Self::Path | Self::Paths => true,
            // Not an option, and no path out of the folder either.
            Self::Name => arg.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') && arg.chars().all(name),
            Self::Number => !arg.is_empty() && arg.bytes().all(|b| b.is_ascii_digit()),
        }
    }
}

/// A path of something that is in the folder, and that no program could take for an option.
fn is_path(folder: &Folder, arg: &str) -> Result<(), ToolError> {
    if arg.starts_with(['-', '@', '+']) {
        return Err(ToolError::failed(format!("`{arg}` could be read as an option, and only paths may stand there")));
    }
    folder.holds(arg)
}

impl std::fmt::Display for Pattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let said = |word: &Word| match word {
            Word::Is(word) => word.clone(),
            Word::Path => "{path}".to_owned(),
            Word::Paths => "{paths}".to_owned(),
            Word::Name => "{word}".to_owned(),
            Word::Number => "{number}".to_owned(),
        };
        f.write_str(&self.words.iter().map(said).collect::<Vec<_>>().join(" "))
    }
}
