import * as t from 'io-ts'
import { Codec, refuse } from '../kernel/codec/codec.js'

/** A whole number in an environment variable. */
export const integer = (least: number, most: number): Codec<number> =>
  new Codec<number>(
    'integer',
    (u): u is number => typeof u === 'number',
    (u, c) => {
      const value = typeof u === 'string' && /^\d{1,15}$/.test(u) ? Number(u) : NaN
      return value >= least && value <= most
        ? t.success(value)
        : refuse(u, c, 'value_error', `must be a whole number from ${least} to ${most}`)
    },
    { type: 'integer', minimum: least, maximum: most },
  )
