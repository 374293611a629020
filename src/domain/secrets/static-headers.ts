import * as E from 'fp-ts/lib/Either.js'
import type { Problem } from '../../kernel/codec/problem.js'

type Headers = Readonly<Record<string, string>> | null

export const NO_SECRET = 'The team has no secret with this name'

const MAX_HEADERS = 32
const MAX_BYTES = 8192

const NAME = /^[A-Za-z0-9][!#$%&'*+.^_`|~0-9A-Za-z-]{0,127}$/
/** Printable ASCII without white space at the ends: receivers and proxies disagree on anything else. */
const VALUE = /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/

/** Set by the sender, or by HTTP itself. */
const RESERVED = new Set([
  ...['host', 'content-length', 'content-type', 'content-encoding', 'transfer-encoding', 'accept-encoding'],
  ...['connection', 'keep-alive', 'proxy-connection', 'upgrade', 'te', 'trailer', 'expect'],
  ...['webhook-id', 'webhook-timestamp', 'webhook-signature'],
])

type Part =
  { readonly text: string } | { readonly secret: string; readonly start: number; readonly end: number }

const REFERENCE = /\$\$(?=[A-Za-z_{])|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$([A-Za-z_][A-Za-z0-9_]*)/g

/** A value with `$NAME` or `${NAME}` for secrets of the team, and `$$` for a literal `$` before a name or a brace. */
const partsOf = (value: string): readonly Part[] => {
  const parts: Part[] = []
  let at = 0
  for (const match of value.matchAll(REFERENCE)) {
    if (match.index < at) continue
    const [whole, braced, bare] = match
    const secret = braced ?? bare
    const end = match.index + whole.length
    parts.push({ text: value.slice(at, match.index) })
    parts.push(secret === undefined ? { text: '$' } : { secret, start: match.index, end })
    at = end
    if (secret !== undefined) continue
    // What follows an escaped `$` is text.
    const { length } = /^(?:\{|\w+)/.exec(value.slice(at))?.[0] ?? ''
    parts.push({ text: value.slice(at, at + length) })
    at += length
  }
  parts.push({ text: value.slice(at) })
  return parts
}

const references = (headers: Headers) =>
  Object.entries(headers ?? {}).flatMap(([name, value]) =>
    partsOf(value).flatMap((part) => ('secret' in part ? [{ name, ...part }] : [])),
  )

/** The names of the secrets that the headers of a webhook use. */
export const headerSecrets = (headers: Headers): readonly string[] => [
  ...new Set(references(headers).map(({ secret }) => secret)),
]

/** Problems of the headers of a webhook; `secretProblems` has the secrets that it may not use. Values are not quoted. */
export const headerProblems = (
  { headers, access_token }: { readonly headers: Headers; readonly access_token: string | null },
  vendor: string,
  secretProblems: ReadonlyMap<string, string>,
): readonly Problem[] => {
  const entries = Object.entries(headers ?? {})
  const problems: Problem[] = []
  const add = (name: string | undefined, msg: string, more: Partial<Problem> = {}) =>
    problems.push({
      loc: name === undefined ? ['headers'] : ['headers', name],
      type: 'value_error',
      msg,
      ...more,
    })
  const bytes = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  if (entries.length > MAX_HEADERS) add(undefined, `Dictionary should have at most ${MAX_HEADERS} items`)
  if (bytes > MAX_BYTES)
    add(undefined, `Names and values should have at most ${MAX_BYTES} characters together`)
  const seen = new Set<string>()
  for (const [name, value] of entries.slice(0, MAX_HEADERS)) {
    const lower = name.toLowerCase()
    if (!NAME.test(name))
      add(
        undefined,
        "A name should have 1 to 128 letters, digits or characters of !#$%&'*+.^_`|~- and start with a letter or digit",
      )
    else if (RESERVED.has(lower) || lower.startsWith(`x-${vendor.toLowerCase()}-`))
      add(name, 'This header is set for each message and cannot be replaced')
    else if (lower === 'authorization' && access_token !== null)
      add(name, 'This header is set from access_token: use one of them')
    else if (seen.has(lower)) add(name, 'A header of this name is given twice, in another case')
    seen.add(lower)
    if (!VALUE.test(value)) add(name, 'Value should be printable ASCII without white space at its ends')
  }
  for (const { name, secret, start, end } of references(headers)) {
    const problem = secretProblems.get(secret)
    if (problem !== undefined) add(name, problem, { ctx: { start, end, suggestion: null } })
  }
  return problems
}

/** `missing_secret`: a secret no longer exists. `unusable_header`: its value is not valid in a header. */
type UnusableHeaders = 'missing_secret' | 'unusable_header'

/** The headers with the values of secrets. */
export const renderHeaders = (
  headers: Headers,
  valueOf: (secret: string) => string | undefined,
): E.Either<UnusableHeaders, Readonly<Record<string, string>>> => {
  const rendered: [string, string][] = []
  for (const [name, value] of Object.entries(headers ?? {})) {
    let text = ''
    for (const part of partsOf(value)) {
      const next = 'text' in part ? part.text : valueOf(part.secret)
      if (next === undefined) return E.left('missing_secret')
      text += next
    }
    if (!VALUE.test(text)) return E.left('unusable_header')
    rendered.push([name, text])
  }
  return E.right(Object.fromEntries(rendered))
}
