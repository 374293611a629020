import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { engineDirectory } from '../../support/engine.js'
import { isOnServer } from '../../support/clickhouse-server.js'
import { foundIn, planted } from '../../support/planted-texts.js'
import { startTestService, type TestService } from '../../support/service.js'
import { until } from '../../support/until.js'
import { accepted, reasonOf, textIn } from '../calls/given.js'

const PROJECT = 'default/erased'
const ERASURES = `/api/projects/${PROJECT}/erasures`
const LARGE = 300_000

const TEXTS = {
  inputs: planted('inputs'),
  attributes: planted('attributes'),
  output: planted('output'),
  exception: planted('exception'),
  summary: planted('summary'),
  dump: planted('dump'),
  spilled: planted('spilled'),
  conflict: planted('conflict'),
}
const KEPT = planted('kept')

const usage = (tokens: number) => ({ 'gpt-4o': { requests: 1, prompt_tokens: tokens, completion_tokens: 7 } })

describe('an erasure of the content of calls', () => {
  let service: TestService
  let directory = ''
  const directories = () => (isOnServer ? [directory] : [directory, engineDirectory])
  const client = () => service.in(PROJECT)

  const callWith = (id: string, more: object = {}) => ({
    id,
    trace_id: 'trace',
    thread_id: 'thread',
    attributes: { customer: TEXTS.attributes, weave: { source: 'python-sdk' } },
    inputs: { question: TEXTS.inputs },
    otel_dump: { span: TEXTS.dump },
    output: { answer: TEXTS.output },
    exception: TEXTS.exception,
    summary: { note: TEXTS.summary, usage: usage(10), status_counts: { error: 1 } },
    ...more,
  })

  before(async () => {
    service = await startTestService({}, undefined, (config) => {
      directory = config.dataDirectory
      return config
    })
    await client()
      .calls.complete([
        callWith('erased-1'),
        callWith('erased-2', { inputs: { long: `${TEXTS.spilled} ${'x'.repeat(LARGE)}` } }),
        callWith('kept', {
          thread_id: 'other',
          attributes: {},
          inputs: { question: KEPT },
          otel_dump: null,
          output: null,
          exception: null,
          summary: { usage: usage(3) },
        }),
      ])
      .json()
    await client().calls.start({ id: 'erased-3', thread_id: 'thread', inputs: { question: TEXTS.inputs } })
    const conflicting = { id: 'erased-3', thread_id: 'thread', inputs: { question: TEXTS.conflict } }
    assert.equal((await client().calls.start(conflicting)).status, 409)
  })
  after(() => service.stop())

  const answers = async (): Promise<string> => {
    const all = [
      await client().calls.query({}),
      await client().calls.stream({}),
      await service.send('GET', '/api/events?limit=1000'),
    ]
    const read = await Promise.all(['erased-1', 'erased-2', 'erased-3'].map((id) => client().calls.read(id)))
    for (const { status, text } of all) assert.equal(status, 200, text)
    return all.map(({ text }) => text).join('\n') + JSON.stringify(read)
  }
  const inAnswers = async (): Promise<readonly string[]> => {
    const text = await answers()
    return Object.values(TEXTS).filter((one) => text.includes(one))
  }
  const totals = async () => {
    const body = {
      group_by: ['month', 'model', 'status'],
      include_costs: true,
      start: '2025-12-01T00:00:00Z',
      end: '2026-03-01T00:00:00Z',
    }
    return accepted(await client().usage.query(body))
  }
  const ended = async (id: string): Promise<JsonObject> => {
    let seen: JsonObject = {}
    await until(async () => {
      seen = accepted(await service.send('GET', `${ERASURES}/${id}`))
      return seen['state'] === 'finished'
    })
    return seen
  }
  const SELECTION = { filter: { thread_ids: ['thread'] } }

  it('removes every planted text from answers and files, and keeps figures', async () => {
    const before = await totals()
    assert.deepEqual(foundIn(directories(), [...Object.values(TEXTS)]), Object.values(TEXTS).sort())
    assert.equal((await inAnswers()).length, Object.keys(TEXTS).length)

    const request = { selection: SELECTION, reason: 'a customer asked for it' }
    const { preview } = accepted(await service.post(ERASURES, { ...request, dry_run: true }))
    assert.equal((preview as JsonObject)['calls'], 3)
    assert.ok(Number((preview as JsonObject)['bytes']) > LARGE)
    const { erasure } = accepted(
      await service.post(ERASURES, request, { headers: { 'Idempotency-Key': 'once' } }),
    )
    const id = textIn(erasure as JsonObject, 'id')
    const receipt = await ended(id)

    const { calls, events, blobs_deleted, unreadable, reason } = receipt
    assert.deepEqual(
      { calls, events, blobs_deleted, unreadable, reason },
      { calls: 3, events: 6, blobs_deleted: 1, unreadable: 0, reason: request.reason },
    )
    assert.deepEqual(await inAnswers(), [])
    assert.deepEqual(foundIn(directories(), Object.values(TEXTS)), [])
    assert.deepEqual(foundIn(directories(), [KEPT]), [KEPT])
    assert.deepEqual(await totals(), before)

    const again = accepted(await service.post(ERASURES, request, { headers: { 'Idempotency-Key': 'once' } }))
    assert.equal((again['erasure'] as JsonObject)['state'], 'finished')
  })

  it('shows an erased call with empty content, and says that it was erased', async () => {
    const [listed] = (
      await client()
        .calls.query({ filter: { call_ids: ['erased-1'] } })
        .json()
    ).calls
    const read = (await client().calls.read('erased-1')) as JsonObject
    for (const call of [listed!, read]) {
      assert.deepEqual(call['inputs'], {})
      assert.equal(call['output'], null)
      assert.equal(call['exception'], 'erased')
      const { tallytree, usage: shown, weave } = call['summary'] as Readonly<Record<string, JsonObject>>
      assert.deepEqual(tallytree, { erased: true })
      assert.deepEqual(shown, usage(10))
      assert.equal(weave!['status'], 'error')
    }
  })

  it('writes nothing when a client repeats an erased call', async () => {
    const head = await service.stores.eventStore.head()
    await client()
      .calls.complete([callWith('erased-1')])
      .json()
    assert.equal(await service.stores.eventStore.head(), head)
  })

  it('is the same after a rebuild of the read models', async () => {
    const [before, calls] = [await totals(), await client().calls.query({}).json()]
    const id = textIn(accepted(await service.post('/api/admin/rebuilds', undefined)), 'id')
    await until(async () => {
      const { state } = accepted(await service.send('GET', `/api/admin/rebuilds/${id}`))
      return state === 'finished'
    })
    assert.deepEqual(await totals(), before)
    assert.deepEqual(await client().calls.query({}).json(), calls)
    assert.deepEqual(foundIn(directories(), Object.values(TEXTS)), [])
  })

  it('is refused without a selection', async () => {
    const answer = await service.post(ERASURES, { selection: {}, reason: 'none' })
    assert.equal(answer.status, 422)
  })

  it('is not known under another id', async () => {
    reasonOf(await service.send('GET', `${ERASURES}/unknown`), 404)
  })
})
