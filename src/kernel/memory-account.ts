/** The budget is used up. The request can be sent again later. */
export class MemoryExhausted extends Error {
  override readonly name = 'MemoryExhausted'
}

/** The memory of one request. Its owner releases it once. */
export interface MemoryLease {
  /**
   * Takes bytes, and waits for them if others use them. Returns undefined if it need not wait.
   *
   * @throws MemoryExhausted after the deadline, or when the lease is released meanwhile
   */
  readonly reserve: (bytes: number) => Promise<void> | undefined
  /** Takes bytes at once. Returns false, and takes none, where others use them. */
  readonly grow: (bytes: number) => boolean
  /** Frees some of the bytes. */
  readonly shrink: (bytes: number) => void
  /** Frees all bytes, and takes no more. Idempotent. */
  readonly release: () => void
}

interface Waiter {
  readonly bytes: number
  readonly grant: () => void
}

/** Long enough for others to finish, and shorter than the timeouts of clients and proxies. */
const WAIT_MS = 5000
/** Requests that take no more than this use the headroom, so that they never queue behind large ones. */
const SMALL_BYTES = 524_288

/**
 * The memory for the data of all requests. A team gets at most half of it, and a request at most half of that: what is
 * larger counts as that much, so that no request is refused for its size alone. Waiting requests are served in the order of
 * their arrival within a team, and by turns between teams.
 */
export class MemoryAccount {
  private used = 0
  private readonly usedBy = new Map<string, number>()
  /** In the order of the next turns. */
  private readonly waiting = new Map<string, Waiter[]>()
  private readonly share: number
  private readonly headroom: number

  constructor(
    private readonly total: number,
    private readonly waitMs = WAIT_MS,
  ) {
    this.share = Math.floor(total / 2)
    this.headroom = Math.floor(total / 8)
  }

  lease(team: string): MemoryLease {
    let held = 0
    let isReleased = false
    const withdrawals = new Set<() => void>()
    const mostCounted = Math.floor(this.share / 2)
    /** How much the account counts of further bytes. */
    const counted = (bytes: number) =>
      isReleased ? 0 : Math.min(held + bytes, mostCounted) - Math.min(held, mostCounted)
    const take = (bytes: number) => {
      this.add(team, counted(bytes))
      held += bytes
    }
    return {
      reserve: (bytes) => {
        const more = counted(bytes)
        const isFree =
          held + bytes <= SMALL_BYTES
            ? this.fits(team, more, this.headroom)
            : more <= 0 || !this.mustWait(team, more)
        if (!isFree) return this.wait(team, more, () => take(bytes), withdrawals)
        take(bytes)
        return undefined
      },
      grow: (bytes) => {
        const more = counted(bytes)
        const headroom = held + bytes <= SMALL_BYTES ? this.headroom : 0
        const isFree = more <= 0 || this.fits(team, more, headroom)
        if (isFree) take(bytes)
        return isFree
      },
      shrink: (bytes) => {
        take(-Math.min(bytes, held))
        this.serveWaiting()
      },
      release: () => {
        for (const withdraw of withdrawals) withdraw()
        take(-held)
        isReleased = true
        this.serveWaiting()
      },
    }
  }

  private add(team: string, bytes: number): void {
    this.used += bytes
    const now = (this.usedBy.get(team) ?? 0) + bytes
    if (now === 0) this.usedBy.delete(team)
    else this.usedBy.set(team, now)
  }

  private fits(team: string, bytes: number, headroom = 0): boolean {
    return this.fitsShare(team, bytes, headroom) && this.used + bytes <= this.total + headroom
  }

  private fitsShare(team: string, bytes: number, headroom = 0): boolean {
    return (this.usedBy.get(team) ?? 0) + bytes <= this.share + headroom
  }

  /** Requests do not overtake one of their team, nor another one that its team's share has room for. */
  private mustWait(team: string, bytes: number): boolean {
    if (this.waiting.has(team) || !this.fits(team, bytes)) return true
    for (const [other, [next]] of this.waiting) if (this.fitsShare(other, next!.bytes)) return true
    return false
  }

  private wait(team: string, bytes: number, take: () => void, withdrawals: Set<() => void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer)
        withdrawals.delete(withdraw)
      }
      const waiter: Waiter = {
        bytes,
        grant: () => {
          end()
          take()
          resolve()
        },
      }
      const withdraw = () => {
        end()
        this.leave(team, waiter)
        reject(new MemoryExhausted('the memory for requests is used up'))
      }
      const timer = setTimeout(withdraw, this.waitMs)
      withdrawals.add(withdraw)
      const queue = this.waiting.get(team)
      if (queue === undefined) this.waiting.set(team, [waiter])
      else queue.push(waiter)
    })
  }

  private leave(team: string, waiter: Waiter): void {
    const queue = this.waiting.get(team)!
    queue.splice(queue.indexOf(waiter), 1)
    if (queue.length === 0) this.waiting.delete(team)
    this.serveWaiting()
  }

  private serveWaiting(): void {
    for (let team = this.nextTeam(); team !== undefined; team = this.nextTeam()) {
      const queue = this.waiting.get(team)!
      const next = queue.shift()!
      // Deleted and set again, a team is the last of the turn.
      this.waiting.delete(team)
      if (queue.length > 0) this.waiting.set(team, queue)
      next.grant()
    }
  }

  /** The first team whose share has room, if the total has room as well: smaller requests would starve a large one. */
  private nextTeam(): string | undefined {
    for (const [team, [next]] of this.waiting)
      if (this.fitsShare(team, next!.bytes)) return this.fits(team, next!.bytes) ? team : undefined
    return undefined
  }
}
