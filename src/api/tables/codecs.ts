import type * as t from 'io-ts'
import { Codec, refuse } from '../../kernel/codec/codec.js'
import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import { boolean, int64, jsonObject, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { projectId } from '../../kernel/ids.js'
import { fieldPath } from '../../domain/query/field-path.js'
import { isJsonObject, type JsonObject } from '../../kernel/json/json.js'
import type { SortBy } from '../../projections/tables/queries.js'
import { invalidField } from '../../application/failure.js'
import { range, sortBy } from '../server/sorted-range.js'

export const tableCreate = closed('TableCreateRequest', {
  required: {
    table: open('TableToCreate', {
      required: { project_id: projectId, rows: arrayOf(jsonObject) },
      optional: { expected_digest: nullable(string) },
    }),
  },
})

export const tableCreateFromDigests = closed('TableCreateFromDigestsRequest', {
  required: { project_id: projectId, row_digests: arrayOf(string) },
  optional: { expected_digest: nullable(string) },
})

const append = open('TableAppend', {
  required: { append: open('RowToAppend', { required: { row: jsonObject } }) },
})
const pop = open('TablePop', { required: { pop: open('RowToPop', { required: { index: int64 } }) } })
const insert = open('TableInsert', {
  required: { insert: open('RowToInsert', { required: { index: int64, row: jsonObject } }) },
})

/** Exactly one of `append`, `pop` and `insert`. */
export type TableUpdate =
  | { readonly append: { readonly row: JsonObject } }
  | { readonly pop: { readonly index: number } }
  | { readonly insert: { readonly index: number; readonly row: JsonObject } }

const KINDS = { append, pop, insert } as const

const kindsOf = (u: unknown) =>
  isJsonObject(u)
    ? (['append', 'pop', 'insert'] as const).filter((kind) => Object.hasOwn(u, kind) && u[kind] !== null)
    : []

const tableUpdateItem: Codec<TableUpdate> = new Codec<TableUpdate>(
  'TableUpdate',
  (u): u is TableUpdate => kindsOf(u).length === 1 && KINDS[kindsOf(u)[0]!].is(u),
  (u, c): t.Validation<TableUpdate> => {
    const [kind, ...others] = kindsOf(u)
    if (kind !== undefined && others.length === 0) return KINDS[kind].validate(u, c)
    const msg = "Input should have exactly one of 'append', 'pop' and 'insert'"
    return refuse(u, c, 'union_tag_invalid', msg)
  },
  { oneOf: [append.schema, pop.schema, insert.schema] },
)

export const tableUpdate = closed('TableUpdateRequest', {
  required: { project_id: projectId, base_digest: string, updates: arrayOf(tableUpdateItem) },
})

export const tableQuery = closed('TableQueryRequest', {
  required: { project_id: projectId, digest: string },
  optional: {
    filter: nullable(closed('TableRowFilter', { optional: { row_digests: nullable(arrayOf(string)) } })),
    ...range,
    sort_by: sortBy,
  },
})
export type TableQuery = t.TypeOf<typeof tableQuery>

export const tableQueryStats = closed('TableQueryStatsRequest', {
  required: { project_id: projectId, digest: string },
})

export const tableQueryStatsBatch = closed('TableQueryStatsBatchRequest', {
  required: { project_id: projectId },
  optional: { digests: nullable(arrayOf(string)), include_storage_size: withDefault(boolean, false, true) },
})

const MAX_SORT_FIELDS = 16
/** Parses the fields to sort by into paths of keys. */
export const sortFieldsOf = (sortBy: TableQuery['sort_by']): readonly SortBy[] => {
  if (sortBy === null) return []
  if (sortBy.length > MAX_SORT_FIELDS)
    throw invalidField(['sort_by'], 'too_long', `List should have at most ${MAX_SORT_FIELDS} items`)
  return sortBy.map(({ field, direction }) => ({ path: fieldPath(field), direction }))
}
