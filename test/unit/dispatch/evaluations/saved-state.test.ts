import assert from 'node:assert/strict'
import fc from 'fast-check'
import { openInMemoryEventStore } from '../../../../src/adapters/event-store/in-memory.js'
import {
  loadState,
  LOG_START,
  placeOf,
  saveRegularly,
} from '../../../../src/dispatch/evaluations/saved-state.js'
import { newEvent } from '../../../../src/kernel/event.js'
import type { RecordedEvent } from '../../../../src/kernel/ports/event-store.js'

const CAUSE = { correlationId: 'test', causationId: 'test', actor: 'ada' }

const givenLog = async (id: string) => {
  const eventStore = openInMemoryEventStore()
  await eventStore.append('run-1', 'none', [newEvent(id, { type: 'RunStarted', data: {} }, CAUSE)])
  const events: RecordedEvent[] = []
  for await (const event of eventStore.readAll()) events.push(event)
  return { eventStore, event: events[0]! }
}

const givenFile = (text?: string) => {
  const file = { text, writes: 0 }
  return {
    file,
    snapshots: {
      read: () => Promise.resolve(file.text),
      write: (written: string) => {
        file.text = written
        file.writes += 1
        return Promise.resolve()
      },
    },
  }
}

const log = { warn: () => undefined }

describe('the saved state of a follower', () => {
  it('is loaded as it was saved', async () => {
    const { eventStore, event } = await givenLog('first')
    const { snapshots } = givenFile()
    const place = placeOf(event)
    await saveRegularly({
      snapshots,
      log,
      from: LOG_START,
      current: () => ({ place, state: { requested: [{ id: 'run' }] } }),
    })()
    const loaded = await loadState(snapshots, eventStore)
    assert.deepEqual(loaded?.place, place)
    assert.deepEqual(loaded.state['requested'], [{ id: 'run' }])
  })

  it('is not written while the place is the same', async () => {
    const { event } = await givenLog('first')
    const { file, snapshots } = givenFile()
    const current = { place: placeOf(event), state: {} }
    const stop = saveRegularly({ snapshots, log, from: current.place, current: () => current })
    await stop()
    assert.equal(file.writes, 0)
  })

  it('is ignored when it belongs to another log', async () => {
    const { event } = await givenLog('first')
    const other = await givenLog('other')
    const { snapshots } = givenFile()
    await saveRegularly({
      snapshots,
      log,
      from: LOG_START,
      current: () => ({ place: placeOf(event), state: {} }),
    })()
    assert.equal(await loadState(snapshots, other.eventStore), undefined)
  })

  it('is ignored when the file is missing or damaged', async () => {
    const { eventStore, event } = await givenLog('first')
    const { id, stream } = event
    const damaged = fc.oneof(
      fc.string(),
      fc.json(),
      fc
        .record({ position: fc.jsonValue(), revision: fc.jsonValue() })
        .filter(({ revision }) => revision !== '0')
        .map(({ position, revision }) => JSON.stringify({ position, anchor: { id, stream, revision } })),
    )
    assert.equal(await loadState(givenFile().snapshots, eventStore), undefined)
    await fc.assert(
      fc.asyncProperty(damaged, async (text) => {
        assert.equal(await loadState(givenFile(text).snapshots, eventStore), undefined)
      }),
    )
  })
})
