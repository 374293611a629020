-- How far each projector has come: written after the rows it speaks of, so that it never outlives them.
CREATE TABLE checkpoints
(
    projector String,
    position UInt64
)
ENGINE = ReplacingMergeTree(position)
ORDER BY projector
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- Events whose rows could not be made or were refused, kept for an operator to look at.
CREATE TABLE quarantine
(
    position UInt64,
    event_id String,
    type String,
    stream String,
    reason String
)
ENGINE = ReplacingMergeTree
ORDER BY position
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
