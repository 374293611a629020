import { Ajv, type Options } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Json, JsonObject } from '../../kernel/json/json.js'
import type { CompilePattern } from '../../kernel/ports/patterns.js'
import type { ScoringTools } from '../../kernel/ports/scoring-tools.js'
import { withinTime } from './time-limit.js'

/** Ajv takes 0.1 s for a small schema, and minutes for a few thousand alternatives. */
const COMPILE_LIMIT_MS = 2_000
const MAX_ERRORS = 10
const MAX_MESSAGE = 300

/**
 * Compiles a JSON Schema that may be hostile: its patterns run as RE2, `format` is not checked because the usual
 * patterns of formats backtrack, and a reference to another document does not resolve. The time that a validation takes
 * is for the caller to limit: recursive references can make it exponential.
 */
export const compileJsonSchema =
  (compilePattern: CompilePattern): ScoringTools['compileSchema'] =>
  (schema) => {
    // An instance whose work was interrupted is not usable again.
    const compile = () => ajvFor(schema, compilePattern).compile<unknown>(schema)
    const compiled = withinTime(compile, COMPILE_LIMIT_MS)
    if ('error' in compiled) return { error: cut(compiled.error) }
    const isValid = compiled.value
    return {
      validate: (value: Json) => {
        if (isValid(value)) return []
        return (isValid.errors ?? [])
          .slice(0, MAX_ERRORS)
          .map(({ instancePath, message = 'is invalid' }) => cut(`${instancePath || '/'} ${message}`))
      },
    }
  }

const ajvFor = (schema: JsonObject | boolean, compilePattern: CompilePattern): Ajv | Ajv2020 => {
  const { $schema: draft, $async: isAsync } = typeof schema === 'boolean' ? {} : schema
  if (isAsync !== undefined) throw new Error('$async is not supported')
  if (draft === undefined || isDraft(draft, '2020-12/schema')) return new Ajv2020(optionsWith(compilePattern))
  if (isDraft(draft, 'draft-07/schema')) return new Ajv(optionsWith(compilePattern))
  throw new Error('$schema should be draft 2020-12 or draft-07')
}

const isDraft = (given: Json, name: string): boolean =>
  typeof given === 'string' &&
  /^https?:\/\/json-schema\.org\//.test(given) &&
  given.replace(/#$/, '').endsWith(`/${name}`)

const optionsWith = (compilePattern: CompilePattern): Options => ({
  strict: false,
  validateFormats: false,
  ownProperties: true,
  inlineRefs: false,
  logger: false,
  code: { regExp: regExpOf(compilePattern) },
})

const regExpOf = (compilePattern: CompilePattern) =>
  Object.assign(
    (source: string) => {
      const compiled = compilePattern(source)
      if ('error' in compiled) throw new Error(compiled.error)
      // Ajv distinguishes patterns by their text.
      return { test: compiled.pattern, toString: () => source }
    },
    { code: 'compileRe2' },
  )

const cut = (message: string): string => message.slice(0, MAX_MESSAGE).toWellFormed()
