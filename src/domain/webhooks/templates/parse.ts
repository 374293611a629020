import * as E from 'fp-ts/lib/Either.js'
import type { ErrorPlace } from '../../../kernel/codec/problem.js'
import { nearestOf } from './nearest.js'
import type { Part, Reference, Template } from './template.js'
import { isVariable, METADATA_PREFIX, VARIABLE_NAMES } from './variables.js'

const ACCESS_TOKEN = 'ACCESS_TOKEN'

/** Names of the secrets of the webhook that a template is for; null without one. */
export interface KnownSecrets {
  readonly accessToken: string | null
  readonly secret: string | null
}

/** Why a text is no template, and where: `start` and `end` count UTF-16 units from 0. Never quotes the text. */
export interface TemplateError {
  readonly msg: string
  readonly ctx: ErrorPlace
}

interface ParsedReference {
  readonly to: Reference
  readonly nested: number
  readonly end: number
}

/**
 * Parses a template: JSON with `${name}` in strings or in place of a value, `$NAME` for a secret of the webhook, and `$$`
 * for a literal `$` before a name or a brace. `${name|json}` in a string is for a string within JSON within that string.
 *
 * Right renders to valid JSON for all values, see {@link isJson}.
 */
export const parseTemplate = (source: string, known: KnownSecrets): E.Either<TemplateError, Template> =>
  parse(source, known, (at, end) => E.left(unknownName(source, at, end, known)))

/**
 * The template of a stored automation, undefined for what is no template. Payloads stored by earlier releases may have
 * other text after a `$`.
 */
export const storedTemplate = ({
  payload,
  secret,
  access_token: accessToken,
}: {
  readonly payload: string
  readonly secret: string | null
  readonly access_token: string | null
}): Template | undefined => {
  // Whether the webhook still has an access token is asked when a message is sent.
  const known = { secret, accessToken: accessToken ?? ACCESS_TOKEN }
  const parsed = parse(payload, known, () => E.right(undefined))
  return E.isRight(parsed) ? parsed.right : undefined
}

type OnUnknownName = (at: number, end: number) => E.Either<TemplateError, undefined>

const parse = (
  source: string,
  known: KnownSecrets,
  onUnknownName: OnUnknownName,
): E.Either<TemplateError, Template> => {
  const parts: Part[] = []
  let text = ''
  let inString = false
  const endText = () => {
    if (text !== '') parts.push({ kind: 'text', text })
    text = ''
  }
  for (let at = 0; at < source.length;) {
    const char = source[at]!
    if (char === '$' && isEscaped(source, at)) {
      text += '$'
      // A brace or a name follows, neither of which ends a string.
      const { length } = /^\{|^\w+/.exec(source.slice(at + 2))![0]
      text += source.slice(at + 2, at + 2 + length)
      at += 2 + length
      continue
    }
    const found = char === '$' ? referenceAt(source, at, known, onUnknownName) : E.right(undefined)
    if (E.isLeft(found)) return found
    if (found.right !== undefined) {
      endText()
      const { to, nested, end } = found.right
      if (nested > 0 && !inString) {
        const msg = `\`|json\` ${placeOf(at)} is only for variables inside a JSON string`
        return E.left({ msg, ctx: { start: at, end, suggestion: null } })
      }
      parts.push({ kind: 'reference', to, inString, nested })
      at = end
      continue
    }
    const length = inString && char === '\\' ? 2 : 1
    if (char === '"') inString = !inString
    text += source.slice(at, at + length)
    at += length
  }
  endText()
  if (isJson(parts)) return E.right({ parts })
  const msg =
    'The template should be valid JSON after substitution; a variable outside a string replaces a whole value'
  return E.left({ msg, ctx: { start: 0, end: source.length, suggestion: null } })
}

const isEscaped = (source: string, at: number): boolean =>
  source[at + 1] === '$' && /[A-Za-z_{]/.test(source[at + 2] ?? '')

const BARE = /[A-Za-z_][A-Za-z0-9_]*/y

/** The reference that a `$` starts; undefined for a literal `$`. */
const referenceAt = (
  source: string,
  at: number,
  { accessToken, secret }: KnownSecrets,
  onUnknownName: OnUnknownName,
): E.Either<TemplateError, ParsedReference | undefined> => {
  if (source[at + 1] !== '{') {
    BARE.lastIndex = at + 1
    const name = BARE.exec(source)?.[0]
    if (name === undefined) return E.right(undefined)
    const end = at + 1 + name.length
    if (name === secret) return E.right({ to: { kind: 'secret', name }, nested: 0, end })
    return name === accessToken && name !== ACCESS_TOKEN
      ? E.right({ to: { kind: 'access_token' }, nested: 0, end })
      : onUnknownName(at, end)
  }
  const close = source.indexOf('}', at)
  if (close < 0) {
    const ctx = { start: at, end: source.length, suggestion: null }
    return E.left({ msg: `The variable ${placeOf(at)} has no closing brace`, ctx })
  }
  const [, name = '', filters = ''] = /^(.*?)((?:\|json)*)$/s.exec(source.slice(at + 2, close))!
  const nested = filters.length / '|json'.length
  const end = close + 1
  if (name === ACCESS_TOKEN && accessToken === null)
    return E.left({
      msg: `The variable ${placeOf(at)} requires a webhook with an access token`,
      ctx: { start: at, end, suggestion: null },
    })
  if (name === ACCESS_TOKEN) return E.right({ to: { kind: 'access_token' }, nested, end })
  if (isVariable(name)) return E.right({ to: { kind: 'variable', name }, nested, end })
  if (name === secret) return E.right({ to: { kind: 'secret', name }, nested, end })
  return name === accessToken
    ? E.right({ to: { kind: 'access_token' }, nested, end })
    : onUnknownName(at, end)
}

const placeOf = (at: number): string => `at character ${at + 1}`

const unknownName = (source: string, at: number, end: number, known: KnownSecrets): TemplateError => {
  const name = source.slice(at, end).replaceAll(/[${}]/g, '')
  const { accessToken, secret } = known
  const names = [
    ...VARIABLE_NAMES,
    `${METADATA_PREFIX}KEY`,
    ...(accessToken === null ? [] : [ACCESS_TOKEN, accessToken]),
    ...(secret === null ? [] : [secret]),
  ].map((one) => `\${${one}}`)
  const nearest = nearestOf(`\${${name}}`, names)
  const literal = source[at + 1] === '{' ? '' : ' Write $$ for a literal $.'
  return {
    msg:
      `Unknown variable ${placeOf(at)}.${nearest === null ? '' : ` Did you mean ${nearest}?`}${literal} ` +
      `Known are ${names.join(', ')}; add a secret to the webhook to use its name`,
    ctx: { start: at, end, suggestion: nearest },
  }
}

/**
 * Tests two renderings: `x` inside strings fails if a variable interrupts an escape, and `{}` outside strings fails
 * if a variable is only part of a value. If both are JSON, any escaped text and any values render to JSON.
 */
const isJson = (parts: readonly Part[]): boolean => {
  const sample = parts.map((part) => (part.kind === 'text' ? part.text : part.inString ? 'x' : '{}')).join('')
  try {
    JSON.parse(sample)
    return true
  } catch {
    return false
  }
}
