-- The versions that runs used.
CREATE TABLE artifact_uses
(
    project_id String,
    run_id String,
    artifact_id String,
    source_project String,
    collection String,
    position UInt64,
    INDEX by_artifact artifact_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree
ORDER BY (project_id, run_id, artifact_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
