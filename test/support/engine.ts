import { randomUUID } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbeddedClickHouse } from '../../src/adapters/clickhouse/embedded.js'
import { openClickHouseServer } from '../../src/adapters/clickhouse/server.js'
import type { ClickHouse } from '../../src/kernel/ports/clickhouse.js'
import { noHealthReports } from '../../src/kernel/ports/health.js'
import { isOnServer, sharedServer } from './clickhouse-server.js'
import { goneWithThisProcess } from './scratch.js'

/** The one directory that the one engine of this process works in. */
export const engineDirectory = goneWithThisProcess(mkdtempSync(join(tmpdir(), 'tallytree-engine-')))

export const arbitraryDatabase = (): string => `t_${randomUUID().replaceAll('-', '')}`

/** A database of its own in the one engine that a process may have, or on the shared server; dropped when it is closed. */
export const openTestClickHouse = async (health = noHealthReports): Promise<ClickHouse> => {
  const database = arbitraryDatabase()
  const clickHouse = isOnServer
    ? await openClickHouseServer(`${(await sharedServer()).userUrl}/${database}`, { health })
    : await openEmbeddedClickHouse(engineDirectory, database)
  return {
    ...clickHouse,
    close: async () => {
      // Its background merges would slow the tests that follow.
      await clickHouse.writer.command(`DROP DATABASE IF EXISTS ${database}`)
      await clickHouse.close()
    },
  }
}
