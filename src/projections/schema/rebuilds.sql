-- Requested rebuilds and their outcome. The row with the highest version counts: version 0 is the request in the log, so
-- that a replay never hides the outcome. `rebuilt` has the UUIDs of the new tables while they are exchanged.
CREATE TABLE rebuilds
(
    id String,
    version UInt64,
    state LowCardinality(String),
    requested_position UInt64,
    requested_at DateTime64(6, 'UTC'),
    requested_by String,
    started_at Nullable(DateTime64(6, 'UTC')),
    finished_at Nullable(DateTime64(6, 'UTC')),
    reached UInt64,
    target UInt64,
    events UInt64,
    events_per_second Float64,
    remaining_seconds Nullable(Float64),
    rebuilt Map(String, String),
    reason Nullable(String)
)
ENGINE = ReplacingMergeTree(version)
ORDER BY id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
