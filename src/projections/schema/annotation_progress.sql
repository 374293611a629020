-- The states that reviewers set, at most two an item.
CREATE TABLE annotation_progress
(
    project_id String,
    queue_id String,
    item_id String,
    position UInt64,
    state LowCardinality(String),
    annotator String,
    updated_at DateTime64(6, 'UTC')
)
ENGINE = ReplacingMergeTree
ORDER BY (project_id, queue_id, item_id, position)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
