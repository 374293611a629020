import { ClickHouseUnavailable, TooManyReads } from '../../kernel/ports/clickhouse.js'
import { AppendOutcomeUnknown, StoreUnavailable } from '../../kernel/ports/event-store-errors.js'

/** Whether a store is unavailable for now, so that the same work may succeed later. */
export const isStoreAway = (error: unknown): boolean =>
  error instanceof StoreUnavailable ||
  error instanceof AppendOutcomeUnknown ||
  error instanceof ClickHouseUnavailable ||
  error instanceof TooManyReads
