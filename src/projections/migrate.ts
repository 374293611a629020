import { createHash } from 'node:crypto'
import type { ClickHouse, ClickHouseReader, ClickHouseWriter } from '../kernel/ports/clickhouse.js'
import { OperatorError } from '../kernel/ports/operator-error.js'
import { unlessRefused } from './refused.js'
import { tableStatements } from './tables.js'

/**
 * Raise it when a release changes a table or the rows that an event makes: the tables of an older version
 * are dropped and filled again from the log.
 */
export const SCHEMA_VERSION = 9

const VERSION_TABLE = 'schema_version'

/** Tables of releases that had numbered migrations. */
const FORMER_TABLES = ['migrations', 'source_log']

type Querying = Pick<ClickHouseReader, 'query'>

/**
 * Creates the tables. Those of an older schema are dropped before; true where there were any. Can be cut off and repeated.
 *
 * @throws OperatorError when a newer release has used the database, before anything is changed
 */
export const migrate = async (clickHouse: ClickHouseWriter): Promise<boolean> => {
  const settings = await settingsOf(clickHouse)
  const create = (table: string) =>
    clickHouse.command(
      tableStatements.get(table)!.replace(/^CREATE TABLE /, 'CREATE TABLE IF NOT EXISTS ') + settings,
    )
  // Listed before the version is read: what another process creates meanwhile, under the version of this release, stays.
  const tables = await readModelTables(clickHouse)
  await create(VERSION_TABLE)
  const isOlder = (await schemaState(clickHouse)) === 'older'
  if (isOlder) {
    await dropTables(clickHouse, tables)
    await clickHouse.insert({
      table: VERSION_TABLE,
      columns: ['version', 'digest'],
      values: [[SCHEMA_VERSION, DIGEST]],
    })
  }
  for (const table of tableStatements.keys()) await create(table)
  return isOlder && tables.length > 0
}

/**
 * Newer engines gather statistics of all columns of a part. No query here is faster with them, and they are a third of the work of
 * a small insert. Older engines refuse the setting.
 */
const settingsOf = async (clickHouse: Querying): Promise<string> => {
  const name = 'auto_statistics_types'
  const known = await unlessRefused(
    clickHouse.query('SELECT 1 FROM system.merge_tree_settings WHERE name = {name:String}', { name }),
  )
  return known === undefined || known.length === 0 ? '' : `, ${name} = ''`
}

/** Drops the read models; `migrate` creates them again, and the projector fills them from the log. */
export const dropTables = async (clickHouse: ClickHouseWriter, names?: readonly string[]): Promise<void> => {
  const tables = names ?? [VERSION_TABLE, ...(await readModelTables(clickHouse))]
  // A start after a crash still finds by these that the database is not of this log.
  const last = ['checkpoints', 'source_log', 'migrations']
  for (const table of [...tables.filter((name) => !last.includes(name)), ...last])
    await clickHouse.command(`DROP TABLE IF EXISTS ${table} SYNC`)
  const rebuilding = await clickHouse.query<{ name: string }>(
    "SELECT name FROM system.databases WHERE startsWith(name, concat(currentDatabase(), '_rebuild_'))",
  )
  for (const { name } of rebuilding) await clickHouse.command(`DROP DATABASE IF EXISTS ${name} SYNC`)
}

/** `older` also for a database without tables, and where a statement changed under the same version. */
export const schemaState = async (clickHouse: Querying): Promise<'current' | 'older'> => {
  const [newest] = await clickHouse.query<{ version: number; digest: string }>(
    `SELECT version, digest FROM ${VERSION_TABLE} ORDER BY created_at DESC LIMIT 1`,
  )
  if (newest !== undefined && newest.version > SCHEMA_VERSION)
    throw new OperatorError(
      `the ClickHouse database was used by a newer release (its schema has version ${newest.version}, this release ` +
        `has ${SCHEMA_VERSION}): start that release, or configure another database, which is filled from the log`,
    )
  return newest?.digest === DIGEST ? 'current' : 'older'
}

const DIGEST = createHash('sha256')
  .update(JSON.stringify([SCHEMA_VERSION, ...tableStatements]))
  .digest('hex')

/**
 * The database of a server with the tables of this release: the one that the operator names, unless another release has its
 * tables there. So the processes of both releases read and fill their own tables from one log.
 */
export const databaseOfRelease = async (clickHouse: Querying, named: string): Promise<string> => {
  const own = `${named}${OF_RELEASE}${DIGEST.slice(0, 8)}`
  const tables = await clickHouse.query<{ database: string; name: string }>(
    'SELECT database, name FROM system.tables WHERE database IN ({named:String}, {own:String})',
    { named, own },
  )
  const has = (database: string, table: string) =>
    tables.some((one) => one.database === database && one.name === table)
  if (tables.some(({ database }) => database === own)) return own
  if (!has(named, 'checkpoints')) return named
  const [newest] = has(named, VERSION_TABLE) ? await versionsIn(clickHouse, named) : []
  return newest?.digest === DIGEST ? named : own
}

const OF_RELEASE = '_release_'

const versionsIn = (clickHouse: Querying, database: string) =>
  clickHouse.query<{ version: number; digest: string }>(
    `SELECT version, digest FROM ${database}.${VERSION_TABLE} ORDER BY created_at DESC LIMIT 1`,
  )

/**
 * Drops the tables of all releases but this one and the last one before, which may still run, or be started again. Returns
 * their databases.
 */
export const dropFormerReleases = async ({
  writer,
  database,
}: Pick<ClickHouse, 'writer' | 'database'>): Promise<readonly string[]> => {
  const named = database.replace(/_release_[0-9a-f]{8}$/, '')
  const filled = await writer.query<{ database: string }>(
    `SELECT database FROM system.tables WHERE name = 'checkpoints' AND database != {database:String}
      AND (database = {named:String} OR match(database, concat('^', {named:String}, '_release_[0-9a-f]{8}$')))`,
    { database, named },
  )
  const reached = new Map<string, bigint>()
  for (const other of filled) {
    const [row] = await writer.query<{ at: string }>(
      `SELECT toString(max(position)) AS at FROM ${other.database}.checkpoints`,
    )
    reached.set(other.database, BigInt(row?.at ?? 0))
  }
  const [, ...former] = [...reached.keys()].toSorted((a, b) => (reached.get(a)! < reached.get(b)! ? 1 : -1))
  for (const name of former)
    if (name !== named) await writer.command(`DROP DATABASE IF EXISTS ${name} SYNC`)
    else
      for (const table of [VERSION_TABLE, ...(await readModelTables(writer, name))])
        await writer.command(`DROP TABLE IF EXISTS ${name}.${table} SYNC`)
  return former
}

const readModelTables = async (clickHouse: Querying, database?: string): Promise<readonly string[]> => {
  const names = [...tableStatements.keys(), ...FORMER_TABLES]
  const rows = await clickHouse.query<{ name: string }>(
    `SELECT name FROM system.tables WHERE database = ${database === undefined ? 'currentDatabase()' : '{database:String}'}
      AND name != '${VERSION_TABLE}' AND name IN {names:Array(String)}`,
    { names, ...(database !== undefined && { database }) },
  )
  return rows.map(({ name }) => name)
}
