import { StoreUnavailable } from '../../../kernel/ports/event-store-errors.js'

interface Limits {
  readonly atOnce: number
  /** Of all requests under way; one alone may be larger. */
  readonly mostBytes?: number
  readonly mostWaitingBytes: number
  readonly waitMs: number
}

/** What a request that waits takes at least. */
const LEAST_BYTES = 1024

interface Waiter {
  readonly bytes: number
  readonly since: number
  readonly grant: (release: () => void) => void
  readonly refuse: (error: Error) => void
}

/** Bounds how many requests are under way. */
export const slots = ({ atOnce, mostBytes = Infinity, mostWaitingBytes, waitMs }: Limits) => {
  /** By kind. */
  const waiting = new Map<string, Set<Waiter>>()
  let waitingBytes = 0
  let held = 0
  let heldBytes = 0

  const hasRoom = (bytes: number) => held === 0 || (held < atOnce && heldBytes + bytes <= mostBytes)

  const hold = (bytes: number) => {
    held += 1
    heldBytes += bytes
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      held -= 1
      heldBytes -= bytes
      grantWaiting()
    }
  }

  /** Checked when a slot is freed: each request ends within seconds, so the queue needs no timers. */
  const grantWaiting = () => {
    for (const [kind, waiters] of waiting) {
      const [waiter] = waiters
      if (waiter === undefined || !hasRoom(waiter.bytes)) return
      const { bytes, since, grant, refuse } = waiter
      waiters.delete(waiter)
      // The kind gets its next turn after the others.
      waiting.delete(kind)
      if (waiters.size > 0) waiting.set(kind, waiters)
      waitingBytes -= bytes
      if (performance.now() - since <= waitMs) grant(hold(bytes))
      else refuse(overloaded())
    }
  }

  return {
    /**
     * A free slot, in the order of the calls of a kind, the kinds in turn, so that many of one do not hold up others. The
     * returned function frees it.
     *
     * @throws StoreUnavailable when too many wait already, or no slot came free in time
     */
    acquire: async (given = 0, kind = ''): Promise<() => void> => {
      const bytes = Math.max(given, LEAST_BYTES)
      if (waiting.size === 0 && hasRoom(bytes)) return hold(bytes)
      if (waitingBytes + bytes > mostWaitingBytes) throw overloaded()
      waitingBytes += bytes
      return new Promise((grant, refuse) => {
        const waiters = waiting.get(kind) ?? new Set()
        waiting.set(kind, waiters.add({ bytes, since: performance.now(), grant, refuse }))
      })
    },
  }
}

const overloaded = () => new StoreUnavailable('too many requests are queued for the EventStoreDB')
