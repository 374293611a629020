-- The traces of each batch of the projector, with the positions of their first and last event in it.
CREATE TABLE touched_traces
(
    position UInt64,
    first_position UInt64,
    project_id String,
    trace_id String
)
ENGINE = ReplacingMergeTree
ORDER BY (position, project_id, trace_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
