import type { Json } from '../json/json.js'

/** What a query asks for, as clients write it: one operation, of operations and operands. */
export interface Query {
  readonly $expr: Operation
}

export type Operation =
  | { readonly $and: readonly Operand[] }
  | { readonly $or: readonly Operand[] }
  | { readonly $not: readonly [Operand] }
  | { readonly $eq: Pair }
  | { readonly $gt: Pair }
  | { readonly $gte: Pair }
  | { readonly $lt: Pair }
  | { readonly $lte: Pair }
  | { readonly $in: readonly [Operand, readonly Operand[]] }
  | { readonly $contains: Contains }
  | { readonly $containsToken: Contains }

export type Operand =
  Operation | { readonly $literal: Json } | { readonly $getField: string } | { readonly $convert: Convert }

export type Pair = readonly [Operand, Operand]

export interface Contains {
  readonly input: Operand
  readonly substr: Operand
  readonly case_insensitive: boolean
}

export interface Convert {
  readonly input: Operand
  readonly to: ConvertTo
}

export const CONVERT_TO = ['double', 'string', 'int', 'bool', 'exists'] as const
export type ConvertTo = (typeof CONVERT_TO)[number]

/** Operations inside one another. */
export const MAX_EXPRESSION_DEPTH = 32

/** Operations, operands and parts of field paths in all; the literals of an `$in` are counted apart. */
export const MAX_EXPRESSION_SIZE = 1000

/** Parts of one field path. */
export const MAX_PATH_PARTS = 32

/** Literals of all `$in` lists together. */
export const MAX_LIST_LITERALS = 10_000
