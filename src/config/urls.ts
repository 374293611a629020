import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { Codec, refuse } from '../kernel/codec/codec.js'
import { textLike } from '../kernel/codec/text.js'
import { clickHouseAddress } from '../kernel/ports/clickhouse-url.js'

export const clickHouseUrl = new Codec<string>(
  'url',
  (u): u is string => typeof u === 'string' && E.isRight(clickHouseAddress(u)),
  (u, c) => {
    const address = clickHouseAddress(String(u))
    return E.isRight(address) ? t.success(String(u)) : refuse(u, c, 'value_error', address.left)
  },
  { type: 'string' },
)

/**
 * Matches every spelling of an option that the client accepts: any case, with dashes or underscores between letters.
 */
const spelt = (option: string) => option.replace(/./g, (letter) => `[${letter}${letter.toUpperCase()}][-_]*`)

const HOST = '[\\w.-]+(:\\d{1,5})?'

/**
 * Refuses what the client would misread, such as a colon in a password, and `throwOnAppendFailure`, since a failed
 * append must throw.
 */
const CONNECTION_STRING = new RegExp(
  `^(?!.*[?&]${spelt('throwonappendfailure')}=)esdb(\\+discover)?://` +
    `([^:@/?\\s]+:[^:@/?\\s]+@)?${HOST}(,${HOST})*/?` +
    '(\\?[\\w-]+=[^&?\\s]+(&[\\w-]+=[^&?\\s]+)*)?$',
)

export const connectionString = textLike(
  'connection string',
  CONNECTION_STRING,
  'must be the connection string of an EventStoreDB, esdb://user:password@host:2113, or esdb+discover:// for a ' +
    'cluster, with : @ / ? in the user and password percent-encoded as %3A %40 %2F %3F, and without throwOnAppendFailure',
)
