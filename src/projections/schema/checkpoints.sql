-- How far each projector has come; written after the rows. `main` also names the last event up to its position: another
-- log has another event there, or none.
CREATE TABLE checkpoints
(
    projector String,
    position UInt64,
    event_id String,
    stream String,
    revision UInt64,
    event_position UInt64
)
ENGINE = ReplacingMergeTree(position)
ORDER BY projector
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
