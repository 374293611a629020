import * as E from 'fp-ts/lib/Either.js'
import type { Part, Reference, Template } from './template.js'
import { isVariable } from './variables.js'

/** The secrets of the webhook that a template is for. */
export interface KnownSecrets {
  readonly accessToken: boolean
  /** Name of its signing secret; null without one. */
  readonly secret: string | null
}

interface ParsedReference {
  readonly to: Reference
  readonly end: number
}

/**
 * Parses a template: JSON with `${name}` in strings or in place of a value, `$NAME` for the webhook's secret, and
 * `$${` for a literal `${`.
 *
 * Left explains the error without quoting the template. Right renders to valid JSON for all values, see {@link
 * isJson}.
 */
export const parseTemplate = (source: string, known: KnownSecrets): E.Either<string, Template> => {
  const parts: Part[] = []
  let text = ''
  let inString = false
  for (let at = 0; at < source.length;) {
    const char = source[at]!
    if (source.startsWith('$${', at)) {
      text += '${'
      at += 3
      continue
    }
    const found = char === '$' ? referenceAt(source, at, known) : E.right(undefined)
    if (E.isLeft(found)) return found
    if (found.right !== undefined) {
      if (text !== '') parts.push({ kind: 'text', text })
      text = ''
      parts.push({ kind: 'reference', to: found.right.to, inString })
      at = found.right.end
      continue
    }
    const length = inString && char === '\\' ? 2 : 1
    if (char === '"') inString = !inString
    text += source.slice(at, at + length)
    at += length
  }
  if (text !== '') parts.push({ kind: 'text', text })
  return isJson(parts)
    ? E.right({ parts })
    : E.left(
        'The template should be valid JSON after substitution; a variable outside a string replaces a whole value',
      )
}

const BARE = /[A-Za-z_][A-Za-z0-9_]*/y

/** The reference that a `$` starts; undefined for a literal `$`. */
const referenceAt = (
  source: string,
  at: number,
  { accessToken, secret }: KnownSecrets,
): E.Either<string, ParsedReference | undefined> => {
  const place = `at character ${at + 1}`
  if (source[at + 1] !== '{') {
    BARE.lastIndex = at + 1
    const name = BARE.exec(source)?.[0]
    return E.right(
      name === undefined || name !== secret
        ? undefined
        : { to: { kind: 'secret', name }, end: at + 1 + name.length },
    )
  }
  const close = source.indexOf('}', at)
  if (close < 0) return E.left(`The variable ${place} has no closing brace`)
  const name = source.slice(at + 2, close)
  const end = close + 1
  if (name === 'ACCESS_TOKEN')
    return accessToken
      ? E.right({ to: { kind: 'access_token' }, end })
      : E.left(`The variable ${place} requires a webhook with an access token`)
  if (isVariable(name)) return E.right({ to: { kind: 'variable', name }, end })
  if (name === secret) return E.right({ to: { kind: 'secret', name }, end })
  return E.left(`Unknown variable ${place}: neither a built-in variable nor the name of the webhook's secret`)
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
