import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { TestService } from '../../support/service.js'
import { accepted } from '../calls/given.js'
import { sharedService, someProject } from '../shared-service.js'

interface Line {
  readonly thread_id: string
}

describe('the threads of the pages', () => {
  let service: TestService
  let project: string
  beforeEach(async () => {
    service = await sharedService()
    project = someProject()
  })

  const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString()
  const turn = (thread_id: string, n: number, more: object = {}) => ({
    ...{ id: `${thread_id}-${n}`, trace_id: `${thread_id}-${n}`, turn_id: `${thread_id}-${n}`, thread_id },
    ...{ started_at: at(n), ended_at: at(n + 1) },
    ...more,
  })
  const record = (...calls: readonly object[]) => service.in(project).calls.complete(calls).json()
  const list = async (body: object = {}) =>
    accepted(await service.post('/api/pages/threads', { project_id: project, ...body }))
  const idsOf = ({ rows }: JsonObject) => (rows as unknown as Line[]).map(({ thread_id }) => thread_id)
  const ask = (thread_id: string, body: object = {}) =>
    service.post('/api/pages/thread', { project_id: project, thread_id, ...body })
  const turnsIn = ({ turns }: JsonObject) => turns as unknown as readonly JsonObject[]

  it('are listed in pages, the one last updated first', async () => {
    await record(turn('old', 1), turn('new', 9), turn('middle', 5), turn('middle', 2))
    const first = await list({ limit: 2 })
    assert.deepEqual([idsOf(first), first['has_more']], [['new', 'middle'], true])
    const second = await list({ limit: 2, offset: 2 })
    assert.deepEqual([idsOf(second), second['has_more']], [['old'], false])
  })

  it('have the figures of all their turns where a search finds one of them', async () => {
    await record(
      turn('a', 1, { inputs: { q: 'Where is my ORDER?' } }),
      turn('a', 2, { output: 'On its way.', exception: 'timeout' }),
      turn('b', 3, { attributes: { user: 'ada' }, inputs: { q: 'order_' } }),
    )
    const found = await list({ contains: 'my order' })
    assert.deepEqual(idsOf(found), ['a'])
    const { turn_count, error_count, first_message } = (found['rows'] as JsonObject[])[0]!
    assert.deepEqual([turn_count, error_count, first_message], [2, 1, 'Where is my ORDER?'])
    assert.deepEqual(idsOf(await list({ contains: 'ON ITS' })), ['a'])
    assert.deepEqual(idsOf(await list({ contains: 'Ada' })), ['b'])
    assert.deepEqual(idsOf(await list({ contains: 'order_' })), ['b'])
    assert.deepEqual(idsOf(await list({ contains: '%' })), [])
  })

  it('equal those of /threads/stream_query', async () => {
    const summary = { usage: { 'gpt-4o': { prompt_tokens: 10, completion_tokens: 2 } } }
    await record(turn('a', 1, { summary }), turn('a', 3), turn('b', 2, { summary }))
    const figures = { include_usage: true, include_costs: true, include_details: true, limit: 10 }
    const lines = await service.in(project).threads(figures).lines()
    assert.deepEqual((await list())['rows'], lines)
    const { thread } = accepted(await ask('a'))
    assert.deepEqual(
      thread,
      lines.find(({ thread_id }) => thread_id === 'a'),
    )
  })

  it('give their turns in order, with messages that keep their lines', async () => {
    const messages = [
      { role: 'user', content: 'first' },
      { role: 'assistant', content: 'answer' },
      { role: 'user', content: 'second\nline' },
    ]
    await record(
      turn('a', 2, { inputs: { messages }, output: { choices: [{ message: { content: 'a\n\nb' } }] } }),
      turn('a', 1, { inputs: { question: 'hi' }, output: 'Hello', exception: 'no' }),
      { id: 'below', trace_id: 'a-2', parent_id: 'a-2', started_at: at(2), ended_at: at(3), exception: 'no' },
    )
    const first = accepted(await ask('a', { limit: 1 }))
    assert.equal(first['has_more'], true)
    const second = accepted(await ask('a', { limit: 1, offset: 1 }))
    assert.equal(second['has_more'], false)
    const shown = [first, second]
      .flatMap(turnsIn)
      .map(({ id, input, output, calls, errors }) => [id, input, output, calls, errors])
    assert.deepEqual(shown, [
      ['a-1', 'hi', 'Hello', 1, 1],
      ['a-2', 'second\nline', 'a\n\nb', 2, 1],
    ])
  })

  it('stay small whatever the payload, and leave out what is too large to look into', async () => {
    await record(turn('a', 1, { inputs: { text: 'long '.repeat(20_000) }, output: 'x '.repeat(300_000) }))
    const answer = await ask('a')
    assert.ok(answer.text.length < 10_000)
    const [only] = turnsIn(accepted(answer))
    assert.equal((only!['input'] as string).length, 4000)
    assert.equal(only!['output'], null)
  })

  it('are as of a position, and missing where there is no such turn', async () => {
    await record(turn('a', 1))
    const { headers } = await ask('a')
    await record(turn('a', 2))
    const before = { 'Tallytree-As-Of': headers.get('tallytree-position')! }
    const answer = await service.post(
      '/api/pages/thread',
      { project_id: project, thread_id: 'a' },
      { headers: before },
    )
    assert.equal(turnsIn(accepted(answer)).length, 1)
    assert.equal(turnsIn(accepted(await ask('a'))).length, 2)
    assert.equal((await ask('none')).status, 404)
  })
})
