-- Events whose rows could not be made or were refused, for an operator.
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
