import { createHmac, hash, randomBytes, randomFillSync } from 'node:crypto'
import { v7 } from 'uuid'
import type { Clock, Ids } from '../../kernel/ports/clock.js'
import type { HmacSha256 } from '../../kernel/ports/hmac.js'
import type { RandomKey } from '../../kernel/ports/secrets.js'
import type { Sha256 } from '../../kernel/ports/sha256.js'

export const systemClock: Clock = { now: () => new Date() }

export const sha256: Sha256 = (content) => hash('sha256', content, 'hex')

export const hmacSha256: HmacSha256 = (key, content, form) =>
  createHmac('sha256', key).update(content).digest(form)

/**
 * The package `wandb` reads a `-` as the end of a prefix, and wants at least 40 characters after it; its older versions
 * want exactly 40.
 */
export const randomKey: RandomKey = () =>
  `tt_${randomBytes(96)
    .toString('base64')
    .replaceAll(/[^A-Za-z0-9]/g, '')
    .slice(0, 37)}`

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
