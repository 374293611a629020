import assert from 'node:assert/strict'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { openLogSource } from '../../../src/composition/log-sources.js'
import { scratchDirectory } from '../../support/scratch.js'

describe('a directory to copy a log from', () => {
  it('is refused for what is wrong with its log, and not as if a service ran on it', async () => {
    const directory = await scratchDirectory()
    const newer = new Database(join(directory, 'events.db'))
    newer.pragma('user_version = 99')
    newer.close()

    const opened = openLogSource(directory, { apiKey: null, objects: null, dataDirectory: directory })

    await assert.rejects(opened, { name: 'StoreUnavailable', message: /schema version 99/ })
  })
})
