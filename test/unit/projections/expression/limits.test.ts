import assert from 'node:assert/strict'
import type { ClickHouse } from '../../../../src/kernel/ports/clickhouse.js'
import { parseJson } from '../../../../src/kernel/json/parse.js'
import type { Operand, Operation } from '../../../../src/domain/query/expression.js'
import { query } from '../../../../src/domain/query/query.js'
import { compileCondition } from '../../../../src/projections/expression/compile.js'
import { JSON_SETTINGS } from '../../../../src/projections/expression/readable-json.js'
import { raw, select, sql } from '../../../../src/projections/sql.js'
import { COUNTS } from '../../../counts.js'
import { openTestClickHouse } from '../../../support/engine.js'

const FIELDS = {
  name: { kind: 'text', sql: 'name' },
  at: { kind: 'instant', sql: 'at' },
  payload: { kind: 'json', sql: 'payload' },
} as const

const field = ($getField: string): Operand => ({ $getField })
const literal = ($literal: string | number | null): Operand => ({ $literal })

const WIDE = parseJson('{"$literal":1234567890123456789}') as unknown as Operand

/** Each part in digits may be an index or a key. */
const DEEP = `payload${'.0'.repeat(30)}`

const nested = (depth: number, wrap: (inner: Operand) => Operand): Operation => {
  let inner = field(DEEP)
  for (let level = 0; level < depth; level += 1) inner = wrap(inner)
  return { $and: [inner] }
}

/** The expensive ones last: `npm test` leaves them out. */
const LARGEST: Readonly<Record<string, Operation>> = {
  'a conjunction': {
    $and: Array.from({ length: 240 }, (_, i) => ({ $not: [{ $or: [literal(i)] }] as const })),
  },
  comparisons: {
    $or: Array.from({ length: 199 }, (_, i) => ({ $gt: [field(`payload.k${i}`), literal(i)] })),
  },
  'a path': { $eq: [field(DEEP), literal(null)] },
  'a list': { $in: [field('name'), Array.from({ length: 10_000 }, (_, i) => literal(`it's ${i}`))] },
  'a list of numbers': { $in: [field('at'), Array.from({ length: 10_000 }, (_, i) => literal(i / 7))] },
  'a list of fields': { $in: [field(DEEP), Array.from({ length: 480 }, () => field('name'))] },
  'wide numbers': { $eq: [field(DEEP), WIDE] },
  'wide numbers in conversions': nested(15, (input) => ({ $lt: [{ $convert: { input, to: 'int' } }, WIDE] })),
  'conversions to integers': nested(30, (input) => ({ $convert: { input, to: 'int' } })),
  negations: nested(30, (inner) => ({ $not: [inner] })),
  conversions: nested(30, (input) => ({ $convert: { input, to: 'bool' } })),
  'conversions to and fro': nested(15, (input) => ({
    $convert: { input: { $convert: { input, to: 'string' } }, to: 'bool' },
  })),
  'conversions to numbers and back': nested(15, (input) => ({
    $convert: { input: { $convert: { input, to: 'string' } }, to: 'double' },
  })),
  'lists in lists': nested(30, (inner) => ({
    $in: [inner, [literal(null), literal('a'), literal(1), field('name')]],
  })),
  'containments in containments': nested(30, (inner) => ({
    $containsToken: { input: inner, substr: literal('a'), case_insensitive: true },
  })),
  'containments of containments': nested(30, (inner) => ({
    $containsToken: { input: field('name'), substr: inner, case_insensitive: true },
  })),
  'comparisons of comparisons': nested(30, (inner) => ({ $eq: [inner, literal('true')] })),
  containments: {
    $or: Array.from({ length: 199 }, (_, i) => ({
      $containsToken: { input: field('payload.1'), substr: literal(`t${i}`), case_insensitive: true },
    })),
  },
  'long paths': {
    $or: Array.from({ length: 27 }, (_, i) => ({
      $containsToken: { input: field(`${DEEP}.${i}`), substr: literal(i), case_insensitive: true },
    })),
  },
  'long paths as truths': { $or: Array.from({ length: 30 }, (_, i) => field(`${DEEP}.${i}`)) },
  'lists of all kinds': {
    $or: Array.from({ length: 28 }, () => ({
      $in: [
        field(DEEP),
        [literal('a'), literal(1), literal(null), { $literal: true }, { $literal: false }],
      ] as const,
    })),
  },
  'keys that are all different': {
    $or: Array.from({ length: 28 }, (_, i) => ({
      $gt: [
        field(`payload${Array.from({ length: 31 }, (_, k) => `.k${i}_${k}`).join('')}`),
        literal(i),
      ] as const,
    })),
  },
}

describe('the largest expressions', () => {
  let clickHouse: ClickHouse
  before(async () => (clickHouse = await openTestClickHouse()))
  after(() => clickHouse.close())

  for (const [name, operation] of Object.entries(LARGEST).slice(0, COUNTS.largestExpressions))
    it(`of ${name} are within what ClickHouse takes`, async () => {
      assert.ok(query.is({ $expr: operation }))
      const from = sql`(SELECT toNullable('a') AS name, toNullable(now64(6)) AS at, toNullable('{"a":"a"}') AS payload)`
      const rows = await select(
        clickHouse.reader,
        sql`SELECT count() AS total FROM ${from} WHERE ${compileCondition(operation, FIELDS)} SETTINGS ${raw(JSON_SETTINGS)}`,
      )
      assert.equal(rows.length, 1)
    })
})
