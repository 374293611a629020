import type { ApiKey } from '../../domain/access/directory.js'
import { instantOf, type Instant } from '../../kernel/codec/instant.js'
import type { RecordKeyUse, RenewSession } from '../../domain/access/commands.js'
import { isFirstUseOfDay } from '../../domain/access/look-ups.js'
import { makeKey, type CreatedKey, type KeyPorts } from './new-key.js'

const HOUR_MS = 3600 * 1000
/** A session that is not used expires after this time. */
const IDLE_MS = 12 * HOUR_MS
/** A session expires after this time, however often it is used. */
export const MAX_SESSION_MS = 7 * 24 * HOUR_MS
/** Limits the events of a session that is in use. */
const RENEWED_EVERY_MS = HOUR_MS

/** A session is a key that the browser keeps in a cookie; `openedBy` is the id of the API key of the sign-in. */
export const makeSession = (ports: KeyPorts, openedBy: string): CreatedKey => {
  const { key, known } = makeKey(ports, null)
  const expires_at = instantOf(new Date(ports.clock.now().getTime() + IDLE_MS))
  return { key, known: { ...known, kind: 'session', expires_at, made_by: openedBy } }
}

/**
 * What to record of a key or session that is used now; undefined if that was done recently. A session ends at `latest`,
 * with its key.
 */
export const recordOfUse = (
  key: ApiKey,
  now: Date,
  latest: Instant | null,
): RenewSession | RecordKeyUse | undefined => {
  const { user, key_id } = key
  if (key.kind === 'session') {
    const expires_at = renewedUntil(key, now, latest)
    return expires_at && { type: 'RenewSession', user, key_id, expires_at }
  }
  const used_at = instantOf(now)
  return isFirstUseOfDay(key, used_at) ? { type: 'RecordKeyUse', user, key_id, used_at } : undefined
}

/** The expiry of a session that is used now; undefined if it was renewed recently, or cannot be renewed. */
const renewedUntil = (
  { issued_at, expires_at }: ApiKey,
  now: Date,
  latest: Instant | null,
): Instant | undefined => {
  if (expires_at === null) return undefined
  const until = Math.min(
    now.getTime() + IDLE_MS,
    Date.parse(issued_at) + MAX_SESSION_MS,
    latest === null ? Infinity : Date.parse(latest),
  )
  return until - Date.parse(expires_at) < RENEWED_EVERY_MS ? undefined : instantOf(new Date(until))
}
