import * as E from 'fp-ts/lib/Either.js'
import type { Part, Reference, Template } from './template.js'
import { isVariable } from './variables.js'

/** What of secrets the webhook has that a template is for. */
export interface KnownSecrets {
  readonly accessToken: boolean
  /** The name that its other secret is stored under; null without one. */
  readonly secret: string | null
}

interface Found {
  readonly to: Reference
  readonly end: number
}

/**
 * Reads a template, which is JSON with `${name}` in its strings or in the place of a value, `$NAME` for the webhook's
 * secret, and `$${` for a `${` of its own.
 *
 * Left says in a sentence, without quoting the template, why it is none. Right renders to JSON whatever its variables
 * are: see {@link isJson}.
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

/** What a `$` begins; undefined for one that is only text. */
const referenceAt = (
  source: string,
  at: number,
  { accessToken, secret }: KnownSecrets,
): E.Either<string, Found | undefined> => {
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
 * With `x` in the strings, a variable that interrupts an escape would not be JSON; with `{}` outside, none that is only a
 * part of a value would. So where this is JSON, any escaped text and any values in their places are.
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
