-- The names that a call was given, each at its log position, the empty one for a name taken back: what a call was called
-- as of a position is the last of them up to there, or the name of its start.
ALTER TABLE calls ADD COLUMN IF NOT EXISTS
    names SimpleAggregateFunction(groupUniqArrayArray, Array(Tuple(UInt64, String)));

ALTER TABLE calls DROP COLUMN IF EXISTS renamed;

-- The log is projected once more, and what it says of names with it; every other row is written as it was.
TRUNCATE TABLE checkpoints;
