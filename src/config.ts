import { resolve } from 'node:path'
import { getHeapStatistics } from 'node:v8'
import * as E from 'fp-ts/lib/Either.js'
import {
  collectorUrl,
  integer,
  hosts,
  networks,
  origins,
  publicUrl,
  roles,
  ROLES,
  bucketUrl,
  clickHouseUrl,
  connectionString,
  witnesses,
  type Role,
} from './config/codecs.js'
import { decode } from './kernel/codec/codec.js'
import { nullable, nullableText, withDefault } from './kernel/codec/containers.js'
import { string } from './kernel/codec/leaves.js'
import { open } from './kernel/codec/struct.js'
import { textLike } from './kernel/codec/text.js'
import { IDENTIFIER } from './kernel/ports/clickhouse-url.js'
import type { BucketAddress } from './kernel/ports/objects-url.js'
import type { Witness } from './kernel/tlog/note.js'
import { OperatorError } from './kernel/ports/operator-error.js'
import { VENDOR } from './domain/webhooks/signing.js'
import { masterKeys, type MasterKeyText } from './domain/secrets/master-keys.js'

const MIB = 1_048_576

const environment = open('Environment', {
  optional: {
    TALLYTREE_HOST: withDefault(string, '127.0.0.1'),
    TALLYTREE_PORT: withDefault(integer(0, 65_535), 4600),
    TALLYTREE_OTLP_GRPC_PORT: nullable(integer(0, 65_535)),
    TALLYTREE_DATA_DIR: withDefault(string, './data'),
    TALLYTREE_BOOTSTRAP_API_KEY: nullableText(string),
    TALLYTREE_ROLES: withDefault(roles, new Set(ROLES)),
    TALLYTREE_API_KEY: nullableText(string),
    TALLYTREE_MASTER_KEYS: withDefault(masterKeys, []),
    TALLYTREE_MASTER_KEYS_FILE: nullableText(string),
    TALLYTREE_OBJECTS_URL: withDefault(bucketUrl, null),
    TALLYTREE_OBJECTS_CACHE_MB: withDefault(integer(0, 16_777_216), 1024),
    TALLYTREE_MAX_TRACE_CALLS: withDefault(integer(1, 100_000_000), 5_000_000),
    TALLYTREE_MAX_FILE_BYTES: withDefault(integer(1, Number.MAX_SAFE_INTEGER), 10_737_418_240),
    TALLYTREE_MEMORY_MB: withDefault(integer(64, 16_777_216), Infinity),
    TALLYTREE_API_PROCESSES: withDefault(integer(1, 1000), 1),
    TALLYTREE_STOP_SECONDS: withDefault(integer(10, 3600), 10),
    TALLYTREE_CORS_ORIGINS: withDefault(origins, []),
    TALLYTREE_PUBLIC_URL: nullableText(publicUrl),
    TALLYTREE_WITNESSES: withDefault(witnesses, []),
    TALLYTREE_OTLP_EXPORT_URL: nullableText(collectorUrl),
    TALLYTREE_VENDOR: withDefault(
      textLike(
        'vendor',
        VENDOR,
        'must be 1 to 64 letters, digits or hyphens, without a leading or trailing hyphen',
      ),
      'Vendor',
    ),
    TALLYTREE_WEBHOOK_ALLOW_CIDRS: withDefault(networks, []),
    TALLYTREE_WEBHOOK_ALLOW_HOSTS: withDefault(hosts, []),
    TALLYTREE_WEBHOOK_CA_FILE: nullableText(string),
    TALLYTREE_UPSTREAMS_FILE: nullableText(string),
    TALLYTREE_UPSTREAM_ALLOW_CIDRS: withDefault(networks, []),
    EVENTSTORE_URL: nullableText(connectionString),
    TALLYTREE_CLICKHOUSE_READERS: withDefault(integer(1, 100), null),
    CLICKHOUSE_URL: nullableText(clickHouseUrl),
    CLICKHOUSE_CLUSTER: nullableText(
      textLike('cluster', IDENTIFIER, 'must be letters, digits and underscores'),
    ),
  },
})

export interface Config {
  readonly host: string
  readonly port: number
  /** If null, OTLP is received by HTTP only. */
  readonly otlpGrpcPort: number | null
  readonly dataDirectory: string
  readonly bootstrapApiKey: string | null
  readonly roles: ReadonlySet<Role>
  /** The administrator's key, sent by the commands that call a running service. */
  readonly apiKey: string | null
  /** Keys from the environment, the active one first; the data directory may hold others. */
  readonly masterKeys: readonly MasterKeyText[]
  /** A file with keys that must exist; null looks for one in the data directory, which is made when it is needed. */
  readonly masterKeysFile: string | null
  /** The bucket for payloads, secrets and records of attempts; null keeps them in the data directory. */
  readonly objects: BucketAddress | null
  /** Size of the cache of the bucket in the data directory. */
  readonly objectsCacheBytes: number
  readonly maxTraceCalls: number
  /** Limit for a file of an artifact or a run. */
  readonly maxFileBytes: number
  /** Limit of the heap, in bytes. */
  readonly memoryBytes: number
  /** Number of processes that serve the API. Each enforces its share of the rate limits. */
  readonly apiProcesses: number
  /** Time limit for a stop, in seconds; requests under way get 8 s of it. */
  readonly stopSeconds: number
  /** Part of header names: `X-<vendor>-Signature`. */
  readonly vendor: string
  /** Origins whose web pages may use the API. */
  readonly corsOrigins: readonly string[]
  /** The address under which browsers and programs reach the service, without a path. */
  readonly publicUrl: string | null
  /** Servers that cosign the checkpoints of the log. */
  readonly witnesses: readonly Witness[]
  /** The OTLP collector that receives spans of this service's requests. */
  readonly otlpExportUrl: string | null
  readonly webhooks: {
    /** Private networks that webhooks may reach, such as `10.0.0.0/8`. */
    readonly allowCidrs: readonly string[]
    /** Hosts that webhooks may reach at any address, such as `receiver.internal` or `receiver.internal:25`. */
    readonly allowHosts: readonly string[]
    /** PEM file of CA certificates. */
    readonly caFile: string | null
  }
  readonly upstreams: {
    /** JSON file of the operator's upstreams. */
    readonly file: string | null
    /** Private networks that upstreams created through the API may use. */
    readonly allowCidrs: readonly string[]
    /** Looks up an environment variable named in the file. */
    readonly variable: (name: string) => string | undefined
    /** Keep-alive comments of streamed responses. Only tests change the intervals. */
    readonly keepAlive: { readonly headAfterMs: number; readonly everyMs: number }
  }
  readonly eventStoreUrl: string | null
  readonly clickHouseUrl: string | null
  readonly clickHouseCluster: string | null
  /** Number of reads that a process sends to a ClickHouse server at the same time; null chooses by its cores. */
  readonly clickHouseReaders: number | null
}

/** The only place that reads the environment. An empty variable counts as absent. */
export const readConfig = (variables: NodeJS.ProcessEnv = process.env): Config => {
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''))
  const decoded = decode(environment)(given)
  if (E.isLeft(decoded))
    throw new OperatorError(decoded.left.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('\n'))
  const env = decoded.right
  const absent = ROLES.filter((role) => !env.TALLYTREE_ROLES.has(role))
  if (absent.length > 0 && (env.EVENTSTORE_URL === null || env.CLICKHOUSE_URL === null))
    throw new OperatorError(
      `TALLYTREE_ROLES: without ${absent.join(', ')}, other processes must share the stores, and embedded stores cannot be shared: set ` +
        'EVENTSTORE_URL and CLICKHOUSE_URL, or unset TALLYTREE_ROLES',
    )
  if (env.CLICKHOUSE_CLUSTER !== null && env.CLICKHOUSE_URL === null)
    throw new OperatorError('CLICKHOUSE_CLUSTER: requires CLICKHOUSE_URL, which is not set')
  if (env.CLICKHOUSE_URL?.split('@').at(-1)?.includes(',') === true && env.CLICKHOUSE_CLUSTER === null)
    throw new OperatorError(
      'CLICKHOUSE_URL: several hosts need CLICKHOUSE_CLUSTER, because all must have the same rows',
    )
  return {
    host: env.TALLYTREE_HOST,
    port: env.TALLYTREE_PORT,
    otlpGrpcPort: env.TALLYTREE_OTLP_GRPC_PORT,
    // better-sqlite3 trims the path, and would open another file where it ends in a blank.
    dataDirectory: resolve(env.TALLYTREE_DATA_DIR),
    bootstrapApiKey: env.TALLYTREE_BOOTSTRAP_API_KEY,
    roles: env.TALLYTREE_ROLES,
    apiKey: env.TALLYTREE_API_KEY,
    masterKeys: env.TALLYTREE_MASTER_KEYS,
    masterKeysFile: env.TALLYTREE_MASTER_KEYS_FILE,
    objects: env.TALLYTREE_OBJECTS_URL,
    objectsCacheBytes: env.TALLYTREE_OBJECTS_CACHE_MB * MIB,
    maxTraceCalls: env.TALLYTREE_MAX_TRACE_CALLS,
    maxFileBytes: env.TALLYTREE_MAX_FILE_BYTES,
    // `bin/start` sets the limit of the heap, by the same variable or by the memory of the machine.
    memoryBytes: Math.min(env.TALLYTREE_MEMORY_MB * MIB, getHeapStatistics().heap_size_limit),
    apiProcesses: env.TALLYTREE_API_PROCESSES,
    stopSeconds: env.TALLYTREE_STOP_SECONDS,
    vendor: env.TALLYTREE_VENDOR,
    corsOrigins: env.TALLYTREE_CORS_ORIGINS,
    publicUrl: env.TALLYTREE_PUBLIC_URL,
    witnesses: env.TALLYTREE_WITNESSES,
    otlpExportUrl: env.TALLYTREE_OTLP_EXPORT_URL,
    webhooks: {
      allowCidrs: env.TALLYTREE_WEBHOOK_ALLOW_CIDRS,
      allowHosts: env.TALLYTREE_WEBHOOK_ALLOW_HOSTS,
      caFile: env.TALLYTREE_WEBHOOK_CA_FILE,
    },
    upstreams: {
      file: env.TALLYTREE_UPSTREAMS_FILE,
      allowCidrs: env.TALLYTREE_UPSTREAM_ALLOW_CIDRS,
      variable: (name) => given[name],
      keepAlive: { headAfterMs: 10_000, everyMs: 15_000 },
    },
    eventStoreUrl: env.EVENTSTORE_URL,
    clickHouseUrl: env.CLICKHOUSE_URL,
    clickHouseCluster: env.CLICKHOUSE_CLUSTER,
    clickHouseReaders: env.TALLYTREE_CLICKHOUSE_READERS,
  }
}
