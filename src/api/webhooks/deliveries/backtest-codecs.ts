import * as t from 'io-ts'
import { Codec, refuse } from '../../../kernel/codec/codec.js'
import { arrayOf, nullable, withDefault } from '../../../kernel/codec/containers.js'
import { parseInstant, type Instant } from '../../../kernel/codec/instant.js'
import { int64, integerBetween, number, oneOf, string } from '../../../kernel/codec/leaves.js'
import { closed, open } from '../../../kernel/codec/struct.js'
import { deliverySource } from '../../../domain/webhooks/deliveries/events.js'
import { id } from '../../../kernel/ids.js'
import { automationChange } from '../automation-codecs.js'

export type LogPoint = { readonly position: bigint } | { readonly time: Instant }

const pointOf = (text: string): LogPoint | undefined => {
  if (/^\d{1,19}$/.test(text)) return { position: BigInt(text) }
  const time = parseInstant(text)
  return time && { time }
}

const point: Codec<LogPoint> = new Codec<LogPoint>(
  'point',
  (u): u is LogPoint => typeof u === 'object' && u !== null && ('position' in u || 'time' in u),
  (u, c) => {
    const read = typeof u === 'string' ? pointOf(u) : undefined
    return read === undefined
      ? refuse(u, c, 'value_error', 'Input should be a log position in decimal digits or a time')
      : t.success(read)
  },
  { type: 'string', description: 'A log position in decimal digits or a time.' },
)

/** Tests the events after `from`, up to and including `to`. */
export const backtestBody = closed('Backtest', {
  optional: {
    from: nullable(point),
    to: nullable(point),
    limit: withDefault(integerBetween(1, 1000), 100),
    /** `current` applies the latest version to all events, `historic` the version at the time of each event. */
    versions: withDefault(oneOf('current', 'historic'), 'current'),
    /** Changes to test without applying them. */
    candidate: nullable(automationChange),
  },
})

export const backtested = open('Backtested', {
  says:
    'The deliveries that would have been sent. `next` is the `from` of the next request, null when `to` is reached. A page ' +
    'also ends after a number of events, so it may be empty. Bodies contain the names of secrets instead of their values.',
  required: {
    data: arrayOf(
      open('BacktestedDelivery', {
        required: {
          /** The id that the real delivery has or would have had. */
          delivery: id,
          event_type: string,
          source: deliverySource,
          automation_revision: nullable(int64),
          value: nullable(number),
          threshold: nullable(number),
          body: nullable(string),
          unresolved: arrayOf(string),
          suppressed: nullable(oneOf('loop')),
        },
      }),
    ),
    next: nullable(string),
    /** Includes the events read for windows and cooldowns. */
    events_read: int64,
  },
})
