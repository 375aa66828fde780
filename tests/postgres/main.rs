//! Proof of the Postgres journal against real servers: `.ci/postgres` starts them and runs this suite. A server that is
//! not there is a failure.
//!
//! | module | what it proves |
//! |---|---|
//! | [`promises`] | what every journal promises |
//! | [`writers`] | many writers, pools and processes; what is told to whom |
//! | [`lost`] | connections and servers that are gone in the middle of an append, and processes in the middle of a run |
//! | [`servers`] | two servers on one database: any shows and steers any run, and none takes one up that another drives |
//! | [`program`] | the program's commands on a database |
//! | [`refused`] | what cannot be opened, read or written, in which words |
//! | [`damage`] | what was changed from outside is found, and a key keeps a forger out |
//! | [`kept`] | schemas of older and newer versions; what is forgotten, and what never is |
//!
//! | module | what it is |
//! |---|---|
//! | [`http`] | a client that says what it is told to say |
//! | [`proxy`] | what stands between a journal and its server, and cuts |
//! | [`server`] | the servers, and a schema for each test |

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs, unreachable_pub)]

mod damage;
#[path = "../server/http.rs"]
#[allow(dead_code)]
mod http;
mod kept;
mod lost;
#[path = "../journal/promises.rs"]
#[macro_use]
mod promises;
mod program;
mod proxy;
mod refused;
mod server;
mod servers;
mod writers;

use promises::Place;

promises!([Box::new(server::Schema::new().await) as Box<dyn Place>]);
