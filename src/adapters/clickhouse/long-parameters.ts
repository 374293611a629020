import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { formatQueryParams } from '@clickhouse/client-common'
import type { SqlParameter, SqlParameters } from '../../domain/ports/clickhouse.js'

interface Asked {
  readonly sql: string
  readonly parameters: SqlParameters
}

/** Below the server's limit of 128 KiB for one value (`http_max_field_value_size`) of an address or a form. */
const MAX_PIECE_BYTES = 120 * 1024

/**
 * The same read with lists split that are too long for one value: `{ids:Array(String)}` becomes
 * `arrayConcat({ids_0:Array(String)}, {ids_1:Array(String)})`.
 */
export const inPieces = (sql: string, parameters: SqlParameters = {}): Asked => {
  const given: Record<string, SqlParameter> = {}
  let statement = sql
  for (const [name, value] of Object.entries(parameters)) {
    const pieces = isList(value) ? piecesOf(value) : [value]
    if (pieces.length === 1) {
      given[name] = value
      continue
    }
    pieces.forEach((piece, i) => (given[`${name}_${i}`] = piece))
    statement = statement.replaceAll(new RegExp(`\\{${name}:([^}]+)\\}`, 'g'), (_, type: string) => {
      const placeholders = pieces.map((_piece, i) => `{${name}_${i}:${type}}`)
      return `arrayConcat(${placeholders.join(', ')})`
    })
  }
  return { sql: statement, parameters: given }
}

type List = Extract<SqlParameter, readonly unknown[]>

const isList = (value: SqlParameter): value is List => Array.isArray(value)

const piecesOf = (list: List): readonly List[] => {
  const pieces: (string | number | bigint)[][] = [[]]
  let bytes = 0
  for (const item of list) {
    const size = Buffer.byteLength(formatQueryParams({ value: [item] }))
    if (bytes > 0 && bytes + size > MAX_PIECE_BYTES) {
      pieces.push([])
      bytes = 0
    }
    pieces.at(-1)!.push(item)
    bytes += size
  }
  return pieces
}

/** Parameters as a form in the body of a statement whose SQL is in the address, so that the address stays short. */
export const asForm = (parameters: SqlParameters) => {
  const boundary = `tallytree-${randomUUID()}`
  const parts = Object.entries(parameters).map(
    ([name, value]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="param_${name}"\r\n\r\n${formatQueryParams({ value })}\r\n`,
  )
  return {
    values: Readable.from([...parts, `--${boundary}--\r\n`], { objectMode: false }),
    http_headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
  }
}
