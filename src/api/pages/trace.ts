import { Failure } from '../../application/failure.js'
import { costNumber } from '../../application/calls/usage-sums.js'
import type { Services } from '../../application/services.js'
import { listName } from '../../domain/prices/events.js'
import { callRef } from '../../domain/refs/ref.js'
import { modelOf } from '../../domain/prices/variant.js'
import { arrayOf, nullable, recordOf } from '../../kernel/codec/containers.js'
import { int64, integerBetween, number, oneOf, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { projectId } from '../../kernel/ids.js'
import { traceRows } from '../../projections/calls/trace-rows.js'
import { feedbackCounts } from '../../projections/feedback/queries.js'
import { cachedBooks } from '../../projections/prices/cached-books.js'
import { loadTraces, usageReportingAt } from '../../projections/usage/facts.js'
import { traceFigures } from '../../projections/usage/trace-figures.js'
import { waitForPrices } from '../calls/requested-costs.js'
import { inBody } from '../server/authorization.js'
import type { AnyRoute } from '../server/route.js'
import { readProject } from '../server/route-kinds.js'
import { refuseTooLarge } from '../../application/calls/too-large.js'
import { compressedJson } from './compressed.js'

const STATUSES = ['success', 'error', 'running', 'descendant_error'] as const

const place = integerBetween(-1, Number.MAX_SAFE_INTEGER)
const microsecond = int64

const traceColumns = open('TraceColumns', {
  says:
    'The calls of a trace as columns in the order of their starts. Times are in microseconds, `starts` from `started_us`. ' +
    '`parents`, `ops` and `models` are indexes, -1 for none. Unpriced calls have costs without the models that have no price.',
  required: {
    ids: arrayOf(string),
    parents: arrayOf(place),
    op_names: arrayOf(string),
    ops: arrayOf(place),
    display_names: recordOf(string),
    started_us: microsecond,
    starts: arrayOf(microsecond),
    durations: arrayOf(nullable(microsecond)),
    status_names: arrayOf(oneOf(...STATUSES)),
    statuses: arrayOf(place),
    own_tokens: arrayOf(int64),
    tokens: arrayOf(int64),
    own_costs: arrayOf(number),
    costs: arrayOf(number),
    own_unpriced: arrayOf(place),
    unpriced: arrayOf(place),
    model_names: arrayOf(string),
    models: arrayOf(place),
    feedback: recordOf(int64),
    /** Indexes of calls whose parent is deleted or was never recorded. */
    orphans: arrayOf(place),
  },
})

export const traceRoute = (services: Pick<Services, 'access' | 'reading' | 'maxTraceCalls'>): AnyRoute => {
  const { reading, maxTraceCalls } = services
  const books = cachedBooks(reading.generation)
  return readProject(services, {
    method: 'post',
    path: '/api/pages/trace',
    summary: 'A whole trace as columns, with tokens and costs of each call alone and with its descendants.',
    body: closed('TracePageRequest', {
      required: { project_id: projectId, trace_id: string },
      optional: { price_list: nullable(listName) },
    }),
    errors: ['not-found'],
    response: traceColumns,
    project: inBody,
    handle: (request) => {
      const { body, headers, project, reader } = request
      const { trace_id: traceId, price_list: list } = body
      return {
        waitFor: () => waitForPrices(reading, request, { list }),
        read: async (position) => {
          const [rows, calls, reporting, book, feedback] = await Promise.all([
            traceRows(reader, project, traceId, position),
            loadTraces(reader, project, [traceId], position, { maxTraceCalls }).catch(refuseTooLarge),
            usageReportingAt(reader, project, position),
            books(reader, { projectId: project, list, position }),
            feedbackCounts(reader, project, traceId, position),
          ])
          if (rows.ids.length === 0) throw new Failure('not-found', 'Trace not found.')
          const figures = await traceFigures(calls, reporting, book)
          return compressedJson(headers, columnsOf(project, rows, calls, figures, feedback))
        },
      }
    },
  })
}

const columnsOf = (
  project: string,
  rows: Awaited<ReturnType<typeof traceRows>>,
  { indexOf, models, reported }: Awaited<ReturnType<typeof loadTraces>>,
  figures: Awaited<ReturnType<typeof traceFigures>>,
  feedback: ReadonlyMap<string, number>,
) => {
  const { ids } = rows
  const modelNames = [...new Set(models.map(modelOf))]
  const start = rows.starts[0]!
  const rowOf = new Map(ids.map((id, row) => [id, row]))
  const factOf = ids.map((id) => indexOf.get(id)!)
  const parents = rows.parents.map((id) => (id === '' ? -1 : (rowOf.get(id) ?? -1)))
  const marked = (marks: Uint8Array) => [...ids.keys()].filter((row) => marks[factOf[row]!] === 1)
  return {
    ids,
    parents,
    op_names: rows.ops,
    ops: rows.op.map((from1) => from1 - 1),
    display_names: rows.display_names,
    started_us: start,
    starts: rows.starts.map((at) => at - start),
    durations: rows.durations,
    status_names: STATUSES,
    statuses: rows.statuses.map((status) => STATUSES.indexOf(status as (typeof STATUSES)[number])),
    own_tokens: factOf.map((fact) => figures.ownTokens[fact]!),
    tokens: factOf.map((fact) => figures.tokens[fact]!),
    own_costs: factOf.map((fact) => costNumber(figures.ownCosts[fact]!)),
    costs: factOf.map((fact) => costNumber(figures.costs[fact]!)),
    own_unpriced: marked(figures.isOwnUnpriced),
    unpriced: marked(figures.isUnpriced),
    model_names: modelNames,
    models: factOf.map((fact) => {
      const entry = reported.offsets[fact]!
      return entry < reported.offsets[fact + 1]!
        ? modelNames.indexOf(modelOf(models[reported.model[entry]!]!))
        : -1
    }),
    feedback: Object.fromEntries(
      [...feedback].flatMap(([ref, count]) => {
        const row = rowOf.get(ref.slice(callRef(project, '').length))
        return row === undefined ? [] : [[row, count]]
      }),
    ),
    orphans: [...ids.keys()].filter((row) => rows.parents[row] !== '' && parents[row] === -1),
  }
}
