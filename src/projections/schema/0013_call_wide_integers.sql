-- Whether the JSON that came with a call's start, or with its end, may hold an integer of more than 64 bits: the faster
-- of the two JSON parsers gives up on such a text. Digits within a text count too, so that 1 means perhaps, 0 surely not.
ALTER TABLE calls ADD COLUMN IF NOT EXISTS start_is_wide Nullable(UInt8)
    MATERIALIZED match(inputs, '[0-9]{20}|-[0-9]{19}') OR match(attributes, '[0-9]{20}|-[0-9]{19}')
        OR ifNull(match(otel_dump, '[0-9]{20}|-[0-9]{19}'), 0);

ALTER TABLE calls ADD COLUMN IF NOT EXISTS end_is_wide Nullable(UInt8)
    MATERIALIZED match(output, '[0-9]{20}|-[0-9]{19}') OR match(summary, '[0-9]{20}|-[0-9]{19}');

-- In the background, for the rows that are there; until then it is worked out where it is read.
ALTER TABLE calls MATERIALIZE COLUMN start_is_wide;

ALTER TABLE calls MATERIALIZE COLUMN end_is_wide;
