import assert from 'node:assert/strict'
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client'
import { callStream } from '../../../src/domain/calls/call.js'
import { startChildDouble, type ChildDouble } from '../../support/eventstoredb-protocol-double/child.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'

const PROJECT = 'default/spoilt'

const startOf = (id: string) => ({
  project_id: PROJECT,
  id,
  trace_id: id,
  op_name: 'answer',
  started_at: '2026-01-01T00:00:00Z',
  attributes: {},
  inputs: {},
})
const endOf = (id: string) => ({ project_id: PROJECT, id, ended_at: '2026-01-01T00:00:01Z', summary: {} })

describe('the service over an EventStoreDB (a protocol double) with a spoilt stream', () => {
  let double: ChildDouble
  let service: RunningService
  let client: EventStoreDBClient
  before(async () => {
    double = await startChildDouble()
    service = await startRunningService({ EVENTSTORE_URL: double.url })
    client = EventStoreDBClient.connectionString(double.url)
  })
  after(async () => {
    await client.dispose()
    await service.remove()
    await double.kill()
  })

  const spoil: Readonly<Record<string, (stream: string) => Promise<unknown>>> = {
    'was deleted': (stream) => client.tombstoneStream(stream),
    'has an event of another program': (stream) =>
      client.appendToStream(stream, jsonEvent({ type: 'OrderPlaced', data: { order: 1 } })),
  }

  for (const [how, spoilStream] of Object.entries(spoil))
    it(`answers 409 with its name for a call whose stream ${how}, and all else as usual`, async () => {
      const [id, other] = [`call ${how}`, `other call ${how}`]
      const stream = callStream(PROJECT, id)
      assert.equal((await service.post('/call/start', { start: startOf(id) })).status, 200)
      await spoilStream(stream)

      const again = await service.post('/call/start', { start: { ...startOf(id), op_name: 'other' } })
      const batch = await service.post('/call/upsert_batch', {
        batch: [
          { mode: 'start', req: { start: startOf(other) } },
          { mode: 'end', req: { end: endOf(id) } },
        ],
      })

      assert.equal(again.status, 409, again.text)
      assert.match(again.text, /cannot be read.*request does not help/)
      assert.ok(again.text.includes(stream), again.text)
      assert.equal(batch.status, 200, batch.text)
      assert.equal(batch.headers.get('tallytree-refused'), '1')
      assert.equal((await service.post('/call/end', { end: endOf(other) })).status, 200)
      assert.deepEqual((await service.send('GET', '/health')).json(), { status: 'ok' })
    })
})
