//! Proof against servers that were not written for this: `.ci/services` installs them and runs this suite.
//!
//! It is no default member, for its dependencies take long to build. A server that is not there is a failure.
//!
//! | module | what it proves |
//! |---|---|
//! | [`providers`] | both APIs, streamed: text, calls, reasoning, usage, finish reasons, faults, keys |
//! | [`modes`] | every mode over real HTTP: success, and each fault |
//! | [`conversations`] | several runs in one conversation |
//! | [`images`] | images, as both APIs are sent them |
//! | [`terminal`] | `countersign run`: files, places of errors, answers, events, Ctrl-C |
//! | [`serve`] | `countersign serve`: what is under way when it is ended or killed goes on |
//! | [`new_user`] | how many lines a first agent takes, and that they work |
//! | [`windows`] | transcripts that are too long for their model |
//! | [`text_tools`] | tools as text: a call, an answer, or neither |
//! | [`small_model`] | a real model answers, under a schema |
//! | [`hosts`] | the stop hook in Claude Code and Codex |
//! | [`mcp`] | tools of three MCP servers: terms, progress, cancelling, death |
//! | [`odd`] | an MCP server with bad manners: late answers, tools that change in mid-run |
//! | [`openapi`] | the server's API is as `/openapi.json` says, as schemathesis finds |
//! | [`otlp`] | spans, as they arrive at a collector |
//! | [`pages`] | pages: what is fetched, cut and refused |
//!
//! | module | what it starts |
//! |---|---|
//! | [`aimock`] | `@copilotkit/aimock`, a scripted server of both APIs, with faults |
//! | [`held`] | a model that waits before it answers |
//! | [`wire`] | what keeps all that goes to a server |
//! | [`llama`] | llama.cpp with a model of 135 million parameters |

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs, unreachable_pub)]

mod aimock;
mod conversations;
mod held;
mod hosts;
mod images;
mod llama;
mod mcp;
mod modes;
mod new_user;
mod odd;
mod openapi;
mod otlp;
mod pages;
mod providers;
mod serve;
mod server;
mod small_model;
mod terminal;
mod text_tools;
mod windows;
mod wire;
