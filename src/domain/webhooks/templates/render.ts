import * as E from 'fp-ts/lib/Either.js'
import { utf8Bytes } from '../../../kernel/codec/text.js'
import type { Json } from '../../../kernel/json/json.js'
import { memberText } from '../../../kernel/json/text.js'
import { MAX_BODY_BYTES, type Reference, type SecretReference, type Template } from './template.js'
import type { Variables } from './variables.js'

/** The value of a secret; undefined if the webhook does not have it. */
export type SecretValues = (secret: SecretReference) => string | undefined

export interface Rendered {
  /** JSON of at most {@link MAX_BODY_BYTES} bytes of UTF-8. */
  readonly body: string
  /** Variables without a value, in template order. */
  readonly unresolved: readonly string[]
}

export type RenderError = 'missing_secret' | 'too_large' | 'not_json'

/** Placeholder for secrets in displayed messages. */
export const redacted: SecretValues = (secret) =>
  `[secret:${secret.kind === 'secret' ? secret.name : 'ACCESS_TOKEN'}]`

/**
 * Substitutes values in one pass, so that values are never parsed for variables. Inside a string a value is text
 * (strings unquoted, others as compact JSON, empty if missing); outside it is JSON (`null` if missing).
 */
export const render = (
  { parts }: Template,
  variables: Variables,
  secrets: SecretValues,
): E.Either<RenderError, Rendered> => {
  const unresolved = new Set<string>()
  let body = ''
  for (const part of parts) {
    if (part.kind === 'text') body += part.text
    else {
      const value = valueOf(part.to, variables, secrets)
      if (value === undefined && part.to.kind !== 'variable') return E.left('missing_secret')
      if (value === undefined && part.to.kind === 'variable') unresolved.add(part.to.name)
      const text =
        part.to.kind === 'variable' && value !== undefined
          ? memberText(variables, part.to.name)
          : JSON.stringify(value ?? null)
      body += part.inString ? escaped(value, text, part.nested) : text
    }
    if (body.length > MAX_BODY_BYTES) return E.left('too_large')
  }
  if (utf8Bytes(body) > MAX_BODY_BYTES) return E.left('too_large')
  return isJson(body) ? E.right({ body, unresolved: [...unresolved] }) : E.left('not_json')
}

const valueOf = (to: Reference, variables: Variables, secrets: SecretValues): Json | undefined => {
  if (to.kind !== 'variable') return secrets(to)
  return Object.hasOwn(variables, to.name) ? variables[to.name] : undefined
}

/** Escaped for a JSON string, including lone surrogates, and for each JSON text that is a string of it. */
const escaped = (value: Json | undefined, text: string, nested: number): string => {
  if (value === undefined) return ''
  let result = typeof value === 'string' ? value : text
  for (let left = nested; left >= 0 && result.length <= MAX_BODY_BYTES; left -= 1)
    result = JSON.stringify(result).slice(1, -1)
  return result
}

/** Templates validated on save always render to JSON; this protects against others. */
const isJson = (body: string): boolean => {
  try {
    JSON.parse(body)
    return true
  } catch {
    return false
  }
}
