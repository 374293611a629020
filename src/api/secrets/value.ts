import * as t from 'io-ts'
import { Codec, refuse } from '../../kernel/codec/codec.js'
import { string } from '../../kernel/codec/leaves.js'
import { utf8Bytes } from '../../kernel/codec/text.js'

const MOST_BYTES = 8192

/**
 * The value must have 1 to 8 KiB of UTF-8. U+FFFD indicates that the body was not valid UTF-8, so that the value
 * differs from the intended one.
 */
const problemOf = (value: string): readonly [type: string, msg: string] | undefined => {
  if (value === '') return ['string_too_short', 'String should have at least 1 character']
  if (value.includes('\0') || value.includes('\ufffd'))
    return ['string_pattern_mismatch', 'String should be well-formed text, without NUL and U+FFFD']
  if (value.length > MOST_BYTES || utf8Bytes(value) > MOST_BYTES)
    return ['string_too_long', `String should have at most ${MOST_BYTES} bytes`]
  return undefined
}

export const secretValue: Codec<string> = new Codec(
  'string',
  (u): u is string => string.is(u) && problemOf(u) === undefined,
  (u, c) => {
    if (!string.is(u)) return string.validate(u, c)
    const problem = problemOf(u)
    return problem === undefined ? t.success(u) : refuse(u, c, ...problem)
  },
  {
    type: 'string',
    minLength: 1,
    maxLength: MOST_BYTES,
    pattern: '^[^\\u0000\\uFFFD]*$',
    writeOnly: true,
    description: `Text of at most ${MOST_BYTES} bytes, without NUL and U+FFFD. Never returned.`,
  },
)
