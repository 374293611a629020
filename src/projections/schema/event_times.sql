-- When events were recorded, the last of each millisecond: "as of a time" is the last position that was recorded no
-- later. Clocks may go back, so the order of times need not be that of positions. Rows are inserted with a checkpoint.
CREATE TABLE event_times
(
    position UInt64 CODEC(DoubleDelta, ZSTD),
    recorded_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD),
    INDEX by_time recorded_at TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree
ORDER BY position
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
