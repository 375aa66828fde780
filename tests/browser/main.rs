//! Proof of the page in a real browser: `.ci/browser` installs chromium with its driver, and runs this suite.
//!
//! It is no default member, for its browser has to be installed. A browser that is not there is a failure.
//! Screenshots stand in `browser/` below the target folder, for people to look at.
//!
//! | module | what it proves |
//! |---|---|
//! | [`course`] | a run that is refused, passes, is blocked, continued: a candidate never looks final before it is |
//! | [`people`] | grants with other arguments, denials, answers, messages, cancelling: by mouse and by keyboard |
//! | [`lost`] | a call whose outcome nobody knows: recorded, run again, failed |
//! | [`looks`] | phone width, dark and light, contrast, keyboard |
//! | [`injection`] | scripts in tasks, tools, results and answers stay text |
//!
//! | module | what it is |
//! |---|---|
//! | [`browser`] | a browser, told what to do |
//! | [`stage`] | a server with scripted agents |

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs, unreachable_pub)]

mod browser;
mod course;
mod injection;
mod looks;
mod lost;
mod people;
mod stage;
