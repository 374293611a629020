import { Codec } from '../../kernel/codec/codec.js'
import { integerBetween } from '../../kernel/codec/leaves.js'

/** Query values are text. */
export const integerInQuery = (least: number, most: number): Codec<number> => {
  const integer = integerBetween(least, most)
  return new Codec<number>(
    integer.name,
    integer.is,
    (u, context) => integer.validate(typeof u === 'string' && /^\d{1,9}$/.test(u) ? Number(u) : u, context),
    integer.schema,
  )
}
