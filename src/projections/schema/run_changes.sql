-- One row a change of a run; a column that the change does not concern is null. `config` is JSON, `tags` a JSON list.
CREATE TABLE run_changes
(
    project_id String,
    run_id String,
    position UInt64,
    user Nullable(String),
    name Nullable(String),
    state LowCardinality(Nullable(String)),
    at Nullable(DateTime64(6, 'UTC')),
    started_at Nullable(DateTime64(6, 'UTC')),
    group_name Nullable(String),
    job_type Nullable(String),
    tags Nullable(String),
    notes Nullable(String),
    host Nullable(String),
    config Nullable(String)
)
ENGINE = ReplacingMergeTree
ORDER BY (project_id, run_id, position)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
