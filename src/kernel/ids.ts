import * as t from 'io-ts'
import { Codec, refuse } from './codec/codec.js'
import { string } from './codec/leaves.js'
import { textLike, utf8Bytes } from './codec/text.js'

const MAX_ID_BYTES = 256

/** C0 and C1 controls and DEL. */
const CONTROL = /\p{Cc}/u

const isId = (u: unknown): u is string =>
  string.is(u) &&
  u.length > 0 &&
  u.length <= MAX_ID_BYTES &&
  !CONTROL.test(u) &&
  (u.length * 3 <= MAX_ID_BYTES || utf8Bytes(u) <= MAX_ID_BYTES)

/** A client-chosen id: 1 to 256 bytes of UTF-8 without control characters. */
export const id: Codec<string> = new Codec(
  'id',
  isId,
  (u, c) => {
    if (isId(u)) return t.success(u)
    if (!string.is(u)) return string.validate(u, c)
    if (u === '') return refuse(u, c, 'string_too_short', 'String should have at least 1 character')
    return CONTROL.test(u)
      ? refuse(u, c, 'string_pattern_mismatch', 'String should have no control characters')
      : refuse(u, c, 'string_too_long', `String should have at most ${MAX_ID_BYTES} bytes`)
  },
  { type: 'string', minLength: 1, maxLength: MAX_ID_BYTES, pattern: '^\\P{Cc}+$' },
  'unchanged',
)

/** A team's name, which is also the entity of its projects. */
export const teamName: Codec<string> = textLike(
  'team',
  /^[A-Za-z0-9._-]{1,128}$/,
  'String should have 1 to 128 letters, digits, dots, underscores or hyphens',
)

/** `entity/project`. */
export const projectId: Codec<string> = textLike(
  'project_id',
  /^[A-Za-z0-9._-]{1,128}\/[A-Za-z0-9._-]{1,128}$/,
  "String should be 'entity/project', each of 1 to 128 letters, digits, dots, underscores or hyphens",
)

export const entityOf = (projectId: string): string => projectId.slice(0, projectId.indexOf('/'))
