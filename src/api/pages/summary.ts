import { erasedCalls } from '../../projections/erasures/without-figures.js'
import { erasedCallsField } from '../calls/erased-calls.js'
import { Failure } from '../../application/failure.js'
import { callsFilter, requireBoundedFilter } from '../../application/calls/filter.js'
import { refuseTooLarge } from '../../application/calls/too-large.js'
import type { Services } from '../../application/services.js'
import { fieldName } from '../../domain/query/field-path.js'
import { query } from '../../domain/query/query.js'
import { arrayOf, nullable, recordOf, withDefault } from '../../kernel/codec/containers.js'
import { instant, microseconds, type Instant } from '../../kernel/codec/instant.js'
import { int64, integerBetween, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { projectId } from '../../kernel/ids.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { CallSelection } from '../../projections/calls/select.js'
import { callCounts, callExtent, newestOf, type Buckets } from '../../projections/calls/summary.js'
import { commonValues } from '../../projections/calls/values.js'
import { cachedBooks } from '../../projections/prices/cached-books.js'
import { commonModels } from '../../projections/usage/query/model-values.js'
import { waitForPrices } from '../calls/requested-costs.js'
import { readWithUsage, usedUsage } from '../calls/usage-fields.js'
import { inBody } from '../server/authorization.js'
import type { AnyRoute } from '../server/route.js'
import { readProject } from '../server/route-kinds.js'
import { requireFields } from './calls.js'
import { compressedJson } from './compressed.js'
import { fieldValue, MODEL } from './fields.js'

const MAX_FIELDS = 8

/** Values within payloads take long to read, so that they are counted for the newest calls. */
const PARSED = { most: 20_000, searched: 100_000 }

const facet = open('CallFacet', {
  says:
    'The values of a field that most calls have. `of` is the number of newest calls that were counted. `values` is null if ' +
    'there is too much usage to count.',
  required: { field: string, of: int64, values: nullable(arrayOf(fieldValue)) },
})

/** The counts that frame a list of calls. */
export const summaryRoute = (services: Pick<Services, 'access' | 'reading'>): AnyRoute => {
  const { reading } = services
  const books = cachedBooks(reading.generation)
  return readProject(services, {
    method: 'post',
    path: '/api/pages/calls/summary',
    summary:
      'How many calls a list has, in buckets of their start by status, and the values of fields that most of them have. ' +
      'The field `model` is the models that calls used with their descendants.',
    body: closed('CallsSummaryRequest', {
      required: { project_id: projectId },
      optional: {
        filter: nullable(callsFilter),
        query: nullable(query),
        start: nullable(instant),
        end: nullable(instant),
        buckets: withDefault(integerBetween(1, 200), 60),
        fields: withDefault(arrayOf(fieldName), [] as readonly string[]),
        limit: withDefault(integerBetween(1, 100), 8),
      },
    }),
    errors: ['forbidden'],
    response: open('CallsSummary', {
      says: 'Buckets begin at `from_us`, in microseconds since 1970, and are `step_us` long.',
      required: {
        calls: int64,
        from_us: int64,
        step_us: int64,
        by_status: recordOf(arrayOf(int64)),
        facets: arrayOf(facet),
        erased_calls: erasedCallsField,
      },
    }),
    project: inBody,
    handle: (request) => {
      const { body, headers, project, reader } = request
      const { filter, fields } = body
      const operation = body.query?.$expr ?? null
      requireBoundedFilter(filter)
      requireFields(
        fields.filter((name) => name !== MODEL),
        ['body', 'fields'],
      )
      if (fields.length > MAX_FIELDS)
        throw new Failure('bad-request', `At most ${MAX_FIELDS} fields are allowed.`)
      const usage = usedUsage(operation, [])
      return {
        waitFor: () => waitForPrices(reading, request, usage.hasCosts ? { list: null } : null),
        read: async (position) => {
          const read = async (selection: CallSelection) => {
            const { buckets, counts, facets } = await summaryOf(reader, selection, body)
            return compressedJson(headers, {
              calls: counts.calls,
              from_us: buckets.from,
              step_us: buckets.step,
              by_status: Object.fromEntries(
                [...counts.ofStatus].map(([status, { buckets }]) => [status, buckets]),
              ),
              facets,
              erased_calls: await erasedCalls(reader, project, position, { from: body.start, to: body.end }),
            })
          }
          const selection = { projectId: project, filter, operation, position }
          return usage.isUsed ? readWithUsage(reader, books, selection, usage, read) : read(selection)
        },
      }
    },
  })
}

/** The range of the buckets, in microseconds: an end that is not given is that of the calls. */
const bucketed = async (
  reader: ClickHouseReader,
  selection: CallSelection,
  { start, end }: { readonly start: Instant | null; readonly end: Instant | null },
): Promise<readonly [from: number, to: number]> => {
  const [givenFrom, givenTo] = [start, end].map((at) => (at === null ? undefined : Number(microseconds(at))))
  if (givenFrom !== undefined && givenTo !== undefined) return [givenFrom, givenTo]
  const { first, last } = await callExtent(reader, selection)
  const from = givenFrom ?? first
  return [from, givenTo ?? Math.max(last + 1, from + 1)]
}

interface SummaryRequest {
  readonly start: Instant | null
  readonly end: Instant | null
  readonly buckets: number
  readonly fields: readonly string[]
  readonly limit: number
}

const summaryOf = async (reader: ClickHouseReader, selection: CallSelection, asked: SummaryRequest) => {
  const { fields, limit } = asked
  const ofColumns = fields.filter((field) => COLUMN_FIELDS.has(field))
  const parsed = fields.filter((field) => field !== MODEL && field !== STATUS && !COLUMN_FIELDS.has(field))
  const options = { contains: '', limit }
  const countsOf = async () => {
    const [from, to] = await bucketed(reader, selection, asked)
    const buckets = bucketsOf(from, to, asked.buckets)
    return { buckets, counts: await callCounts(reader, selection, buckets, { names: ofColumns, limit }) }
  }
  const valuesOfNewest = async () =>
    parsed.length === 0
      ? null
      : commonValues(reader, await newestOf(reader, selection, PARSED), parsed, { ...options, areFew: true })
  const [{ buckets, counts }, models, newest] = await Promise.all([
    countsOf(),
    fields.includes(MODEL) ? modelsOf(reader, selection, options) : null,
    valuesOfNewest(),
  ])
  const facets = fields.map((field) => {
    if (parsed.includes(field))
      return { field, of: newest!.calls, values: newest!.values[parsed.indexOf(field)]! }
    if (field === MODEL) return { field, of: counts.calls, values: models }
    const values = field === STATUS ? statusValues(counts) : counts.values[ofColumns.indexOf(field)]!
    return { field, of: counts.calls, values: values.slice(0, limit) }
  })
  return { buckets, counts, facets }
}

const STATUS = 'summary.weave.status'

const statusValues = ({ ofStatus }: Pick<Awaited<ReturnType<typeof callCounts>>, 'ofStatus'>) =>
  [...ofStatus]
    .map(([value, { calls }]) => ({ value, calls }))
    .toSorted((a, b) => b.calls - a.calls || (a.value < b.value ? -1 : 1))

/** Null if there is too much usage to count. */
const modelsOf = (
  reader: ClickHouseReader,
  selection: CallSelection,
  options: Parameters<typeof commonModels>[3],
) =>
  commonModels(reader, selection, 'inclusive', options)
    .catch(refuseTooLarge)
    .catch((error: unknown) => {
      if (error instanceof Failure) return null
      throw error
    })

/** Fields that are read without parsing JSON, besides the status. */
const COLUMN_FIELDS = new Set(['op_name', 'summary.weave.trace_name', 'wb_user_id', 'thread_id', 'turn_id'])

const SECOND = 1_000_000
const [MINUTE, HOUR, DAY] = [60 * SECOND, 3600 * SECOND, 86_400 * SECOND] as const
const STEPS = [
  ...[1, 2, 5, 10, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 30].map((count) => count * MINUTE),
  ...[1, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14, 28, 91, 365].map((count) => count * DAY),
]

/** Buckets of a round length from a round time in UTC that cover a range, as many as allowed. */
const bucketsOf = (from: number, to: number, most: number): Buckets => {
  const countAt = (step: number) => Math.ceil(to / step) - Math.floor(from / step)
  const step =
    STEPS.find((one) => countAt(one) <= most) ?? Math.ceil((to - from) / (most - 1 || 1) / DAY + 1) * DAY
  return { from: Math.floor(from / step) * step, step, count: countAt(step) }
}
