//! What is written, and the one statement that writes it: the appends of many runs, each of them whole or not at all.

use super::ears::mark;
use super::text::stored;
use countersign::journal::chain::{Chain, Link};
use countersign::journal::projection::{Message, RunSummary};
use countersign::{Batch, JournalError, Reason, Status, Str};
use std::borrow::Cow;
use std::collections::BTreeMap;
use tokio_postgres::types::ToSql;

/// Adds records. `asked` has a line for each append, and events and outputs name it by its number. A run's row is the
/// fence: it is made, or moved on from where the writer says that it is, and whoever did neither adds nothing. Returns
/// the numbers of those that were kept.
///
/// Whoever adds to a run that is under way has it from then on; one that has come to rest is nobody's.
///
/// Rows are made in order, so that two writers that make the same runs do not wait for each other.
pub(super) const APPEND: &str = "
    WITH asked AS MATERIALIZED (
        SELECT * FROM unnest(
            $1::text[], $2::bigint[], $3::bytea[], $4::bigint[], $5::bytea[], $6::bigint[], $7::text[], $8::text[], $9::bigint[],
            $10::bigint[], $11::text[], $12::text[], $13::text[], $14::text[], $15::bigint[],
            $16::boolean[], $17::text[], $18::text[], $19::boolean[], $20::text[], $21::text[],
            $30::text[], $31::text[]
        ) WITH ORDINALITY AS asked (
            run, expected, before, seq, head, token, status, reason, changed_ms,
            ended_ms, conversation, message, mode, title, started_ms,
            tells, content, candidate, finalized, ruled, why,
            owner, profile, at
        )
    ), begun AS (
        INSERT INTO runs (run, conversation, message, owner, profile, mode, title, status, reason, started_ms, changed_ms, ended_ms, seq, head, token, driver)
        SELECT run, conversation, message, owner, profile, mode, title, status, reason, started_ms, changed_ms, ended_ms, seq, head, token,
            CASE WHEN status = 'in_progress' THEN $32::bigint END
        FROM asked WHERE expected = 0 ORDER BY run
        ON CONFLICT (run) DO NOTHING
        RETURNING no, run
    ), gone_on AS (
        UPDATE runs SET seq = asked.seq, head = asked.head, token = asked.token, changed_ms = asked.changed_ms,
            status = coalesce(asked.status, runs.status),
            reason = CASE WHEN asked.status IS NULL THEN runs.reason ELSE asked.reason END,
            ended_ms = CASE WHEN asked.status IS NULL THEN runs.ended_ms ELSE asked.ended_ms END,
            driver = CASE WHEN coalesce(asked.status, runs.status) = 'in_progress' THEN $32::bigint END
        FROM asked
        WHERE expected > 0 AND runs.run = asked.run AND runs.seq = expected AND runs.head = before
        RETURNING runs.no, runs.run
    ), held AS MATERIALIZED (
        SELECT fenced.no, asked.* FROM (SELECT * FROM begun UNION ALL SELECT * FROM gone_on) AS fenced JOIN asked USING (run)
    ), added AS (
        INSERT INTO events (run, seq, link, body)
        SELECT held.no, event.seq, event.link, event.body
        FROM unnest($22::bigint[], $23::bigint[], $24::bytea[], $25::text[]) AS event (at, seq, link, body) JOIN held USING (at)
    ), kept AS (
        INSERT INTO outputs (run, call, whole)
        SELECT held.no, output.call, output.whole
        FROM unnest($26::bigint[], $27::bigint[], $28::text[]) AS output (at, call, whole) JOIN held USING (at)
        ON CONFLICT (run, call) DO UPDATE SET whole = excluded.whole
    ), told AS (
        INSERT INTO messages AS old (run, content, candidate, finalized, status, reason)
        SELECT no, content, candidate, finalized, ruled, why FROM held WHERE tells
        ON CONFLICT (run) DO UPDATE SET
            content = coalesce(excluded.content, old.content),
            candidate = CASE WHEN excluded.finalized THEN excluded.candidate ELSE coalesce(excluded.candidate, old.candidate) END,
            finalized = old.finalized OR excluded.finalized,
            status = coalesce(excluded.status, old.status),
            reason = coalesce(excluded.reason, old.reason)
    )
    SELECT at, CASE WHEN row_number() OVER () = 1 THEN pg_notify(current_schema()::text, $29::text)::text END FROM held";

/// Where runs stand, and which append brought them there.
pub(super) const STAND: &str = "SELECT run, seq, head, token FROM runs WHERE run = ANY ($1::text[])";

/// Records to append, and what comes with them: made by whoever appends, so that the writer has less to do.
pub(super) struct Append {
    pub(super) run: Str,
    pub(super) expected: u32,
    /// What is known by in the run's row: how a writer finds out whether it was kept, when nobody could tell it.
    pub(super) token: i64,
    /// Why it cannot be written, even where it continues the log.
    pub(super) flaw: Option<JournalError>,
    seq: u32,
    /// Each with its number.
    texts: Vec<(u32, String)>,
    outputs: BTreeMap<u32, Str>,
    /// The run's line, where this begins it.
    line: Option<RunSummary>,
    /// Where the run stands by then; `None` where the records say nothing of that.
    standing: Option<(Status, Option<Reason>)>,
    changed_ms: u64,
    /// What the message is told anew. What it says already stays where this says nothing.
    tells: Option<Message>,
}

impl Append {
    pub(super) fn new(batch: Batch<'_>) -> Result<Self, JournalError> {
        let (flaw, Batch { run, expected, records, outputs, answer }) = (batch.flaw(), batch);
        let written = |record: &std::sync::Arc<countersign::Record>| {
            let text = serde_json::to_string(&**record).map_err(|e| JournalError::Store(format!("event {} cannot be written: {e}", record.seq)))?;
            Ok((record.seq, text))
        };
        let texts = records.iter().map(written).collect::<Result<Vec<_>, JournalError>>()?;
        let line = records.first().filter(|_| expected == 0).and_then(|first| RunSummary::begin(first));
        let standing = records.iter().rev().find_map(|record| RunSummary::standing(record));
        let (mut message, mut tells) = (Message::default(), false);
        for record in records {
            tells |= message.take(record, answer);
        }
        Ok(Self {
            run: run.clone(),
            expected,
            token: fastrand::i64(..),
            flaw,
            seq: texts.last().map_or(expected, |(seq, _)| *seq),
            texts,
            outputs: outputs.iter().map(|(call, whole)| (call.0, whole.clone())).collect(),
            line,
            standing,
            changed_ms: records.last().map_or(0, |last| last.at_ms),
            tells: tells.then_some(message),
        })
    }

    /// The number of its last record.
    pub(super) fn last(&self) -> u32 {
        self.seq
    }

    /// Whether there is nothing to write.
    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}

/// A number as the server has it. Its largest stands for all beyond it.
pub(super) fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// The appends of one statement, column by column.
#[derive(Default)]
pub(super) struct Columns<'a> {
    run: Vec<Cow<'a, str>>,
    expected: Vec<i64>,
    before: Vec<Vec<u8>>,
    seq: Vec<i64>,
    head: Vec<Vec<u8>>,
    token: Vec<i64>,
    status: Vec<Option<&'static str>>,
    reason: Vec<Option<&'static str>>,
    changed_ms: Vec<i64>,
    ended_ms: Vec<Option<i64>>,
    conversation: Vec<Option<Cow<'a, str>>>,
    message: Vec<Option<Cow<'a, str>>>,
    mode: Vec<Option<Cow<'a, str>>>,
    title: Vec<Option<Cow<'a, str>>>,
    started_ms: Vec<Option<i64>>,
    tells: Vec<bool>,
    content: Vec<Option<Cow<'a, str>>>,
    candidate: Vec<Option<Cow<'a, str>>>,
    finalized: Vec<bool>,
    ruled: Vec<Option<&'static str>>,
    why: Vec<Option<&'static str>>,
    event_at: Vec<i64>,
    event_seq: Vec<i64>,
    link: Vec<Vec<u8>>,
    body: Vec<&'a str>,
    output_at: Vec<i64>,
    call: Vec<i64>,
    whole: Vec<Cow<'a, str>>,
    news: String,
    owner: Vec<Option<Cow<'a, str>>>,
    profile: Vec<Option<Cow<'a, str>>>,
    /// By whom all of it is written.
    driver: i64,
}

impl<'a> Columns<'a> {
    /// What one process writes.
    pub(super) fn by(driver: i64) -> Self {
        Self { driver, ..Self::default() }
    }

    /// Adds an append that follows an event with this link. Returns the link of its last.
    pub(super) fn push(&mut self, append: &'a Append, chain: &Chain, before: Link) -> Link {
        let at = number(self.run.len() as u64 + 1);
        let mut head = before;
        for (seq, text) in &append.texts {
            head = chain.link(&head, text);
            self.event_at.push(at);
            self.event_seq.push((*seq).into());
            self.link.push(head.to_vec());
            self.body.push(text);
        }
        for (call, whole) in &append.outputs {
            self.output_at.push(at);
            self.call.push((*call).into());
            self.whole.push(stored(whole));
        }
        self.push_line(append, before, head);
        self.push_message(append.tells.as_ref());
        let gap = if self.news.is_empty() { "" } else { " " };
        self.news = std::mem::take(&mut self.news) + gap + &mark(&append.run);
        head
    }

    fn push_line(&mut self, append: &'a Append, before: Link, head: Link) {
        let (status, reason) = append.standing.map_or((None, None), |(status, reason)| (Some(status), reason));
        let line = append.line.as_ref();
        self.run.push(stored(&append.run));
        self.expected.push(append.expected.into());
        self.before.push(before.to_vec());
        self.seq.push(append.seq.into());
        self.head.push(head.to_vec());
        self.token.push(append.token);
        self.status.push(status.map(|status| status.name()));
        self.reason.push(reason.map(|reason| reason.name()));
        self.changed_ms.push(number(append.changed_ms));
        self.ended_ms.push(status.filter(|status| status.is_terminal()).map(|_| number(append.changed_ms)));
        self.conversation.push(line.and_then(|line| line.conversation.as_deref()).map(stored));
        self.message.push(line.and_then(|line| line.message.as_deref()).map(stored));
        self.owner.push(line.and_then(|line| line.owner.as_deref()).map(stored));
        self.profile.push(line.and_then(|line| line.profile.as_deref()).map(stored));
        self.mode.push(line.map(|line| stored(&line.mode)));
        self.title.push(line.map(|line| stored(&line.title)));
        self.started_ms.push(line.map(|line| number(line.started_ms)));
    }

    fn push_message(&mut self, message: Option<&'a Message>) {
        self.tells.push(message.is_some());
        self.content.push(message.and_then(|m| m.content.as_deref()).map(stored));
        self.candidate.push(message.and_then(|m| m.candidate.as_deref()).map(stored));
        self.finalized.push(message.is_some_and(|m| m.finalized));
        self.ruled.push(message.and_then(|m| m.status).map(|status| status.name()));
        self.why.push(message.and_then(|m| m.reason).map(|reason| reason.name()));
    }

    /// In the order in which the statement counts them.
    pub(super) fn values(&self) -> [&(dyn ToSql + Sync); 32] {
        let Self { run, expected, before, seq, head, token, status, reason, changed_ms, ended_ms, .. } = self;
        let Self { conversation, message, mode, title, started_ms, tells, content, candidate, finalized, ruled, why, .. } = self;
        let Self { event_at, event_seq, link, body, output_at, call, whole, news, owner, profile, driver, .. } = self;
        [
            run,
            expected,
            before,
            seq,
            head,
            token,
            status,
            reason,
            changed_ms,
            ended_ms,
            conversation,
            message,
            mode,
            title,
            started_ms,
            tells,
            content,
            candidate,
            finalized,
            ruled,
            why,
            event_at,
            event_seq,
            link,
            body,
            output_at,
            call,
            whole,
            news,
            owner,
            profile,
            driver,
        ]
    }
}
