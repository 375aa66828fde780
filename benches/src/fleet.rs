use crate::measure::Row;
pub fn rows() -> Vec<Row> {
    vec![]
}
pub fn child(_: &str, _: u64) {}
