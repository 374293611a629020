-- Usage by call and model, as of the checkpoint `usage_totals`. A row is replaced by one of a later position, or deleted.
-- A running call without usage has a row too, so that traces with running calls are found.
CREATE TABLE usage_totals
(
    project_id LowCardinality(String),
    started_at DateTime64(6, 'UTC') CODEC(Delta, LZ4),
    call_id String,
    -- With the size of the prompt, the tier of service, audio and searches where prices may depend on them.
    model LowCardinality(String),
    trace_id String,
    -- Whether the start names no parent.
    is_root Bool,
    -- Whether the row has own usage, and inclusive usage. A call with usage has one 'first' row, so that calls are counted,
    -- and for each further model one 'further' row: the other variants of its models are 'variant' rows.
    own_usage Enum8('none' = 0, 'first' = 1, 'further' = 2, 'variant' = 3),
    usage Enum8('none' = 0, 'first' = 1, 'further' = 2, 'variant' = 3),
    -- Only in the marker of a trace, a row without a call: 'own', inclusive usage is stored for roots only, or 'none', the
    -- trace is too large to be summed.
    coverage LowCardinality(String),
    op LowCardinality(String),
    root_op LowCardinality(String),
    wb_user_id LowCardinality(String),
    thread_id String,
    wb_run_id String,
    status LowCardinality(String),
    own_requests Int64,
    own_prompt_tokens Int64,
    own_completion_tokens Int64,
    own_total_tokens Int64,
    own_cache_read_input_tokens Int64,
    own_cache_creation_input_tokens Int64,
    own_charged_prompt_tokens Int64,
    own_charged_completion_tokens Int64,
    own_charged_cache_creation_tokens Int64,
    own_cache_creation_1h_input_tokens Int64,
    own_charged_prompt_audio_tokens Int64,
    own_charged_completion_audio_tokens Int64,
    own_web_search_requests Int64,
    own_reported_cost Int64,
    own_unrecognized_usage Int64,
    requests Int64,
    prompt_tokens Int64,
    completion_tokens Int64,
    total_tokens Int64,
    cache_read_input_tokens Int64,
    cache_creation_input_tokens Int64,
    charged_prompt_tokens Int64,
    charged_completion_tokens Int64,
    charged_cache_creation_tokens Int64,
    cache_creation_1h_input_tokens Int64,
    charged_prompt_audio_tokens Int64,
    charged_completion_audio_tokens Int64,
    web_search_requests Int64,
    -- In units of 10^-9.
    reported_cost Int64,
    unrecognized_usage Int64,
    -- Of the calls whose own usage of the model is included.
    first_started_at DateTime64(6, 'UTC') CODEC(Delta, LZ4),
    last_started_at DateTime64(6, 'UTC') CODEC(Delta, LZ4),
    position UInt64 CODEC(Delta, LZ4),
    is_deleted UInt8
)
ENGINE = ReplacingMergeTree(position, is_deleted)
ORDER BY (project_id, started_at, call_id, model)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
