import { StoreUnavailable } from '../../../kernel/ports/event-store-errors.js'

interface Limits {
  readonly atOnce: number
  readonly mostWaitingBytes: number
  readonly waitMs: number
}

/** Bounds how many requests are under way. */
export interface Slots {
  /**
   * A free slot, in the order of the calls, for a request of so many bytes; the answer frees it again.
   *
   * @throws StoreUnavailable when too many wait already, or no slot came free in time
   */
  readonly acquire: (bytes?: number) => Promise<() => void>
}

/** What a request that waits takes at least. */
const LEAST_BYTES = 1024

interface Waiter {
  readonly bytes: number
  readonly since: number
  readonly grant: () => void
  readonly refuse: (error: Error) => void
  next?: Waiter
}

export const slots = ({ atOnce, mostWaitingBytes, waitMs }: Limits): Slots => {
  // A linked list: the first of many thousands is taken away for each request.
  let first: Waiter | undefined
  let last: Waiter | undefined
  let waitingBytes = 0
  let free = atOnce

  /** Checked when a slot is freed: each request ends within seconds, so the queue needs no timers. */
  const pass = () => {
    while (first !== undefined) {
      const { bytes, since, grant, refuse, next } = first
      first = next
      waitingBytes -= bytes
      if (performance.now() - since <= waitMs) {
        grant()
        return
      }
      refuse(overloaded())
    }
    free += 1
  }

  const once = () => {
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      pass()
    }
  }

  return {
    acquire: async (given = 0) => {
      if (free > 0) {
        free -= 1
        return once()
      }
      const bytes = Math.max(given, LEAST_BYTES)
      if (waitingBytes + bytes > mostWaitingBytes) throw overloaded()
      waitingBytes += bytes
      await new Promise<void>((grant, refuse) => {
        const waiter: Waiter = { bytes, since: performance.now(), grant, refuse }
        if (first === undefined || last === undefined) first = waiter
        else last.next = waiter
        last = waiter
      })
      return once()
    },
  }
}

const overloaded = () => new StoreUnavailable('too many requests are queued for the EventStoreDB')
