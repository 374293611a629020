-- What an op is called, whatever its version: the name inside a reference, or the whole where it is none. Filters by op
-- find their calls by it, through an index that names few blocks in vain.
ALTER TABLE calls ADD COLUMN IF NOT EXISTS op Nullable(String)
    MATERIALIZED ifNull(nullIf(extract(op_name, '^[a-z-]+:///[^/]+/[^/]+/op/([^:]+):'), ''), op_name);

ALTER TABLE calls ADD INDEX IF NOT EXISTS by_op_of_any_version op TYPE bloom_filter(0.001) GRANULARITY 1;

-- In the background, for the rows that are there.
ALTER TABLE calls MATERIALIZE COLUMN op;

ALTER TABLE calls MATERIALIZE INDEX by_op_of_any_version;
