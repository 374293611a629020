import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { TestService } from '../../support/service.js'
import { accepted } from '../calls/given.js'
import { sharedService, someProject } from '../shared-service.js'

const MODEL = 'claude-opus-4-1'
const python = (client_version = '0.54.0') => ({
  attributes: { weave: { source: 'python-sdk', client_version } },
})
const ANTHROPIC = {
  input_tokens: 5000,
  cache_read_input_tokens: 3000,
  cache_creation_input_tokens: 1000,
  cache_creation: { ephemeral_5m_input_tokens: 400, ephemeral_1h_input_tokens: 600 },
  output_tokens: 100,
}
const COUNTS = { status_counts: { success: 1, error: 0 } }
const summaryOf = (usage: object, model = MODEL) => ({ usage: { [model]: usage }, ...COUNTS })

/** 5000 and 100 tokens, 3000 read, 400 written, and 600 for an hour. */
const COST = 0.1125

describe('usage that the output of a call has', () => {
  let service: TestService
  before(async () => void (service = await sharedService()))

  const record = async (...calls: readonly object[]) => {
    const project = someProject()
    await service
      .in(project)
      .calls.complete(calls.map((call) => ({ trace_id: 't', ...call })))
      .json()
    return project
  }
  const usageOf = async (project: string) => {
    const answer = accepted(await service.in(project).usage.ofTraces({ include_costs: true }))
    return answer['call_usage'] as Record<string, Record<string, JsonObject>>
  }
  const totalOf = (usage: JsonObject | undefined): number =>
    Math.round(
      Object.entries(usage ?? {})
        .filter(([name]) => name.endsWith('_total_cost'))
        .reduce((sum, [, cost]) => sum + Number(cost), 0) * 1e9,
    ) / 1e9
  const readCost = async (project: string, id: string, model = MODEL) => {
    const query = { project_id: project, include_costs: true, filter: { call_ids: [id] } }
    const { calls } = accepted(await service.post('/calls/query', query))
    const { weave } = (calls as readonly JsonObject[])[0]!['summary'] as { weave: { costs: JsonObject } }
    return totalOf(weave.costs[model] as JsonObject)
  }

  const inLangChain = (usage: object) => ({
    outputs: { generations: [[{ message: { kwargs: { response_metadata: { usage } } } }]] },
  })
  for (const [what, call, cost, prompt] of [
    [
      'LangChain reads less of it',
      {
        ...python(),
        summary: summaryOf({ prompt_tokens: 9000, completion_tokens: 100, total_tokens: 9100 }),
        output: inLangChain(ANTHROPIC),
      },
      COST,
      9000,
    ],
    [
      'the lifetimes of the cache are only there',
      {
        ...python(),
        summary: summaryOf({
          prompt_tokens: 9000,
          completion_tokens: 100,
          prompt_tokens_details: { cached_tokens: 3000, cache_creation_tokens: 1000 },
        }),
        output: { usage: ANTHROPIC },
      },
      COST,
      9000,
    ],
    [
      'Python weave 0.52 passes it on without the cache',
      {
        ...python('0.52.10'),
        summary: summaryOf({ requests: 1, ...ANTHROPIC }),
        output: { usage: ANTHROPIC },
      },
      COST,
      9000,
    ],
    [
      'Python weave 0.52 leaves the output out',
      { ...python('0.52.10'), summary: summaryOf({ requests: 1, ...ANTHROPIC }), output: null },
      COST,
      9000,
    ],
    [
      'Python weave 0.54 passes it on with the cache',
      {
        ...python(),
        summary: summaryOf({ requests: 1, ...ANTHROPIC, input_tokens: 9000 }),
        output: { usage: ANTHROPIC },
      },
      COST,
      9000,
    ],
    [
      "an op of one's own returns model and usage",
      {
        ...python(),
        summary: summaryOf({ requests: 1, ...ANTHROPIC }),
        output: { model: MODEL, usage: ANTHROPIC },
      },
      COST,
      9000,
    ],
    [
      'the output has other totals',
      {
        ...python(),
        summary: summaryOf({ prompt_tokens: 18_000, completion_tokens: 200 }),
        output: { usage: ANTHROPIC },
      },
      0.285,
      18_000,
    ],
  ] as const)
    it(`is right where ${what}`, async () => {
      const project = await record({ id: 'c', ...call })
      const usage = (await usageOf(project))['c']![MODEL]!
      assert.deepEqual([totalOf(usage), usage['prompt_tokens'], usage['requests'] ?? 0].slice(0, 2), [
        cost,
        prompt,
      ])
      assert.equal(await readCost(project, 'c'), cost)
    })

  it('counts and names what changes the price and is not charged', async () => {
    const usage = { ...ANTHROPIC, service_tier: 'batch', server_tool_use: { code_execution_requests: 3 } }
    const project = await record({ id: 'c', summary: { usage: { [MODEL]: usage } } })
    assert.equal((await usageOf(project))['c']![MODEL]!['unrecognized_usage'], 1)
    const { calls } = accepted(
      await service.post('/calls/query', { project_id: project, include_costs: true }),
    )
    const { weave } = (calls as readonly JsonObject[])[0]!['summary'] as { weave: JsonObject }
    assert.deepEqual(weave['uncharged_usage'], { [MODEL]: ['server_tool_use.code_execution_requests'] })
  })

  it('is right where the start arrives later than the end, or in another request', async () => {
    const project = someProject()
    const { calls } = service.in(project)
    const summary = summaryOf({ requests: 1, ...ANTHROPIC })
    await calls.start({ id: 'a', trace_id: 't', ...python('0.50.1') }).json()
    await calls.end('a', { summary }).json()
    await calls.end('b', { summary }).json()
    await calls.start({ id: 'b', trace_id: 't', ...python('0.50.1') }).json()
    const usage = await usageOf(project)
    assert.deepEqual([totalOf(usage['a']?.[MODEL]), totalOf(usage['b']?.[MODEL])], [COST, COST])
  })

  it("is read of Cohere's responses, in floats, and not of what passes them on", async () => {
    const output = {
      usage: {
        billed_units: { input_tokens: 2000.0, output_tokens: 300.0 },
        tokens: { input_tokens: 2500.0, output_tokens: 310.0 },
      },
    }
    const project = await record(
      { id: 'mine', op_name: 'my_op', ...python(), summary: COUNTS, output },
      {
        id: 'chat',
        parent_id: 'mine',
        op_name: 'weave:///team/p/op/cohere.ClientV2.chat:abc',
        inputs: { model: 'command-r' },
        ...python(),
        summary: COUNTS,
        output,
      },
    )
    const { chat, mine } = await usageOf(project)
    for (const usage of [chat, mine]) {
      const { prompt_tokens, completion_tokens, requests } = usage!['command-r']!
      assert.deepEqual([prompt_tokens, completion_tokens, requests], [2000, 300, 1])
    }
  })

  it("is read once of the spans of OpenAI's agents", async () => {
    const metrics = { tokens: 2300, prompt_tokens: 2000, completion_tokens: 300 }
    const output = { metrics, metadata: { model: 'gpt-4o' } }
    const span = (id: string, kind: string, parent_id: string | null, success: number, second: number) => ({
      id,
      parent_id,
      op_name: `openai_agent_${kind}`,
      ...python(),
      summary: { status_counts: { success, error: 0 } },
      started_at: '2026-01-01T00:00:00Z',
      ended_at: `2026-01-01T00:00:0${second}Z`,
      output,
    })
    const withGeneration = await record(
      span('task', 'task', null, 3, 3),
      span('turn', 'turn', 'task', 2, 2),
      span('generation', 'generation', 'turn', 1, 1),
    )
    const withResponse = await record(span('task', 'task', null, 2, 3), span('turn', 'turn', 'task', 1, 2))
    for (const project of [withGeneration, withResponse])
      assert.equal((await usageOf(project))['task']!['gpt-4o']!['total_tokens'], 2300)
  })
})
