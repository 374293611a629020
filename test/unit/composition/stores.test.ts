import assert from 'node:assert/strict'
import { startChildDouble } from '../../support/eventstoredb-protocol-double/child.js'
import { startRunningService } from '../../support/running-service.js'

describe('the program with an EventStoreDB', () => {
  const failsToStart = (url: string, sentence: string) =>
    assert.rejects(startRunningService({ EVENTSTORE_URL: url }), ({ message }: Error) => {
      assert.ok(message.includes(`Tallytree cannot start: ${sentence}`), message)
      assert.doesNotMatch(message, /geheim|\n +at /)
      return true
    })

  it('that is away says so in a sentence without the password, and ends', () =>
    failsToStart(
      'esdb://admin:geheim@127.0.0.1:1?tls=false',
      'the EventStoreDB at 127.0.0.1:1 (EVENTSTORE_URL) does not respond',
    ))

  it('whose connection string is wrong says what it must be', () =>
    failsToStart('esdb://admin:ge:heim@127.0.0.1:2113', 'EVENTSTORE_URL: must be the connection string'))

  it('answers 503 to writes while that is away, and takes them afterwards', async () => {
    const double = await startChildDouble()
    const service = await startRunningService({ EVENTSTORE_URL: double.url })
    const start = {
      id: 'call-1',
      op_name: 'op',
      started_at: '2026-01-01T12:00:00Z',
      attributes: {},
      inputs: {},
    }
    const startCall = () => service.post('/call/start', { start: { project_id: 'default/away', ...start } })
    try {
      await double.kill()
      const refused = await startCall()
      await double.restart()
      const taken = await startCall()

      assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '1'])
      assert.equal(taken.status, 200)
    } finally {
      await service.remove()
      await double.kill()
    }
  })
})
