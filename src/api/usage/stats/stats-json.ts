import { instantOf } from '../../../kernel/codec/instant.js'
import { decimalText } from '../../../domain/prices/decimal.js'
import type { Figures } from '../../../projections/usage/stats/metric.js'

interface Bucket {
  readonly start: number
  readonly model?: string
  readonly calls: number
  readonly figures: Figures
}

const PIECE_CHARACTERS = 64 * 1024

/** Generates the response as JSON in pieces; `head` has the members before the buckets. */
export function* statsJson(
  head: object,
  usage: Iterable<Bucket>,
  calls: Iterable<Bucket>,
): Generator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"usage_buckets":[`
  yield* listed(usage)
  yield '],"call_buckets":['
  yield* listed(calls)
  yield ']}'
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
