import assert from 'node:assert/strict'
import { openSqliteDispatcherState } from '../../../../src/adapters/dispatch-state/sqlite-dispatcher-state.js'
import type { Endpoint } from '../../../../src/dispatch/webhooks/endpoint.js'
import { secretValues } from '../../../../src/dispatch/webhooks/secret-values.js'
import { openSecretVersions } from '../../../../src/dispatch/webhooks/secret-versions.js'
import type { RecordedEvent } from '../../../../src/kernel/ports/event-store.js'
import { MOST_SIGNATURES } from '../../../../src/domain/webhooks/signing.js'
import { anEndpoint } from './waiting-deliveries.js'

const stored = (version: number): RecordedEvent => ({
  id: `event-${version}`,
  type: version === 1 ? 'SecretStored' : 'SecretRotated',
  stream: 'secret-default/S',
  revision: BigInt(version - 1),
  position: BigInt(version),
  recordedAt: new Date(version * 1000),
  data: { team: 'default', name: 'S', version, request: null },
  metadata: { correlationId: 'c', causationId: 'c', actor: 'ada', schemaVersion: 1 },
  size: 1,
})

const aWebhook = (secrets: Pick<Endpoint['content'], 'access_token' | 'secret'>): Endpoint => {
  const endpoint = anEndpoint({ team: 'default' })
  return { ...endpoint, content: { ...endpoint.content, ...secrets } }
}

describe('the secrets that messages are made with', () => {
  it('are the newest versions, and all are taken out of answers, each read once', async () => {
    const state = openSqliteDispatcherState(':memory:')
    const versions = openSecretVersions(state)
    for (let version = 1; version <= 100; version += 1) versions.apply(stored(version))
    let asked = 0
    const get = ({ version }: { readonly version: number }) => {
      asked += 1
      return Promise.resolve(`value ${version}`)
    }
    const webhook = aWebhook({ access_token: null, secret: 'S' })
    const values = secretValues({ get }, versions)
    const { secrets } = await values(webhook)
    assert.equal(secrets?.length, MOST_SIGNATURES)
    assert.equal(secrets[0]?.value, 'value 100')
    versions.apply(stored(101))
    const { secrets: rotated, redact } = await values(webhook)
    assert.equal(rotated?.[0]?.value, 'value 101')
    assert.equal(asked, 101)
    assert.equal(redact('value 1, value 50 and value 101'), '[secret], [secret] and [secret]')
    state.close()
  })

  it('are none of those before the last destruction', async () => {
    const state = openSqliteDispatcherState(':memory:')
    const versions = openSecretVersions(state)
    versions.apply(stored(1))
    versions.apply({ ...stored(2), type: 'SecretDestroyed' })
    assert.equal(versions.of('default', 'S'), undefined)
    versions.apply(stored(3))
    assert.deepEqual(versions.of('default', 'S'), { first: 3, newest: [{ version: 3, since: 3000 }] })
    state.close()
  })

  it('are read again where they could not be read', async () => {
    const state = openSqliteDispatcherState(':memory:')
    const versions = openSecretVersions(state)
    versions.apply(stored(1))
    let isAway = true
    const get = () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve('value'))
    const webhook = aWebhook({ access_token: 'S', secret: null })
    const values = secretValues({ get }, versions)
    const both = [values(webhook), values(webhook)]
    for (const one of both) await assert.rejects(one)
    isAway = false
    assert.equal((await values(webhook)).accessToken, 'value')
    state.close()
  })
})
