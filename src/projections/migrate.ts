import { readdir, readFile } from 'node:fs/promises'
import type { ClickHouseWriter } from '../domain/ports/clickhouse.js'
import { OperatorError } from '../domain/ports/operator-error.js'
import { SCHEMA } from '../files.js'

/** The file that makes the table of events whose rows could not be made. */
const WITH_QUARANTINE = '0001_checkpoints.sql'

const MIGRATIONS = 'CREATE TABLE migrations (name String) ENGINE = ReplacingMergeTree ORDER BY name'

/**
 * Brings the tables up to date: runs each numbered file of `schema/` that this database has not seen. Every statement
 * may be run again, so one that was cut off is, and processes that start at once do not disturb each other. Where there
 * was one to run, events that were set aside before are projected again.
 *
 * @throws OperatorError before anything is changed
 */
export const migrate = async (clickHouse: ClickHouseWriter): Promise<void> => {
  await clickHouse.command(repeatable(MIGRATIONS))
  const rows = await clickHouse.query<{ name: string }>('SELECT DISTINCT name FROM migrations ORDER BY name')
  const files = await schemaFiles()
  refuseNewer(
    rows.map(({ name }) => name),
    files,
  )
  const done = new Set(rows.map(({ name }) => name))
  const missing = files.filter((name) => !done.has(name))
  if (done.has(WITH_QUARANTINE) && missing.length > 0) await takeUpQuarantined(clickHouse)
  for (const name of missing) {
    for (const statement of await statementsOf(name)) await clickHouse.command(repeatable(statement))
    await clickHouse.insert({ table: 'migrations', columns: ['name'], values: [[name]] })
  }
}

/**
 * What the release before, which knew fewer tables, could not make rows of may be right for this one: the log is projected
 * once more. Before any file is noted as done, so that it is not forgotten where this is cut off.
 */
const takeUpQuarantined = async (clickHouse: ClickHouseWriter): Promise<void> => {
  const [row] = await clickHouse.query<{ events: number }>(
    'SELECT uniqExact(position) AS events FROM quarantine',
  )
  if (row === undefined || row.events === 0) return
  await clickHouse.command('TRUNCATE TABLE checkpoints')
  await clickHouse.command('TRUNCATE TABLE quarantine')
}

export const schemaFiles = async (): Promise<readonly string[]> =>
  (await readdir(SCHEMA)).filter((name) => name.endsWith('.sql')).sort()

/** The statements of a schema file as they stand there, without comments. */
export const statementsOf = async (name: string): Promise<readonly string[]> =>
  (await readFile(new URL(name, SCHEMA), 'utf8'))
    .split(/;\s*$/m)
    .map((statement) => statement.replace(/^--.*$/gm, '').trim())
    .filter((statement) => statement !== '')

const repeatable = (statement: string): string =>
  statement.replace(/^CREATE TABLE (?!IF NOT EXISTS)/, 'CREATE TABLE IF NOT EXISTS ')

const refuseNewer = (done: readonly string[], files: readonly string[]): void => {
  const newer = done.find(
    (name) => /^\d{4}_/.test(name) && name.slice(0, 4) > (files.at(-1) ?? '').slice(0, 4),
  )
  if (newer === undefined) return
  throw new OperatorError(
    `the ClickHouse database was used by a newer release (it has ${newer}): start that release, or configure ` +
      'another database, which is filled from the log',
  )
}
