//! What words commit to, in so many words: a step that is announced, something that is asked for, and what is said to
//! be done by hand, made up, or not found.
//!
//! Sentences are looked at one by one, and only those that hold a word that matters. Everything is linear in the text.

use memchr::memmem::Finder;
use std::sync::LazyLock;

/// What somebody says of the ground on which the work stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Avowal {
    /// Something is looked up by hand: nobody in a trace has hands but by a call.
    ByHand,
    /// Data were made up.
    MadeUp,
    /// What was looked for was not there, or not open to the speaker.
    NotFound,
    /// A thought that ends with a step to come.
    Announced,
}

/// What the last words leave to be done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Owed {
    /// A step that the speaker announced.
    Step,
    /// Something that others were asked for.
    Reply,
}

impl Avowal {
    /// Those that a sentence of a text may make.
    const IN_TEXTS: [Self; 3] = [Self::ByHand, Self::MadeUp, Self::NotFound];

    /// One of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::IN_TEXTS.into_iter().chain([Self::Announced]).find(|avowal| avowal.name() == name)
    }

    /// Its name in a note.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ByHand => "by_hand",
            Self::MadeUp => "made_up",
            Self::NotFound => "not_found",
            Self::Announced => "announced",
        }
    }

    /// Parts of words without which no sentence avows this. The first letter is left off: it may be a capital.
    fn marks(self) -> &'static [Finder<'static>] {
        static BY_HAND: LazyLock<Vec<Finder<'static>>> = LazyLock::new(|| finders(&["anual", "y hand"]));
        static MADE_UP: LazyLock<Vec<Finder<'static>>> =
            LazyLock::new(|| finders(&["imulat", "ypothetical", "ock ", "ocked ", "ummy", "abricat", "ade-up", "nvented"]));
        static NOT_FOUND: LazyLock<Vec<Finder<'static>>> = LazyLock::new(|| finders(&["nable to", "not ", "n't ", "annot "]));
        match self {
            Self::ByHand => &BY_HAND,
            Self::MadeUp => &MADE_UP,
            Self::NotFound => &NOT_FOUND,
            Self::Announced => &[],
        }
    }

    /// Whether a sentence, by its words in lower case, avows this.
    fn avowed(self, words: &[&str]) -> bool {
        let any = |list: &[&str]| words.iter().any(|word| list.contains(word));
        let begins = |list: &[&str]| words.iter().any(|word| list.iter().any(|stem| word.starts_with(stem)));
        match self {
            Self::ByHand => (begins(FETCHING) || begins(LOOKING) && begins(PLACES)) && !begins(REASONING) && !any(HEDGES),
            Self::MadeUp => begins(MAKING_UP) && any(DATA) && !any(&["no", "not", "without", "never"]),
            Self::NotFound => any(&["i", "we"]) && was_unable(words) || words.windows(2).any(|pair| pair == ["not", "explicitly"]),
            Self::Announced => false,
        }
    }
}

/// Bringing something in from elsewhere; stems.
const FETCHING: &[&str] = &["search", "visit", "brows", "gather", "collect", "retriev", "inspect", "scrutin", "locat", "access", "navigat", "compil"];
/// Looking at something, which may be there already; stems.
const LOOKING: &[&str] = &["look", "find", "identif", "extract", "review", "verif", "check", "confirm"];
/// Where things are that nobody has at hand; stems.
const PLACES: &[&str] =
    &["website", "webpage", "site", "page", "url", "online", "link", "web", "source", "database", "article", "image", "journal", "log"];
/// What a mind can do by itself; stems.
const REASONING: &[&str] = &["calculat", "comput", "arithmetic", "formula", "multipl", "subtract", "divi", "deviat", "equation", "logic", "count"];
/// What makes an offer of it, or a denial, and no claim.
const HEDGES: &[&str] = &["may", "might", "could", "would", "can", "you", "your", "if", "no", "not", "without", "never"];
/// Making data up; stems.
const MAKING_UP: &[&str] = &["simulat", "hypothetical", "mock", "dummy", "fabricat", "made-up", "invented"];
/// What is made up.
const DATA: &[&str] =
    &["data", "dataset", "datasets", "number", "numbers", "value", "values", "figure", "figures", "result", "results", "response", "responses"];
/// What somebody was not able to reach; stems.
const REACHING: &[&str] = &["access", "retriev", "open", "brows", "view", "obtain", "determin"];

/// `unable to access`, `could not open`, `do not have direct access`.
fn was_unable(words: &[&str]) -> bool {
    let denied = |word: &str| matches!(word, "unable" | "not" | "cannot") || word.ends_with("n't");
    words.windows(5).chain(words.rchunks(4).take(1)).any(|window| match window {
        [first, rest @ ..] => denied(first) && rest.iter().any(|word| REACHING.iter().any(|stem| word.starts_with(stem))),
        [] => false,
    })
}

/// What a text avows.
pub(super) fn avowals(text: &str) -> impl Iterator<Item = Avowal> + '_ {
    Avowal::IN_TEXTS.into_iter().filter(move |avowal| avows(text, *avowal))
}

/// Whether some sentence of a text avows this.
pub(super) fn avows(text: &str, avowal: Avowal) -> bool {
    avowal.marks().iter().any(|mark| mark.find_iter(text.as_bytes()).any(|at| in_words(sentence_at(text, at), |words| avowal.avowed(words))))
}

/// What the last sentence of a text leaves to be done.
pub(super) fn owed(text: &str) -> Option<Owed> {
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`'));
    let last = sentence_at(text, text.len().saturating_sub(2));
    in_words(last, |words| match () {
        () if words.iter().any(|word| POLITE.contains(word)) => None,
        () if words.windows(2).any(|pair| matches!(pair, ["me" | "us", "know"])) => None,
        // What is shown in the same breath was taken.
        () if !last.contains([':', '=']) && announces(words) => Some(Owed::Step),
        () if asks(words) || text.ends_with('?') => Some(Owed::Reply),
        () => None,
    })
}

/// Words of sentences that close a talk, or leave it open to others.
const POLITE: &[&str] = &["else", "further", "questions", "conclude", "concluded", "terminate", "end", "thank", "thanks", "welcome"];
/// Words between an announcement and its verb.
const BETWEEN: &[&str] = &["now", "next", "then", "first", "also", "proceed", "to", "go", "ahead", "and"];
/// What is announced and needs no step: the talk itself, or what has been said.
const TALK: &[&str] = &[
    "finalize", "finalise", "close", "stop", "wrap", "be", "have", "remain", "keep", "provide", "present", "report", "convey", "deliver", "give",
    "state", "share", "inform", "agree", "wait", "leave", "with", "use", "take", "say", "call", "assume", "accept", "adopt", "submit", "consider",
];

/// `let me verify ...`, `I will now look ...`, `we need to compute ...`, at the beginning of a sentence or behind its purpose.
fn announces(words: &[&str]) -> bool {
    let openings: [&[&str]; 9] = [
        &["let", "me"],
        &["i", "will"],
        &["i'll"],
        &["let's"],
        &["we", "will"],
        &["we'll"],
        &["i", "need", "to"],
        &["we", "need", "to"],
        &["i", "am", "going", "to"],
    ];
    let verb = openings.iter().find_map(|opening| {
        let at = words.windows(opening.len()).position(|window| window == *opening)?;
        let purpose = at == 0 || words.first().is_some_and(|first| matches!(*first, "to" | "next" | "now" | "then" | "so"));
        words.get(at + opening.len()..).filter(|_| purpose)?.iter().find(|word| !BETWEEN.contains(word)).copied()
    });
    verb.is_some_and(|verb| !TALK.contains(&verb))
}

/// `please confirm ...`
fn asks(words: &[&str]) -> bool {
    const ASKED: &[&str] =
        &["confirm", "provide", "share", "review", "verify", "search", "check", "execute", "run", "supply", "send", "locate", "find"];
    words.windows(2).any(|pair| matches!(pair, ["please", asked] if ASKED.contains(asked)))
}

/// The sentence around a byte of a text.
fn sentence_at(text: &str, at: usize) -> &str {
    let bytes = text.as_bytes();
    let ends = |i: &usize| {
        let byte = bytes.get(*i).copied().unwrap_or(b'\n');
        byte == b'\n' || matches!(byte, b'.' | b'!' | b'?') && bytes.get(i + 1).is_none_or(u8::is_ascii_whitespace)
    };
    let start = (0..at.min(bytes.len())).rev().find(ends).map_or(0, |i| i + 1);
    let end = (at..bytes.len()).find(ends).unwrap_or(bytes.len());
    text.get(start..end).unwrap_or_default()
}

/// A sentence by its words, in lower case.
fn in_words<T>(sentence: &str, of: impl FnOnce(&[&str]) -> T) -> T {
    let lower = sentence.to_lowercase().replace('\u{2019}', "'");
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '-')).filter(|word| !word.is_empty()).collect();
    of(&words)
}

fn finders(marks: &[&'static str]) -> Vec<Finder<'static>> {
    marks.iter().map(|mark| Finder::new(*mark)).collect()
}
