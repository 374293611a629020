import * as E from 'fp-ts/lib/Either.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'

/** `{{`, `}}`, a field such as `{example[question]}` or `{inputs.user.name}`, or a brace that belongs to none of them. */
const PLACE = /\{\{|\}\}|\{([^{}]*)\}|[{}]/g

/**
 * Fills a template as Python's `str.format` does: `{name}`, `{name[key]}` and `{name.key}`; `{{` and `}}` are braces.
 * Strings are inserted as they are and other values as JSON. The error names what cannot be filled.
 */
export const formatTemplate = (template: string, variables: JsonObject): E.Either<string, string> => {
  let problem: string | undefined
  const text = template.replace(PLACE, (place, field: string | undefined) => {
    if (place === '{{') return '{'
    if (place === '}}') return '}'
    const value = field === undefined ? undefined : valueOf(field, variables)
    if (value !== undefined) return typeof value === 'string' ? value : jsonText(value)
    problem ??=
      field === undefined
        ? `the prompt has a single ${place}; write ${place}${place} for a brace`
        : `the row has no value for ${shortened(place)} of the prompt`
    return ''
  })
  return problem === undefined ? E.right(text) : E.left(problem)
}

const MAX_SHOWN = 100

const shortened = (place: string): string =>
  place.length > MAX_SHOWN ? `${place.slice(0, MAX_SHOWN)}…` : place

/** A name, its attributes and items, and a conversion or a format such as `!r` or `:.2f`, which is ignored. */
const FIELD = /^([^.[!:]*)((?:\.[^.[!:]+|\[[^\]]*\])*)(?:[!:].*)?$/s
const STEP = /\.([^.[]+)|\[([^\]]*)\]/g

const valueOf = (field: string, variables: JsonObject): Json | undefined => {
  const [, name, steps] = FIELD.exec(field) ?? []
  if (name === undefined) return undefined
  let value = memberOf(variables, name)
  for (const [, attribute, item] of (steps ?? '').matchAll(STEP))
    value = memberOf(value, attribute ?? item ?? '')
  return value
}

const memberOf = (value: Json | undefined, name: string): Json | undefined => {
  if (Array.isArray(value))
    return /^\d{1,9}$/.test(name) ? (value as readonly Json[])[Number(name)] : undefined
  return value !== undefined && isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}
