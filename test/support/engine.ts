import { randomUUID } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbeddedClickHouse } from '../../src/adapters/clickhouse/embedded.js'
import type { ClickHouse } from '../../src/domain/ports/clickhouse.js'
import { goneWithThisProcess } from './scratch.js'

/** The one directory that the one engine of this process works in. */
export const engineDirectory = goneWithThisProcess(mkdtempSync(join(tmpdir(), 'tallytree-engine-')))

export const arbitraryDatabase = (): string => `t_${randomUUID().replaceAll('-', '')}`

/** A database of its own in the one engine that a process may have. */
export const openTestClickHouse = (): Promise<ClickHouse> =>
  openEmbeddedClickHouse(engineDirectory, arbitraryDatabase())
