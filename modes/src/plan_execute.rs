//! A planner, executors, and a replanner who alone concludes.

use crate::agent::{Agent, Agents};
use crate::mode::{Answer, Mode};
use crate::output::{Ended, PlanOutput, ReplanVerdict, StepArgs, StepReason};
use crate::tool::{ToolKind, ToolSpec};
use crate::work::{Flow, PlanView, Work, all};
use countersign_core::{Deliverable, Ledger, ModeRules, NodeId, Policy, StepSpec, Str};
use std::fmt::Write;
use std::sync::Arc;

/// A planner writes steps, executors carry out those that are ready, side by side, and a replanner looks at
/// what came of them: it revises the plan, accounting for every step, or answers. Recommended for tasks
/// with parts that depend on each other.
#[derive(Default)]
pub struct PlanExecute;

const PLANNER: &str = "planner";
const EXECUTOR: &str = "executor";
const REPLANNER: &str = "replanner";

impl PlanExecute {
    /// A planner that can only end by a plan.
    pub fn planner(instructions: &str) -> Agent {
        let parse = |_: &Ledger, _: NodeId, args: &str| {
            let plan: PlanOutput = serde_json::from_str(args).map_err(|e| e.to_string())?;
            sound(&plan.steps, &[])?;
            match &plan.noop {
                None if plan.steps.is_empty() => Err("the plan has no steps; where nothing is to be done, say so in `noop`, with the reason".into()),
                Some(why) if why.trim().is_empty() => Err("`noop` needs a reason".into()),
                Some(_) if !plan.steps.is_empty() => Err("a plan has either steps or `noop`".into()),
                _ => Ok(Ended { text: args.into(), data: Some(args.into()), ..Ended::default() }),
            }
        };
        Agent::new(PLANNER, instructions).tool(ToolSpec::terminal::<PlanOutput>("plan", "End with the plan.", true, Arc::new(parse)))
    }

    /// A replanner that can only end by an answer or a revision.
    pub fn replanner(instructions: &str) -> Agent {
        let description = "End with the answer, or with a revision of the plan that accounts for every open step.";
        let parse = |ledger: &Ledger, by: NodeId, args: &str| {
            let verdict: ReplanVerdict = serde_json::from_str(args).map_err(|e| e.to_string())?;
            let scope = ledger.activation(by).and_then(|a| a.parent).unwrap_or(countersign_core::ROOT);
            let text = match &verdict {
                ReplanVerdict::Respond { answer, blocked, .. } => {
                    reasons(ledger, scope, blocked)?;
                    answer.clone()
                }
                ReplanVerdict::Revise { steps, dropped, blocked } => {
                    accounted(ledger, scope, steps, dropped, blocked)?;
                    String::new()
                }
            };
            Ok(Ended { text, data: Some(args.into()), ..Ended::default() })
        };
        Agent::new(REPLANNER, instructions).tool(ToolSpec::terminal::<ReplanVerdict>("verdict", description, true, Arc::new(parse)))
    }
}

impl Mode for PlanExecute {
    fn name(&self) -> &str {
        "plan_execute"
    }

    fn rules(&self) -> ModeRules {
        ModeRules { planner: Some(PLANNER.into()), ..ModeRules::owner(REPLANNER) }
    }

    fn advance(&self, work: &mut Work<'_>) -> Flow<Answer> {
        let task = work.task();
        let made = work.ask_as::<PlanOutput>(PLANNER, "plan", task.clone())?;
        let steps = made.value.steps.iter().map(StepArgs::spec).collect();
        let mut plan = work.plan("plan/0", made.reply, steps, Vec::new())?;
        if work.policy().deliverable == Deliverable::Plan {
            return work.answer_with(made.reply, outline(&plan));
        }
        for round in 1_u32.. {
            // Every ready step is asked for; only then does one that has not ended make us wait.
            let ready: Vec<_> = plan.steps.iter().filter(|s| s.ready && s.reply.is_none()).cloned().collect();
            all(ready.iter().map(|step| work.step(step, EXECUTOR, order(&task, step.spec, &plan))))?;
            let asked = format!("{task}\n\n{}", shown(&plan));
            let verdict = work.ask_as::<ReplanVerdict>(REPLANNER, format_args!("replan/{round}"), asked)?;
            match verdict.value {
                ReplanVerdict::Respond { answer, uncertainties, next_actions, blocked } => {
                    for step in &blocked {
                        work.block(&step.id, &step.why)?;
                    }
                    let list = |lines: Vec<String>| lines.into_iter().map(Str::from).collect();
                    let said = work.answer_with(verdict.reply, answer)?;
                    return Ok(Answer { uncertainties: list(uncertainties), next_actions: list(next_actions), ..said });
                }
                ReplanVerdict::Revise { steps, dropped, blocked } => {
                    for step in &blocked {
                        work.block(&step.id, &step.why)?;
                    }
                    let gone = |id: &str| dropped.iter().any(|d| d.id == id);
                    let kept = |id: &str| plan.steps.iter().any(|s| *s.spec.id == *id) && !gone(id);
                    let new = steps.iter().filter(|s| !kept(&s.id)).map(StepArgs::spec).collect();
                    let dropped = dropped.iter().map(|d| (d.id.as_str().into(), d.why.as_str().into())).collect();
                    plan = work.plan(format_args!("plan/{round}"), verdict.reply, new, dropped)?;
                }
            }
        }
        Err(work.fail("the plan was revised more often than can be counted"))
    }

    fn infeasible(&self, agents: &Agents, policy: &Policy) -> Option<String> {
        let ends =
            |name: &str| agents.get(name).is_some_and(|a| a.tools.values().any(|t| matches!(t.kind, ToolKind::Terminal { required: true, .. })));
        let needed: &[&str] = if policy.deliverable == Deliverable::Plan { &[PLANNER] } else { &[PLANNER, REPLANNER] };
        match needed.iter().find(|name| !ends(name)) {
            Some(name) => Some(format!("plan_execute needs an agent `{name}` that ends by a plan or verdict; make it with `PlanExecute::{name}`")),
            None if policy.deliverable == Deliverable::Answer && agents.get(EXECUTOR).is_none() => {
                Some("plan_execute needs an agent `executor`".into())
            }
            None => None,
        }
    }
}

/// Steps with names, texts, no repeats, and needs that can be met in some order.
fn sound(steps: &[StepArgs], known: &[Str]) -> Result<(), String> {
    let mut settled: Vec<&str> = known.iter().map(|k| &**k).collect();
    for (at, step) in steps.iter().enumerate() {
        if step.id.trim().is_empty() || step.text.trim().is_empty() {
            return Err(format!("step {} needs an `id` and a `text`", at + 1));
        }
        if steps.iter().take(at).any(|s| s.id == step.id) {
            return Err(format!("two steps are called `{}`", step.id));
        }
        let there = |need: &String| settled.contains(&need.as_str()) || steps.iter().any(|s| s.id == *need);
        if let Some(need) = step.needs.iter().find(|n| !there(n)) {
            return Err(format!("step `{}` needs `{need}`, which is not a step", step.id));
        }
    }
    let mut left: Vec<&StepArgs> = steps.iter().collect();
    while !left.is_empty() {
        let before = left.len();
        left.retain(|step| {
            let ready = step.needs.iter().all(|n| settled.contains(&n.as_str()));
            if ready {
                settled.push(&step.id);
            }
            !ready
        });
        if left.len() == before {
            let names: Vec<&str> = left.iter().map(|s| s.id.as_str()).collect();
            return Err(format!("steps {} need each other: none could begin", names.join(", ")));
        }
    }
    Ok(())
}

/// Steps of the plan in force, each with its name and whether it is done or blocked already.
fn old_steps(ledger: &Ledger, scope: NodeId) -> Vec<(Str, bool)> {
    let plan = ledger.current_plan(scope).map(|p| p.steps.as_slice()).unwrap_or_default();
    let open = ledger.open();
    plan.iter().filter_map(|n| ledger.step(*n)).filter_map(|s| Some((ledger.step_spec(s)?.id.clone(), !open.steps.contains(s.id)))).collect()
}

/// Each of these is a step of the plan, and comes with a reason.
fn reasons(ledger: &Ledger, scope: NodeId, steps: &[StepReason]) -> Result<(), String> {
    let old = old_steps(ledger, scope);
    for step in steps {
        if !old.iter().any(|(id, _)| **id == *step.id) {
            return Err(format!("`{}` is not a step of the plan", step.id));
        }
        if step.why.trim().is_empty() {
            return Err(format!("say why step `{}` is dropped or blocked", step.id));
        }
    }
    Ok(())
}

/// A revision accounts for every old step: kept, dropped or blocked. What was done stays done.
fn accounted(ledger: &Ledger, scope: NodeId, steps: &[StepArgs], dropped: &[StepReason], blocked: &[StepReason]) -> Result<(), String> {
    reasons(ledger, scope, dropped)?;
    reasons(ledger, scope, blocked)?;
    let old = old_steps(ledger, scope);
    let names: Vec<Str> = old.iter().map(|(id, _)| id.clone()).collect();
    sound(steps, &names)?;
    let said = |id: &Str| steps.iter().any(|s| *s.id == **id) || dropped.iter().chain(blocked).any(|s| *s.id == **id);
    let silent: Vec<&str> = old.iter().filter(|(id, settled)| !settled && !said(id)).map(|(id, _)| &**id).collect();
    if !silent.is_empty() {
        return Err(format!("the revision does not account for {}: keep each by name, or drop or block it with a reason", silent.join(", ")));
    }
    if steps.is_empty() && dropped.is_empty() && blocked.is_empty() {
        return Err("the revision is empty: answer, or say what changes".into());
    }
    Ok(())
}

/// What an executor is told: its step, the task, and what the steps that it needs came to.
fn order(task: &str, step: &StepSpec, plan: &PlanView<'_>) -> String {
    let mut text = format!("Carry out step `{}`: {}\n\nThe whole task, for context: {task}\n", step.id, step.text);
    for need in plan.steps.iter().filter(|s| step.needs.contains(&s.spec.id)) {
        if let Some(reply) = need.reply {
            let _ = write!(text, "\nResult of `{}`: {}\n", need.spec.id, reply.text());
        }
    }
    text
}

/// What a replanner is told: every step, and what came of it. Failures are shown, not left blank.
fn shown(plan: &PlanView<'_>) -> String {
    let mut text = String::from("The plan so far:\n");
    for step in &plan.steps {
        let _ = match step.reply {
            Some(reply) => writeln!(text, "- `{}` ({}): {}: {}", step.spec.id, step.spec.text, reply.outcome_name(), reply.text()),
            None => writeln!(text, "- `{}` ({}): not run", step.spec.id, step.spec.text),
        };
    }
    text
}

/// The plan itself, where it is what was asked for.
fn outline(plan: &PlanView<'_>) -> String {
    let mut text = String::new();
    for step in &plan.steps {
        let needs: Vec<&str> = step.spec.needs.iter().map(|n| &**n).collect();
        let after = if needs.is_empty() { String::new() } else { format!(" (after {})", needs.join(", ")) };
        let _ = writeln!(text, "- {}: {}{after}", step.spec.id, step.spec.text);
    }
    text
}
