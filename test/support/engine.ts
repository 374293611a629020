import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbeddedClickHouse } from '../../src/adapters/clickhouse/embedded.js'
import type { ClickHouse } from '../../src/domain/ports/clickhouse.js'

const directory = mkdtempSync(join(tmpdir(), 'tallytree-engine-'))
process.on('exit', () => rmSync(directory, { recursive: true, force: true }))

/** A database of its own in the one engine that a process may have. */
export const openTestClickHouse = (): Promise<ClickHouse> =>
  openEmbeddedClickHouse(directory, `t_${randomUUID().replaceAll('-', '')}`)
