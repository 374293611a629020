import type * as t from 'io-ts'
import { Codec, refuse } from '../../domain/codec/codec.js'
import { arrayOf, nullable } from '../../domain/codec/containers.js'
import { int64, jsonObject, string } from '../../domain/codec/leaves.js'
import { closed, open } from '../../domain/codec/struct.js'
import { projectId } from '../../domain/ids.js'
import { isJsonObject, type JsonObject } from '../../domain/json/json.js'

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
