import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../client.js'

const PROJECT = 'default/damaged'
const TRACES = 30

/** Calls with usage, feedback and objects. */
export const writeAll = async (service: Client) => {
  for (let trace = 0; trace < TRACES; trace += 1) {
    const batch = Array.from({ length: 20 }, (_, index) => {
      const id = `call-${trace}-${index}`
      const start = {
        project_id: PROJECT,
        id,
        op_name: `op-${index % 3}`,
        trace_id: `trace-${trace}`,
        ...(index === 0 ? {} : { parent_id: `call-${trace}-0` }),
        started_at: `2026-01-0${1 + (trace % 9)}T12:00:${String(index).padStart(2, '0')}Z`,
        attributes: {},
        inputs: { text: `question ${trace} ${index}` },
      }
      const summary = { usage: { model: { requests: 1, prompt_tokens: 10 + index, completion_tokens: 5 } } }
      const end = {
        project_id: PROJECT,
        id,
        ended_at: '2026-01-12T13:00:00Z',
        output: `answer ${index}`,
        summary,
      }
      return [
        { mode: 'start', req: { start } },
        { mode: 'end', req: { end } },
      ]
    }).flat()
    const sent = await service.send('POST', '/call/upsert_batch', { batch })
    assert.equal(sent.status, 200, sent.text)
  }
  for (let index = 0; index < 5; index += 1) {
    const weave_ref = `weave:///${PROJECT}/call/call-${index}-0`
    const feedback = {
      project_id: PROJECT,
      weave_ref,
      feedback_type: 'note',
      payload: { note: `note ${index}` },
    }
    assert.equal((await service.send('POST', '/feedback/create', feedback)).status, 200)
    const obj = { project_id: PROJECT, object_id: `object-${index}`, val: { value: index } }
    assert.equal((await service.send('POST', '/obj/create', { obj })).status, 200)
  }
}

const QUESTIONS: readonly (readonly [path: string, body: object])[] = [
  ['/calls/query_stats', { project_id: PROJECT }],
  ['/calls/stream_query', { project_id: PROJECT, sort_by: [{ field: 'id', direction: 'asc' }], limit: 1000 }],
  ['/call/read', { project_id: PROJECT, id: 'call-3-7' }],
  ['/trace/usage', { project_id: PROJECT, limit: 1000 }],
  ['/calls/usage', { project_id: PROJECT, call_ids: ['call-1-0', 'call-2-0'] }],
  ['/feedback/query', { project_id: PROJECT, sort_by: [{ field: 'payload.note', direction: 'asc' }] }],
  ['/objs/query', { project_id: PROJECT }],
]

/** What different tables answer. */
export const answersOf = (service: Client) =>
  Promise.all(QUESTIONS.map(([path, body]) => service.send('POST', path, body)))

type Answers = Awaited<ReturnType<typeof answersOf>>

/** All answers once none is a 503; fails when one is not what it was, or after a minute. */
export const assertHeals = async (service: Client, truth: Answers, what: () => string): Promise<void> => {
  const until = performance.now() + 60_000
  for (;;) {
    const now = await answersOf(service)
    now.forEach(({ status, text }, index) => {
      if (status === 503) return
      assert.equal(status, 200, `${what()}: ${text}`)
      assert.equal(text, truth[index]!.text, `${QUESTIONS[index]![0]}: ${what()}`)
    })
    if (now.every(({ status }) => status === 200)) return
    assert.ok(performance.now() < until, `not healed: ${what()}`)
    await sleep(100)
  }
}
