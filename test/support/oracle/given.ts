import type { Json, JsonObject, Operation, SentStart } from './operations.js'

export const PROJECT = 'team/project'

type Source = 'js-sdk' | 'python-sdk' | 'gateway' | null

interface StartDetails {
  readonly in?: string
  readonly trace?: string | null
  readonly source?: Source
  readonly at?: number
  readonly more?: Partial<SentStart>
}

const second = (at: number): string => new Date(Date.UTC(2025, 0, 1, 0, 0, at)).toISOString()

/** A start as a client sends it; unless told, a child of no one in trace `t`, `at` seconds into the day. */
export const started = (id: string, details: StartDetails = {}): Operation => ({
  kind: 'start',
  start: {
    project_id: PROJECT,
    id,
    op_name: 'op',
    started_at: second(details.at ?? 0),
    attributes: details.source == null ? {} : { weave: { source: details.source } },
    inputs: {},
    parent_id: details.in ?? null,
    trace_id: details.trace === undefined ? 't' : details.trace,
    ...details.more,
  },
})

/** An end as a client sends it, `at` seconds into the day. */
export const ended = (id: string, at: number, usage: Json = {}, counts?: JsonObject): Operation => ({
  kind: 'end',
  end: {
    project_id: PROJECT,
    id,
    ended_at: second(at),
    summary: counts === undefined ? { usage } : { usage, status_counts: counts },
  },
})

/** prompt, completion, total, requests under the names of the OpenAI family. */
export const tokens = (prompt: number, completion: number, total: number, requests: number): JsonObject => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: total,
  requests,
})

/** The whole entry of an answer. */
export const figures = (
  prompt: number,
  completion: number,
  total: number,
  requests: number,
  cacheRead = 0,
  cacheCreation = 0,
) => ({
  requests,
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: total,
  cache_read_input_tokens: cacheRead,
  cache_creation_input_tokens: cacheCreation,
  prompt_tokens_total_cost: null,
  completion_tokens_total_cost: null,
  cache_read_input_tokens_total_cost: null,
  cache_creation_input_tokens_total_cost: null,
})
