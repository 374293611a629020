import { Readable } from 'node:stream'
import type { Services } from '../../../application/services.js'
import { instantOf } from '../../../kernel/codec/instant.js'
import { erasedCalls } from '../../../projections/erasures/without-figures.js'
import { callGroups, callStats } from '../../../projections/usage/stats/call-stats.js'
import { isCost } from '../../../projections/usage/columns.js'
import { usageStats, type UsageStats } from '../../../projections/usage/stats/usage-stats.js'
import { readUsedModels } from '../../../projections/usage/query/used-models.js'
import { readTotals } from '../../../projections/usage/query/open-traces.js'
import { inBody } from '../../server/authorization.js'
import { answering, type AnyRoute } from '../../server/route.js'
import { readProject } from '../../server/route-kinds.js'
import { pricedReads, requestedCosts, unpricedHeader } from '../../calls/requested-costs.js'
import { requireBoundedFilter } from '../../../application/calls/filter.js'
import { unpricedMembers } from '../../../application/calls/unpriced-models.js'
import { refuseTooLarge } from '../../../application/calls/too-large.js'
import { callStatsRequest, callStatsResponse } from './codecs.js'
import { MOST_GROUP_FIELDS, requireBoundedResponse, requestedMetrics, requireFew } from './metrics.js'
import { rangeOf } from './range.js'
import { decimalText } from '../../../domain/prices/decimal.js'
import type { Figures } from '../../../projections/usage/stats/metric.js'

const NO_USAGE: UsageStats = { buckets: [], unpriced: [] }

export const statsRoutes = (
  services: Pick<Services, 'clock' | 'access' | 'reading'>,
): readonly AnyRoute[] => {
  const priced = pricedReads(services.reading)
  return [
    readProject(services, {
      method: 'post',
      path: '/calls/stats',
      summary: 'Usage, cost and outcome of calls without their descendants, in buckets of their start time.',
      body: callStatsRequest,
      errors: ['forbidden'],
      response: answering(callStatsResponse, {
        headers: ['Tallytree-Position', 'Tallytree-Unpriced-Models'],
      }),
      project: inBody,
      handle: (request) => {
        const { body, project: projectId, reader } = request
        const { filter, query, start, timezone, price_list: list } = body
        requireBoundedFilter(filter)
        const usage = requestedMetrics('usage_metrics', body.usage_metrics)
        const calls = requestedMetrics('call_metrics', body.call_metrics)
        const groupBy = body.group_by
        requireFew(groupBy ?? [], ['group_by'], MOST_GROUP_FIELDS)
        const hasCosts = usage.some(({ metric }) => isCost(metric))
        const costs = requestedCosts(hasCosts, list, 'a metric such as total_cost')
        const { waitFor, pricesAt } = priced(request, costs)
        const end = body.end ?? instantOf(services.clock.now())
        const { granularity, starts } = rangeOf({ start, end, granularity: body.granularity, timezone })
        for (const wanted of [usage, calls]) requireBoundedResponse(starts.length, wanted)
        const requireFewModels = (models: number) => requireBoundedResponse(starts.length, usage, models)

        return {
          waitFor,
          read: async (position) => {
            const operation = query?.$expr ?? null
            const span = { projectId, filter, operation, position, began: { from: start, to: end }, starts }
            const readUsage = async (selected: typeof span) => {
              if (usage.length === 0) return NO_USAGE
              const prices = await pricesAt(position)
              return readTotals(reader, { ...selected, kind: 'own', prices }, (open) =>
                usageStats(reader)(selected, { wanted: usage, open, requireFew: requireFewModels }),
              )
            }
            const [callFigures, { buckets, unpriced }, grouped] = await readUsedModels(
              reader,
              span,
              (selected) =>
                Promise.all([
                  callStats(reader)(selected, calls),
                  readUsage(selected),
                  groupBy && callGroups(reader, selected, groupBy, calls, body.limit),
                ]),
            ).catch(refuseTooLarge)
            const erased_calls = await erasedCalls(reader, projectId, position, { from: start, to: end })
            const head = {
              start,
              end,
              granularity,
              timezone,
              erased_calls,
              ...(hasCosts ? unpricedMembers(unpriced) : {}),
            }
            const json = statsJson(head, buckets, callFigures, grouped)
            return {
              body: Readable.from(json, { objectMode: false }),
              type: 'application/json; charset=utf-8',
              headers: unpricedHeader(unpriced.length),
            }
          },
        }
      },
    }),
  ]
}

interface Bucket {
  readonly start: number
  readonly model?: string
  readonly calls: number
  readonly figures: Figures
}

const PIECE_CHARACTERS = 64 * 1024

/** Generates the response as JSON in pieces; `head` has the members before the buckets. */
function* statsJson(
  head: object,
  usage: Iterable<Bucket>,
  { buckets: calls, endedBeforeStart }: Awaited<ReturnType<ReturnType<typeof callStats>>>,
  grouped: Awaited<ReturnType<typeof callGroups>> | null,
): Generator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"usage_buckets":[`
  yield* listed(usage)
  yield '],"call_buckets":['
  yield* listed(calls)
  yield ']'
  if (grouped !== null) {
    const groups = grouped.groups.map(({ key, calls: count, failed, figures }) => ({
      ...figures,
      key,
      count,
      error_count: failed,
    }))
    yield `,"call_groups":${JSON.stringify(groups)},"other_call_count":${grouped.others}`
  }
  yield `,"ended_before_start_count":${endedBeforeStart}}`
}

function* listed(buckets: Iterable<Bucket>): Generator<string> {
  let text = ''
  let separator = ''
  for (const bucket of buckets) {
    text += separator + bucketJson(bucket)
    separator = ','
    if (text.length < PIECE_CHARACTERS) continue
    yield text
    text = ''
  }
  yield text
}

/** Amounts are written as exact decimals, because doubles would round them. */
const bucketJson = ({ start, model, calls, figures }: Bucket): string => {
  const timestamp = instantOf(new Date(start * 1000))
  const told = { timestamp, ...(model === undefined ? {} : { model }), ...figures, count: calls }
  const members = Object.entries(told).map(
    ([name, value]) =>
      `${JSON.stringify(name)}:${typeof value === 'bigint' ? decimalText(value) : JSON.stringify(value)}`,
  )
  return `{${members.join(',')}}`
}
