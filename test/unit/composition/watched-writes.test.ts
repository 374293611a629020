import assert from 'node:assert/strict'
import { openInMemoryEventStore } from '../../../src/adapters/event-store/in-memory.js'
import { watchedWrites } from '../../../src/composition/watched-writes.js'
import {
  AppendOutcomeUnknown,
  ConcurrencyConflict,
  StoreUnavailable,
} from '../../../src/domain/ports/event-store-errors.js'

const full = new StoreUnavailable('the event store could not write', {
  cause: Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' }),
})

describe('writes to a log that are watched', () => {
  const given = () => {
    const said: string[] = []
    const note = (event: string) => void said.push(event)
    const store = openInMemoryEventStore()
    let [time, checks] = [0, 0]
    let refusal: Error | undefined
    let unreadable: Error | undefined
    const {
      eventStore,
      blocked,
      unreadable: whyUnreadable,
    } = watchedWrites(
      {
        ...store,
        readStream: async function* (...asked) {
          if (unreadable !== undefined) throw unreadable
          yield* store.readStream(...asked)
        },
        append: (...proposed) =>
          refusal === undefined ? store.append(...proposed) : Promise.reject(refusal),
        checkWritable: async () => {
          checks += 1
          if (refusal !== undefined && !(refusal instanceof ConcurrencyConflict)) throw refusal
        },
      },
      { error: note, info: note },
      () => time,
    )
    let written = 0
    const later = (ms: number, error?: Error) => {
      time += ms
      refusal = error
      return blocked()
    }
    const write = async (error?: Error) => {
      refusal = error
      written += 1
      const event = { id: `00000000-0000-7000-8000-${String(written).padStart(12, '0')}`, type: 'Written' }
      const metadata = { correlationId: 'a', causationId: 'a', actor: 'a', schemaVersion: 1 }
      await eventStore
        .append(`stream-${written}`, 'none', [{ ...event, data: {}, metadata }])
        .catch(() => undefined)
      return blocked()
    }
    const look = async (error?: Error) => {
      unreadable = error
      const seen: string[] = []
      try {
        for await (const { type } of eventStore.readStream('stream-1')) seen.push(type)
      } catch (failed) {
        assert.equal(failed, error)
      }
      return { seen, failing: whyUnreadable() }
    }
    return { said, write, look, later, checks: () => checks }
  }

  it('say why the last one failed until one succeeds, and log each change once', async () => {
    const { said, write } = given()
    assert.equal(await write(), undefined)
    assert.match((await write(full)) ?? '', /\(SQLITE_FULL\)$/)
    assert.match((await write(new AppendOutcomeUnknown('no answer'))) ?? '', /\(AppendOutcomeUnknown\)$/)
    assert.equal(await write(), undefined)
    assert.deepEqual(said, ['log.writes_failed', 'log.writes_resumed'])
  })

  it('are checked when none succeeded in the last seconds, and at most once a second', async () => {
    const { said, write, later, checks } = given()
    await write()
    assert.deepEqual([await later(4000), checks()], [undefined, 0])

    assert.match((await later(2000, full)) ?? '', /\(SQLITE_FULL\)$/)
    assert.match((await later(999)) ?? '', /\(SQLITE_FULL\)$/)
    assert.equal(checks(), 1)

    assert.equal(await later(1), undefined)
    assert.equal(checks(), 2)
    assert.deepEqual(said, ['log.writes_failed', 'log.writes_resumed'])
  })

  it('are not to blame where the writer is', async () => {
    const { said, write } = given()
    assert.equal(await write(new ConcurrencyConflict('stream-1', 'none', 0n)), undefined)
    assert.deepEqual(said, [])
  })

  it('say why a stream could not be looked at until one can be, which makes no write good', async () => {
    const { said, write, look } = given()
    await write()
    const away = new StoreUnavailable('the EventStoreDB cannot be read')
    assert.match((await look(away)).failing ?? '', /cannot be read \(StoreUnavailable\)$/)
    assert.deepEqual(await look(), { seen: ['Written'], failing: undefined })
    const numbered = Object.assign(new Error('unavailable'), { code: 14 })
    assert.match(
      (await write(new StoreUnavailable('away', { cause: numbered }))) ?? '',
      /\(StoreUnavailable\)$/,
    )
    await write()
    await write(full)
    assert.equal((await look()).failing, undefined)
    assert.deepEqual(said, [
      ...['log.reads_failed', 'log.reads_resumed'],
      ...['log.writes_failed', 'log.writes_resumed'],
      'log.writes_failed',
    ])
  })
})
