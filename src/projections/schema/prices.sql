-- One row a price. What publishes it and what withdraws it each set their own columns; the engine keeps the last value of
-- each column that is not null. The owner is a project, entity/project, or the name of a price list.
CREATE TABLE prices
(
    owner String,
    id String,
    llm_id Nullable(String),
    prompt_token_cost Nullable(Decimal(38, 12)),
    completion_token_cost Nullable(Decimal(38, 12)),
    cache_read_input_token_cost Nullable(Decimal(38, 12)),
    cache_creation_input_token_cost Nullable(Decimal(38, 12)),
    cache_creation_1h_input_token_cost Nullable(Decimal(38, 12)),
    prompt_audio_token_cost Nullable(Decimal(38, 12)),
    completion_audio_token_cost Nullable(Decimal(38, 12)),
    web_search_cost Nullable(Decimal(38, 12)),
    -- JSON: the costs of requests with long prompts and in tiers of service.
    tiers Nullable(String),
    prompt_token_cost_unit Nullable(String),
    completion_token_cost_unit Nullable(String),
    effective_date Nullable(DateTime64(6, 'UTC')),
    provider_id Nullable(String),
    created_by Nullable(String),
    created_at Nullable(DateTime64(6, 'UTC')),
    published_position Nullable(UInt64),
    withdrawn_position Nullable(UInt64)
)
ENGINE = CoalescingMergeTree
ORDER BY (owner, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
