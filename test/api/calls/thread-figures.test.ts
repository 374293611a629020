import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { Client } from '../../support/client.js'
import type { TestService } from '../../support/service.js'
import { setCosts, someCosts, tokens } from '../prices/given.js'
import { isFull } from '../../counts.js'
import { sharedService, someProject } from '../shared-service.js'
import { told } from './given.js'

describe('the figures of threads', () => {
  let service: TestService
  let project: string
  let client: Client
  beforeEach(async () => {
    service = await sharedService()
    project = someProject()
    client = service.in(project)
  })

  const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString()
  const call = (id: string, trace_id: string, more: object = {}) => ({
    ...{ id, trace_id, started_at: at(0), ended_at: at(1) },
    ...more,
  })
  const turn = (id: string, thread_id: string, more: object = {}) =>
    call(id, id, { turn_id: id, thread_id, ...more })
  const model = (id: string, parent_id: string, usage: object, more: object = {}) =>
    call(id, parent_id, { parent_id, summary: { usage }, ...more })
  const ALL = { limit: 1000, include_usage: true, include_costs: true, include_details: true }
  const figuresOf = async (of: Client, body: object = ALL): Promise<Readonly<Record<string, JsonObject>>> =>
    Object.fromEntries(
      (await of.threads(body).lines()).map(({ thread_id, ...line }) => [thread_id as string, line]),
    )
  const tokensOf = async (of = client) =>
    Object.fromEntries(
      Object.entries(await figuresOf(of)).map(([thread, { total_tokens }]) => [thread, total_tokens]),
    )

  it('add up what the turns and all calls below them used, failed in and said', async () => {
    const costs = { big: someCosts(), small: someCosts({ prompt_token_cost: 0.25 }) }
    await setCosts(service, project, costs)
    await client.calls
      .complete([
        turn('a1', 'a', { inputs: { messages: [{ role: 'user', content: 'Where is\nmy order?' }] } }),
        model('a1.agent', 'a1', {}),
        model('a1.model', 'a1', { big: tokens(10, 1) }, { parent_id: 'a1.agent' }),
        model('a1.small', 'a1', { small: tokens(4) }, { parent_id: 'a1.agent', exception: 'timeout' }),
        turn('a2', 'a', { started_at: at(2), attributes: { user: { id: 'ada' } }, exception: 'failed' }),
        model('a2.model', 'a2', { big: tokens(100, 2), unknown: tokens(7) }),
        turn('a3', 'a', {
          started_at: at(3),
          attributes: { user_id: 'bob' },
          inputs: { question: 'Thanks' },
        }),
        turn('b1', 'b', { inputs: {}, summary: { usage: { unknown: tokens(3) } } }),
        turn('c1', 'c', { inputs: { text: 'so '.repeat(100) } }),
      ])
      .json()
    assert.deepEqual(
      await figuresOf(client, { ...ALL, sort_by: [{ field: 'thread_id', direction: 'asc' }] }),
      {
        a: {
          turn_count: 3,
          start_time: '2026-01-01T00:00:00.000000Z',
          last_updated: '2026-01-01T00:00:01.000000Z',
          first_turn_id: 'a1',
          last_turn_id: 'a3',
          p50_turn_duration_ms: 1000,
          p99_turn_duration_ms: 1000,
          total_tokens: 124,
          prompt_tokens: 121,
          completion_tokens: 3,
          cost: 110 * 0.5 + 4 * 0.25 + 3 * 2,
          unpriced: true,
          error_count: 2,
          end_user: 'ada',
          first_message: 'Where is my order?',
        },
        b: {
          turn_count: 1,
          start_time: '2026-01-01T00:00:00.000000Z',
          last_updated: '2026-01-01T00:00:01.000000Z',
          first_turn_id: 'b1',
          last_turn_id: 'b1',
          p50_turn_duration_ms: 1000,
          p99_turn_duration_ms: 1000,
          total_tokens: 3,
          prompt_tokens: 3,
          completion_tokens: 0,
          cost: null,
          unpriced: true,
          error_count: 0,
          end_user: null,
          first_message: null,
        },
        c: {
          turn_count: 1,
          start_time: '2026-01-01T00:00:00.000000Z',
          last_updated: '2026-01-01T00:00:01.000000Z',
          first_turn_id: 'c1',
          last_turn_id: 'c1',
          p50_turn_duration_ms: 1000,
          p99_turn_duration_ms: 1000,
          total_tokens: 0,
          prompt_tokens: 0,
          completion_tokens: 0,
          cost: 0,
          unpriced: false,
          error_count: 0,
          end_user: null,
          first_message: `${'so '.repeat(67).slice(0, 200)}…`,
        },
      },
    )
  })

  it('are only the requested ones, and need a limit on the number of threads', async () => {
    await client.calls.complete([turn('a', 'a')]).json()
    const added = async (body: object) => {
      const plain = Object.keys((await figuresOf(client, {}))['a']!)
      return Object.keys((await figuresOf(client, { limit: 1, ...body }))['a']!).filter(
        (name) => !plain.includes(name),
      )
    }
    assert.deepEqual(await added({ include_usage: false, include_costs: null }), [])
    assert.deepEqual(await added({ include_usage: true }), [
      'total_tokens',
      'prompt_tokens',
      'completion_tokens',
    ])
    assert.deepEqual(await added({ include_costs: true }), ['cost', 'unpriced'])
    assert.deepEqual(await added({ include_details: true }), ['error_count', 'end_user', 'first_message'])
    for (const include of ['include_usage', 'include_costs', 'include_details'])
      for (const limit of [null, 1001])
        assert.deepEqual(told(await client.threads({ limit, [include]: true })), ['value_error limit'])
    const ofNone = await figuresOf(client, { ...ALL, filter: { thread_ids: ['unknown'] } })
    assert.deepEqual(ofNone, {})
  })

  it('count the calls below a turn that is below another turn of its thread once', async () => {
    const below = (id: string, parent_id: string, more: object = {}) =>
      model(id, 'a', { gpt: tokens(1) }, { parent_id, exception: 'failed', ...more })
    const turnBelow = (id: string, parent_id: string, thread_id: string) =>
      below(id, parent_id, { turn_id: id, thread_id })
    await client.calls
      .complete([
        turn('a', 'a'),
        below('a.step', 'a'),
        turnBelow('a.inner', 'a.step', 'a'),
        turnBelow('a.innermost', 'a.inner', 'a'),
        turnBelow('b', 'a.inner', 'b'),
        turnBelow('b.inner', 'b', 'b'),
        turnBelow('c1', 'a', 'c'),
        turnBelow('c2', 'a', 'c'),
        turnBelow('orphan', 'unknown', 'a'),
        turnBelow('cycle1', 'cycle2', 'd'),
        turnBelow('cycle2', 'cycle1', 'd'),
      ])
      .json()
    const figures = Object.entries(await figuresOf(client))
    assert.deepEqual(
      figures
        .map(([thread, { turn_count, total_tokens, error_count }]) => [
          thread,
          turn_count,
          total_tokens,
          error_count,
        ])
        .sort(),
      [
        ['a', 4, 8, 8],
        ['b', 2, 2, 2],
        ['c', 2, 2, 2],
        ['d', 2, 2, 2],
      ],
    )
  })

  it('are as of a position, and contain writes at once', async () => {
    const seen: (readonly [position: string | null, figures: JsonObject])[] = []
    const look = async () => {
      const answer = await client.threads(ALL)
      const figures = answer.json<JsonObject>()
      seen.push([answer.headers.get('tallytree-position'), figures])
      return ['turn_count', 'total_tokens', 'cost', 'error_count'].map((name) => figures[name])
    }
    await client.calls
      .start({ id: 'a1', turn_id: 'a1', thread_id: 'a', trace_id: 'a1', started_at: at(0) })
      .json()
    assert.deepEqual(await look(), [1, 0, 0, 0])
    await client.calls.complete([model('a1.model', 'a1', { gpt: tokens(1) })]).json()
    assert.deepEqual(await look(), [1, 1, null, 0])
    await client.calls.end('a1', { summary: { usage: { gpt: tokens(5) } }, exception: 'failed' }).json()
    assert.deepEqual(await look(), [1, 6, null, 1])
    await setCosts(service, project, { gpt: someCosts({ effective_date: '2025-01-01T00:00:00Z' }) })
    await client.calls.complete([turn('a2', 'a', { summary: { usage: { gpt: tokens(2) } } })]).json()
    assert.deepEqual(await look(), [2, 8, 4, 1])
    await client.calls.delete('a1').json()
    assert.deepEqual(await look(), [1, 2, 1, 0])
    for (const [position, figures] of seen) {
      const asOf = client.with({ headers: { 'Tallytree-As-Of': position! } })
      assert.deepEqual(await asOf.threads(ALL).lines(), [figures])
    }
  })

  it('leave out the thread of the same name of another project', async () => {
    const other = service.in(someProject())
    await other.calls.complete([turn('x', 'a', { summary: { usage: { gpt: tokens(50) } } })]).json()
    await client.calls.complete([turn('a', 'a', { summary: { usage: { gpt: tokens(1) } } })]).json()
    assert.deepEqual([await tokensOf(), await tokensOf(other)], [{ a: 1 }, { a: 50 }])
  })

  it('are those of the sessions of an exporter, whose spans repeat the usage of those below them', async () => {
    const sample = new URL('../../samples/otlp/js-ai-sdk-6.json', import.meta.url)
    await service.post(`/v2/${project}/otel/v1/traces`, JSON.parse(await readFile(sample, 'utf8')))
    const { 's-1': session, ...others } = await figuresOf(client)
    const { prompt_tokens, completion_tokens, end_user, first_message } = session!
    assert.deepEqual(others, {})
    assert.deepEqual(
      { prompt_tokens, completion_tokens, end_user, first_message },
      { prompt_tokens: 365, completion_tokens: 90, end_user: 'u-1', first_message: 'Weather in Oslo?' },
    )
  })

  it('contain all turns of large pages, some in one trace', async () => {
    const usage = { summary: { usage: { gpt: tokens(1) } } }
    const turns = Array.from({ length: isFull ? 5200 : 1200 }, (_, n) => {
      const trace = n % 2 === 0 ? `trace-${n}` : 'z'
      const parent_id = n === 1 || n % 2 === 0 ? null : 'turn-1'
      return turn(`turn-${n}`, n % 7 === 0 ? 'b' : 'a', { ...usage, trace_id: trace, parent_id })
    })
    for (let from = 0; from < turns.length; from += 1000)
      await client.calls.complete(turns.slice(from, from + 1000)).json()
    const countIf = (test: (n: number) => boolean) => turns.filter((_, n) => test(n)).length
    assert.deepEqual(await tokensOf(), {
      a: countIf((n) => n % 2 === 1 || n % 7 !== 0),
      b: countIf((n) => n % 7 === 0),
    })
  })
})
