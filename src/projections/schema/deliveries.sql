-- One row a scheduled delivery; its changes are rows of `delivery_changes`. A suppressed automation has no webhook.
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
    source_stream String,
    depth Int64,
    scheduled_at DateTime64(6, 'UTC'),
    suppressed Nullable(String),
    INDEX by_delivery delivery_id TYPE bloom_filter GRANULARITY 1
)
ENGINE = ReplacingMergeTree
ORDER BY (team, automation_id, position)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
