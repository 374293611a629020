import { randomFillSync } from 'node:crypto'
import { v7 } from 'uuid'
import type { Ids } from '../../kernel/ports/clock.js'

const BYTES = 16
const AT_ONCE = 256

/** Draws random bytes for many UUIDv7s at once, because one draw per id would dominate the cost. */
const pooledIds = (): Ids => {
  const pool = new Uint8Array(BYTES * AT_ONCE)
  let at = pool.length
  return {
    next: () => {
      if (at === pool.length) {
        randomFillSync(pool)
        at = 0
      }
      at += BYTES
      return v7({ random: pool.subarray(at - BYTES, at) })
    },
  }
}

export const systemIds: Ids = pooledIds()
