import type { Json, JsonObject } from '../json/json.js'
import type { CompilePattern } from './patterns.js'

/** Validates a value against one JSON Schema: the errors, each with its place in the value; none when it is valid. */
export type SchemaValidator = (value: Json) => readonly string[]

export interface RougeScores {
  readonly rouge1: number
  readonly rouge2: number
  readonly rougeL: number
}

/** What the built-in scorers need of libraries and of the clock. */
export interface ScoringTools {
  readonly compilePattern: CompilePattern
  /** The error says what is wrong with the schema. References to other documents are errors. */
  readonly compileSchema: (
    schema: JsonObject | boolean,
  ) => { readonly validate: SchemaValidator } | { readonly error: string }
  /** Levenshtein distance in UTF-16 code units. */
  readonly editDistance: (a: string, b: string) => number
  /** F1 of ROUGE-1, ROUGE-2 and ROUGE-L. Both texts have words. */
  readonly rouge: (candidate: string, reference: string) => RougeScores
  /** CPU time of this thread, in milliseconds. */
  readonly cpuMs: () => number
  /** Runs synchronous work and interrupts it after a limit of CPU time. What it throws is an error too. */
  readonly withinTime: <A>(run: () => A) => { readonly value: A } | { readonly error: string }
}
