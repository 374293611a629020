import * as E from 'fp-ts/lib/Either.js'
import { isJsonObject, type Json, type JsonObject } from '../json/json.js'
import { jsonText } from '../json/text.js'

/** `{{`, `}}`, or a field with attributes and items: `{output}`, `{example[question]}`, `{inputs.user.name}`. */
const PLACE = /\{\{|\}\}|\{([^{}]*)\}/g

/**
 * Fills a template as Python's `str.format` does: `{name}`, `{name[key]}` and `{name.key}`; `{{` and `}}` are braces.
 * Text is inserted unchanged, other values as JSON. The error names the variable that is missing.
 */
export const formatTemplate = (template: string, variables: JsonObject): E.Either<string, string> => {
  let missing: string | undefined
  const text = template.replace(PLACE, (place, field: string | undefined) => {
    if (place === '{{') return '{'
    if (place === '}}') return '}'
    const value = valueOf(field ?? '', variables)
    if (value === undefined) missing ??= place
    return value === undefined ? '' : typeof value === 'string' ? value : jsonText(value)
  })
  return missing === undefined ? E.right(text) : E.left(`the row has no value for ${missing} of the prompt`)
}

/** A conversion or a format, such as `{score:.2f}`, is left out. */
const valueOf = (field: string, variables: JsonObject): Json | undefined => {
  const [path = ''] = field.split(/[!:]/, 1)
  const [name = '', ...steps] = path.replace(/\[([^\]]*)\]/g, '.$1').split('.')
  let value = memberOf(variables, name)
  for (const step of steps) value = memberOf(value, step)
  return value
}

const memberOf = (value: Json | undefined, name: string): Json | undefined => {
  if (Array.isArray(value))
    return /^\d{1,9}$/.test(name) ? (value as readonly Json[])[Number(name)] : undefined
  return value !== undefined && isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}
