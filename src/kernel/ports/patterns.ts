import type { ErrorPlace } from '../codec/problem.js'

/** A compiled RE2 expression, which matches in linear time. True if it matches anywhere in the text. */
export type Pattern = (text: string) => boolean

export interface PatternError {
  /** What is wrong and where. */
  readonly error: string
  readonly ctx: ErrorPlace
}

/** Compiles a user's expression. */
export type CompilePattern = (source: string) => { readonly pattern: Pattern } | PatternError
