//! What a model is shown, made shorter for one call where it is too long for the model. The ledger keeps the whole.

use countersign::Image;

/// One message of a conversation, as a model is given it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    /// What the agent was asked and told.
    User {
        /// In words.
        text: String,
        /// Images that come with it.
        images: Vec<Image>,
    },
    /// What it said.
    Assistant {
        /// Its text.
        text: String,
        /// Its calls.
        calls: Vec<Called>,
    },
    /// What came of the calls of the turn before, each in its place.
    Results(Vec<Came>),
}

impl Turn {
    /// Words of the user.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into(), images: Vec::new() }
    }
}

/// Adds a turn. Providers want users and assistants to take turns: what the user said in a row is one message.
pub(super) fn add(turns: &mut Vec<Turn>, turn: Turn) {
    match (turns.last_mut(), turn) {
        (Some(Turn::User { text, images }), Turn::User { text: more, images: others }) => {
            text.push_str("\n\n");
            text.push_str(&more);
            images.extend(others);
        }
        (_, turn) => turns.push(turn),
    }
}

/// One call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    /// Its id; the result has the same.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Arguments: JSON text, as the model wrote it.
    pub args: String,
}

/// What came of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Came {
    /// The call's id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What the model reads.
    pub text: String,
}

/// What an agent is shown: first what was said before in the conversation, then its own transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Talk {
    /// Earlier messages of the user and answers to them.
    pub before: Vec<Turn>,
    /// The transcript, which begins with the question.
    pub now: Vec<Turn>,
}

impl Talk {
    /// About how many tokens it has.
    pub fn tokens(&self) -> usize {
        tokens(&self.before) + tokens(&self.now)
    }

    /// Whether every call has its result directly behind it, and every result its call.
    pub(super) fn is_paired(&self) -> bool {
        are_paired(&self.before) && are_paired(&self.now)
    }

    /// One after the other.
    pub(super) fn joined(self) -> Vec<Turn> {
        let mut turns = self.before;
        self.now.into_iter().for_each(|turn| add(&mut turns, turn));
        turns
    }
}

/// Makes what is shown shorter.
pub trait Compaction: Send + Sync {
    /// What is shown, of about so many tokens at most. Calls and results have to stay paired: a call whose transcript is
    /// otherwise is not made.
    fn compact(&self, talk: Talk, tokens_max: usize) -> Talk;
}

/// Keeps the question and the newest turns. Results that are older are shown by their beginning, with their id; where
/// that is not enough, the oldest messages of the conversation are left out, then the oldest turns, calls together with
/// their results.
#[derive(Clone, Copy, Debug)]
pub struct KeepNewest {
    /// Characters that are left of an older result.
    pub result_chars: usize,
    /// How many of the newest turns are kept as they are.
    pub whole: usize,
}

impl Default for KeepNewest {
    fn default() -> Self {
        Self { result_chars: 200, whole: 6 }
    }
}

impl Compaction for KeepNewest {
    fn compact(&self, mut talk: Talk, tokens_max: usize) -> Talk {
        let old = talk.now.len().saturating_sub(self.whole);
        for turn in talk.now.iter_mut().take(old) {
            if let Turn::Results(results) = turn {
                results.iter_mut().for_each(|came| self.shorten(came));
            }
        }
        forget_before(&mut talk, tokens_max);
        let most = tokens_max.saturating_sub(tokens(&talk.before));
        leave_out(&mut talk.now, most);
        talk
    }
}

/// Leaves out the oldest messages of the conversation, each with its answer.
fn forget_before(talk: &mut Talk, tokens_max: usize) {
    let mut left_out = 0;
    while !talk.before.is_empty() && talk.tokens() > tokens_max {
        let answered = matches!(talk.before.get(1), Some(Turn::Assistant { .. }));
        left_out += talk.before.drain(..if answered { 2 } else { 1 }).count();
    }
    if left_out > 0 {
        talk.before.insert(0, Turn::user(format!("[{left_out} earlier messages of this conversation are left out here]")));
    }
}

/// Leaves out the oldest turns. The question stands first, and stays.
fn leave_out(turns: &mut Vec<Turn>, tokens_max: usize) {
    let mut left_out = 0;
    while turns.len() > 3 && tokens(turns) > tokens_max {
        let pair = matches!((turns.get(1), turns.get(2)), (Some(Turn::Assistant { .. }), Some(Turn::Results(_))));
        left_out += turns.drain(1..if pair { 3 } else { 2 }).count();
    }
    if left_out == 0 {
        return;
    }
    let note = Turn::user(format!("[{left_out} earlier turns are left out here]"));
    let rest = turns.split_off(1);
    [note].into_iter().chain(rest).for_each(|turn| add(turns, turn));
}

impl KeepNewest {
    fn shorten(&self, came: &mut Came) {
        let all = came.text.chars().count();
        if all > self.result_chars {
            let begin: String = came.text.chars().take(self.result_chars).collect();
            came.text = format!("{begin}\n[shortened: {} had {all} characters]", came.id);
        }
    }
}

/// About how many tokens an image has, whatever its size: providers make large ones smaller.
const IMAGE_TOKENS: usize = 1_600;

/// About how many tokens turns have. On the high side: three characters are taken for one token.
pub fn tokens(turns: &[Turn]) -> usize {
    let chars = |turn: &Turn| match turn {
        Turn::User { text, images } => text.len() + images.len() * IMAGE_TOKENS * 3,
        Turn::Assistant { text, calls } => text.len() + calls.iter().map(|c| c.name.len() + c.args.len()).sum::<usize>(),
        Turn::Results(results) => results.iter().map(|c| c.name.len() + c.text.len()).sum(),
    };
    turns.iter().map(|turn| chars(turn) / 3 + 4).sum()
}

/// Whether every call has its result directly behind it, and every result its call.
fn are_paired(turns: &[Turn]) -> bool {
    let mut open: Vec<&str> = Vec::new();
    for turn in turns {
        match turn {
            Turn::Results(results) => {
                if !results.iter().map(|came| came.id.as_str()).eq(open.drain(..)) {
                    return false;
                }
            }
            _ if !open.is_empty() => return false,
            Turn::User { .. } => {}
            Turn::Assistant { calls, .. } => open.extend(calls.iter().map(|call| call.id.as_str())),
        }
    }
    open.is_empty()
}
