/**
 * What clients send to one project, in order of arrival. `start` and `end` are the raw JSON objects that
 * `/call/start` and `/call/end` carry under those names.
 */
export type Operation =
  | { readonly kind: 'start'; readonly start: SentStart }
  | { readonly kind: 'end'; readonly end: SentEnd }
  | { readonly kind: 'update'; readonly call_id: string; readonly display_name: string }
  | { readonly kind: 'delete'; readonly call_ids: ReadonlyArray<string> }
  | { readonly kind: 'reporting'; readonly usage_reporting: UsageReporting }

export type UsageReporting = 'auto' | 'own' | 'rolled_up'

export type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonObject

export interface JsonObject {
  readonly [key: string]: Json
}

type Text = string | null

export interface SentStart {
  readonly project_id: string
  readonly id: string
  readonly op_name: string
  readonly started_at: string
  readonly attributes: JsonObject
  readonly inputs: JsonObject
  readonly display_name?: Text
  readonly trace_id?: Text
  readonly parent_id?: Text
  readonly thread_id?: Text
  readonly turn_id?: Text
  readonly wb_run_id?: Text
}

export interface SentEnd {
  readonly project_id: string
  readonly id: string
  readonly ended_at: string
  readonly summary: JsonObject
  readonly trace_id?: Text
  readonly exception?: Text
  readonly output?: Json
}

/** The calls filter without `wb_user_ids`: who sent a call is not part of what is sent. */
export interface Filter {
  readonly op_names?: ReadonlyArray<string> | null
  readonly input_refs?: ReadonlyArray<string> | null
  readonly output_refs?: ReadonlyArray<string> | null
  readonly parent_ids?: ReadonlyArray<string> | null
  readonly trace_ids?: ReadonlyArray<string> | null
  readonly call_ids?: ReadonlyArray<string> | null
  readonly thread_ids?: ReadonlyArray<string> | null
  readonly turn_ids?: ReadonlyArray<string> | null
  readonly trace_roots_only?: boolean | null
  readonly wb_run_ids?: ReadonlyArray<string> | null
}

export interface Question {
  readonly filter?: Filter | null
  readonly limit?: number
}

/** The ten keys of an answer. This oracle has no prices, so costs are null. */
export interface AggregatedUsage {
  readonly requests: number
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
  readonly cache_read_input_tokens: number
  readonly cache_creation_input_tokens: number
  readonly prompt_tokens_total_cost: null
  readonly completion_tokens_total_cost: null
  readonly cache_read_input_tokens_total_cost: null
  readonly cache_creation_input_tokens_total_cost: null
  readonly unrecognized_usage?: number
  readonly web_search_requests?: number
  readonly seconds?: number
  readonly characters?: number
  readonly images?: number
  readonly cache_hits?: number
  readonly saved_tokens?: number
  readonly saved_cost?: number
}

export interface Answer {
  readonly call_usage: Readonly<Record<string, Readonly<Record<string, AggregatedUsage>>>>
  readonly unfinished_call_ids: ReadonlyArray<string>
  readonly truncated: number
  readonly unfinished_descendants: number
}
