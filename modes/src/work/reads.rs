//! What a pass has read so far.

use countersign_core::NodeId;
use countersign_core::ledger::Asked;

/// A result that was read: its node, its event, and the event that asked for it.
#[derive(Clone, Copy)]
pub(super) struct Read {
    pub(super) result: NodeId,
    pub(super) seq: u32,
    pub(super) asked: u32,
}

/// What was read. A mode that is run again reads the answers to its recorded questions in their order, as often as not
/// all of them: those are not written down, only how many there were.
#[derive(Default)]
pub(super) struct Reads {
    /// How many recorded questions were found in the order in which they were asked.
    pub(super) in_order: usize,
    /// Those of them whose answers were not read all the same.
    passed_over: Vec<usize>,
    /// What was read apart from them, each with how many had been found in order by then.
    apart: Vec<(usize, Read)>,
}

impl Reads {
    /// Something was read out of order.
    pub(super) fn add(&mut self, read: Read) {
        self.apart.push((self.in_order, read));
    }

    /// The question that was just found in order is asked anew: its old answer does not count.
    pub(super) fn pass_over(&mut self) {
        self.passed_over.extend(self.in_order.checked_sub(1));
    }

    /// All that was read, the newest first.
    fn newest_first<'a>(&'a self, asked: &'a [Asked]) -> impl Iterator<Item = Read> + 'a {
        let mut in_order = self.in_order.min(asked.len());
        let mut apart = self.apart.iter().rev().peekable();
        std::iter::from_fn(move || {
            loop {
                if let Some((_, read)) = apart.next_if(|(after, _)| *after >= in_order) {
                    return Some(*read);
                }
                in_order = in_order.checked_sub(1)?;
                let next = asked.get(in_order)?;
                let answer = next.answer.filter(|_| !self.passed_over.contains(&in_order));
                if let Some(result) = answer {
                    return Some(Read { result, seq: next.answer_seq, asked: next.started_seq });
                }
            }
        })
    }

    /// Whether anything was read that was recorded after an event.
    pub(super) fn any_since(&self, asked: &[Asked], event: u32) -> bool {
        self.newest_first(asked).any(|read| read.seq > event)
    }

    /// Results on which no question rests that was asked since: a question rests on all that had been read when it was
    /// asked, so a read older than the newest such question is covered by it.
    pub(super) fn frontier(&self, asked: &[Asked]) -> Vec<NodeId> {
        let mut covered_before = 0;
        let mut frontier = Vec::new();
        for read in self.newest_first(asked) {
            if read.seq > covered_before {
                frontier.push(read.result);
                covered_before = covered_before.max(read.asked);
            }
        }
        frontier.sort_unstable();
        frontier.dedup();
        frontier
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_core::ledger::Asked;

    fn asked(result: Option<u32>, started_seq: u32, answer_seq: u32) -> Asked {
        Asked { key: "k".into(), number: None, activation: NodeId(0), started_seq, answer: result.map(NodeId), answer_seq }
    }

    fn frontier(reads: &Reads, asked: &[Asked]) -> Vec<u32> {
        reads.frontier(asked).into_iter().map(|node| node.0).collect()
    }

    #[test]
    fn of_a_chain_the_last_and_of_those_side_by_side_all() {
        let chain = [asked(Some(1), 2, 3), asked(Some(2), 4, 5), asked(Some(3), 6, 7)];
        assert_eq!(frontier(&Reads { in_order: 3, ..Reads::default() }, &chain), [3]);
        assert_eq!(frontier(&Reads { in_order: 2, ..Reads::default() }, &chain), [2]);
        let fan = [asked(Some(1), 2, 5), asked(None, 3, 0), asked(Some(3), 4, 6)];
        assert_eq!(frontier(&Reads { in_order: 3, ..Reads::default() }, &fan), [1, 3]);
    }

    #[test]
    fn what_is_read_apart_stands_where_it_was_read_and_what_is_passed_over_was_not() {
        let chain = [asked(Some(1), 2, 3), asked(Some(2), 4, 5)];
        let mut reads = Reads { in_order: 1, ..Reads::default() };
        // Read between the two: the second covers it, although nobody asked for it in order.
        reads.add(Read { result: NodeId(9), seq: 3, asked: 1 });
        reads.in_order = 2;
        assert_eq!(frontier(&reads, &chain), [2]);
        assert!(reads.any_since(&chain, 4) && !reads.any_since(&chain, 5));
        reads.pass_over();
        assert_eq!(frontier(&reads, &chain), [1, 9]);
        assert!(!reads.any_since(&chain, 3));
    }
}
