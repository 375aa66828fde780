//! Names of questions: text or numbers, compared without being written out, since a mode that is run again
//! meets every one of its earlier questions.

use countersign_core::Str;
use std::fmt::{Arguments, Display, Write};

/// What a question can be named by.
pub trait Key: Display {
    /// Whether this is the key that was written down so.
    fn is(&self, recorded: &str) -> bool;

    /// This key, where it is a number and no text.
    fn number(&self) -> Option<u32> {
        None
    }

    /// This key as it is written down in a part of the work.
    fn within(&self, prefix: &str) -> Str {
        format!("{prefix}{self}").into()
    }
}

impl Key for str {
    fn within(&self, prefix: &str) -> Str {
        if prefix.is_empty() { self.into() } else { format!("{prefix}{self}").into() }
    }

    fn is(&self, recorded: &str) -> bool {
        self == recorded
    }
}

impl Key for String {
    fn is(&self, recorded: &str) -> bool {
        self == recorded
    }
}

impl<K: Key + ?Sized> Key for &K {
    fn is(&self, recorded: &str) -> bool {
        (**self).is(recorded)
    }

    fn number(&self) -> Option<u32> {
        (**self).number()
    }

    fn within(&self, prefix: &str) -> Str {
        (**self).within(prefix)
    }
}

impl Key for Str {
    fn is(&self, recorded: &str) -> bool {
        **self == *recorded
    }
}

impl Key for Arguments<'_> {
    fn is(&self, recorded: &str) -> bool {
        struct Eats<'k>(&'k str);
        impl Write for Eats<'_> {
            fn write_str(&mut self, part: &str) -> std::fmt::Result {
                self.0 = self.0.strip_prefix(part).ok_or(std::fmt::Error)?;
                Ok(())
            }
        }
        let mut eats = Eats(recorded);
        eats.write_fmt(*self).is_ok() && eats.0.is_empty()
    }
}

macro_rules! numbers {
    ($($number:ty),*) => { $(
        impl Key for $number {
            fn is(&self, recorded: &str) -> bool {
                // Read from its digits: a long chain of questions compares each of them in every pass.
                let read = |left: $number, digit: &u8| match digit.wrapping_sub(b'0') {
                    digit @ 0..10 => left.checked_mul(10)?.checked_add(digit.into()),
                    _ => None,
                };
                match recorded.as_bytes() {
                    [] | [b'0', _, ..] => false,
                    digits => digits.iter().try_fold(0, read) == Some(*self),
                }
            }

            fn number(&self) -> Option<u32> {
                (*self).try_into().ok()
            }
        }
    )* };
}

numbers!(u8, u16, u32, u64, usize);

impl Key for i32 {
    fn is(&self, recorded: &str) -> bool {
        match u32::try_from(*self) {
            Ok(number) => number.is(recorded),
            Err(_) => recorded.strip_prefix('-').is_some_and(|rest| self.unsigned_abs().is(rest)),
        }
    }

    fn number(&self) -> Option<u32> {
        u32::try_from(*self).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::Key;

    #[test]
    fn a_key_is_what_it_is_written_as_and_nothing_else() {
        for number in [0_u32, 7, 10, 99, 100, 1_234_567_890] {
            assert!(number.is(&number.to_string()));
            assert!(!number.is(&format!("{number}0")) && !number.is(&format!("1{number}")) && !number.is(""));
        }
        assert!((-12).is("-12") && !(-12).is("12") && 12.is("12"));
        assert!("step/3".is("step/3") && !"step/3".is("step/31"));
        assert!(format_args!("replan/{}", 2).is("replan/2") && !format_args!("replan/{}", 2).is("replan/20"));
    }
}
