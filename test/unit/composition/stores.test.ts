import assert from 'node:assert/strict'
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
})
