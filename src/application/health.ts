import { BlobDamaged, BlobsUnavailable } from '../kernel/ports/blobs.js'
import { BucketUnavailable } from '../kernel/ports/bucket.js'
import { ClickHouseUnavailable } from '../kernel/ports/clickhouse.js'
import type { EventStore, Position } from '../kernel/ports/event-store.js'
import { AppendOutcomeUnknown, StoreUnavailable } from '../kernel/ports/event-store-errors.js'
import type { HealthPart, HealthReports } from '../kernel/ports/health.js'
import type { Log } from '../kernel/ports/log.js'

/** Collects what adapters report, for `/health`. Each change is logged once. */
export interface Health extends HealthReports {
  /** Why the last use of a part failed; undefined once one succeeds. */
  readonly reason: (part: HealthPart) => string | undefined
  /** How many events of the log were found unreadable, and what to do. */
  readonly unreadableEvents: () => string | undefined
  /** Calls back with each use of a part: its error, or null. */
  readonly onUse: (part: HealthPart, listener: (error: unknown) => void) => void
  /** Why no append can succeed now. Checks the store unless an append has succeeded just now. */
  readonly writesBlocked: (eventStore: Pick<EventStore, 'checkWritable'>) => Promise<string | undefined>
}

interface Part {
  readonly failed: string
  readonly resumed: string
  /** Undefined for an error that this part did not cause. */
  readonly reasonOf: (error: unknown) => string | undefined
}

const PARTS: Readonly<Record<HealthPart, Part>> = {
  'event-log-writes': {
    failed: 'log.writes_failed',
    resumed: 'log.writes_resumed',
    reasonOf: (error) =>
      error instanceof StoreUnavailable || error instanceof AppendOutcomeUnknown
        ? `the event log does not accept writes (${codeOf(error.cause) ?? error.name})`
        : undefined,
  },
  'event-log-packs': {
    failed: 'log.packing_failed',
    resumed: 'log.packing_resumed',
    reasonOf: (error) =>
      error instanceof StoreUnavailable
        ? `older events are not packed (${codeOf(error.cause) ?? error.name})`
        : undefined,
  },
  'event-log-reads': {
    failed: 'log.reads_failed',
    resumed: 'log.reads_resumed',
    reasonOf: (error) =>
      error instanceof StoreUnavailable
        ? `the event log cannot be read (${codeOf(error.cause) ?? error.name})`
        : undefined,
  },
  'log-tree': {
    failed: 'log.tree_failed',
    resumed: 'log.tree_resumed',
    reasonOf: (error) =>
      error instanceof Error
        ? `new events are not sealed (${bucketReason(error) ?? codeOf(error.cause) ?? codeOf(error) ?? error.name})`
        : undefined,
  },
  'log-witnesses': {
    failed: 'log.witness_failed',
    resumed: 'log.witness_resumed',
    reasonOf: (error) =>
      error instanceof Error ? `witnesses do not cosign checkpoints: ${error.message}` : undefined,
  },
  blobs: {
    failed: 'blobs.writes_failed',
    resumed: 'blobs.writes_resumed',
    reasonOf: (error) => (error instanceof BlobsUnavailable ? error.message : undefined),
  },
  'blob-reads': {
    failed: 'blobs.reads_failed',
    resumed: 'blobs.reads_resumed',
    reasonOf: (error) => (error instanceof BlobsUnavailable ? error.message : undefined),
  },
  'blob-cache': {
    failed: 'blobs.cache_failed',
    resumed: 'blobs.cache_resumed',
    reasonOf: (error) =>
      error instanceof Error ? `the cache of payloads is not used: ${error.message}` : undefined,
  },
  'blob-content': {
    failed: 'blobs.damaged',
    resumed: 'blobs.restored',
    reasonOf: (error) => (error instanceof BlobDamaged ? error.message : undefined),
  },
  reads: {
    failed: 'reads.failed',
    resumed: 'reads.resumed',
    reasonOf: (error) => (error instanceof ClickHouseUnavailable ? error.message : undefined),
  },
}

/** An append that succeeded this recently is proof enough. */
const RECENT_MS = 5000
/** `/health` needs no key, so requests to it must not cause a write each. */
const CHECK_EVERY_MS = 1000

export const openHealth = (
  log: Pick<Log, 'error' | 'info'>,
  now: () => number = () => performance.now(),
): Health => {
  const reasons = new Map<HealthPart, string>()
  const unreadable = new Set<Position>()
  const listeners = new Map<HealthPart, readonly ((error: unknown) => void)[]>()
  let appendedAt = -Infinity
  let checkedAt = -Infinity
  let checking: Promise<void> | undefined

  const note = (part: HealthPart, error: unknown): void => {
    const { failed, resumed, reasonOf } = PARTS[part]
    const before = reasons.get(part)
    if (error === null) {
      if (before === undefined) return
      reasons.delete(part)
      log.info(resumed, {})
      return
    }
    const reason = reasonOf(error)
    if (reason === undefined) return
    reasons.set(part, reason)
    // Each damaged file is a failure of its own.
    if (before === undefined || (part === 'blob-content' && before !== reason))
      log.error(failed, { reason, error: (error as Error).message })
  }

  const check = async (eventStore: Pick<EventStore, 'checkWritable'>) => {
    try {
      await eventStore.checkWritable()
      note('event-log-writes', null)
    } catch (error) {
      note('event-log-writes', error)
    } finally {
      checkedAt = now()
      checking = undefined
    }
  }

  return {
    report: (part, error) => {
      if (part === 'event-log-writes' && error === null) appendedAt = now()
      note(part, error)
      for (const listener of listeners.get(part) ?? []) listener(error)
    },
    unreadable: ({ position, stream, type, unreadable: reason }) => {
      if (unreadable.has(position)) return
      unreadable.add(position)
      log.error('log.event_unreadable', { position: String(position), stream, type, reason: reason ?? '' })
    },
    reason: (part) => reasons.get(part),
    unreadableEvents: () =>
      unreadable.size === 0
        ? undefined
        : `${unreadable.size} events of the event log cannot be read, the first found at position ${[...unreadable][0]}; ` +
          'restore them from a backup or a copy, see docs/auditing.md',
    onUse: (part, listener) => listeners.set(part, [...(listeners.get(part) ?? []), listener]),
    writesBlocked: async (eventStore) => {
      const isProven = !reasons.has('event-log-writes') && now() - appendedAt < RECENT_MS
      if (!isProven && now() - checkedAt >= CHECK_EVERY_MS) await (checking ??= check(eventStore))
      return reasons.get('event-log-writes')
    },
  }
}

/** The error code of the system or of a database. gRPC's numeric codes would not help an operator. */
const bucketReason = (error: Error): string | undefined =>
  error instanceof BucketUnavailable ? `the bucket failed: ${error.reason}` : undefined

const codeOf = (cause: unknown): string | undefined =>
  cause instanceof Error && 'code' in cause && /^[A-Z][A-Z0-9_]{0,63}$/.test(String(cause.code))
    ? String(cause.code)
    : undefined
