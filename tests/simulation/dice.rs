//! Chance that is a function of what it is asked about.

use std::hash::{DefaultHasher, Hash, Hasher};

/// A stream of numbers made from a seed.
pub struct Dice(u64);

impl Dice {
    /// Dice that fall the same way for the same thing.
    pub fn of(thing: &impl Hash) -> Self {
        // `DefaultHasher::new` has fixed keys: the same on every run of one build.
        let mut hasher = DefaultHasher::new();
        thing.hash(&mut hasher);
        Self(hasher.finish())
    }

    /// The next number below `sides`.
    pub fn up_to(&mut self, sides: u64) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % sides
    }

    /// True once in so many times.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.up_to(times) == 0
    }
}
