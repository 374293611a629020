import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import type { DigestedModel } from './model.js'
import { digestedModels } from './models.js'
import { stretchesOf, type Stretch } from './stretches.js'

/** What a read model says, in short. */
export interface ModelDigest {
  /** Its table. */
  readonly model: string
  /** How many facts or things it tells of. */
  readonly rows: number
  /** 64 hexadecimal digits. */
  readonly digest: string
}

/** Rows of a table that one statement works on. */
const STRETCH_ROWS = 100_000

const MODULUS = 1n << 256n

/**
 * What every read model says as of a log position that it has reached, as digests: they can be taken from a running
 * service, since what came later does not change them.
 *
 * A digest is the sum, modulo 2^256, of the SHA-256 of each row's text. It is the same whatever the order of insertion,
 * the batches in which events became rows, merges, rows written twice, and the numbers of the positions; so a log that
 * was copied elsewhere gives the same. Two models that differ by accident, or because a row of one was changed, have
 * different digests. It is no seal against somebody who makes many rows of both models at will, to find some whose sums
 * are equal; nor does it tell of the order of facts of different things, which no read as of the position shows.
 *
 * @throws ReadTooExpensive when the engine has too little memory for a hundred thousand rows
 */
export const digestsOf = async (
  reader: ClickHouseReader,
  position: Position,
  stretchRows = STRETCH_ROWS,
): Promise<readonly ModelDigest[]> => {
  const digests: ModelDigest[] = []
  for (const model of digestedModels) digests.push(await digestOf(reader, model, position, stretchRows))
  return digests
}

const digestOf = async (
  reader: ClickHouseReader,
  model: DigestedModel,
  position: Position,
  stretchRows: number,
): Promise<ModelDigest> => {
  let rows = 0
  let sum = 0n
  for (const stretch of await stretchesOf(reader, model, stretchRows)) {
    const part = await sumOf(reader, model, position, stretch)
    rows += part.rows
    sum = (sum + part.sum) % MODULUS
  }
  return { model: model.table, rows, digest: sum.toString(16).padStart(64, '0') }
}

/** Few rows at a time, in the order in which they lie: what the statement holds does not grow with the table. */
const FRUGAL = `SETTINGS max_execution_time = 0, max_threads = 2, max_block_size = 4096,
  optimize_aggregation_in_order = 1`

const sumOf = async (
  reader: ClickHouseReader,
  { rows }: DigestedModel,
  position: Position,
  { condition, parameters }: Stretch,
): Promise<{ readonly rows: number; readonly sum: bigint }> => {
  const [row] = await reader.query<{ rows: number; sum: string }>(
    `SELECT count() AS rows, toString(sum(reinterpretAsUInt256(SHA256(row)))) AS sum
    FROM (${rows(condition)}) ${FRUGAL}`,
    { ...parameters, position },
  )
  return { rows: row?.rows ?? 0, sum: BigInt(row?.sum ?? '0') }
}
