import { erasedCalls } from '../../projections/erasures/without-figures.js'
import { erasedCallsField } from '../calls/erased-calls.js'
import type { Services } from '../../application/services.js'
import { decimalText } from '../../domain/prices/decimal.js'
import { chartStarts } from '../../domain/usage/chart-buckets.js'
import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import { instant, instantOf, microseconds } from '../../kernel/codec/instant.js'
import { boolean, int64, integerBetween, number, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { projectId } from '../../kernel/ids.js'
import { errorGroups } from '../../projections/calls/errors.js'
import { clamped, isUnknownCost, type UsageFigures } from '../../projections/usage/query/queries.js'
import { invalidField } from '../../application/failure.js'
import { refuseTooLarge } from '../../application/calls/too-large.js'
import { overview, type Overview, type RootFigures } from '../../application/usage/overview.js'
import { pricedReads } from '../calls/requested-costs.js'
import { inBody } from '../server/authorization.js'
import type { AnyRoute } from '../server/route.js'
import { readProject } from '../server/route-kinds.js'
import { rangeOf } from '../usage/query/dimensions.js'
import { requestedOffset } from '../usage/timezone.js'
import { compressedJson } from './compressed.js'

const MAX_SECONDS = 3660 * 86_400

const used = { tokens: int64, cost: nullable(number), unpriced: boolean }

const figures = open('OverviewFigures', {
  says:
    'Traces are root calls; those with an exception are `errors`, and percentiles are of their durations. `cost` is null if it ' +
    'is unknown, and lacks models without a price if `unpriced`.',
  required: {
    traces: int64,
    errors: int64,
    p50_ms: nullable(number),
    p95_ms: nullable(number),
    users: int64,
    ...used,
  },
})

const overviewResponse = open('Overview', {
  says:
    'Figures of a range and of the one of the same length before it. `starts` are those of the buckets of its charts, in ' +
    'seconds since 1970. `users` are values of `user_field`.',
  required: {
    has_calls: boolean,
    user_field: string,
    figures,
    previous: figures,
    starts: arrayOf(int64),
    statuses: arrayOf(open('OverviewStatus', { required: { status: string, traces: arrayOf(int64) } })),
    p50_ms: arrayOf(nullable(number)),
    p95_ms: arrayOf(nullable(number)),
    costs: arrayOf(
      open('OverviewCost', {
        says: 'Own costs of a model by bucket; of all further models together if it is null.',
        required: { model: nullable(string), cost: arrayOf(nullable(number)) },
      }),
    ),
    ops: arrayOf(
      open('OverviewOp', {
        says: 'All calls of an op, with their own usage.',
        required: { op: string, calls: int64, errors: int64, p95_ms: nullable(number), ...used },
      }),
    ),
    models: arrayOf(
      open('OverviewModel', {
        says: 'Calls that used a model themselves.',
        required: { model: string, calls: int64, ...used, previous_cost: nullable(number) },
      }),
    ),
    users: arrayOf(
      open('OverviewUser', {
        says: 'Traces of a user, with the usage of all their calls.',
        required: { user: string, traces: int64, errors: int64, ...used },
      }),
    ),
    unpriced_models: arrayOf(string),
    erased_calls: erasedCallsField,
  },
})

/** Costs are exact up to the nearest double, as in `/usage/query`. */
const shownUsage = (usage: UsageFigures | undefined) => ({
  tokens: Number(clamped(usage?.total_tokens ?? 0n)),
  cost: costOf(usage),
  unpriced: usage !== undefined && usage.pricing.unpricedCount > 0,
})

const costOf = (usage: UsageFigures | undefined): number | null =>
  usage === undefined ? 0 : isUnknownCost('total_cost', usage) ? null : Number(decimalText(usage.total_cost))

const shownFigures = (roots: RootFigures, usage: UsageFigures) => ({ ...roots, ...shownUsage(usage) })

const shown = (found: Overview) => ({
  has_calls: found.hasCalls,
  user_field: found.userField,
  figures: shownFigures(found.current, found.usage),
  previous: shownFigures(found.previous, found.previousUsage),
  starts: found.starts,
  statuses: found.statuses,
  p50_ms: found.p50,
  p95_ms: found.p95,
  costs: found.costs.map(({ model, usage }) => ({ model, cost: usage.map(costOf) })),
  ops: found.ops.map(({ usage, ...op }) => ({ ...op, ...shownUsage(usage) })),
  models: found.models.map(({ model, usage, previous }) => ({
    model,
    calls: Number(usage.calls),
    ...shownUsage(usage),
    previous_cost: costOf(previous),
  })),
  users: found.users.map(({ usage, ...user }) => ({ ...user, ...shownUsage(usage) })),
  unpriced_models: found.usage.pricing.unpriced.slice(0, 100),
})

export const overviewRoute = (services: Pick<Services, 'clock' | 'access' | 'reading'>): AnyRoute => {
  const priced = pricedReads(services.reading)
  return readProject(services, {
    method: 'post',
    path: '/api/pages/overview',
    summary:
      'What a project did in a range, compared with the range of the same length before. The figures are those of ' +
      '`/calls/stats` and `/usage/query`.',
    body: closed('OverviewRequest', {
      required: { project_id: projectId, start: instant },
      optional: { end: nullable(instant), timezone: withDefault(string, 'UTC') },
    }),
    response: overviewResponse,
    project: inBody,
    handle: (request) => {
      const { body, headers, project, reader } = request
      const { waitFor, pricesAt } = priced(request, { list: null })
      const range = rangeOf({ ...body, compare: null }, instantOf(services.clock.now()))!
      const [from, to] = [range.from, range.to].map((at) => Number(microseconds(at)) / 1e6) as [
        number,
        number,
      ]
      if (to - from > MAX_SECONDS)
        throw invalidField(['end'], 'value_error', 'Value error, end should be at most ten years after start')
      const starts = chartStarts(Math.floor(from), Math.ceil(to), requestedOffset(body.timezone))
      return {
        waitFor,
        read: async (position) => {
          const asked = {
            projectId: project,
            position,
            began: range,
            starts,
            prices: await pricesAt(position),
          }
          const found = await overview(reader, asked).catch(refuseTooLarge)
          const erased_calls = await erasedCalls(reader, project, position, range)
          return compressedJson(headers, { ...shown(found), erased_calls })
        },
      }
    },
  })
}

const errorGroup = open('ErrorGroup', {
  says: 'Failed calls of an op with the same `summary.weave.error`, and the newest of them.',
  required: {
    error: string,
    op: string,
    count: int64,
    first_at: instant,
    last_at: instant,
    call_id: string,
    trace_id: string,
  },
})

export const errorsRoute = (services: Pick<Services, 'access' | 'reading'>): AnyRoute =>
  readProject(services, {
    method: 'post',
    path: '/api/pages/errors',
    summary:
      'The failed calls that started in a range, by op and error, the group with the newest call first.',
    body: closed('ErrorsRequest', {
      required: { project_id: projectId, start: instant, end: instant },
      optional: { limit: withDefault(integerBetween(1, 100), 8) },
    }),
    response: open('Errors', { required: { data: arrayOf(errorGroup) } }),
    project: inBody,
    handle:
      ({ body: { start, end, limit }, headers, project, reader }) =>
      async (position) => {
        const began = { from: start, to: end }
        const data = await errorGroups(reader, { projectId: project, filter: null, position, began }, limit)
        return compressedJson(headers, { data })
      },
  })
