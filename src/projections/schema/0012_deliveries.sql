-- What was scheduled, one row a delivery, and what became of it, one row a change. Both are facts at positions of the log;
-- the newest up to a position says how a delivery stood there. Where an automation was suppressed there is no webhook.
CREATE TABLE deliveries
(
    team String,
    automation_id String,
    position UInt64,
    delivery_id String,
    automation_revision Nullable(Int64),
    webhook_id Nullable(String),
    event_type Nullable(String),
    source_id String,
    source_type String,
    source_position String,
    depth Int64,
    scheduled_at DateTime64(6, 'UTC'),
    suppressed Nullable(String),
    INDEX by_delivery delivery_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree
ORDER BY (team, automation_id, position)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- `attempt` is 0 where the change was none of an attempt. `at` is when the log recorded it.
CREATE TABLE delivery_changes
(
    team String,
    delivery_id String,
    position UInt64,
    type LowCardinality(String),
    state LowCardinality(String),
    attempt Int64,
    status Nullable(Int64),
    error Nullable(String),
    reason Nullable(String),
    next_at Nullable(DateTime64(6, 'UTC')),
    duration_ms Nullable(Float64),
    at Nullable(DateTime64(6, 'UTC'))
)
ENGINE = ReplacingMergeTree
ORDER BY (team, delivery_id, position)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
