import { Failure } from '../../application/failure.js'
import type { Services } from '../../application/services.js'
import { decimalText } from '../../domain/prices/decimal.js'
import type { Exact } from '../../domain/prices/exact.js'
import { listName } from '../../domain/prices/events.js'
import { arrayOf, nullable } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { boolean, int64, oneOf, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { projectId } from '../../kernel/ids.js'
import { PRICE_SOURCES, sourceOf } from '../../projections/prices/book.js'
import { cachedBooks } from '../../projections/prices/cached-books.js'
import { CHARGED_KINDS, explained } from '../../projections/usage/explained.js'
import { loadTraces, usageReportingAt } from '../../projections/usage/facts.js'
import { waitForPrices } from '../calls/requested-costs.js'
import { inBody } from '../server/authorization.js'
import type { AnyRoute } from '../server/route.js'
import { readProject } from '../server/route-kinds.js'
import { refuseTooLarge } from '../../application/calls/too-large.js'
import { compressedJson } from './compressed.js'

const contribution = open('UsageContribution', {
  says:
    'What calls of one op used of a model at one price. `call_id` is the first of them. `cost` and `unit_price` are in dollars, ' +
    'null without a price. What is not `counted` was reported by a call for its descendants, which have rows of their own.',
  required: {
    op: string,
    model: string,
    kind: oneOf(...CHARGED_KINDS),
    call_id: string,
    calls: int64,
    units: int64,
    unit_price: nullable(string),
    price_source: nullable(oneOf(...PRICE_SOURCES)),
    price_since: nullable(instant),
    cost: nullable(string),
    counted: boolean,
  },
})

const explanation = open('UsageExplanation', { required: { rows: arrayOf(contribution) } })

const dollars = (cost: Exact | null): string | null => (cost === null ? null : decimalText(BigInt(cost)))

export const explainRoute = (services: Pick<Services, 'access' | 'reading' | 'maxTraceCalls'>): AnyRoute => {
  const { reading, maxTraceCalls } = services
  const books = cachedBooks(reading.generation)
  return readProject(services, {
    method: 'post',
    path: '/api/pages/explain',
    summary:
      'Where the usage and the cost of a call come from: what each op below it used of which model at which price. The costs ' +
      'add up to those of `/calls/usage`.',
    body: closed('ExplainRequest', {
      required: { project_id: projectId, trace_id: string, call_id: string },
      optional: { price_list: nullable(listName) },
    }),
    errors: ['not-found'],
    response: explanation,
    project: inBody,
    handle: (request) => {
      const { body, headers, project, reader } = request
      const { trace_id: traceId, call_id: callId, price_list: list } = body
      return {
        waitFor: () => waitForPrices(reading, request, { list }),
        read: async (position) => {
          const options = { maxTraceCalls, withLabels: true }
          const [calls, reporting, book] = await Promise.all([
            loadTraces(reader, project, [traceId], position, options).catch(refuseTooLarge),
            usageReportingAt(reader, project, position),
            books(reader, { projectId: project, list, position }),
          ])
          const call = calls.indexOf.get(callId)
          if (call === undefined || calls.isDeleted[call] === 1)
            throw new Failure('not-found', 'Call not found in this trace.')
          const rows = (await explained(calls, reporting, book, call)).map((one) => ({
            op: one.op,
            model: one.model,
            kind: one.kind,
            call_id: calls.ids[one.call]!,
            calls: one.calls,
            units: one.units,
            unit_price: dollars(one.unitCost),
            price_source: one.price === null ? null : sourceOf(one.price.stored, project),
            price_since: one.price?.effective_date ?? null,
            cost: dollars(one.cost),
            counted: one.isCounted,
          }))
          return compressedJson(headers, { rows })
        },
      }
    },
  })
}
