import * as t from 'io-ts'
import { catalogue } from '../../domain/catalogue.js'
import { Codec, refuse } from '../../domain/codec/codec.js'
import { withDefault } from '../../domain/codec/containers.js'
import { string } from '../../domain/codec/leaves.js'
import { closed } from '../../domain/codec/struct.js'
import type { Position } from '../../domain/ports/event-store.js'

const MAX_POSITION = 2n ** 63n - 1n

const positionText: Codec<Position> = new Codec<Position>(
  'position',
  (u): u is Position => typeof u === 'bigint',
  (u, c) =>
    typeof u === 'string' && /^\d{1,19}$/.test(u) && BigInt(u) <= MAX_POSITION
      ? t.success(BigInt(u))
      : refuse(u, c, 'int_parsing', 'Input should be a log position in decimal digits'),
  { type: 'integer', format: 'int64', minimum: 0 },
)

const limitText: Codec<number> = new Codec<number>(
  'limit',
  (u): u is number => typeof u === 'number',
  (u, c) =>
    typeof u === 'string' && /^[1-9]\d{0,14}$/.test(u)
      ? t.success(Number(u))
      : refuse(u, c, 'int_parsing', 'Input should be a whole number of at least 1'),
  { type: 'integer', minimum: 1, maximum: 999_999_999_999_999 },
)

const TYPES: ReadonlySet<string> = new Set(catalogue.flatMap(({ events }) => Object.keys(events)))

const typesText: Codec<ReadonlySet<string>> = new Codec<ReadonlySet<string>>(
  'types',
  (u): u is ReadonlySet<string> => u instanceof Set,
  (u, c) => {
    const types = typeof u === 'string' ? u.split(',') : []
    return types.length > 0 && types.every((type) => TYPES.has(type))
      ? t.success(new Set(types))
      : refuse(u, c, 'literal_error', 'Input should be a comma-separated list of event types')
  },
  {
    type: 'string',
    pattern: `^(${[...TYPES].join('|')})(,(${[...TYPES].join('|')}))*$`,
    description: 'A comma-separated list of event types.',
  },
)

export const eventsQuery = closed('Events', {
  optional: {
    /** Exclusive. */
    after: withDefault(positionText, 0n),
    /** The full name of a stream. */
    stream: withDefault(string, undefined),
    types: withDefault(typesText, undefined),
    /** The maximum number of events; without it, all up to the head of the log at the time of the request. */
    limit: withDefault(limitText, undefined),
  },
})

export const digestsQuery = closed('DigestsAt', { optional: { at: withDefault(positionText, undefined) } })
