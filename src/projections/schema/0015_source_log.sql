-- The first event of the log that this database is filled from: another log has another one at this position.
CREATE TABLE source_log
(
    event_id String,
    position UInt64
)
ENGINE = ReplacingMergeTree
ORDER BY (event_id, position)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
