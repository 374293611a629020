-- Whose usage a project's calls report, from a position on.
CREATE TABLE usage_reporting
(
    project_id String,
    position UInt64,
    usage_reporting Enum8('auto' = 0, 'own' = 1, 'rolled_up' = 2)
)
ENGINE = ReplacingMergeTree
ORDER BY (project_id, position)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
