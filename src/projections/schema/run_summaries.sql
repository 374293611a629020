-- The last summary of each run, as JSON. It is in no digest, because earlier ones are not kept.
CREATE TABLE run_summaries
(
    project_id String,
    run_id String,
    position UInt64,
    summary String
)
ENGINE = ReplacingMergeTree(position)
ORDER BY (project_id, run_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
