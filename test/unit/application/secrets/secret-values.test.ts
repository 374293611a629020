import assert from 'node:assert/strict'
import { openInMemoryEventStore } from '../../../../src/adapters/event-store/in-memory.js'
import { secretValuesOf } from '../../../../src/application/secrets/secret-values.js'
import { newEvent } from '../../../../src/kernel/event.js'
import { appendNext } from '../../../support/append-next.js'

const cause = { correlationId: 'c', causationId: 'c', actor: 'ada' }

describe('the secrets that a test of a webhook is sent with', () => {
  it('are all versions since the last destruction, the newest first', async () => {
    const eventStore = openInMemoryEventStore()
    const append = (type: string, version: number) =>
      appendNext(eventStore, 'secret-default/S', [
        newEvent(
          `${type} ${version}`,
          { type, data: { team: 'default', name: 'S', version, request: null } },
          cause,
        ),
      ])
    const get = ({ version }: { readonly version: number }) => Promise.resolve(`value ${version}`)
    const valuesNow = async () =>
      (await secretValuesOf({ eventStore, secrets: { get } }, 'default', 'S')).map(({ value }) => value)

    for (let version = 1; version <= 50; version += 1) await append('SecretRotated', version)
    assert.equal((await valuesNow()).length, 50)
    assert.equal((await valuesNow())[0], 'value 50')
    await append('SecretDestroyed', 0)
    assert.deepEqual(await valuesNow(), [])
    await append('SecretStored', 51)
    await append('SecretRotated', 52)
    assert.deepEqual(await valuesNow(), ['value 52', 'value 51'])
    await eventStore.close()
  })
})
