//! Runs and trials as JSON, as recorded, and the computed figures of each operation. The views take the rest from the JSON.

use serde::Serialize;
use storebench_figures::column::COLUMNS;
use storebench_figures::data::method::Methods;
use storebench_host::run::Run;
use storebench_model::result::TrialResult;

use super::{Field, SqlError, SqlValue, Tables, integer, optional, real, text};

type Result = std::result::Result<(), SqlError>;

pub fn write(runs: &[Run], tables: &mut Tables<'_>) -> Result {
    let methods = Methods::new(runs);
    let mut next_trial = 0;
    for (number, run) in runs.iter().enumerate() {
        let index = integer(number as u64);
        tables.insert("run_json", vec![("run", index.clone()), ("header", json(&run.header)?)])?;
        for left_out in &run.header.left_out {
            let cell = tables.cell(&left_out.cell)?;
            let fields =
                vec![("run", index.clone()), ("cell", cell), ("reason", text(&left_out.reason.to_string()))];
            tables.insert("left_out", fields)?;
        }
        for result in &run.trials {
            let cell = tables.cell(&result.cell)?;
            let trial = integer(next_trial);
            let fields = vec![
                ("trial", trial.clone()),
                ("run", index.clone()),
                ("cell", cell),
                ("method", SqlValue::Text(methods.describe(number, &result.cell))),
                ("result", trial_json(result)?),
            ];
            tables.insert("trial_json", fields)?;
            figures(result, &trial, tables)?;
            next_trial += 1;
        }
    }
    Ok(())
}

fn json(value: &impl Serialize) -> std::result::Result<SqlValue, SqlError> {
    serde_json::to_string(value).map(SqlValue::Text).map_err(|error| SqlError::Other(error.to_string()))
}

/// A trial's row; an unsuccessful one has no measured figures.
fn trial_json(result: &TrialResult) -> std::result::Result<SqlValue, SqlError> {
    match result.ok() {
        None if result.measured.is_some() => json(&TrialResult { measured: None, ..result.clone() }),
        _ => json(result),
    }
}

fn figures(result: &TrialResult, trial: &SqlValue, tables: &mut Tables<'_>) -> Result {
    let columns = COLUMNS.iter().filter(|column| column.is_of_operation());
    let columns: Vec<_> = columns.map(|column| (column, column.sql_name())).collect();
    let operations = result.ok().into_iter().flat_map(|measured| &measured.operations);
    for (position, operation) in operations.enumerate() {
        let mut fields: Vec<Field<'_>> = vec![
            ("trial", trial.clone()),
            ("position", integer(position as u64)),
            ("operation", text(&operation.operation)),
        ];
        let figure =
            |column: &storebench_figures::column::Column| optional(column.operation_value(operation), real);
        fields.extend(columns.iter().map(|(column, name)| (name.as_str(), figure(column))));
        tables.insert("operation_figures", fields)?;
    }
    Ok(())
}
