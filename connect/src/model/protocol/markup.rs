//! Calls that a model wrote into its text, as it would write them for some other program.

/// How such calls begin.
const MARKS: &[&str] = &[
    "<tool_call>",
    "<tool_calls>",
    "<function_call>",
    "<function_calls>",
    "<function=",
    "<invoke name=",
    "<|tool_call",
    "<|tool_calls",
    "[TOOL_CALLS]",
    "```tool_call",
    "```call",
];

/// Whether a line of the text begins like a call. A text that merely mentions one is an answer.
pub(super) fn stands_in(text: &str) -> bool {
    text.lines().any(|line| MARKS.iter().any(|mark| line.trim_start().starts_with(mark)))
}
