-- One row a version of a collection; `project_id` stands for a registry too. What makes it and what deletes or unlinks it each
-- set their own columns.
CREATE TABLE artifact_versions
(
    project_id String,
    collection String,
    version Int64,
    artifact_id Nullable(String),
    type Nullable(String),
    run_id Nullable(String),
    source_project Nullable(String),
    made_at Nullable(DateTime64(6, 'UTC')),
    made_position Nullable(UInt64),
    ended_position Nullable(UInt64),
    INDEX by_artifact artifact_id TYPE bloom_filter GRANULARITY 1,
    INDEX by_run run_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = CoalescingMergeTree
ORDER BY (project_id, collection, version)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
