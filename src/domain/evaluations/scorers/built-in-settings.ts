import type * as t from 'io-ts'
import { leaf } from '../../../kernel/codec/codec.js'
import { arrayOf, nullable, withDefault } from '../../../kernel/codec/containers.js'
import { boolean, number, oneOf, string } from '../../../kernel/codec/leaves.js'
import { open } from '../../../kernel/codec/struct.js'
import { textUpToCharacters } from '../../../kernel/codec/text.js'
import { isJsonObject, type JsonObject } from '../../../kernel/json/json.js'
import { deeperThan } from '../../../kernel/json/measure.js'

const MAX_PATTERN = 1_000
const MAX_SCHEMA = 65_536
const MAX_SCHEMA_DEPTH = 64

const flag = withDefault(boolean, false, true)

const tolerance = withDefault(
  leaf<number>(
    'tolerance',
    (u): u is number => number.is(u) && u >= 0,
    { type: 'greater_than_equal', msg: 'Input should be a number that is not negative' },
    { type: 'number', minimum: 0 },
  ),
  0,
  true,
)

const isSchema = (u: unknown): u is JsonObject | boolean =>
  typeof u === 'boolean' ||
  (isJsonObject(u) && !deeperThan(u, MAX_SCHEMA_DEPTH) && JSON.stringify(u).length <= MAX_SCHEMA)

const jsonSchema = leaf<JsonObject | boolean>(
  'schema',
  isSchema,
  {
    type: 'value_error',
    msg: `Input should be a JSON Schema: an object or a boolean of at most ${MAX_SCHEMA} characters and ${MAX_SCHEMA_DEPTH} levels`,
  },
  { anyOf: [{ type: 'object' }, { type: 'boolean' }] },
)

/** The parameters of every built-in scorer, by its class. The last three are classes of the Python SDK. */
export const BUILT_IN_SETTINGS = {
  /**
   * `{exact_match}`: the output equals `target` as JSON. Text can be compared without case, and without whitespace at
   * its ends (`trim`).
   */
  ExactMatchScorer: open('ExactMatchScorer', { optional: { ignore_case: flag, trim: flag } }),
  /** `{contains}`: the output contains `values`, else `target` (a text or a list of texts): `all` or `any` of them. */
  ContainsScorer: open('ContainsScorer', {
    optional: {
      ignore_case: flag,
      values: nullable(arrayOf(string, 1)),
      match: withDefault(oneOf('all', 'any'), 'all' as const, true),
    },
  }),
  /** `{regex_match}`: the RE2 pattern matches in the output, or all of it with `full_match`. */
  RegexScorer: open('RegexScorer', {
    required: { pattern: textUpToCharacters(MAX_PATTERN) },
    optional: { ignore_case: flag, full_match: flag },
  }),
  /**
   * `{json_valid, schema_valid, errors}`: the output, or the value of its JSON text, is valid against `schema` (draft
   * 2020-12, or draft-07 where `$schema` names it; `format` is not checked).
   */
  JSONSchemaScorer: open('JSONSchemaScorer', { required: { schema: jsonSchema } }),
  /**
   * `{within_tolerance, absolute_error}`: the output differs from `target` by at most `absolute_tolerance`, or
   * `relative_tolerance` × |target|. Both may be numbers or their text. An output that is no number is not within it.
   */
  NumericToleranceScorer: open('NumericToleranceScorer', {
    optional: { absolute_tolerance: tolerance, relative_tolerance: tolerance },
  }),
  /** `{edit_distance, similarity}`: Levenshtein distance in characters, and 1 − distance ÷ length of the longer text. */
  EditDistanceScorer: open('EditDistanceScorer', { optional: { ignore_case: flag } }),
  /**
   * `{rouge1, rouge2, rougeL}`: F1 of the words, the pairs of words and the longest common subsequence. Words are letters and
   * digits, without case, as the reference implementation (`rouge_score`) has them.
   */
  RougeScorer: open('RougeScorer', { optional: { ignore_case: withDefault(boolean, true, true) } }),
  /** `{json_valid}`: the output is JSON text by the rules of Python, which knows NaN, Infinity and -Infinity. */
  ValidJSONScorer: open('ValidJSONScorer', {}),
  /** `{string_in_input}`: the output is found in `target`, without case. */
  StringMatchScorer: open('StringMatchScorer', {}),
  /** `{levenshtein_distance}` in characters. */
  LevenshteinScorer: open('LevenshteinScorer', {}),
}

type Settings = typeof BUILT_IN_SETTINGS
export type BuiltInClass = keyof Settings
export type BuiltInSettings<C extends BuiltInClass> = t.TypeOf<Settings[C]>

export const isBuiltInClass = (name: string): name is BuiltInClass => Object.hasOwn(BUILT_IN_SETTINGS, name)

const OUTPUT_ONLY: ReadonlySet<BuiltInClass> = new Set(['RegexScorer', 'JSONSchemaScorer', 'ValidJSONScorer'])

export const argumentsOf = (name: BuiltInClass): readonly string[] =>
  OUTPUT_ONLY.has(name) ? ['output'] : ['output', 'target']
