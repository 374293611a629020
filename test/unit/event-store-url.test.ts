import assert from 'node:assert/strict'
import { readConfig } from '../../src/config.js'

describe('EVENTSTORE_URL', () => {
  const taken = [
    'esdb://127.0.0.1:2113',
    'esdb://localhost:2113?tls=false',
    'esdb://admin:change%3Ait@node-1.example.org:2113?tls=true&nodePreference=leader',
    'esdb+discover://admin:changeit@cluster.example.org:2113',
    'esdb://node1:2113,node2:2113,node3:2113?keepAliveInterval=10000',
  ]
  for (const url of taken)
    it(`may be ${url}`, () => {
      assert.equal(readConfig({ EVENTSTORE_URL: url }).eventStoreUrl, url)
    })

  const refused = [
    'http://127.0.0.1:2113',
    'kurrentdb://127.0.0.1:2113',
    'ESDB://127.0.0.1:2113',
    '127.0.0.1:2113',
    'esdb://',
    'esdb://admin:with:colon@127.0.0.1:2113',
    'esdb://admin:with@at@127.0.0.1:2113',
    'esdb://127.0.0.1:2113?tls',
    'esdb://127.0.0.1:2113?throwOnAppendFailure=false',
    'esdb://127.0.0.1:2113?tls=false&throw-on_Append--failure=false',
    ' esdb://127.0.0.1:2113',
  ]
  for (const url of refused)
    it(`must not be ${url}, and the error repeats nothing of it`, () => {
      assert.throws(
        () => readConfig({ EVENTSTORE_URL: url }),
        ({ name, message }: Error) => {
          assert.equal(name, 'OperatorError')
          assert.match(message, /^EVENTSTORE_URL: must be the connection string of an EventStoreDB/)
          assert.doesNotMatch(message, /with:colon|with@at/)
          return true
        },
      )
    })

  it('is absent by default, and when it is empty', () => {
    assert.equal(readConfig({}).eventStoreUrl, null)
    assert.equal(readConfig({ EVENTSTORE_URL: '' }).eventStoreUrl, null)
  })
})
