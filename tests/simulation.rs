//! Runs in a small world that is made from a seed: its mode, what its models say, how long everything takes, what its
//! journal does to it, when its process dies. After every event that the journal keeps, what must always hold is
//! checked. The same seed makes the same log, byte for byte.

mod cast;
mod dice;
mod life;
mod watch;

use dice::Dice;
use life::World;

/// Seeds of a run of the suite, unless `SEEDS` says otherwise.
const SEEDS: u64 = 2000;

/// Every so many seeds, one is lived through twice.
const TWICE_EVERY: u64 = 8;

fn seeds() -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is a number, not `{text}`")));
    match number("SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("SEEDS").unwrap_or(SEEDS),
    }
}

fn lived(seed: u64, disturbed: bool) -> World {
    let life = std::panic::AssertUnwindSafe(|| life::live(seed, disturbed));
    std::panic::catch_unwind(life).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
        panic!("{}\nagain: SEED={seed} cargo test -p countersign-tests --test suite simulation", text.unwrap_or_default())
    })
}

#[test]
fn whatever_crashes_nothing_is_lost_repeated_or_final_too_early() {
    let (mut lives, mut finals, mut lost) = (0, 0, 0);
    for seed in seeds() {
        let world = lived(seed, true);
        lives += world.lives;
        finals += u32::from(world.run().final_answer().is_some());
        lost += u32::from(world.lost_something());
        if seed % TWICE_EVERY == 0 {
            assert_eq!(world.log(), lived(seed, true).log(), "seed {seed} made two logs");
        }
    }
    // A world in which nothing ever dies, ends or is lost would prove nothing.
    if seeds().end - seeds().start > 100 {
        assert!(lives > 3000 && finals > 800 && lost > 20, "{lives} lives, {finals} finals, {lost} runs with something lost");
    }
}

#[test]
fn a_crash_changes_no_decision_unless_something_was_lost() {
    for seed in seeds().step_by(4) {
        let (calm, world) = (lived(seed, false), lived(seed, true));
        if !world.lost_something() {
            let end = |w: &World| w.run().ledger().last_decision(countersign::ROOT).map(|d| (d.status, d.completion_reason));
            assert_eq!(
                end(&world),
                end(&calm),
                "{}\n{}\nseed {seed}: SEED={seed} cargo test -p countersign-tests --test suite simulation",
                world.log(),
                calm.log()
            );
        }
    }
}

#[test]
fn a_resume_of_a_resume_is_the_same_roll_of_the_dice() {
    let roll = || (0..64).map(|n| Dice::of(&(7, "x", n)).up_to(6)).collect::<Vec<_>>();
    assert_eq!(roll(), roll());
    assert!((0..6).all(|side| roll().contains(&side)), "every side comes up");
}
