import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { COUNTS } from '../../counts.js'
import type { TestService } from '../../support/service.js'
import { sharedService } from '../shared-service.js'
import { beginningWith, behind, failingWith, saying } from '../../support/upstreams/behaviours.js'
import { startUpstream, type Behaviour, type ScriptedUpstream } from '../../support/upstreams/upstream.js'
import { accepted } from '../calls/given.js'

const cost = fc.integer({ min: 0, max: 99_999 }).map((micros) => (micros / 1e6).toFixed(6))
const price = fc.record(
  {
    prompt_token_cost: cost,
    completion_token_cost: cost,
    cache_read_input_token_cost: cost,
    cache_creation_input_token_cost: cost,
    cache_creation_1h_input_token_cost: cost,
    prompt_audio_token_cost: cost,
    completion_audio_token_cost: cost,
    web_search_cost: cost,
    request_cost: cost,
    second_cost: cost,
    character_cost: cost,
    image_cost: cost,
    tiers: fc.subarray([
      { above_prompt_tokens: 32_000, factor: 3 },
      { service_tier: 'priority', factor: 2 },
      { service_tier: 'flex', prompt_token_cost: '0.000002', completion_token_cost: 0.000005 },
    ]),
  },
  { requiredKeys: ['prompt_token_cost', 'completion_token_cost'] },
)

const count = fc.integer({ min: 1, max: 50 })

/** What upstreams report that speak the protocol, and what those add that serve models of other providers. */
const report: fc.Arbitrary<JsonObject> = fc.oneof(
  fc
    .tuple(count, count)
    .map(([prompt, completion]) => ({
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
    })),
  fc
    .tuple(count, count, count, count)
    .map(([prompt, completion, cached, reasoning]) => ({
      prompt_tokens: prompt + cached,
      completion_tokens: completion + reasoning,
      total_tokens: prompt + cached + completion + reasoning,
      prompt_tokens_details: { cached_tokens: cached },
      completion_tokens_details: { reasoning_tokens: reasoning },
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
    .map(([prompt, completion, reasoning]) => ({
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion + reasoning,
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
    .tuple(count, count, count)
    .map(([prompt, completion, cost]) => ({
      prompt_tokens: prompt,
      completion_tokens: completion,
      cost: cost / 1000,
    })),
  fc
    .tuple(count, count, count, count)
    .map(([prompt, heard, completion, spoken]) => ({
      prompt_tokens: prompt + heard,
      completion_tokens: completion + spoken,
      total_tokens: prompt + heard + completion + spoken,
      prompt_tokens_details: { audio_tokens: heard },
      completion_tokens_details: { audio_tokens: spoken },
      server_tool_use: { web_search_requests: spoken },
      seconds: heard,
      characters: spoken,
      images: prompt,
    })),
  fc
    .tuple(count, count, fc.constantFrom('priority', 'flex', 'default'))
    .map(([prompt, completion, service_tier]) => ({
      prompt_tokens: prompt + 32_000,
      completion_tokens: completion,
      total_tokens: prompt + 32_000 + completion,
      service_tier,
    })),
)

const MODELS = ['first', 'second', 'unpriced']
const PROJECTS = ['inference', 'other']

const completion = fc.record({
  model: fc.constantFrom(...MODELS),
  project: fc.constantFrom(...PROJECTS),
  key: fc.nat(1),
  isNested: fc.boolean(),
  stream: fc.boolean(),
  report: fc.option(report),
  /** Refused by the upstream, cut off, or complete. */
  end: fc.constantFrom('complete', 'complete', 'cut', 'refused'),
})
type Completion = typeof completion extends fc.Arbitrary<infer C> ? C : never

const answering = ({ end, report: usage, stream }: Completion): Behaviour => {
  if (end === 'refused') return failingWith(400, 'too warm')
  return end === 'cut' && stream ? beginningWith(['Hi', ' there'], behind.error) : saying(['Hi'], usage)
}

interface ShownLimit {
  readonly scope: { readonly type: string; readonly project?: string; readonly key?: string }
  readonly used: {
    readonly budget: { readonly spent: number; readonly unknown: number; readonly reserved: number }
  }
}

const rounded = (amount: number | null): string => (amount ?? 0).toFixed(9)

describe('what completions are charged', () => {
  let service: TestService
  let upstream: ScriptedUpstream

  before(async () => {
    service = await sharedService()
    upstream = await startUpstream(saying(['Hi']))
  })
  after(async () => {
    await upstream.close()
  })

  it('is what usage queries answer, for teams, projects and keys, any price and any report', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(price, price),
        fc.array(completion, { minLength: 1, maxLength: 6 }),
        async (prices, all) => {
          const team = `team-${randomUUID().slice(0, 8)}`
          await service.teams.create(team).json()
          await serve(team, prices)
          const keys = await Promise.all([0, 1].map((n) => keyOf(team, n)))
          const limits = `/api/teams/${team}/limits`
          const { key } = keys[0]!
          for (const scope of [
            { type: 'team' },
            ...PROJECTS.map((project) => ({ type: 'project', project })),
            ...keys.map(({ id }) => ({ type: 'key', key: id })),
          ])
            accepted(
              await service.send('PUT', limits, { scope, budget: { amount: 1e6, period: 'month' } }, { key }),
            )

          upstream.behave((body, ...more) => {
            const [{ content }] = body['messages'] as [{ content: string }]
            return answering(all[Number(content)]!)(body, ...more)
          })
          await Promise.all(PROJECTS.map((project) => startRoot(`${team}/${project}`)))
          await Promise.all(all.map((one, n) => complete(team, keys[one.key]!.key, one, n)))

          const charged = await chargedTo(team)
          const { data } = accepted(await service.send('GET', limits, undefined, { key })) as unknown as {
            data: readonly ShownLimit[]
          }
          assert.equal(data.length, 5)
          for (const { scope, used } of data) {
            const expected = charged.get(scope.project ?? scope.key ?? 'team') ?? 0
            assert.deepEqual(
              [scope, rounded(used.budget.spent), used.budget.unknown, used.budget.reserved],
              [scope, rounded(expected), 0, 0],
            )
          }
        },
      ),
      { numRuns: COUNTS.budgetCharges, endOnFailure: true },
    )
  })

  /** An upstream that serves models of the team's name, which have these prices. */
  const serve = async (team: string, [first, second]: readonly [object, object]): Promise<void> => {
    const models = Object.entries({ first, second, unpriced: null }).map(([name, price]) => ({
      id: `${team}/${name}`,
      upstream_id: name,
      price,
    }))
    const body = { name: team, base_url: upstream.baseUrl, models }
    accepted(await service.post('/api/inference/upstreams', body))
  }

  const keyOf = async (team: string, n: number): Promise<{ key: string; id: string }> => {
    const key = await service.teams.keyOf(team, `user-${n}-of-${team}`, 'team_administrator')
    const { data } = accepted(
      await service.send('GET', '/api/users/me/api-keys', undefined, { key }),
    ) as unknown as { data: readonly [{ id: string }] }
    return { key, id: data[0].id }
  }

  const startRoot = (project: string) =>
    service.in(project).calls.start({ id: 'root', trace_id: 'trace' }).json()

  const complete = async (team: string, key: string, one: Completion, n: number): Promise<void> => {
    const { model, project, stream, isNested } = one
    const messages = [{ role: 'user', content: String(n) }]
    const body = { model: `${team}/${model}`, messages, max_tokens: 300, stream }
    const headers = {
      'openai-project': `${team}/${project}`,
      ...(isNested ? { 'tallytree-parent-call': 'root', 'tallytree-trace': 'trace' } : {}),
    }
    const answer = await service.post('/v1/chat/completions', body, { key, headers })
    assert.equal(answer.status, one.end === 'refused' ? 400 : 200, answer.text)
  }

  /** The costs of the team, its projects and keys by own and, where that says the same, inclusive usage. */
  const chargedTo = async (team: string): Promise<ReadonlyMap<string, number>> => {
    const sums = new Map<string, number>()
    const add = (name: string, cost: number | null) => sums.set(name, (sums.get(name) ?? 0) + (cost ?? 0))
    for (const project of PROJECTS) {
      const ask = async (more: object) =>
        accepted(
          await service.post('/usage/query', {
            project_id: `${team}/${project}`,
            include_costs: true,
            ...more,
          }),
        ) as unknown as {
          rows: readonly { group: Record<string, string>; usage: { total_cost: number | null } }[]
          totals: { usage: { total_cost: number | null } }
        }
      const { rows, totals } = await ask({ group_by: ['attributes.tallytree.key_id'] })
      const inclusive = await ask({ usage: 'inclusive', filter: { trace_roots_only: true } })
      assert.equal(rounded(inclusive.totals.usage.total_cost), rounded(totals.usage.total_cost))
      for (const name of ['team', project]) add(name, totals.usage.total_cost)
      for (const { group, usage } of rows) add(group['attributes.tallytree.key_id']!, usage.total_cost)
    }
    return sums
  }
})
