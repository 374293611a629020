import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import { unlessRefused } from '../refused.js'
import { KEPT_TABLES } from '../rebuilds/table-identities.js'
import { tableStatements } from '../tables.js'

type Querying = Pick<ClickHouseReader, 'query'>

type BlockRange = readonly [first: number, last: number]

/** What a table has. */
interface Blocks {
  /** Its block numbers, as ranges in ascending order. */
  readonly ranges: readonly BlockRange[]
  /** A digest of the names of its parts, and the rows in them. */
  readonly parts: string
  readonly rows: number
}

export type BlocksOfTables = Readonly<Record<string, Blocks>>

/**
 * What tables consist of, noted with a checkpoint. Every insert gives its rows the next block number of the table, and
 * merged parts keep the numbers of theirs: rows that are lost leave a gap.
 */
export interface TableNote {
  /** A digest of the columns of each table. */
  readonly columns: Readonly<Record<string, string>>
  readonly blocks: BlocksOfTables
}

/** The tables that are filled from the log. */
export const NAMES = [...tableStatements.keys()].filter((name) => !KEPT_TABLES.includes(name))

export const columnsOf = async (clickHouse: Querying): Promise<TableNote['columns']> => {
  const rows = await clickHouse.query<{ name: string; columns: string }>(
    `SELECT table AS name, toString(cityHash64(groupArray((name, type)))) AS columns FROM (
      SELECT table, name, type FROM system.columns
      WHERE database = currentDatabase() AND table IN {names:Array(String)} ORDER BY table, position)
    GROUP BY table`,
    { names: NAMES },
  )
  return Object.fromEntries(rows.map(({ name, columns }) => [name, columns]))
}

/**
 * Without the tables whose rows are inserted later than the projector's: the totals pass notes the blocks of its own, and lost
 * rows of evaluations are made again.
 */
const PROJECTED = NAMES.filter((name) => name !== 'usage_totals' && name !== 'evaluation_rows')

/**
 * Those of replicated tables are left out: replicas differ while they fetch parts, and fetch lost ones by themselves.
 * Undefined where the user of a server may not list parts.
 */
export const blocksOf = async (
  clickHouse: Querying,
  names: readonly string[] = PROJECTED,
): Promise<BlocksOfTables | undefined> => {
  const rows = await unlessRefused(
    clickHouse.query<Blocks & { name: string }>(
      `SELECT table AS name, arraySort(groupArray((min_block_number, max_block_number))) AS ranges,
        toString(cityHash64(arraySort(groupArray(parts.name)))) AS parts, sum(rows) AS rows FROM system.parts
      WHERE active AND database = currentDatabase() AND table IN {names:Array(String)}
      AND NOT match(engine, '^(Replicated|Shared)') GROUP BY table`,
      { names },
    ),
  )
  return (
    rows &&
    Object.fromEntries(rows.map(({ name, ranges, ...parts }) => [name, { ranges: joined(ranges), ...parts }]))
  )
}

/** Ranges that follow one another become one. */
const joined = (ranges: readonly BlockRange[]): readonly BlockRange[] => {
  const all: [number, number][] = []
  for (const [first, last] of ranges) {
    const before = all.at(-1)
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last)
    else all.push([first, last])
  }
  return all
}

/** The tables that have lost rows since their blocks were noted: blocks are gone, or the same parts have other rows. */
export const lostRows = (noted: BlocksOfTables, found: BlocksOfTables): readonly string[] =>
  Object.entries(noted).flatMap(([name, before]) => {
    const now = found[name]
    const isWhole = now !== undefined && before.ranges.every(isWithin(now.ranges))
    return isWhole && (now.parts !== before.parts || now.rows === before.rows) ? [] : [name]
  })

const isWithin =
  (ranges: readonly BlockRange[]) =>
  ([first, last]: BlockRange): boolean =>
    ranges.some((range) => range[0] <= first && last <= range[1])

/** What was lost since it was noted, in words; empty for nothing. */
export const lossesSince = (noted: TableNote, found: TableNote): readonly string[] => [
  ...Object.entries(noted.columns).flatMap(([name, columns]) => {
    const now = found.columns[name]
    if (now === undefined) return [`the table ${name} is gone`]
    return now === columns ? [] : [`columns of ${name} are missing or changed`]
  }),
  ...lostRows(noted.blocks, found.blocks)
    .filter((name) => name in found.columns)
    .map((name) => `rows of ${name} are missing`),
]
