import * as E from 'fp-ts/lib/Either.js'
import { utf8Bytes } from '../codec/text.js'
import type { Json } from '../json/json.js'
import { memberText } from '../json/text.js'
import { MAX_BODY_BYTES, type Reference, type SecretReference, type Template } from './template.js'
import type { Variables } from './variables.js'

/** The value of a secret; undefined where the webhook has none such. */
export type SecretValues = (secret: SecretReference) => string | undefined

export interface Rendered {
  /** JSON of at most {@link MAX_BODY_BYTES} bytes of UTF-8. */
  readonly body: string
  /** Variables that the event has nothing for, in the template's order. */
  readonly unresolved: readonly string[]
}

export type RenderError = 'missing_secret' | 'too_large' | 'not_json'

/** In the place of secrets, where people look at what was sent. */
export const redacted: SecretValues = (secret) =>
  `[secret:${secret.kind === 'secret' ? secret.name : 'ACCESS_TOKEN'}]`

/**
 * Puts values into a template, in one pass: what a value says is never taken for a variable. Inside a string a value is
 * text (strings as they are, others as compact JSON, nothing for what is missing), outside it is JSON (`null` for what
 * is missing).
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
      body += part.inString ? escaped(value, text) : text
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

/** As the inside of a JSON string; a half of a surrogate pair becomes an escape. */
const escaped = (value: Json | undefined, text: string): string => {
  if (value === undefined) return ''
  return JSON.stringify(typeof value === 'string' ? value : text).slice(1, -1)
}

/** A template that was checked when it was saved always renders to JSON; one that was not must not be sent. */
const isJson = (body: string): boolean => {
  try {
    JSON.parse(body)
    return true
  } catch {
    return false
  }
}
