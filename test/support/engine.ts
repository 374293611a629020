import { randomUUID } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbeddedClickHouse } from '../../src/adapters/clickhouse/embedded.js'
import type { ClickHouse } from '../../src/kernel/ports/clickhouse.js'
import { goneWithThisProcess } from './scratch.js'

/** The one directory that the one engine of this process works in. */
export const engineDirectory = goneWithThisProcess(mkdtempSync(join(tmpdir(), 'tallytree-engine-')))

export const arbitraryDatabase = (): string => `t_${randomUUID().replaceAll('-', '')}`

/** A database of its own in the one engine that a process may have; dropped when it is closed. */
export const openTestClickHouse = async (): Promise<ClickHouse> => {
  const database = arbitraryDatabase()
  const clickHouse = await openEmbeddedClickHouse(engineDirectory, database)
  return {
    ...clickHouse,
    close: async () => {
      // Its background merges would slow the tests that follow.
      await clickHouse.writer.command(`DROP DATABASE IF EXISTS ${database}`)
      await clickHouse.close()
    },
  }
}
