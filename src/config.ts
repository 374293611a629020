import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { Codec, decode, refuse } from './domain/codec/codec.js'
import { nullableText, withDefault } from './domain/codec/containers.js'
import { string } from './domain/codec/leaves.js'
import { open } from './domain/codec/struct.js'
import { textLike } from './domain/codec/text.js'
import { clickHouseAddress, IDENTIFIER } from './domain/ports/clickhouse-url.js'

/** A whole number written in an environment variable. */
const integer = (least: number, most: number): Codec<number> =>
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

export const ROLES = ['api', 'projector', 'dispatcher', 'worker'] as const
export type Role = (typeof ROLES)[number]

/** Some of the roles, separated by commas. */
const roles = new Codec<ReadonlySet<Role>>(
  'roles',
  (u): u is ReadonlySet<Role> => u instanceof Set,
  (u, c) => {
    const words = String(u)
      .split(',')
      .map((word) => word.trim())
    return words.every((word): word is Role => (ROLES as readonly string[]).includes(word))
      ? t.success(new Set(words))
      : refuse(u, c, 'value_error', `must be some of ${ROLES.join(', ')}, separated by commas`)
  },
  { type: 'string' },
)

const clickHouseUrl = new Codec<string>(
  'url',
  (u): u is string => typeof u === 'string' && E.isRight(clickHouseAddress(u)),
  (u, c) => {
    const address = clickHouseAddress(String(u))
    return E.isRight(address) ? t.success(String(u)) : refuse(u, c, 'value_error', address.left)
  },
  { type: 'string' },
)

/** An option of the connection string, in all spellings that its client takes: its letters with dashes between them. */
const spelt = (option: string) => option.replace(/./g, (letter) => `[${letter}${letter.toUpperCase()}][-_]*`)

const HOST = '[\\w.-]+(:\\d{1,5})?'

/** What the client reads as it was meant: it would cut a password at a colon. An append that fails must throw. */
const CONNECTION_STRING = new RegExp(
  `^(?!.*[?&]${spelt('throwonappendfailure')}=)esdb(\\+discover)?://` +
    `([^:@/?\\s]+:[^:@/?\\s]+@)?${HOST}(,${HOST})*/?` +
    '(\\?[\\w-]+=[^&?\\s]+(&[\\w-]+=[^&?\\s]+)*)?$',
)

const environment = open('Environment', {
  optional: {
    TALLYTREE_HOST: withDefault(string, '127.0.0.1'),
    TALLYTREE_PORT: withDefault(integer(0, 65_535), 4600),
    TALLYTREE_DATA_DIR: withDefault(string, './data'),
    TALLYTREE_BOOTSTRAP_API_KEY: nullableText(string),
    TALLYTREE_ROLES: withDefault(roles, new Set(ROLES)),
    TALLYTREE_API_KEY: nullableText(string),
    TALLYTREE_MAX_TRACE_CALLS: withDefault(integer(1, 100_000_000), 5_000_000),
    EVENTSTORE_URL: nullableText(
      textLike(
        'connection string',
        CONNECTION_STRING,
        'must be the connection string of an EventStoreDB, esdb://user:password@host:2113, or esdb+discover:// for a ' +
          'cluster, with : @ / ? in the user and password written as %3A %40 %2F %3F, and without throwOnAppendFailure',
      ),
    ),
    CLICKHOUSE_URL: nullableText(clickHouseUrl),
    CLICKHOUSE_CLUSTER: nullableText(
      textLike('cluster', IDENTIFIER, 'must be letters, digits and underscores'),
    ),
  },
})

export interface Config {
  readonly host: string
  readonly port: number
  readonly dataDirectory: string
  readonly bootstrapApiKey: string | null
  readonly roles: ReadonlySet<Role>
  /** With which the commands for auditors ask a running service. */
  readonly apiKey: string | null
  readonly maxTraceCalls: number
  readonly eventStoreUrl: string | null
  readonly clickHouseUrl: string | null
  readonly clickHouseCluster: string | null
}

/** Says of each variable that is wrong what it must be. */
class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'
}

/** Decodes the environment, once; nothing else reads it. An empty variable counts as absent. */
export const readConfig = (variables: NodeJS.ProcessEnv = process.env): Config => {
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''))
  const decoded = decode(environment)(given)
  if (E.isLeft(decoded))
    throw new ConfigurationError(decoded.left.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('\n'))
  const env = decoded.right
  const absent = ROLES.filter((role) => !env.TALLYTREE_ROLES.has(role))
  if (absent.length > 0 && (env.EVENTSTORE_URL === null || env.CLICKHOUSE_URL === null))
    throw new ConfigurationError(
      `TALLYTREE_ROLES: leaves ${absent.join(', ')} to another process, and the embedded stores belong to one: set ` +
        'EVENTSTORE_URL and CLICKHOUSE_URL, or leave TALLYTREE_ROLES out',
    )
  if (env.CLICKHOUSE_CLUSTER !== null && env.CLICKHOUSE_URL === null)
    throw new ConfigurationError(
      'CLICKHOUSE_CLUSTER: names a cluster of the server in CLICKHOUSE_URL, which is missing',
    )
  return {
    host: env.TALLYTREE_HOST,
    port: env.TALLYTREE_PORT,
    dataDirectory: env.TALLYTREE_DATA_DIR,
    bootstrapApiKey: env.TALLYTREE_BOOTSTRAP_API_KEY,
    roles: env.TALLYTREE_ROLES,
    apiKey: env.TALLYTREE_API_KEY,
    maxTraceCalls: env.TALLYTREE_MAX_TRACE_CALLS,
    eventStoreUrl: env.EVENTSTORE_URL,
    clickHouseUrl: env.CLICKHOUSE_URL,
    clickHouseCluster: env.CLICKHOUSE_CLUSTER,
  }
}
