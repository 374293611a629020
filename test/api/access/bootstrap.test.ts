import assert from 'node:assert/strict'
import { openInMemoryEventStore } from '../../../src/adapters/event-store/in-memory.js'
import { bootstrapAccess } from '../../../src/application/access/bootstrap.js'
import { OperatorError } from '../../../src/kernel/ports/operator-error.js'
import { openedAccess, somePorts, storedEvents } from './given.js'

const givenProcess = async (eventStore = openInMemoryEventStore()) => {
  const ports = somePorts(eventStore)
  const access = await openedAccess(ports)
  return { ports, access, bootstrap: (key?: string) => bootstrapAccess(ports, access, key) }
}

describe('the first start', () => {
  it('makes the administrator, the team default and a key to show once', async () => {
    const { access, bootstrap } = await givenProcess()
    const { createdKey, ignoredKey } = await bootstrap()
    assert.match(createdKey!, /^tt_[A-Za-z0-9]{37}$/)
    assert.equal(ignoredKey, false)
    const principal = access.authenticate(createdKey!)
    assert.equal(principal?.userId, 'admin')
    assert.equal(principal.administrator, true)
    assert.deepEqual(principal.teams, ['default'])
  })

  it("takes the operator's key, and shows none", async () => {
    const { access, bootstrap } = await givenProcess()
    const key = 'sixteen-letters!'
    assert.deepEqual(await bootstrap(key), { ignoredKey: false })
    assert.equal(access.authenticate(key)?.administrator, true)
  })

  it('refuses a key that is too short or no header can carry, without quoting it', async () => {
    const { ports, bootstrap } = await givenProcess()
    for (const key of [
      '',
      'fifteen-letters',
      'sixteen letters here',
      'sixteen-letters-\u00e9',
      'sixteen-letters\n',
    ])
      await assert.rejects(bootstrap(key), (error) => {
        assert.ok(error instanceof OperatorError)
        assert.match(error.message, /^TALLYTREE_BOOTSTRAP_API_KEY must /)
        assert.ok(key === '' || !error.message.includes(key))
        return true
      })
    await assert.rejects(bootstrap('short'), /at least 16 characters/)
    assert.equal((await storedEvents(ports.eventStore)).length, 0)
  })

  it('happens once when processes start at the same time', async () => {
    const store = openInMemoryEventStore()
    const processes = await Promise.all(Array.from({ length: 5 }, () => givenProcess(store)))
    const keys = (await Promise.all(processes.map(({ bootstrap }) => bootstrap()))).flatMap(
      (made) => made.createdKey ?? [],
    )
    assert.equal(keys.length, 1)
    assert.equal((await storedEvents(store)).length, 4)
    for (const { access } of processes) assert.equal(access.authenticate(keys[0]!)?.userId, 'admin')
  })

  it("is decided by one of two operators' keys; the other is ignored and says so", async () => {
    const store = openInMemoryEventStore()
    const [one, two] = await Promise.all([givenProcess(store), givenProcess(store)])
    const flags = await Promise.all([
      one.bootstrap('the-key-of-the-first'),
      two.bootstrap('the-key-of-the-second'),
    ])
    assert.deepEqual(flags.map(({ ignoredKey }) => ignoredKey).sort(), [false, true])
    assert.equal((await storedEvents(store)).length, 4)
  })
})

describe('a later start', () => {
  it('makes nothing and shows nothing', async () => {
    const { ports, bootstrap } = await givenProcess()
    await bootstrap()
    const again = await givenProcess(ports.eventStore)
    assert.deepEqual(await again.bootstrap(), { ignoredKey: false })
    assert.equal((await storedEvents(ports.eventStore)).length, 4)
  })

  it('is content with the same key and says when another is ignored', async () => {
    const { ports, bootstrap } = await givenProcess()
    await bootstrap('the-key-of-the-operator')
    const again = await givenProcess(ports.eventStore)
    assert.deepEqual(await again.bootstrap('the-key-of-the-operator'), { ignoredKey: false })
    assert.deepEqual(await again.bootstrap('another-key-of-theirs'), { ignoredKey: true })
    assert.equal(again.access.authenticate('another-key-of-theirs'), undefined)
    assert.equal((await storedEvents(ports.eventStore)).length, 4)
  })
})
