//! Connects Countersign to models, tools and traces of other people's making. One feature for each connector;
//! none of their types is part of the crates below.
//!
//! | feature | module | what it connects |
//! |---|---|---|
//! | `tools` | `tool` | files and commands of this machine |
//! | `fetch` | `tool::fetch` | pages over HTTP |
//! | `models` | `model` | model providers |
//! | `mcp` | `mcp` | tools of MCP servers |
//! | `postgres` | `postgres` | runs of several machines: a journal in a Postgres database |
//! | `otlp` | `otlp` | spans, told to an OpenTelemetry collector |
//! | `guards` | `guard` | guards that data can describe: patterns, and programs |
//! | `trace` | `trace` | what agents of other frameworks wrote |

#[cfg(feature = "guards")]
pub mod guard;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "mcp")]
pub mod mcp;
#[cfg(feature = "models")]
pub mod model;
#[cfg(feature = "otlp")]
pub mod otlp;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(any(feature = "fetch", feature = "mcp", feature = "models", feature = "postgres"))]
mod said;
#[cfg(feature = "tools")]
pub mod tool;
#[cfg(feature = "trace")]
pub mod trace;
