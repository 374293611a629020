import { fieldPaths } from '../../application/calls/field-paths.js'
import type { Services } from '../../application/services.js'
import { fieldName } from '../../domain/query/field-path.js'
import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import { int64, oneOf, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { projectId } from '../../kernel/ids.js'
import { parseInstant } from '../../kernel/codec/instant.js'
import type { Json, JsonObject } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'
import { listRows } from '../../projections/calls/list-rows.js'
import { callIds } from '../../projections/calls/pages.js'
import { commonValues } from '../../projections/calls/values.js'
import { commonModels } from '../../projections/usage/query/model-values.js'
import { refuseTooLarge } from '../../application/calls/too-large.js'
import { invalid } from '../../application/failure.js'
import { inQuery } from '../server/authorization.js'
import { integerInQuery } from '../server/integer-in-query.js'
import type { AnyRoute } from '../server/route.js'
import { readProject } from '../server/route-kinds.js'
import { requireFields } from './calls.js'
import { compressedJson } from './compressed.js'

type PageServices = Pick<Services, 'access' | 'reading'>

/** The name of the models that a call used, which is no field of the call. */
export const MODEL = 'model'

const limit = withDefault(integerInQuery(1, 200), 20)
const NEWEST = { sortBy: [{ field: 'started_at', direction: 'desc' }] as const, offset: 0 }

export const fieldValue = open('FieldValue', { required: { value: string, calls: int64 } })

/** The values that a filter on a field can choose from. */
export const valuesRoute = (services: PageServices): AnyRoute =>
  readProject(services, {
    method: 'get',
    path: '/api/pages/values',
    summary:
      'The values of a field that most calls of a project have, for completion. `model` is the models that calls used themselves.',
    query: closed('FieldValuesQuery', {
      required: { project_id: projectId, field: fieldName },
      optional: { contains: withDefault(string, ''), since: nullable(string), limit },
    }),
    response: open('FieldValues', { required: { data: arrayOf(fieldValue) } }),
    project: inQuery,
    handle: ({ query: { field, contains, since, limit }, headers, project: projectId, reader }) => {
      if (field !== MODEL) requireFields([field], ['query', 'field'])
      const from = since === null ? undefined : parseInstant(since)
      if (since !== null && from === undefined)
        throw invalid([
          { loc: ['query', 'since'], type: 'value_error', msg: 'Input should be a time in ISO 8601' },
        ])
      return async (position) => {
        const $gte = [{ $getField: 'started_at' }, { $literal: from ?? '' }] as const
        const operation = from === undefined ? null : { $and: [{ $gte }] }
        const selection = { projectId, filter: null, operation, position }
        const options = { contains, limit }
        const data =
          field === MODEL
            ? await commonModels(reader, selection, 'own', options).catch(refuseTooLarge)
            : (await commonValues(reader, selection, [field], options)).values[0]!
        return compressedJson(headers, { data })
      }
    },
  })

/** The calls whose payload is looked into. */
const SAMPLE = 300

const callField = open('CallField', {
  required: { path: string, type: oneOf('text', 'number', 'boolean', 'list'), example: string },
})

/** The fields that a filter or a column can name, by what the newest calls have. */
export const fieldsRoute = (services: PageServices): AnyRoute =>
  readProject(services, {
    method: 'get',
    path: '/api/pages/fields',
    summary: `The fields within inputs, output, attributes and summary of the newest ${SAMPLE} calls of a project.`,
    query: closed('CallFieldsQuery', {
      required: { project_id: projectId },
      optional: { contains: withDefault(string, ''), limit },
    }),
    response: open('CallFields', { required: { data: arrayOf(callField) } }),
    project: inQuery,
    handle:
      ({ query: { contains, limit }, headers, project: projectId, reader }) =>
      async (position) => {
        const newest = { projectId, filter: null, operation: null, position, ...NEWEST, limit: SAMPLE }
        const keys = await callIds(reader)(newest)
        const rows = await listRows(reader, projectId, keys, position)
        const all = fieldPaths(
          rows.map(({ inputs, output, attributes, summary }) =>
            payloadOf({ inputs, output, attributes, summary }),
          ),
        )
        const wanted = contains.toLowerCase()
        const data = all.filter(({ path }) => path.toLowerCase().includes(wanted)).slice(0, limit)
        return compressedJson(headers, { data })
      },
  })

/** Text that was cut off is no JSON, and left out. */
const payloadOf = (texts: Readonly<Record<string, string>>): JsonObject => {
  const payload: Record<string, Json> = {}
  for (const [name, text] of Object.entries(texts))
    try {
      payload[name] = parseJson(text)
    } catch {
      continue
    }
  return payload
}
