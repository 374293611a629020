import * as E from 'fp-ts/lib/Either.js'
import type { Json } from '../../../kernel/json/json.js'
import { jsonBytesAtMost } from '../../../kernel/json/measure.js'
import type { ScoringTools } from '../../../kernel/ports/scoring-tools.js'
import type { BuiltInSettings } from './built-in-settings.js'
import type { Rule } from '../scoring.js'

const MAX_JSON_BYTES = 4 * 1024 * 1024

/** As in the Python SDK: an output that is not text is a failure, even if it is an object. */
export const validJson: Rule = (output) =>
  typeof output === 'string'
    ? { value: { json_valid: isPythonJson(output) } }
    : { failed: 'output is not a text' }

/** The constants that Python's `json.loads` accepts beyond JSON, outside of strings. */
const CONSTANTS = /"(?:[^"\\]|\\[\s\S])*"?|-?Infinity|NaN/g

const isPythonJson = (text: string): boolean =>
  parsed(text) !== undefined ||
  (/NaN|Infinity/.test(text) &&
    parsed(text.replace(CONSTANTS, (found) => (found.startsWith('"') ? found : 'null'))) !== undefined)

const parsed = (text: string): Json | undefined => {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

export const jsonSchema = (
  { schema }: BuiltInSettings<'JSONSchemaScorer'>,
  { compileSchema, withinTime }: ScoringTools,
): E.Either<string, Rule> => {
  const compiled = compileSchema(schema)
  if ('error' in compiled) return E.left(`schema: ${compiled.error}`)
  let { validate } = compiled
  return E.right((output) => {
    if (jsonBytesAtMost(output, MAX_JSON_BYTES) > MAX_JSON_BYTES)
      return { failed: `output is larger than ${MAX_JSON_BYTES} bytes` }
    const value = typeof output === 'string' ? parsed(output) : output
    if (value === undefined)
      return { value: { json_valid: false, schema_valid: false, errors: ['output is not JSON'] } }
    const result = withinTime(() => validate(value))
    if ('value' in result)
      return { value: { json_valid: true, schema_valid: result.value.length === 0, errors: result.value } }
    // An interrupted matcher of a pattern may be in an inconsistent state.
    const again = compileSchema(schema)
    if ('validate' in again) validate = again.validate
    return { failed: `schema: ${result.error}` }
  })
}
