-- The runs that logged each version.
CREATE TABLE artifact_makers
(
    project_id String,
    run_id String,
    collection String,
    version Int64,
    position UInt64
)
ENGINE = ReplacingMergeTree
ORDER BY (project_id, run_id, collection, version)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
