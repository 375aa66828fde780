//! One source, shown: as text, or as a line of JSON for each trace.

use super::GraphForm;
use countersign_connect::trace::{Place, Report, SourceError, Verdict};
use serde_json::json;
use std::io::{Result, Write};

/// Most places that are named for one finding.
const PLACES_MAX: usize = 6;
/// Most faults that are named for one source.
const FAULTS_MAX: usize = 10;

pub(super) fn as_json(out: &mut impl Write, name: &str, read: &std::result::Result<Report, SourceError>) -> Result<()> {
    let report = match read {
        Ok(report) => report,
        Err(why) => return writeln!(out, "{}", json!({ "path": name, "error": why.to_string() })),
    };
    for verdict in &report.verdicts {
        let line = json!({ "path": name, "format": report.format, "final": verdict.is_final(), "verdict": verdict, "faults": report.faults });
        writeln!(out, "{line}")?;
    }
    if report.verdicts.is_empty() {
        writeln!(out, "{}", json!({ "path": name, "format": report.format, "faults": report.faults }))?;
    }
    Ok(())
}

pub(super) fn as_text(out: &mut impl Write, name: &str, read: &std::result::Result<Report, SourceError>, graph: Option<GraphForm>) -> Result<()> {
    let report = match read {
        Ok(report) => report,
        Err(why) => return writeln!(out, "{name}: not read: {why}"),
    };
    for verdict in &report.verdicts {
        let several = report.verdicts.len() > 1;
        let trace = if several { format!(" ({})", verdict.trace) } else { String::new() };
        let ruling = if verdict.is_final() { "final" } else { "not final" };
        writeln!(out, "{name}{trace}: {ruling}: {} [{}]", verdict.reason().name(), report.format)?;
        findings(out, name, verdict)?;
        if let Some(words) = &verdict.explained {
            words.lines().try_for_each(|line| writeln!(out, "    {line}"))?;
        }
        if let Some(text) = graph.and_then(|form| drawn(verdict, form)) {
            writeln!(out, "{text}")?;
        }
    }
    for fault in report.faults.iter().take(FAULTS_MAX) {
        writeln!(out, "{name}:{}: not read: {}", fault.line, fault.why)?;
    }
    let more = report.faults.len().saturating_sub(FAULTS_MAX);
    if more > 0 { writeln!(out, "{name}: {more} more lines were not read") } else { Ok(()) }
}

fn findings(out: &mut impl Write, name: &str, verdict: &Verdict) -> Result<()> {
    for (finding, places) in verdict.decision.missing_checks.iter().zip(&verdict.places) {
        writeln!(out, "  {}: {}", finding.check, finding.message)?;
        for place in places.iter().take(PLACES_MAX) {
            let beside = place.beside.and_then(|file| verdict.beside.get(file as usize));
            writeln!(out, "    {}:{}", beside.map_or(name, String::as_str), at(place))?;
        }
        if places.len() > PLACES_MAX {
            writeln!(out, "    and {} more", places.len() - PLACES_MAX)?;
        }
        writeln!(out, "    → {}", finding.remedy)?;
    }
    Ok(())
}

fn at(place: &Place) -> String {
    match place.item {
        Some(item) => format!("{} (item {item})", place.line),
        None => place.line.to_string(),
    }
}

fn drawn(verdict: &Verdict, form: GraphForm) -> Option<String> {
    let graph = verdict.graph.as_ref()?;
    Some(match form {
        GraphForm::Mermaid => graph.to_mermaid(),
        GraphForm::Dot => graph.to_dot(),
        GraphForm::Svg => graph.to_svg(),
        GraphForm::Json => graph.to_json(),
    })
}
