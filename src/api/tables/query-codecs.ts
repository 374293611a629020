import type * as t from 'io-ts'
import { arrayOf, nullable, withDefault } from '../../domain/codec/containers.js'
import { boolean, integerBetween, oneOf, string } from '../../domain/codec/leaves.js'
import { closed } from '../../domain/codec/struct.js'
import { projectId } from '../../domain/ids.js'

const count = nullable(integerBetween(0, Number.MAX_SAFE_INTEGER))

export const tableQuery = closed('TableQueryRequest', {
  required: { project_id: projectId, digest: string },
  optional: {
    filter: nullable(closed('TableRowFilter', { optional: { row_digests: nullable(arrayOf(string)) } })),
    limit: count,
    offset: count,
    sort_by: nullable(
      arrayOf(closed('TableSortBy', { required: { field: string, direction: oneOf('asc', 'desc') } })),
    ),
  },
})
export type TableQuery = t.TypeOf<typeof tableQuery>

export const tableQueryStats = closed('TableQueryStatsRequest', {
  required: { project_id: projectId, digest: string },
})

export const tableQueryStatsBatch = closed('TableQueryStatsBatchRequest', {
  required: { project_id: projectId },
  optional: {
    digests: nullable(arrayOf(string)),
    include_storage_size: withDefault(boolean, false, true),
  },
})
