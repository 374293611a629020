import * as t from 'io-ts'
import ipaddr from 'ipaddr.js'
import * as E from 'fp-ts/lib/Either.js'
import { Codec, leaf, refuse } from '../kernel/codec/codec.js'
import { textLike } from '../kernel/codec/text.js'
import { clickHouseAddress } from '../kernel/ports/clickhouse-url.js'
import { parseVerifierKey, type Witness } from '../kernel/tlog/note.js'
import { bucketAddress, type BucketAddress } from '../kernel/ports/objects-url.js'

/** A whole number in an environment variable. */
export const integer = (least: number, most: number): Codec<number> =>
  new Codec<number>(
    'integer',
    (u): u is number => typeof u === 'number',
    (u, c) => {
      const value = typeof u === 'string' && /^\d{1,15}$/.test(u) ? Number(u) : NaN
      return value >= least && value <= most
        ? t.success(value)
        : refuse(u, c, 'value_error', `must be a whole number from ${least} to ${most}`)
    },
    { type: 'integer', minimum: least, maximum: most },
  )

const wordsIn = (u: unknown): readonly string[] =>
  String(u)
    .split(',')
    .map((word) => word.trim())

const listOf = (name: string, isOne: (word: string) => boolean, says: string): Codec<readonly string[]> =>
  new Codec<readonly string[]>(
    name,
    (u): u is readonly string[] => Array.isArray(u),
    (u, c) => {
      const words = wordsIn(u)
      return words.every(isOne) ? t.success(words) : refuse(u, c, 'value_error', says)
    },
    { type: 'string' },
  )

const isNetwork = (word: string): boolean =>
  ipaddr.IPv4.isValidCIDRFourPartDecimal(word) || ipaddr.IPv6.isValidCIDR(word)

/** A comma-separated list of networks. */
export const networks = listOf(
  'networks',
  isNetwork,
  'must be a comma-separated list of networks such as 10.0.0.0/8 or fd00::/8',
)

const HOST_AND_PORT = /^(?:[\w.-]{1,253}|\[[\da-f:.]+\])(?::(\d{1,5}))?$/i
const MOST_PORT = 65_535

const isHost = (word: string): boolean => {
  const found = HOST_AND_PORT.exec(word)
  const port = Number(found?.[1] ?? 1)
  return found !== null && port >= 1 && port <= MOST_PORT
}

/** A comma-separated list of hosts, each with an optional port. */
export const hosts = listOf(
  'hosts',
  isHost,
  'must be a comma-separated list of hosts such as receiver.internal or receiver.internal:8443',
)

/** Written as browsers send it: no path, and no port that the scheme implies. */
const isOrigin = (word: string): boolean =>
  /^https?:/.test(word) && URL.canParse(word) && new URL(word).origin === word

/** A comma-separated list of origins. */
export const origins = listOf(
  'origins',
  isOrigin,
  'must be a comma-separated list of origins as browsers send them, such as https://app.example or http://localhost:5173',
)

/** One origin. */
export const publicUrl = leaf<string>(
  'url',
  (u): u is string => typeof u === 'string' && isOrigin(u),
  {
    type: 'value_error',
    msg: 'must be the address of the service without a path, such as https://traces.example',
  },
  { type: 'string' },
)

export const collectorUrl = leaf<string>(
  'url',
  (u): u is string => typeof u === 'string' && /^https?:/.test(u) && URL.canParse(u),
  {
    type: 'value_error',
    msg: 'must be the http:// or https:// address of a collector, such as http://127.0.0.1:4318/v1/traces',
  },
  { type: 'string' },
)

export const ROLES = ['api', 'projector', 'dispatcher'] as const
export type Role = (typeof ROLES)[number]

/** A comma-separated list of roles. */
export const roles = new Codec<ReadonlySet<Role>>(
  'roles',
  (u): u is ReadonlySet<Role> => u instanceof Set,
  (u, c) => {
    const words = wordsIn(u)
    return words.every((word): word is Role => (ROLES as readonly string[]).includes(word))
      ? t.success(new Set(words))
      : refuse(u, c, 'value_error', `must be a comma-separated list of ${ROLES.join(', ')}`)
  },
  { type: 'string' },
)

export const clickHouseUrl = new Codec<string>(
  'url',
  (u): u is string => typeof u === 'string' && E.isRight(clickHouseAddress(u)),
  (u, c) => {
    const address = clickHouseAddress(String(u))
    return E.isRight(address) ? t.success(String(u)) : refuse(u, c, 'value_error', address.left)
  },
  { type: 'string' },
)

export const bucketUrl = new Codec<BucketAddress>(
  'url',
  (u): u is BucketAddress => typeof u === 'object' && u !== null && 'bucket' in u,
  (u, c) => {
    const address = bucketAddress(String(u))
    return E.isRight(address) ? t.success(address.right) : refuse(u, c, 'value_error', address.left)
  },
  { type: 'string' },
)

/** Verifiers accept 16 signatures: two of the log, and two more after rotations of its key. */
const MAX_WITNESSES = 12

const witnessesIn = (word: string): readonly Witness[] => {
  const [, key = '', address = ''] = /^(\S+?)@(https?:\/\/\S+?)\/*$/.exec(word) ?? []
  const parsed = E.tryCatch(
    () => parseVerifierKey(key),
    () => undefined,
  )
  return E.isRight(parsed) && parsed.right.type === 'cosignature' && URL.canParse(address)
    ? [{ key: parsed.right, address }]
    : []
}

/** A comma-separated list of witnesses. */
export const witnesses = new Codec<readonly Witness[]>(
  'witnesses',
  (u): u is readonly Witness[] => Array.isArray(u),
  (u, c) => {
    const words = wordsIn(u)
    const found = words.flatMap(witnessesIn)
    const names = new Set(found.map(({ key }) => key.name))
    return names.size === words.length && words.length <= MAX_WITNESSES
      ? t.success(found)
      : refuse(
          u,
          c,
          'value_error',
          `must be a comma-separated list of at most ${MAX_WITNESSES} witnesses, each with the verifier key of its cosignatures, a name of ` +
            'its own, and its address: NAME+ID+BASE64@https://witness.example',
        )
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
