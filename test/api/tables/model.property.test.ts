import assert from 'node:assert/strict'
import fc from 'fast-check'
import { isJsonObject, type Json, type JsonObject } from '../../../src/kernel/json/json.js'
import { COUNTS } from '../../counts.js'
import { arbitraryJsonObject } from '../../support/arbitrary-json.js'
import { leafAt } from '../../support/expression/evaluate.js'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted } from '../calls/given.js'
import { createTable, rowsOf, updateTable, type ReadRow } from './given.js'

const KEYS = ['a', 'b', 'a.b', '\\', 'a\\', '', "it's", '\u0000', '漢字', 'toString']

const sortable = fc.oneof(
  fc.constantFrom<Json>(0, -0, 1, -1, 10, 9, 0.5, 1e20, -1e20, 2 ** 63, 1e300, 5e-324),
  fc.constantFrom<Json>('', '10', '9', 'a', 'B', 'é', '😀', '\uffff', '\u0000', "'"),
  fc.constantFrom<Json>(true, false, null, [], [1], {}),
)

const arbitraryRow: fc.Arbitrary<JsonObject> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.dictionary(
      fc.constantFrom(...KEYS),
      fc.oneof(
        sortable,
        fc.dictionary(fc.constantFrom(...KEYS), sortable, { maxKeys: 3 }),
      ) as fc.Arbitrary<Json>,
      { maxKeys: 4 },
    ),
  },
  { weight: 1, arbitrary: arbitraryJsonObject },
)

/** Few different rows, so that tables have some of them several times. */
const arbitraryRows = fc
  .array(arbitraryRow, { minLength: 1, maxLength: 6 })
  .chain((pool) => fc.array(fc.constantFrom(...pool), { maxLength: 25 }))

const share = fc.double({ min: 0, max: 0.999, noNaN: true })

const arbitraryUpdate = fc.oneof(
  fc.record({ kind: fc.constant('append' as const), row: arbitraryRow }),
  fc.record({ kind: fc.constant('insert' as const), row: arbitraryRow, at: share }),
  fc.record({ kind: fc.constant('pop' as const), at: share }),
)
type Update = typeof arbitraryUpdate extends fc.Arbitrary<infer U> ? U : never

const arbitraryQuestion = fc.record({
  offset: fc.option(fc.nat(30)),
  limit: fc.option(fc.nat(30)),
  filter: fc.option(fc.array(share, { maxLength: 4 })),
  sort_by: fc.option(
    fc.array(
      fc.record({
        path: fc.array(fc.constantFrom(...KEYS.filter((key) => key !== '')), { minLength: 1, maxLength: 2 }),
        direction: fc.constantFrom('asc' as const, 'desc' as const),
      }),
      { maxLength: 2 },
    ),
  ),
})
type Question = typeof arbitraryQuestion extends fc.Arbitrary<infer Q> ? Q : never

const asJson = (row: JsonObject): JsonObject => JSON.parse(JSON.stringify(row).toWellFormed()) as JsonObject

/** Half a surrogate pair is written as an escape, and replaced where it is read. */
const wellFormedRow = (row: Json): Json => {
  if (typeof row === 'string') return row.toWellFormed()
  if (Array.isArray(row)) return row.map((item) => wellFormedRow(item as Json))
  if (!isJsonObject(row)) return row
  return Object.fromEntries(
    Object.entries(row).map(([key, value]) => [key.toWellFormed(), wellFormedRow(value)]),
  )
}

const valueAt = (row: Json, path: readonly string[]): Json | undefined => {
  const found = leafAt(row, path)
  return found !== null && 'leaf' in found ? found.leaf : undefined
}

const rankOf = (value: Json | undefined): readonly [kind: number, key: number | Buffer] => {
  if (typeof value === 'number') return [0, value]
  if (typeof value === 'string' || typeof value === 'boolean') return [1, Buffer.from(String(value))]
  return [2, 0]
}

const compare = (a: Json | undefined, b: Json | undefined, direction: 'asc' | 'desc'): number => {
  const [[kindA, keyA], [kindB, keyB]] = [rankOf(a), rankOf(b)]
  if (kindA !== kindB) return kindA - kindB
  const order =
    typeof keyA === 'number' ? Math.sign(keyA - (keyB as number)) : Buffer.compare(keyA, keyB as Buffer)
  return direction === 'desc' ? -order : order
}

const fieldOf = (path: readonly string[]): string =>
  path.map((key) => key.replaceAll('\\', '\\\\').replaceAll('.', '\\.')).join('.')

const answered = (rows: readonly ReadRow[], { offset, limit, filter, sort_by }: Question) => {
  const wanted = new Set(wantedDigests(rows, filter))
  const kept = wanted.size === 0 ? [...rows] : rows.filter(({ digest }) => wanted.has(digest))
  kept.sort((a, b) => {
    for (const { path, direction } of sort_by ?? []) {
      const order = compare(valueAt(a.val, path), valueAt(b.val, path), direction)
      if (order !== 0) return order
    }
    return a.original_index - b.original_index
  })
  return kept.slice(offset ?? 0, limit === null ? undefined : (offset ?? 0) + limit)
}

const wantedDigests = (rows: readonly ReadRow[], filter: readonly number[] | null): readonly string[] =>
  (filter ?? []).flatMap((at) => rows[Math.floor(at * rows.length)]?.digest ?? 'nothing')

describe('tables', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  /** The updates as the endpoint takes them, and what they make of the rows. */
  const updated = (base: readonly JsonObject[], updates: readonly Update[]) => {
    const rows = [...base]
    const sent: object[] = []
    for (const update of updates) {
      if (update.kind === 'append') {
        rows.push(update.row)
        sent.push({ append: { row: update.row } })
      } else if (update.kind === 'insert') {
        const index = Math.floor(update.at * (rows.length + 1))
        rows.splice(index, 0, update.row)
        sent.push({ insert: { index, row: update.row } })
      } else if (rows.length > 0) {
        const index = Math.floor(update.at * rows.length)
        rows.splice(index, 1)
        sent.push({ pop: { index } })
      }
    }
    return { rows, sent }
  }

  it('answer as a list of rows does, whatever is asked', async () => {
    const project_id = someProject()
    await fc.assert(
      fc.asyncProperty(
        arbitraryRows,
        fc.array(arbitraryUpdate, { maxLength: 8 }),
        fc.array(arbitraryQuestion, { minLength: 1, maxLength: 4 }),
        async (base, updates, questions) => {
          const made = await createTable(service, project_id, base)
          const { rows, sent } = updated(base, updates)
          const { digest } = await updateTable(service, project_id, made.digest, sent)
          const again = await createTable(service, project_id, rows)
          assert.equal(again.digest, digest)
          const model = rows.map((row, original_index): ReadRow => {
            const val = asJson(wellFormedRow(row) as JsonObject)
            return { digest: again.row_digests[original_index]!, val, original_index }
          })
          for (const question of questions) {
            const asked = {
              offset: question.offset,
              limit: question.limit,
              filter: question.filter && { row_digests: wantedDigests(model, question.filter) },
              sort_by:
                question.sort_by &&
                question.sort_by.map(({ path, direction }) => ({ field: fieldOf(path), direction })),
            }
            assert.deepEqual(await rowsOf(service, project_id, digest, asked), answered(model, question))
          }
          const stats = accepted(await service.post('/table/query_stats', { project_id, digest }))
          assert.deepEqual(stats, { count: rows.length })
        },
      ),
      { numRuns: COUNTS.tableModels },
    )
  })
})
