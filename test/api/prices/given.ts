import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { Answered } from '../../support/client.js'
import type { TestService } from '../../support/service.js'
import { accepted } from '../calls/given.js'

/** A model that no list knows. */
export const someModel = (): string => `model-${randomUUID()}`

/** Per token; dyadic, so that expectations are exact. */
export const someCosts = (more: object = {}) => ({
  prompt_token_cost: 0.5,
  completion_token_cost: 2,
  ...more,
})

export const setCosts = async (
  service: TestService,
  project_id: string,
  costs: object,
): Promise<Readonly<Record<string, string>>> => {
  const { ids } = await service.in(project_id).costs.create({ costs }).json()
  return Object.fromEntries((ids as readonly (readonly [string, string])[]).map(([id, model]) => [model, id]))
}

export const costsOf = async (service: TestService, project_id: string, more: object = {}) => {
  const { results } = await service.in(project_id).costs.query(more).json()
  return results as readonly JsonObject[]
}

export const byId = (...ids: readonly string[]) => ({
  $expr: { $in: [{ $getField: 'id' }, ids.map(($literal) => ({ $literal }))] },
})

/** Calls that ended, each `[id, parent, usage]`, in one trace. */
export const recordCalls = async (
  service: TestService,
  project: string,
  calls: readonly (readonly [id: string, parent: string | null, usage: object, more?: object])[],
): Promise<void> => {
  const ended = calls.map(([id, parent_id, usage, more]) => ({
    id,
    parent_id,
    trace_id: 't',
    summary: { usage },
    ...more,
  }))
  await service.in(project).calls.complete(ended).json()
}

/** Usage as a client reports it. */
export const tokens = (prompt_tokens: number, completion_tokens = 0, more: object = {}) => ({
  prompt_tokens,
  completion_tokens,
  ...more,
})

/** Members of a call that starts at a time and ends a month later. */
export const startedAt = (started_at: string, more: object = {}) => ({
  started_at,
  ended_at: '2026-02-01T00:00:00Z',
  ...more,
})

/** A root `c0` with 29 children, whose tokens add up to more than 2^52. */
export const recordManyTokens = async (service: TestService, project: string, model: string) => {
  await setCosts(service, project, { [model]: someCosts({ prompt_token_cost: 0.1 }) })
  const calls = Array.from({ length: 30 }, (_, n) => {
    const parent = n === 0 ? null : 'c0'
    return [`c${n}`, parent, { [model]: tokens(n, 2 ** 48 - n) }] as const
  })
  await recordCalls(service, project, calls)
}

const KINDS = ['prompt', 'completion', 'cache_read_input', 'cache_creation_input'] as const

/** The four costs of each model of a call. */
export const costsIn = (answer: Answered, callId: string): Record<string, readonly unknown[]> => {
  const { call_usage } = accepted(answer) as { call_usage: Record<string, Record<string, JsonObject>> }
  return Object.fromEntries(
    Object.entries(call_usage[callId]!).map(([model, usage]) => [
      model,
      KINDS.map((kind) => usage[`${kind}_tokens_total_cost`]),
    ]),
  )
}

/** The models without a price that an answer names, and their number. */
export const unpricedIn = (answer: Answered): readonly [names: unknown, count: unknown] => {
  const { unpriced_models, unpriced_model_count } = accepted(answer)
  return [unpriced_models, unpriced_model_count]
}
