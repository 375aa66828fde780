//! Whether arguments that a person changed still fit the tool.

use crate::problem::Problem;
use serde_json::Value;

/// Looks whether arguments fit a tool's schema, and says everything that does not.
pub(super) fn check(tool: &str, schema: &Value, arguments: &Value) -> Result<(), Problem> {
    let validator = jsonschema::validator_for(schema);
    let validator = validator.map_err(|why| Problem::Conflict(format!("the schema of tool `{tool}` cannot be read: {why}")))?;
    let wrong: Vec<String> = validator.iter_errors(arguments).map(|error| error.to_string()).collect();
    match wrong.as_slice() {
        [] => Ok(()),
        wrong => Err(Problem::Refused(format!("`arguments` do not fit tool `{tool}`: {}", wrong.join("; ")))),
    }
}
