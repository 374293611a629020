import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { UNIT_NAMES } from '../../../src/domain/prices/units.js'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { COUNTS as REPETITIONS } from '../../counts.js'
import { isOnServer } from '../../support/clickhouse-server.js'
import { scratchDirectory } from '../../support/scratch.js'
import { ADMINISTRATOR_KEY, type TestService } from '../../support/service.js'
import { accepted, textIn } from '../calls/given.js'
import { recordCalls, setCosts, someCosts } from '../prices/given.js'
import { anAutomation, aWebhook } from '../webhooks/given.js'
import { sharedService, someProject } from '../shared-service.js'

const DAY = { start: '2026-01-01T00:00:00Z', end: '2026-01-02T00:00:00Z', granularity: 'day' }
const STARTED = { started_at: '2026-01-01T10:00:00Z', ended_at: '2026-01-01T10:00:01Z' }

/** Priced by the project, by a name of such a price, by the default list, and by nothing. */
const MODELS = ['own', 'vendor/own', 'openai/gpt-4o-2024-11-20', 'gpt-4o:free', 'nobody/knows']

const COSTS = {
  own: someCosts({
    cache_read_input_token_cost: 0.25,
    cache_creation_input_token_cost: 4,
    cache_creation_1h_input_token_cost: 8,
    prompt_audio_token_cost: 16,
    web_search_cost: 32,
    request_cost: 64,
    second_cost: 128,
    image_cost: 256,
    effective_date: '2025-01-01T00:00:00Z',
    tiers: [
      { above_prompt_tokens: 200_000, prompt_token_cost: 1, completion_token_cost: 4 },
      { service_tier: 'batch', factor: 0.5 },
    ],
  }),
}

const KINDS = ['prompt', 'completion', 'cache_read_input', 'cache_creation_input']
const COUNTS = ['prompt_tokens', 'completion_tokens', 'total_tokens', 'cache_read_input_tokens', 'requests']

/** What an answer says of a model. */
interface Told {
  readonly counts: readonly unknown[]
  readonly cost: unknown
  readonly unrecognized: unknown
}

const told = (usage: JsonObject, cost: unknown): Told => ({
  counts: COUNTS.map((name) => usage[name] ?? 0),
  cost: rounded(cost),
  unrecognized: usage['unrecognized_usage'] ?? 0,
})

/** Sums of doubles differ in their last digits. */
const rounded = (cost: unknown): unknown =>
  typeof cost === 'number' ? Math.round(cost * 1e9) / 1e9 : (cost ?? null)

/** The sum of the costs of tokens and of what the provider reported; null if neither is known. */
const costOf = (usage: JsonObject): number | null => {
  const rare = [...UNIT_NAMES.map((unit) => usage[`${unit}_total_cost`]), usage['provider_cost']]
  const costs = [
    ...KINDS.map((kind) => usage[`${kind}_tokens_total_cost`]),
    ...rare.map((cost) => cost || null),
  ]
  const known = costs.filter((cost) => typeof cost === 'number')
  return known.length === 0 ? null : known.reduce((sum, cost) => sum + cost, 0)
}

const count = fc.nat(30)
const report: fc.Arbitrary<JsonObject> = fc.oneof(
  fc
    .tuple(count, count, count)
    .map(([prompt, completion, cached]) => ({
      prompt_tokens: prompt + cached,
      completion_tokens: completion,
      prompt_tokens_details: { cached_tokens: cached },
    })),
  fc
    .tuple(count, count, count, count)
    .map(([input, output, read, hour]) => ({
      input_tokens: input,
      output_tokens: output,
      cache_read_input_tokens: read,
      cache_creation_input_tokens: hour + 3,
      cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: hour },
    })),
  fc
    .tuple(count, count, count)
    .map(([prompt, candidates, thoughts]) => ({
      promptTokenCount: prompt,
      candidatesTokenCount: candidates,
      thoughtsTokenCount: thoughts,
      totalTokenCount: prompt + candidates + thoughts,
    })),
  fc
    .tuple(count, count, count, count)
    .map(([prompt, heard, spoken, searches]) => ({
      prompt_tokens: prompt + heard,
      completion_tokens: spoken,
      prompt_tokens_details: { audio_tokens: heard },
      completion_tokens_details: { audio_tokens: Math.max(0, spoken - 25) },
      server_tool_use: { web_search_requests: Math.max(0, searches - 15) },
    })),
  fc.tuple(count, count, count).map(([seconds, characters, images]) => ({ seconds, characters, images })),
  fc.tuple(count, count).map(([prompt, cost]) => ({ requests: 1, prompt_tokens: prompt, cost: cost / 1000 })),
  count.map((tokens_in) => ({ tokens_in: tokens_in + 1 })),
  fc.constant({ requests: 1 }),
)

/** Some with a long prompt, some of a tier of service that a price knows, or that none does. */
const tieredReport = fc
  .tuple(fc.constantFrom(0, 0, 0, 200_000), fc.constantFrom(null, null, 'batch', 'flex'), report)
  .map(([longer, service_tier, one]): JsonObject => ({
    ...one,
    ...(typeof one['prompt_tokens'] === 'number' ? { prompt_tokens: one['prompt_tokens'] + longer } : {}),
    ...(service_tier === null ? {} : { service_tier }),
  }))

const arbitraryCalls = fc.array(
  fc.record({
    parent: fc.option(fc.nat(5)),
    hasFailed: fc.boolean(),
    usage: fc.dictionary(fc.constantFrom(...MODELS), tieredReport, { minKeys: 1, maxKeys: 3 }),
  }),
  { minLength: 1, maxLength: 6 },
)

describe('usage and costs', () => {
  let service: TestService
  before(async () => void (service = await sharedService()))

  it('are the same at every endpoint and in every format, for any reports', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryCalls, async (calls) => {
        const project = someProject()
        const from = new Date().toISOString()
        await setCosts(service, project, COSTS)
        await recordCalls(
          service,
          project,
          calls.map(({ parent, usage, hasFailed }, n) => {
            const above = parent === null || parent >= n ? null : `c${parent}`
            const exception = hasFailed ? 'out of memory' : null
            return [`c${n}`, above, usage, { ...STARTED, exception }] as const
          }),
        )
        const roots = { trace_roots_only: true }
        const expected = await ofGroups(project, {})
        assert.deepEqual(await ofGroups(project, { usage: 'inclusive', filter: roots }), expected)
        assert.deepEqual(await ofCsv(project), expected)
        // The user of a server's tests may not read files.
        if (!isOnServer) assert.deepEqual(await ofParquet(project), expected)
        assert.deepEqual(await ofStats(project), expected)
        const traces = accepted(
          await service.in(project).usage.ofTraces({ include_costs: true, filter: roots }),
        )
        assert.deepEqual(added(traces), expected)
        const call_ids = calls.map((_, n) => `c${n}`)
        const all = { project_id: project, call_ids, include_costs: true }
        const asked = accepted(await service.post('/calls/usage', all))
        const rootIds = Object.keys(traces['call_usage'] as object)
        const ofRoots = Object.fromEntries(
          Object.entries(asked['call_usage'] as JsonObject).filter(([id]) => rootIds.includes(id)),
        )
        assert.deepEqual(added({ call_usage: ofRoots }), expected)
        const ofEachCall = await Promise.all(call_ids.map((id) => totalsOf(project, id)))
        for (const [measure, figure] of [
          ['total_tokens', 'total_tokens'],
          ['cost', 'total_cost'],
        ] as const) {
          const figures = ofEachCall.map((usage, n) => [`c${n}`, rounded(usage[figure])] as const)
          const known = figures.filter(([, value]) => value !== null)
          assert.deepEqual(await ofAutomation(project, measure, from), inOrder(known), measure)
        }
        const costs = new Map([...expected].map(([model, { cost }]) => [model, cost]))
        assert.deepEqual(await costsOfCalls(project), new Map([...costs].filter(([, cost]) => cost !== 0)))
      }),
      { numRuns: REPETITIONS.usageAgreements, endOnFailure: true },
    )
  })

  const query = (project_id: string, more: object) =>
    service.post('/usage/query', { project_id, group_by: ['model'], include_costs: true, ...more })

  const ofGroups = async (project: string, more: object): Promise<ReadonlyMap<string, Told>> => {
    const answer = accepted(await query(project, more)) as unknown as {
      rows: readonly { group: { model: string }; usage: JsonObject }[]
      totals: { usage: JsonObject }
    }
    const unpriced = answer.rows.flatMap(({ group, usage }) =>
      usage['unpriced_model_count'] === 1 ? [group.model] : [],
    )
    assert.deepEqual(answer.totals.usage['unpriced_models'], unpriced.sort())
    for (const { usage } of answer.rows) assert.equal(rounded(usage['total_cost']), rounded(costOf(usage)))
    return inOrder(answer.rows.map(({ group, usage }) => [group.model, told(usage, usage['total_cost'])]))
  }

  const ofCsv = async (project: string) => {
    const { text } = await query(project, { format: 'csv' })
    const [head, ...lines] = text.trimEnd().split('\r\n')
    const names = head!.split(',')
    return inOrder(
      lines.map((line) => {
        const values = line.split(',')
        const row = Object.fromEntries(
          names.map((name, at) => [name, values[at] === '' ? null : Number(values[at])]),
        )
        return [values[0]!.replaceAll('"', ''), told(row, row['total_cost'])]
      }),
    )
  }

  const ofParquet = async (project: string) => {
    const response = await fetch(`${service.address}/usage/query`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMINISTRATOR_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        project_id: project,
        group_by: ['model'],
        include_costs: true,
        format: 'parquet',
      }),
    })
    const path = join(await scratchDirectory(), 'usage.parquet')
    await writeFile(path, Buffer.from(await response.arrayBuffer()))
    const rows = await service.stores.clickHouse.writer.query<JsonObject>(
      `SELECT * REPLACE (toFloat64(total_cost) AS total_cost) FROM file('${path}', Parquet)`,
    )
    return inOrder(rows.map((row) => [row['model'] as string, told(row, row['total_cost'])]))
  }

  const totalsOf = async (project_id: string, callId: string): Promise<JsonObject> => {
    const ofCall = { project_id, include_costs: true, filter: { call_ids: [callId] } }
    const { totals } = accepted(await service.post('/usage/query', ofCall)) as {
      totals: { usage: JsonObject }
    }
    return totals.usage
  }

  /** What the messages of an automation say of each call since a time; a call of unknown cost sends none. */
  const ofAutomation = async (project: string, measure: string, from: string) => {
    const [team, scoped] = project.split('/') as [string, string]
    const webhook = `${measure} hook`
    accepted(await service.post(`/api/teams/${team}/webhooks`, aWebhook({ name: webhook })))
    const automation = anAutomation(team, {
      name: measure,
      webhook,
      payload: '{"call": "${call_id}", "value": ${metric_value}}',
      scope: { type: 'project', project: scoped },
      event: { type: 'CALL_USAGE_THRESHOLD', measure, comparison: '$gte', threshold: 0 },
    })
    const id = textIn(accepted(await service.post('/api/automations', automation)), 'id')
    const { data } = accepted(await service.post(`/api/automations/${id}/backtest`, { from })) as unknown as {
      data: readonly { body: string }[]
    }
    const messages = data.map(({ body }) => JSON.parse(body) as { call: string; value: number })
    return inOrder(messages.map(({ call, value }) => [call, rounded(value)]))
  }

  const ofStats = async (project: string) => {
    const metrics = [...COUNTS, 'total_cost']
    const usage_metrics = metrics.map((metric) => ({ metric }))
    const { usage_buckets } = accepted(await service.in(project).calls.stats({ ...DAY, usage_metrics })) as {
      usage_buckets: readonly JsonObject[]
    }
    const known = await ofGroups(project, {})
    return inOrder(
      usage_buckets.map((bucket) => {
        const usage = Object.fromEntries(metrics.map((metric) => [metric, bucket[`${metric}_sum`]!]))
        const model = bucket['model'] as string
        const unrecognized = known.get(model)!.unrecognized as number
        return [model, told({ ...usage, unrecognized_usage: unrecognized }, usage['total_cost'])]
      }),
    )
  }

  /** The costs of all models in the summaries of calls; those without a cost are named. */
  const costsOfCalls = async (project: string) => {
    const { calls } = accepted(
      await service.post('/calls/query', { project_id: project, include_costs: true }),
    )
    const costs = new Map<string, unknown>()
    for (const call of calls as readonly JsonObject[]) {
      const weave = (call['summary'] as JsonObject)['weave'] as JsonObject
      for (const model of (weave['unpriced_models'] ?? []) as readonly string[])
        costs.set(model, costs.get(model) ?? null)
      for (const [model, one] of Object.entries((weave['costs'] ?? {}) as Record<string, JsonObject>)) {
        const cost = costOf(one)
        if (cost !== null) costs.set(model, rounded(((costs.get(model) ?? 0) as number) + cost))
      }
    }
    return inOrder([...costs].filter(([, cost]) => cost !== 0))
  }
})

const inOrder = <A>(entries: readonly (readonly [string, A])[]): ReadonlyMap<string, A> =>
  new Map([...entries].sort(([a], [b]) => (a < b ? -1 : 1)))

/** The usage of several calls by model. */
const added = (answer: JsonObject): ReadonlyMap<string, Told> => {
  const models = new Map<string, { usage: Record<string, number>; cost: number | null }>()
  for (const ofCall of Object.values(answer['call_usage'] as Record<string, Record<string, JsonObject>>))
    for (const [model, usage] of Object.entries(ofCall)) {
      const sums = models.get(model) ?? { usage: {}, cost: 0 }
      for (const name of [...COUNTS, 'unrecognized_usage'])
        sums.usage[name] = (sums.usage[name] ?? 0) + ((usage[name] ?? 0) as number)
      const cost = costOf(usage)
      // The tokens of some calls may have no price while others used none.
      sums.cost = cost === null || sums.cost === null ? cost || sums.cost || null : sums.cost + cost
      models.set(model, sums)
    }
  return inOrder([...models].map(([model, { usage, cost }]) => [model, told(usage, cost)]))
}
