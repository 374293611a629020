import { createHmac, hash, randomBytes } from 'node:crypto'
import type { Clock } from '../../kernel/ports/clock.js'
import type { HmacSha256 } from '../../kernel/ports/hmac.js'
import type { RandomKey } from '../../kernel/ports/secrets.js'
import type { Sha256 } from '../../kernel/ports/sha256.js'

export const systemClock: Clock = { now: () => new Date() }

export const sha256: Sha256 = (content) => hash('sha256', content, 'hex')

export const hmacSha256: HmacSha256 = (key, content, form) =>
  createHmac('sha256', key).update(content).digest(form)

/** 256 random bits in base64url, with the prefix of our keys. */
export const randomKey: RandomKey = () => `tt_${randomBytes(32).toString('base64url')}`
