-- One row for each event of a queue; the last one up to a position is its state there.
CREATE TABLE annotation_queues
(
    project_id String,
    id String,
    position UInt64,
    name String,
    description String,
    scorer_refs Array(String),
    created_by String,
    created_at DateTime64(6, 'UTC'),
    updated_at DateTime64(6, 'UTC'),
    is_deleted Bool
)
ENGINE = ReplacingMergeTree
ORDER BY (project_id, id, position)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
