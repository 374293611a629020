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
export const id: Codec<string, string> = new Codec(
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

/** The same, without the names `.` and `..`, which no address can contain. */
export const addressable = (named: Codec<string>): Codec<string, string> =>
  new Codec(
    named.name,
    (u): u is string => named.is(u) && u !== '.' && u !== '..',
    (u, c) =>
      u === '.' || u === '..'
        ? refuse(u, c, 'string_pattern_mismatch', "String should not be '.' or '..'")
        : named.validate(u, c),
    named.schema,
    'unchanged',
  )

const TEAM = /^[A-Za-z0-9._-]{1,128}$/

export const nameOf = (kind: string): Codec<string, string> =>
  textLike(kind, TEAM, 'String should have 1 to 128 letters, digits, dots, underscores or hyphens')

/** A team's name, which is also the entity of its projects. */
export const teamName = nameOf('team')

/** The name of a registry within its team. */
export const registryName = nameOf('registry')

/** Most names; tested first, because every call has one. */
const PLAIN_PROJECT_ID = /^[A-Za-z0-9._-]{1,128}\/[A-Za-z0-9._-]{1,128}$/

const PROJECT = /^[^\s/\\#?%:\p{Cc}](?:[^/\\#?%:\p{Cc}]{0,126}[^\s/\\#?%:\p{Cc}])?$/u
/** And U+FFFD, which replaces bytes that are no text. */
const INVISIBLE = /[\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\u200b\u2060\ufeff\ufffd]/u

/** The rule of the clients, and two of ours, because names that look the same must not be two projects. */
export const PROJECT_RULE =
  'a project name has 1 to 128 characters in Unicode normalization form C, without the characters / \\ # ? % :, ' +
  'control or invisible characters, or white space at its ends'

const isProjectName = (text: string): boolean =>
  TEAM.test(text) || (PROJECT.test(text) && !INVISIBLE.test(text) && text.normalize('NFC') === text)

const isProjectId = (text: string): boolean => {
  if (PLAIN_PROJECT_ID.test(text)) return true
  const slash = text.indexOf('/')
  return TEAM.test(text.slice(0, Math.max(slash, 0))) && isProjectName(text.slice(slash + 1))
}

/** The name of a project within its entity. */
export const projectName: Codec<string, string> = textLike(
  'project_name',
  PROJECT,
  `String should be the name of a project: ${PROJECT_RULE}`,
  isProjectName,
)

/** `entity/project`. */
export const projectId: Codec<string, string> = textLike(
  'project_id',
  new RegExp(`^[A-Za-z0-9._-]{1,128}/${PROJECT.source.slice(1)}`, 'u'),
  `String should be 'entity/project': an entity has 1 to 128 letters, digits, dots, underscores or hyphens; ${PROJECT_RULE}`,
  isProjectId,
)

export const entityOf = (projectId: string): string => projectId.slice(0, projectId.indexOf('/'))

export const projectNameOf = (projectId: string): string => projectId.slice(projectId.indexOf('/') + 1)
