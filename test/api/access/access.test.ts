import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { openInMemoryEventStore } from '../../../src/adapters/event-store/in-memory.js'
import { openAccess, type Access } from '../../../src/application/access/access.js'
import { bootstrapAccess } from '../../../src/application/access/bootstrap.js'
import { makeKey } from '../../../src/application/access/new-key.js'
import type { EventStore } from '../../../src/kernel/ports/event-store.js'
import { StoreUnavailable } from '../../../src/kernel/ports/event-store-errors.js'
import { until } from '../../support/until.js'
import { arbitraryCause, openedAccess, somePorts, storedEvents } from './given.js'

const opened: Access[] = []
afterEach(() => {
  for (const access of opened.splice(0)) access.close()
})

/** Two processes over one store. */
const givenTwo = async () => {
  const ports = somePorts()
  const here = await openedAccess(ports)
  const { createdKey } = await bootstrapAccess(ports, here, undefined)
  const elsewhere = await openAccess(ports)
  opened.push(elsewhere)
  const principal = here.authenticate(createdKey!)!
  return { ports, here, elsewhere, principal, key: createdKey! }
}

describe('the access of a process', () => {
  it('knows a key at once where it was made, and elsewhere when it arrives in the log', async () => {
    const { ports, here, elsewhere } = await givenTwo()
    const { key, known } = makeKey(ports, null)
    await here.run({ type: 'IssueApiKey', user: 'admin', key: known }, arbitraryCause())
    assert.equal(here.authenticate(key)?.keyId, known.key_id)
    await until(() => elsewhere.authenticate(key) !== undefined)
  })

  it('refuses a revoked key at once where it was revoked, and elsewhere when the log has it', async () => {
    const { ports, here, elsewhere } = await givenTwo()
    const { key, known } = makeKey(ports, null)
    await here.run({ type: 'IssueApiKey', user: 'admin', key: known }, arbitraryCause())
    await elsewhere.refresh()
    assert.ok(elsewhere.authenticate(key))
    await here.run(
      { type: 'RevokeApiKey', by: 'admin', cascade: false, user: 'admin', key_id: known.key_id },
      arbitraryCause(),
    )
    assert.equal(here.authenticate(key), undefined)
    await until(() => elsewhere.authenticate(key) === undefined)
  })

  it('shows a principal the teams it has now', async () => {
    const { ports, here, key } = await givenTwo()
    const add = { type: 'AddMember', by: 'admin', user: 'admin', roles: ['member'] } as const
    await here.run({ type: 'CreateTeam', by: 'admin', team: 'alpha' }, arbitraryCause())
    const keyOfNewUser = makeKey(ports, null).known
    await here.run({ ...add, team: 'alpha', keyOfNewUser }, arbitraryCause())
    assert.deepEqual(here.authenticate(key)?.teams, ['alpha', 'default'])
    await here.run({ type: 'RemoveMember', by: 'admin', team: 'alpha', user: 'admin' }, arbitraryCause())
    assert.deepEqual(here.authenticate(key)?.teams, ['default'])
  })

  it('counts each event once, however many refreshes run at a time', async () => {
    const { here, elsewhere, principal } = await givenTwo()
    for (let i = 0; i < 20; i += 1) await here.ensureTeam(principal, `team-${i}`, arbitraryCause())
    await Promise.all(Array.from({ length: 10 }, () => elsewhere.refresh()))
    assert.equal(JSON.stringify(elsewhere.directory()), JSON.stringify(here.directory()))
  })

  it('stops following when closed', async () => {
    const { ports, here, elsewhere } = await givenTwo()
    elsewhere.close()
    const { key, known } = makeKey(ports, null)
    await here.run({ type: 'IssueApiKey', user: 'admin', key: known }, arbitraryCause())
    await setImmediate()
    assert.equal(elsewhere.authenticate(key), undefined)
  })

  it('opens only once the store can be read', async () => {
    await assert.rejects(openAccess(somePorts(unreadable(() => true))), StoreUnavailable)
  })

  it('keeps what it knows while the store cannot be read, says so, and goes on after', async () => {
    let down = false
    const warnings: string[] = []
    const store = openInMemoryEventStore()
    const ports = somePorts(store)
    const here = await openedAccess(ports)
    const { createdKey: key } = await bootstrapAccess(ports, here, undefined)
    const log = { warn: (event: string) => void warnings.push(event) }
    const shaky = await openAccess({ ...somePorts(unreadable(() => down, store)), log })
    opened.push(shaky)
    down = true
    const made = makeKey(ports, null)
    await here.run({ type: 'IssueApiKey', user: 'admin', key: made.known }, arbitraryCause())
    await until(() => warnings.length > 0)
    assert.ok(shaky.authenticate(key!))
    assert.equal(shaky.authenticate(made.key), undefined)
    down = false
    await until(() => shaky.authenticate(made.key) !== undefined)
    assert.deepEqual(warnings, ['access.refresh_failed'])
  })
})

describe('a team that is named for the first time', () => {
  it('comes into being for the administrator, once, however many name it at a time', async () => {
    const { ports, here, elsewhere, principal } = await givenTwo()
    const names = Array.from({ length: 60 }, (_, i) => `team-${i % 12}`)
    const everywhere = names.flatMap((name) => [
      here.ensureTeam(principal, name, arbitraryCause()),
      elsewhere.ensureTeam(principal, name, arbitraryCause()),
    ])
    await Promise.all(everywhere)
    const created = (await storedEvents(ports.eventStore)).filter(({ type }) => type === 'TeamCreated')
    assert.equal(created.length, 13)
    assert.ok(here.directory().teams.has('team-11'))
  })

  it('reads and writes nothing once it is known', async () => {
    const { ports, here, principal } = await givenTwo()
    await here.ensureTeam(principal, 'known', arbitraryCause())
    const before = await storedEvents(ports.eventStore)
    await here.ensureTeam(principal, 'known', arbitraryCause())
    await here.ensureTeam(principal, 'default', arbitraryCause())
    assert.equal((await storedEvents(ports.eventStore)).length, before.length)
  })

  it('does not come into being for others', async () => {
    const { here, principal } = await givenTwo()
    await here.ensureTeam({ ...principal, administrator: false }, 'mine', arbitraryCause())
    await here.ensureTeam({ ...principal, userId: 'impostor' }, 'mine', arbitraryCause())
    assert.equal(here.directory().teams.has('mine'), false)
  })

  it('may be used by the administrator and by its members', async () => {
    const { here, principal } = await givenTwo()
    const other = { ...principal, administrator: false, teams: ['red'] }
    assert.equal(here.canAccessTeam(principal, 'anything'), true)
    assert.equal(here.canAccessTeam(other, 'red'), true)
    assert.equal(here.canAccessTeam(other, 'redd'), false)
  })
})

const unreadable = (down: () => boolean, store = openInMemoryEventStore()): EventStore => ({
  ...store,
  readStream: (...asked) => {
    if (down()) throw new StoreUnavailable('down')
    return store.readStream(...asked)
  },
})
