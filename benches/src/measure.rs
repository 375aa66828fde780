//! CPU time, medians, memory, and the rows that are printed.

use cpu_time::ThreadTime;
use std::fmt;

/// One figure.
pub(crate) struct Row {
    /// What was measured; ours contain `countersign`.
    pub(crate) name: String,
    /// Its size.
    pub(crate) n: usize,
    /// CPU time a unit, in microseconds; the unit is said in `unit`.
    pub(crate) us_cpu: f64,
    /// A turn, a run, an ask, a decision.
    pub(crate) unit: &'static str,
    /// How many times the hand-written loop of the same run.
    pub(crate) ratio_to_floor: Option<f64>,
    /// The largest memory of the process, where it was measured.
    pub(crate) peak_rss_kib: Option<u64>,
    /// Further figures.
    pub(crate) more: Vec<(&'static str, f64)>,
}

impl Row {
    /// A figure without a floor.
    pub(crate) fn new(name: impl Into<String>, n: usize, us_cpu: f64, unit: &'static str) -> Self {
        Self { name: name.into(), n, us_cpu, unit, ratio_to_floor: None, peak_rss_kib: None, more: Vec::new() }
    }

    /// One JSON object.
    pub(crate) fn json(&self) -> String {
        let mut object = serde_json::json!({
            "name": self.name, "n": self.n, "us_cpu": round(self.us_cpu), "unit": self.unit,
            "ratio_to_floor": self.ratio_to_floor.map(round), "peak_rss_kib": self.peak_rss_kib,
        });
        if let Some(fields) = object.as_object_mut() {
            fields.extend(self.more.iter().map(|(name, value)| ((*name).to_owned(), round(*value).into())));
        }
        object.to_string()
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:34} n={:<8}", self.name, self.n)?;
        if self.us_cpu.is_finite() {
            write!(f, " {:10.3} us/{:9}", self.us_cpu, self.unit)?;
        }
        if let Some(ratio) = self.ratio_to_floor {
            write!(f, " {ratio:6.2}x floor")?;
        }
        if let Some(kib) = self.peak_rss_kib {
            write!(f, " peak {kib} KiB")?;
        }
        self.more.iter().try_for_each(|(name, value)| write!(f, " {name} {value:.2}"))
    }
}

fn round(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// CPU time of this thread for one call, in microseconds.
pub(crate) fn cpu_us(f: impl FnOnce()) -> f64 {
    let start = ThreadTime::now();
    f();
    start.elapsed().as_secs_f64() * 1e6
}

/// The median.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Several subjects, each run `reps` times a sample, interleaved over five samples: medians of time a call.
pub(crate) fn interleaved(reps: usize, subjects: &mut [&mut dyn FnMut()]) -> Vec<f64> {
    for subject in subjects.iter_mut() {
        (0..reps.min(20)).for_each(|_| subject());
    }
    let mut samples: Vec<Vec<f64>> = subjects.iter().map(|_| Vec::new()).collect();
    for _ in 0..5 {
        for (subject, samples) in subjects.iter_mut().zip(&mut samples) {
            let us = cpu_us(|| (0..reps).for_each(|_| subject()));
            samples.push(us / reps as f64);
        }
    }
    samples.into_iter().map(median).collect()
}

/// The largest resident memory of this process so far, in KiB.
pub(crate) fn peak_rss_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?.trim().split(' ').next()?.parse().ok()
}

/// Resident memory of this process now, in KiB.
pub(crate) fn rss_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|l| l.strip_prefix("VmRSS:"))?.trim().split(' ').next()?.parse().ok()
}
