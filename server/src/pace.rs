//! How often somebody may ask. Nobody who asks too often holds up the others.

use crate::access::Who;
use crate::problem::Problem;
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use std::hash::Hash;
use std::net::IpAddr;
use std::num::NonZeroU32;

/// How many a second, and how many at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// A second, in the long run.
    pub per_second: NonZeroU32,
    /// At once, after a rest.
    pub burst: NonZeroU32,
}

impl Rate {
    /// A rate; 0 counts as 1.
    pub const fn new(per_second: u32, burst: u32) -> Self {
        Self { per_second: at_least_one(per_second), burst: at_least_one(burst) }
    }
}

const fn at_least_one(n: u32) -> NonZeroU32 {
    match NonZeroU32::new(n) {
        Some(n) => n,
        None => NonZeroU32::MIN,
    }
}

/// How often somebody may ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rates {
    /// Requests of one owner.
    pub requests: Rate,
    /// Runs that one owner starts.
    pub starts: Rate,
    /// Wrong tokens from one address.
    pub strangers: Rate,
}

impl Default for Rates {
    fn default() -> Self {
        Self { requests: Rate::new(200, 1_000), starts: Rate::new(20, 200), strangers: Rate::new(1, 20) }
    }
}

/// Keeps count.
pub struct Pace {
    requests: DefaultKeyedRateLimiter<Who>,
    starts: DefaultKeyedRateLimiter<Who>,
    strangers: DefaultKeyedRateLimiter<IpAddr>,
}

impl Pace {
    pub(crate) fn new(rates: &Rates) -> Self {
        Self { requests: limiter(rates.requests), starts: limiter(rates.starts), strangers: limiter(rates.strangers) }
    }

    /// A request of somebody known.
    pub(crate) fn request(&self, who: &Who) -> Result<(), Problem> {
        self.requests.check_key(who).map_err(|_| Problem::Busy("too many requests at once; ask again in a second".to_owned()))
    }

    /// A run that somebody starts.
    pub(crate) fn start(&self, who: &Who) -> Result<(), Problem> {
        self.starts.check_key(who).map_err(|_| Problem::Busy("too many runs are started at once; start the next in a second".to_owned()))
    }

    /// A wrong token, or none.
    pub(crate) fn stranger(&self, from: IpAddr) -> Result<(), Problem> {
        if self.strangers.len() > FORGET_AT {
            self.strangers.retain_recent();
        }
        self.strangers.check_key(&from).map_err(|_| Problem::Busy("too many wrong tokens from this address; try again later".to_owned()))
    }
}

/// From how many addresses on those that have been quiet are forgotten.
const FORGET_AT: usize = 10_000;

fn limiter<K: Hash + Eq + Clone>(rate: Rate) -> DefaultKeyedRateLimiter<K> {
    RateLimiter::keyed(Quota::per_second(rate.per_second).allow_burst(rate.burst))
}
