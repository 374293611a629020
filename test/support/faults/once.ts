import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { openEventStoreDb } from '../../../src/adapters/event-store/eventstoredb/event-store-db.js'
import { callStream } from '../../../src/domain/calls/call.js'
import type { Answered } from '../client.js'
import type { Receiver } from '../receivers/receiver.js'
import { until } from '../until.js'

/** Sends a request until it is accepted. */
type Ask = (method: string, path: string, body?: object) => Promise<Answered>

const LONG_MS = 400_000
const TOKENS = 5

/** A completed call that {@link assertReadOnce} counts, and that has a webhook if it failed. */
export const countedCall = (project: string, id: string, text: string, isFailed: boolean) => ({
  project_id: project,
  id,
  trace_id: id,
  op_name: 'op',
  started_at: '2026-01-01T00:00:00Z',
  ended_at: '2026-01-01T00:00:01Z',
  attributes: {},
  inputs: { text },
  summary: { usage: { small: { requests: 1, prompt_tokens: TOKENS } } },
  ...(isFailed ? { exception: 'Error: no' } : {}),
})

/** An automation with a message for each failed call of a project. */
export const onFailedCalls = (project: string) => ({
  name: `failed in ${project.replace('/', ' ')}`,
  payload: `{"project": "${project}", "id": "\${call_id}"}`,
  scope: { type: 'project', project: project.split('/')[1] },
  event: { type: 'CALL_FAILED' },
})

export const assertReadOnce = async (ask: Ask, project: string, ids: readonly string[]) => {
  const body = { project_id: project }
  const lines = async () => {
    const { text } = await ask('POST', '/calls/stream_query', { ...body, columns: ['id'] })
    return text.split('\n').filter((line) => line !== '')
  }
  await until(async () => (await lines()).length >= ids.length, LONG_MS)
  const read = (await lines()).map((line) => (JSON.parse(line) as { id: string }).id)
  assert.deepEqual(read.toSorted(), ids.toSorted())
  const usage = (await ask('POST', '/usage/query', { ...body, filter: {} })).json<{
    totals: { usage: { requests: number; prompt_tokens: number } }
  }>()
  const { requests, prompt_tokens } = usage.totals.usage
  assert.deepEqual([requests, prompt_tokens], [ids.length, ids.length * TOKENS])
}

export const assertStoredOnce = async (url: string, project: string, ids: readonly string[]) => {
  const store = await openEventStoreDb(url)
  const stored = new Map<string, string[]>()
  for await (const { stream, type } of store.readAll())
    stored.set(stream, [...(stored.get(stream) ?? []), type])
  await store.close()
  for (const id of ids)
    assert.deepEqual(stored.get(callStream(project, id)), ['CallStarted', 'CallEnded'], id)
}

/** Only a message whose first outcome is unknown comes again, under the same id, and is marked. Returns the repeats. */
export const assertSentOnce = async (
  { received }: Receiver,
  project: string,
  expected: readonly string[],
): Promise<number> => {
  const first = new Map<string, string>()
  let [repeats, looked] = [0, 0]
  const look = () => {
    for (; looked < received.length; looked += 1) {
      const message = received[looked]!
      const { project: of, id } = JSON.parse(String(message.body)) as { project: string; id: string }
      if (of !== project) continue
      const delivery = message.headers['webhook-id']!
      const known = first.get(id)
      if (known !== undefined) {
        assert.equal(known, delivery, `${id} has two deliveries`)
        assert.equal(
          message.headers['x-vendor-possible-duplicate'],
          'true',
          `${id} came twice without a mark`,
        )
        repeats += 1
      }
      first.set(id, delivery)
    }
    return first.size
  }
  await until(() => look() >= expected.length, LONG_MS)
  // What comes twice comes soon.
  await sleep(1000)
  look()
  assert.deepEqual([...first.keys()].toSorted(), expected.toSorted())
  return repeats
}
