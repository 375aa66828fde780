//! What is counted, as Prometheus reads it. Counted when a run comes to rest, from its log: a run that is taken up
//! again is counted from there on.

mod blocks;

use blocks::FalseBlock;
use countersign::event::NudgeBy;
use countersign::{Decision, Event, ROOT, ResumedBy, Run, Status, Str};
use dashmap::DashMap;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, LabelSetEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Labels by their names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Labels(Vec<(&'static str, String)>);

impl EncodeLabelSet for Labels {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> Result<(), std::fmt::Error> {
        self.0.encode(encoder)
    }
}

type Counters = Family<Labels, Counter>;

/// What is counted.
pub struct Metrics {
    registry: Registry,
    runs: Counters,
    decisions: Counters,
    missing: Counters,
    blocks: Counters,
    false_blocks: Counters,
    nudges: Counters,
    continues: Counters,
    tokens: Counters,
    time_to_final: Family<Labels, Histogram, fn() -> Histogram>,
    block_count: AtomicU64,
    false_count: AtomicU64,
    false_block_ratio: Gauge<f64, AtomicU64>,
    pending: Gauge,
    at_work: Gauge,
    /// Tool runs without an outcome, of runs that are parked with some.
    waiting: DashMap<Str, i64>,
}

/// Seconds to a final.
fn seconds() -> Histogram {
    Histogram::new([0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 1_800.0, 7_200.0, 86_400.0])
}

impl Default for Metrics {
    fn default() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("countersign"),
            runs: Family::default(),
            decisions: Family::default(),
            missing: Family::default(),
            blocks: Family::default(),
            false_blocks: Family::default(),
            nudges: Family::default(),
            continues: Family::default(),
            tokens: Family::default(),
            time_to_final: Family::new_with_constructor(seconds),
            block_count: AtomicU64::new(0),
            false_count: AtomicU64::new(0),
            false_block_ratio: Gauge::default(),
            pending: Gauge::default(),
            at_work: Gauge::default(),
            waiting: DashMap::new(),
        };
        metrics.register();
        metrics
    }
}

impl Metrics {
    fn register(&mut self) {
        let counters = [
            ("runs", "How runs came to rest", &self.runs),
            ("gate_decisions", "Rulings on runs", &self.decisions),
            ("missing_checks", "Findings of refusals, by check", &self.missing),
            ("blocks", "Runs that were blocked", &self.blocks),
            (
                "false_blocks",
                "Blocks that were followed by a final with no new evidence, or with the very answer that was blocked",
                &self.false_blocks,
            ),
            ("nudges", "How often agents were told to go on", &self.nudges),
            ("continues", "How often runs went on by themselves, or were taken up by people", &self.continues),
            ("tokens", "Tokens as providers count them", &self.tokens),
        ];
        for (name, help, family) in counters {
            self.registry.register(name, help, family.clone());
        }
        self.registry.register("time_to_final_seconds", "Seconds from the start of a run to its final", self.time_to_final.clone());
        self.registry.register("false_block_ratio", "False blocks among all blocks", self.false_block_ratio.clone());
        self.registry.register("pending_tool_runs", "Tool runs without an outcome, of runs under way and of parked ones", self.pending.clone());
        self.registry.register("runs_at_work", "Runs under way", self.at_work.clone());
    }

    /// As text. `pending` says of runs that are under way how many of their tool runs have no outcome.
    pub fn text(&self, at_work: usize, pending: &HashMap<Str, u32>) -> String {
        self.at_work.set(i64::try_from(at_work).unwrap_or(i64::MAX));
        let parked = self.waiting.iter().filter(|waiting| !pending.contains_key(waiting.key())).map(|waiting| *waiting);
        self.pending.set(parked.chain(pending.values().map(|count| i64::from(*count))).sum());
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }

    /// Counts a run that has come to rest, from the record after `from`.
    pub fn rested(&self, run: &Run, from: u32) {
        let ledger = run.ledger();
        let mode: String = ledger.started().map(|start| start.mode.to_string()).unwrap_or_default();
        for record in ledger.log().iter().skip(from as usize) {
            self.event(&record.event);
        }
        let Some(decision) = ledger.last_decision(ROOT) else { return };
        let labels = [("mode", mode.as_str()), ("status", decision.status.name()), ("reason", decision.completion_reason.name())];
        one(&self.runs, &labels);
        if decision.status == Status::Completed {
            self.finalised(run, from, &mode);
        }
        let id = &decision.run_id;
        match ledger.open().tools.len() {
            0 => drop(self.waiting.remove(id)),
            _ if decision.status.is_terminal() => drop(self.waiting.remove(id)),
            waiting => {
                self.waiting.insert(id.clone(), i64::try_from(waiting).unwrap_or(i64::MAX));
            }
        }
        self.ratio();
    }

    fn event(&self, event: &Event) {
        match event {
            Event::Decided { scope: ROOT, decision, .. } => self.decided(decision),
            Event::Nudged { by, .. } => one(&self.nudges, &[("by", nudged_by(*by))]),
            Event::Continued { .. } => one(&self.continues, &[("by", "gate")]),
            Event::Resumed { by: ResumedBy::Person, .. } => one(&self.continues, &[("by", "person")]),
            Event::ModelReplied { extra: Some(extra), .. } => {
                let usage = extra.usage.unwrap_or_default();
                self.tokens.get_or_create(&labels(&[("direction", "in")])).inc_by(usage.input_tokens);
                self.tokens.get_or_create(&labels(&[("direction", "out")])).inc_by(usage.output_tokens);
            }
            _ => {}
        }
    }

    fn decided(&self, decision: &Decision) {
        one(&self.decisions, &[("status", decision.status.name()), ("reason", decision.completion_reason.name())]);
        if decision.status == Status::Blocked {
            self.block_count.fetch_add(1, Ordering::Relaxed);
            one(&self.blocks, &[("reason", decision.completion_reason.name())]);
        }
        for check in decision.missing().filter(|_| !decision.finalizable) {
            one(&self.missing, &[("check", check)]);
        }
    }

    fn finalised(&self, run: &Run, from: u32, mode: &str) {
        let log = run.ledger().log();
        let took_ms = log.first().zip(log.last()).map_or(0, |(first, last)| last.at_ms.saturating_sub(first.at_ms));
        #[expect(clippy::cast_precision_loss, reason = "a run takes no 285,000 years")]
        self.time_to_final.get_or_create(&labels(&[("mode", mode)])).observe(took_ms as f64 / 1_000.0);
        if log.len() > from as usize
            && let Some(found) = FalseBlock::of(run)
        {
            self.false_count.fetch_add(1, Ordering::Relaxed);
            one(&self.false_blocks, &[("why", found.name())]);
        }
    }

    fn ratio(&self) {
        let (blocks, wrong) = (self.block_count.load(Ordering::Relaxed), self.false_count.load(Ordering::Relaxed));
        #[expect(clippy::cast_precision_loss, reason = "a ratio of counts")]
        self.false_block_ratio.set(if blocks == 0 { 0.0 } else { wrong as f64 / blocks as f64 });
    }
}

fn one(family: &Counters, said: &[(&'static str, &str)]) {
    family.get_or_create(&labels(said)).inc();
}

fn labels(said: &[(&'static str, &str)]) -> Labels {
    Labels(said.iter().map(|(name, value)| (*name, (*value).to_owned())).collect())
}

fn nudged_by(by: NudgeBy) -> &'static str {
    match by {
        NudgeBy::Gate => "gate",
        NudgeBy::Guard => "guard",
        NudgeBy::Hook => "hook",
        NudgeBy::Repeat => "repeat",
        NudgeBy::Format => "format",
    }
}
