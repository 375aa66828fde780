//! Programs in the background, each under a name that the model gives it.

use super::output::Output;
use super::{Commands, ended};
use countersign::{Declared, Effect, Str, Tool, ToolError, ToolOutput, ToolRequest, ToolSpec};
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// A job's name within its run.
type Key = (Str, String);

/// Jobs that run. Shared by the tools of one [`Commands`].
#[derive(Clone, Debug, Default)]
pub(super) struct Jobs(Arc<Mutex<FxHashMap<Key, Job>>>);

#[derive(Clone, Debug, Default)]
struct Job {
    out: Output,
    err: Output,
    stop: Arc<Notify>,
}

#[derive(Deserialize, JsonSchema)]
struct StartArgs {
    /// A name for the job, by which it is looked at and stopped.
    job: String,
    /// The program and its arguments, one by one. There is no shell.
    argv: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
struct JobArgs {
    /// The job's name.
    job: String,
}

impl Jobs {
    fn all(&self) -> MutexGuard<'_, FxHashMap<Key, Job>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, run: &Str, name: &str) -> Result<Job, ToolError> {
        let jobs = self.all();
        let known = || jobs.keys().filter(|(of, _)| of == run).map(|(_, name)| format!(" `{name}`")).collect::<String>();
        let job = jobs.get(&(run.clone(), name.to_owned())).cloned();
        job.ok_or_else(|| ToolError::failed(format!("no job is called `{name}`; those that run are:{}", known())))
    }

    fn add(&self, run: &Str, name: &str) -> Result<(Job, Held), ToolError> {
        let (mut jobs, key) = (self.all(), (run.clone(), name.to_owned()));
        if name.trim().is_empty() || jobs.contains_key(&key) {
            return Err(ToolError::failed(format!("`{name}` is no name, or a job of that name runs already; give it another")));
        }
        let job = Job::default();
        jobs.insert(key.clone(), job.clone());
        Ok((job, Held { jobs: self.clone(), key }))
    }
}

/// A job's place in the list, for as long as it runs: however it ends, the place is free again.
struct Held {
    jobs: Jobs,
    key: Key,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.jobs.all().remove(&self.key);
    }
}

#[derive(Clone, Copy)]
enum Does {
    Start,
    Look,
    Stop,
}

struct JobTool {
    commands: Arc<Commands>,
    does: Does,
}

impl JobTool {
    /// Runs a program until it ends or is stopped. How it ended comes as input to whoever started it.
    async fn start(&self, run: &Str, args: StartArgs) -> Result<String, ToolError> {
        let (job, _held) = self.commands.jobs.add(run, &args.job)?;
        let work = self.commands.carry_out(&args.argv, &job.out, &job.err);
        tokio::select! {
            status = work => ended(&args.argv, status?, &job.out, &job.err).map(|text| format!("job `{}` {text}", args.job)),
            () = job.stop.notified() => Err(ToolError::failed(format!("job `{}` was stopped\n{}{}", args.job, job.out.text(), job.err.text()))),
        }
    }
}

#[async_trait::async_trait]
impl Tool for JobTool {
    fn spec(&self) -> ToolSpec {
        match self.does {
            Does::Start => {
                let declared = Declared { background: true, ..Declared::run(self.commands.effect) };
                let about = "Start a program that goes on in the background. How it ended comes as input later.";
                ToolSpec::typed::<StartArgs>("start_command", about, declared)
            }
            Does::Look => ToolSpec::typed::<JobArgs>("job_output", "Show what a job has written so far.", Declared::run(Effect::Read)),
            Does::Stop => ToolSpec::typed::<JobArgs>("stop_job", "Stop a job.", Declared::run(Effect::Control)),
        }
    }

    async fn run(&self, request: ToolRequest) -> Result<ToolOutput, ToolError> {
        let (run, jobs) = (&request.run, &self.commands.jobs);
        let text = match self.does {
            Does::Start => self.start(run, read(&request.args)?).await?,
            Does::Look => jobs.get(run, &read::<JobArgs>(&request.args)?.job).map(|job| job.out.text() + &job.err.text())?,
            Does::Stop => {
                let args: JobArgs = read(&request.args)?;
                jobs.get(run, &args.job)?.stop.notify_one();
                format!("job `{}` is being stopped", args.job)
            }
        };
        Ok(text.into())
    }
}

fn read<T: DeserializeOwned>(args: &str) -> Result<T, ToolError> {
    serde_json::from_str(args).map_err(|e| ToolError::Arguments(e.to_string()))
}

impl Commands {
    /// `start_command`, `job_output` and `stop_job`. A job ends with its run at the latest: a run that ends or
    /// is cancelled drops its jobs, which kills them.
    pub fn job_tools(self: &Arc<Self>) -> [Arc<dyn Tool>; 3] {
        [Does::Start, Does::Look, Does::Stop].map(|does| -> Arc<dyn Tool> { Arc::new(JobTool { commands: self.clone(), does }) })
    }
}
