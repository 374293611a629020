import assert from 'node:assert/strict'
import { openInMemoryEventStore } from '../../../src/adapters/event-store/in-memory.js'
import { openInMemorySecretStore } from '../../../src/adapters/secrets/in-memory-secret-store.js'
import type { Gateway } from '../../../src/gateway/gateway.js'
import { unreadableSecrets } from '../../../src/application/secrets/unreadable.js'
import { secretRoutes } from '../../../src/api/secrets/routes.js'
import type { EventStore } from '../../../src/kernel/ports/event-store.js'
import { AppendOutcomeUnknown, StoreUnavailable } from '../../../src/kernel/ports/event-store-errors.js'
import { SecretsUnavailable, type SecretStore } from '../../../src/kernel/ports/secret-store.js'
import { reconcileSecrets } from '../../../src/application/secrets/reconcile.js'
import { noUpstreams } from '../../../src/domain/gateway/upstreams/directory.js'
import { givenTeams, somePorts } from '../access/given.js'

const PATH = '/api/teams/red/secrets'
const secret = { team: 'red', name: 'TOKEN' }

/** A service whose log or store of secrets fails when it is told to. */
const given = async () => {
  const failing: Partial<Record<'append' | 'appended' | 'destroy' | 'confirm', Error | undefined>> = {}
  const log = openInMemoryEventStore()
  const eventStore: EventStore = {
    ...log,
    append: async (stream, ...rest) => {
      const { append, appended } = stream.startsWith('secret-') ? failing : {}
      if (append !== undefined) throw append
      const result = await log.append(stream, ...rest)
      if (appended !== undefined) throw appended
      return result
    },
  }
  const store = openInMemorySecretStore()
  const secrets: SecretStore = {
    ...store,
    destroy: (...rest) => (failing.destroy ? Promise.reject(failing.destroy) : store.destroy(...rest)),
    confirm: (...rest) => (failing.confirm ? Promise.reject(failing.confirm) : store.confirm(...rest)),
  }
  const ports = { ...somePorts(eventStore), secrets }
  const gateway = { upstreams: { all: () => noUpstreams } } as unknown as Gateway
  const service = await givenTeams(ports, (own, access) =>
    secretRoutes({ ...own, access, gateway, unreadableSecrets: unreadableSecrets(own) }),
  )
  const alice = service.as(service.alice)
  const whatFails = (error: Error, at: keyof typeof failing) => async (task: () => Promise<unknown>) => {
    failing[at] = error
    await assert.rejects(task, { name: error.name })
    failing[at] = undefined
  }
  const away = new StoreUnavailable('away')
  return {
    secrets: store,
    put: (value: string, headers: Record<string, string> = {}) =>
      alice.put(`${PATH}/TOKEN`, { value }, headers),
    destroy: () => alice.delete(`${PATH}/TOKEN`),
    listed: async () => (await alice.get(PATH)).data,
    held: async () => (await store.versions(secret)).map(({ version }) => version),
    beforeTheEvent: whatFails(away, 'append'),
    withUnknownOutcome: whatFails(new AppendOutcomeUnknown('unknown'), 'appended'),
    beforeTheValuesGo: whatFails(new SecretsUnavailable('busy'), 'destroy'),
    beforeTheValueIsConfirmed: whatFails(new SecretsUnavailable('busy'), 'confirm'),
    /** What the next start does, so long after that nothing can be on its way any more. */
    startAgain: () => {
      const clock = { now: () => new Date(Date.now() + 60_000) }
      return reconcileSecrets({ ...ports, secrets: store, clock }, { abandonedAfterMs: 0 })
    },
    ports,
  }
}

describe('a secret whose request was cut off', () => {
  it('between the value and the event is not there, and nothing of it is after the next start', async () => {
    const { put, listed, held, beforeTheEvent, startAgain } = await given()
    await beforeTheEvent(() => put('value'))

    assert.deepEqual(await listed(), [])
    assert.deepEqual(await held(), [1])
    await startAgain()
    assert.deepEqual(await held(), [])
    assert.deepEqual(await put('value'), { name: 'TOKEN', version: 1 })
  })

  it('between the value and the event has nothing left after the next one stored either', async () => {
    const { put, held, secrets, beforeTheEvent } = await given()
    await put('first')
    await beforeTheEvent(() => put('cut off'))

    const { version } = (await put('next')) as unknown as { version: number }

    assert.deepEqual(await held(), [1, version])
    assert.equal(await secrets.get({ ...secret, version }), 'next')
    assert.equal(await secrets.get({ ...secret, version: 1 }), 'first')
  })

  it('after the event is there, and known by its Idempotency-Key', async () => {
    const { put, held, secrets, withUnknownOutcome, startAgain } = await given()
    const once = { 'idempotency-key': 'once' }
    await withUnknownOutcome(() => put('value', once))

    await startAgain()
    assert.deepEqual(await put('value', once), { name: 'TOKEN', version: 1 })
    assert.deepEqual(await held(), [1])
    assert.equal(await secrets.get({ ...secret, version: 1 }), 'value')
  })

  it('before it was confirmed stays, at the next start and with the next value', async () => {
    const { put, secrets, startAgain, beforeTheValueIsConfirmed } = await given()
    await beforeTheValueIsConfirmed(() => put('first'))
    await beforeTheValueIsConfirmed(() => put('second'))
    const { version } = (await put('third')) as unknown as { version: number }
    await startAgain()

    const values = await Promise.all([1, 2, version].map((one) => secrets.get({ ...secret, version: one })))
    assert.deepEqual(values, ['first', 'second', 'third'])
    assert.ok((await secrets.versions(secret)).every(({ confirmed }) => confirmed))
  })

  it('between the event that destroys it and its values is gone, and its values are after the next start', async () => {
    const { put, destroy, listed, held, beforeTheValuesGo, startAgain } = await given()
    await put('first')
    await put('second')
    await beforeTheValuesGo(destroy)

    assert.deepEqual(await listed(), [])
    assert.deepEqual(await held(), [1, 2])
    await startAgain()
    assert.deepEqual(await held(), [])
  })

  for (const [what, next] of [
    ['the next value', (service: Awaited<ReturnType<typeof given>>) => service.put('third')],
    ['the same again', (service: Awaited<ReturnType<typeof given>>) => service.destroy()],
  ] as const)
    it(`between the event that destroys it and its values has none left after ${what}`, async () => {
      const service = await given()
      await service.put('first')
      await service.beforeTheValuesGo(service.destroy)

      await next(service)

      assert.ok(!(await service.held()).includes(1))
    })

  it('may still be on its way elsewhere, and is left alone as long', async () => {
    const { put, held, ports, beforeTheEvent } = await given()
    await beforeTheEvent(() => put('value'))

    await reconcileSecrets(ports, { abandonedAfterMs: 600_000 })
    assert.deepEqual(await held(), [1])
  })

  it('is not taken for one whose log is another than before: those values are left', async () => {
    const { put, secrets } = await given()
    await put('value')
    const clock = { now: () => new Date(Date.now() + 60_000) }

    const empty = { eventStore: openInMemoryEventStore(), secrets, clock }
    assert.deepEqual(await reconcileSecrets(empty, { abandonedAfterMs: 0 }), { unknown: 1 })
    assert.equal(await secrets.get({ ...secret, version: 1 }), 'value')
  })
})
