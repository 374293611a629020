-- What became of the versions of objects, and at which log position: a row is a publication or, where `deleted_at` is
-- set, a deletion. The last row of a version at or before N is the version as of N. Granules are small, because a read
-- is mostly of one row.
CREATE TABLE object_versions
(
    project_id String,
    object_id String,
    version_index UInt64,
    position UInt64,
    digest String,
    kind Enum8('object' = 0, 'op' = 1),
    base_object_class Nullable(String),
    leaf_object_class Nullable(String),
    created_at DateTime64(6, 'UTC'),
    deleted_at Nullable(DateTime64(6, 'UTC')),
    wb_user_id Nullable(String),
    val String,
    -- Bytes of the text that the digest is of.
    weave_bytes UInt64,
    val_bytes UInt64 MATERIALIZED length(val)
)
ENGINE = ReplacingMergeTree
ORDER BY (project_id, object_id, version_index, position)
SETTINGS index_granularity = 256, fsync_after_insert = 1, fsync_part_directory = 1;
