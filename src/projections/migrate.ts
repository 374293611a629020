import { readdir, readFile } from 'node:fs/promises'
import type { ClickHouseWriter } from '../domain/ports/clickhouse.js'

const SCHEMA = new URL('./schema/', import.meta.url)

/**
 * Brings the tables up to date: runs each numbered file of `schema/` that this database has not seen. Tables are made
 * with IF NOT EXISTS, so a migration that was cut off is simply run again.
 */
export const migrate = async (clickHouse: ClickHouseWriter): Promise<void> => {
  await clickHouse.command(
    'CREATE TABLE IF NOT EXISTS migrations (name String) ENGINE = ReplacingMergeTree ORDER BY name',
  )
  const rows = await clickHouse.query<{ name: string }>('SELECT name FROM migrations')
  const done = new Set(rows.map(({ name }) => name))
  const files = (await readdir(SCHEMA)).filter((name) => name.endsWith('.sql')).sort()
  for (const name of files) {
    if (done.has(name)) continue
    const text = await readFile(new URL(name, SCHEMA), 'utf8')
    for (const statement of statementsOf(text)) await clickHouse.command(statement)
    await clickHouse.insert({ table: 'migrations', columns: ['name'], values: [[name]] })
  }
}

const statementsOf = (text: string): string[] =>
  text
    .split(/;\s*$/m)
    .map((statement) => statement.replace(/^--.*$/gm, '').trim())
    .filter((statement) => statement !== '')
    .map((statement) => statement.replace(/^CREATE TABLE (?!IF NOT EXISTS)/, 'CREATE TABLE IF NOT EXISTS '))
