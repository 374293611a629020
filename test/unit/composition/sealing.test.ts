import assert from 'node:assert/strict'
import { chmodSync, existsSync, statSync } from 'node:fs'
import { openInMemoryEventStore } from '../../../src/adapters/event-store/in-memory.js'
import { openHealth } from '../../../src/application/health.js'
import { logKeysFile, logTreeFile, openSealing } from '../../../src/composition/sealing.js'
import { readConfig } from '../../../src/config.js'
import { openNote, parseVerifierKey } from '../../../src/kernel/tlog/note.js'
import type { EventStore } from '../../../src/kernel/ports/event-store.js'
import { arbitraryEvent, arbitraryStream } from '../../contract/event-store/arbitrary-events.js'
import { scratchDirectory } from '../../support/scratch.js'
import { until } from '../../support/until.js'

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined }
const SERVERS = { EVENTSTORE_URL: 'esdb://in.memory', CLICKHOUSE_URL: 'http://in.memory' }

describe('the process that seals the log', () => {
  let directory: string
  let eventStore: EventStore
  beforeEach(async () => {
    directory = await scratchDirectory()
    eventStore = openInMemoryEventStore()
    await eventStore.append(arbitraryStream(), 'none', [arbitraryEvent()])
  })

  const open = (environment: Readonly<Record<string, string>> = {}) =>
    openSealing(
      readConfig({ TALLYTREE_DATA_DIR: directory, ...SERVERS, ...environment }),
      { eventStore, health: openHealth(quiet) },
      quiet,
    )

  it('is the next one that shares the directory when the first one ends, with the same keys', async () => {
    const first = await open({ TALLYTREE_PUBLIC_URL: 'https://traces.example' })
    const second = await open()
    assert.equal(second.current(), undefined)
    await until(() => first.current()?.checkpoint() !== undefined)
    const keys = first.current()!.verifierKeys().map(parseVerifierKey)
    assert.match(keys[0]!.name, /^traces\.example\/log\/[0-9a-f]{8}$/)
    await first.stop()
    await eventStore.append(arbitraryStream(), 'none', [arbitraryEvent()])
    await until(() => second.current()?.checkpoint()?.size === 2)
    assert.equal(openNote(second.current()!.checkpoint()!.note, keys).signatures.length, 2)
    await second.stop()
  })

  it('has the roles api and projector without a bucket', async () => {
    for (const environment of [
      { TALLYTREE_ROLES: 'api' },
      { TALLYTREE_ROLES: 'projector,dispatcher' },
    ] as const) {
      const opened = await open(environment)
      assert.equal(opened.current(), undefined)
      await opened.stop()
    }
    assert.ok(!existsSync(logTreeFile(directory)))
  })

  it('makes files for its own user alone, and warns of others', async () => {
    const opened = await open()
    await opened.stop()
    for (const path of [logTreeFile(directory), logKeysFile(directory)])
      assert.equal(statSync(path).mode & 0o777, 0o600)
    chmodSync(logKeysFile(directory), 0o644)
    const warned: string[] = []
    const log = { ...quiet, warn: (event: string) => void warned.push(event) }
    const config = readConfig({ TALLYTREE_DATA_DIR: directory, ...SERVERS })
    await (await openSealing(config, { eventStore, health: openHealth(quiet) }, log)).stop()
    assert.deepEqual(warned, ['log.keys_open_to_others'])
  })
})
