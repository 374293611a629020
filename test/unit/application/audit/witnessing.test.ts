import assert from 'node:assert/strict'
import { join } from 'node:path'
import { undiciUpstreamClient } from '../../../../src/adapters/outgoing/upstream-client/undici-upstream-client.js'
import { openInMemoryEventStore } from '../../../../src/adapters/event-store/in-memory.js'
import { openSqliteLogTree } from '../../../../src/adapters/log-tree/sqlite-log-tree.js'
import { makeLogKeys, readLogKeys } from '../../../../src/adapters/secrets/log-keys.js'
import { systemClock } from '../../../../src/adapters/system/system.js'
import { startSealing, type Sealing } from '../../../../src/application/audit/sealing.js'
import { openHealth, type Health } from '../../../../src/application/health.js'
import type { EventStore } from '../../../../src/kernel/ports/event-store.js'
import { openNote, parseCheckpoint, type VerifierKey } from '../../../../src/kernel/tlog/note.js'
import { arbitraryEvent, arbitraryStream } from '../../../contract/event-store/arbitrary-events.js'
import { scratchDirectory } from '../../../support/scratch.js'
import { until } from '../../../support/until.js'
import { startWitness, type TestWitness } from '../../../support/witness.js'

describe('witnesses of the log', () => {
  let directory: string
  let store: EventStore
  let witness: TestWitness
  let other: TestWitness
  let sealing: Sealing
  let isStopped: boolean
  let health: Health
  let logged: string[]
  const keys = () => readLogKeys(join(directory, 'log-keys'))!
  const treeFile = () => join(directory, 'log-tree.db')

  beforeEach(async () => {
    directory = await scratchDirectory()
    store = openInMemoryEventStore()
    makeLogKeys(join(directory, 'log-keys'), 'traces.example')
    witness = await startWitness()
    other = await startWitness('other.example/w')
    for (const one of [witness, other]) one.trust(keys().all)
    logged = []
    isStopped = true
    health = openHealth({
      info: (event) => void logged.push(event),
      error: (event) => void logged.push(event),
    })
  })
  afterEach(async () => {
    await stop()
    await Promise.all([witness.stop(), other.stop()])
  })

  const write = async (count: number) => {
    for (let n = 0; n < count; n += 1) await store.append(arbitraryStream(), 'none', [arbitraryEvent()])
  }
  const start = async (witnesses: readonly TestWitness[] = [witness]) => {
    const tree = openSqliteLogTree(treeFile())
    isStopped = false
    sealing = await startSealing({
      eventStore: store,
      tree,
      keys: keys(),
      clock: systemClock,
      log: { info: () => undefined },
      health,
      witnessing: { witnesses, client: undiciUpstreamClient() },
    })
  }
  const stop = async () => {
    if (!isStopped) await sealing.stop()
    isStopped = true
  }
  const isCosigned = (size: number, key: VerifierKey) => {
    const { note } = sealing.checkpoint() ?? { note: '' }
    return note.includes(`\n— ${key.name} `) && parseCheckpoint(note).size === size
  }

  const linesOf = (note: string) => note.split('\n').sort()

  it('cosign every checkpoint, which keeps the cosignatures when the service starts again', async () => {
    await write(1)
    await start([witness, other])
    for (const [count, size] of [
      [0, 1],
      [299, 300],
      [260, 560],
    ] as const) {
      await write(count)
      await until(() => isCosigned(size, witness.key) && isCosigned(size, other.key))
    }
    const { note } = sealing.checkpoint()!
    assert.equal(openNote(note, [...keys().all, witness.key, other.key]).signatures.length, 4)
    assert.equal(witness.size(), 560)
    await stop()
    const asked = witness.answers.length
    await start([witness, other])
    await until(() => sealing.checkpoint() !== undefined)
    // Two cosignatures that arrive at once are in any order.
    assert.deepEqual(linesOf(sealing.checkpoint()!.note), linesOf(note))
    await write(40)
    await until(() => isCosigned(600, witness.key))
    // Its size is not known after a start.
    assert.deepEqual(witness.answers.slice(asked), [409, 200])
    assert.deepEqual(logged, [])
  })

  it('cosign the last checkpoint at the next start if the service stopped before they did', async () => {
    await write(300)
    await start([])
    await until(() => sealing.checkpoint()?.size === 300)
    await stop()
    await start()
    await until(() => isCosigned(300, witness.key))
  })

  it('hold up neither the checkpoint nor each other if they fail, and are asked again later', async () => {
    witness.behave('fail')
    await write(20)
    await start([witness, other])
    await until(() => isCosigned(20, other.key))
    await until(() => health.reason('log-witnesses') !== undefined)
    assert.equal(
      health.reason('log-witnesses'),
      'witnesses do not cosign checkpoints: witness.example/w1: it answered 500',
    )
    witness.behave('cosign')
    await until(() => isCosigned(20, witness.key))
    await until(() => health.reason('log-witnesses') === undefined)
    assert.deepEqual(logged, ['log.witness_failed', 'log.witness_resumed'])
  })

  for (const [behaviour, reason] of [
    ['sign wrongly', /the signature of witness\.example\/w1 is wrong/],
    ['stay silent', /timeout first byte/],
  ] as const)
    it(`are left out of the checkpoint if they ${behaviour}`, async () => {
      witness.behave(behaviour)
      await write(20)
      await start([witness, other])
      await until(() => isCosigned(20, other.key))
      await until(() => reason.test(health.reason('log-witnesses') ?? ''))
      assert.ok(!isCosigned(20, witness.key))
      assert.deepEqual(logged, ['log.witness_failed'])
    })

  it('that do not know the log are named', async () => {
    witness.trust([])
    await write(1)
    await start()
    await until(() => health.reason('log-witnesses')?.includes('it does not know the log') === true)
  })

  it('that cosigned more than the log has show that it is an older backup', async () => {
    await write(20)
    witness.pretend(30)
    await start()
    await until(() => /has cosigned 30 events .* has 20.*backup/.test(health.reason('log-witnesses') ?? ''))
    assert.equal(sealing.checkpoint()?.size, 20)
  })

  it('refuse a log that does not continue what they cosigned', async () => {
    await write(20)
    await start()
    await until(() => isCosigned(20, witness.key))
    await stop()
    witness.pretend(15)
    await write(20)
    await start()
    await until(() => health.reason('log-witnesses')?.includes('refuses the proof') === true)
  })

  it('leave a cosigned checkpoint in the history although later ones of the minute are not cosigned', async () => {
    await write(5)
    await start([])
    await until(() => sealing.checkpoint()?.size === 5)
    const [first] = await sealing.checkpoints()
    await write(5)
    await until(() => sealing.checkpoint()?.size === 10)
    await stop()
    const tree = openSqliteLogTree(treeFile())
    await tree.cosign(first!, '— witness.example/w1 line\n')
    await tree.save({ tiles: [], positions: new Map(), checkpoint: { ...first!, size: 11 } })
    assert.deepEqual(
      tree.checkpoints().map(({ size }) => size),
      [5, 11],
    )
    tree.close()
  })
})
