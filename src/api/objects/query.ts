import type { Services } from '../../application/services.js'
import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import { boolean, oneOf, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { projectId } from '../../kernel/ids.js'
import { inPages } from '../../kernel/pages.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import {
  SORT_FIELDS,
  versionPlaces,
  versionsAt,
  type ObjectSort,
  type VersionPlace,
} from '../../projections/objects/queries.js'
import { inBody } from '../server/authorization.js'
import { invalidField } from '../../application/failure.js'
import { streamedArray } from '../server/json-pages.js'
import type { AnyRoute } from '../server/route.js'
import { readProject } from '../server/route-kinds.js'
import { requireBoundedValues } from '../../application/calls/filter.js'
import { objectJson, objectSchema, type ObjectJsonOptions } from './objects.js'
import { range } from '../server/sorted-range.js'

const off = withDefault(boolean, false, true)
const values = nullable(arrayOf(string))

const objectsFilter = closed('ObjectVersionFilter', {
  optional: {
    base_object_classes: values,
    exclude_base_object_classes: values,
    leaf_object_classes: values,
    object_ids: values,
    is_op: nullable(boolean),
    latest_only: nullable(boolean),
    tags: values,
    aliases: values,
  },
})

const objectsQuery = closed('ObjectsQueryRequest', {
  required: { project_id: projectId },
  optional: {
    filter: nullable(objectsFilter),
    ...range,
    sort_by: nullable(
      arrayOf(closed('ObjectSortBy', { required: { field: string, direction: oneOf('asc', 'desc') } })),
    ),
    metadata_only: off,
    include_storage_size: off,
    include_tags_and_aliases: off,
    wb_user_id: nullable(string),
  },
})

/** Versions are read in pages, so that memory stays bounded by one page. */
const PAGE = { items: 500, weight: 16 * 1024 * 1024 }

/** The default order is that of publication. */
export const queryObjects = (services: Pick<Services, 'access' | 'reading'>): AnyRoute => {
  async function* pagesOf(
    reader: ClickHouseReader,
    projectId: string,
    places: readonly VersionPlace[],
    position: Position,
    options: ObjectJsonOptions,
  ) {
    const wanted = { withVal: !options.metadata_only, withLabels: options.include_tags_and_aliases }
    const weight = ({ bytes }: VersionPlace) => (wanted.withVal ? bytes : 0)
    for (const page of inPages(places, weight, PAGE)) {
      const versions = await versionsAt(reader)(projectId, page, position, wanted)
      yield versions.map((version) => objectJson(projectId, version, options))
    }
  }

  return readProject(services, {
    method: 'post',
    path: '/objs/query',
    summary: 'Read the object versions that match a filter.',
    body: objectsQuery,
    response: open('ObjectsQueryResponse', { required: { objs: arrayOf(objectSchema) } }),
    project: inBody,
    handle: ({ body, project: projectId, reader }) => {
      const { filter, limit, offset } = body
      requireBoundedValues(
        Object.values(filter ?? {}).flatMap((one) => (Array.isArray(one) ? (one as string[]) : [])),
      )
      const sortBy = (body.sort_by ?? []).map(sorting)
      return async (position) => {
        const query = { projectId, filter, position, sortBy, limit, offset }
        const places = await versionPlaces(reader)(query)
        return streamedArray('objs')(pagesOf(reader, projectId, places, position, body))
      }
    },
  })
}

const sorting = (
  { field, direction }: { readonly field: string; readonly direction: 'asc' | 'desc' },
  index: number,
): ObjectSort => {
  const sortField = SORT_FIELDS.find((one) => one === field)
  if (sortField !== undefined) return { field: sortField, direction }
  const fields = SORT_FIELDS.map((one) => `'${one}'`).join(' or ')
  throw invalidField(['sort_by', index, 'field'], 'literal_error', `Input should be ${fields}`)
}
