import type { Json } from '../../kernel/json/json.js'

/** A query as clients write it: one operation over operations and operands. */
export type Query = Readonly<{ $expr: Operation }>

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
  | { readonly $usedModel: UsedModel }

export type Operand =
  Operation | { readonly $literal: Json } | { readonly $getField: string } | { readonly $convert: Convert }

export type Pair = readonly [Operand, Operand]

export type Contains = Readonly<{ input: Operand; substr: Operand; case_insensitive: boolean }>

export type Convert = Readonly<{ input: Operand; to: ConvertTo }>

/** A model that a call or one of its descendants used; with `own` the call itself. */
export type UsedModel = string | readonly [model: string, kind: 'own']

export const usedModelOf = (used: UsedModel): { readonly model: string; readonly isOwn: boolean } =>
  typeof used === 'string' ? { model: used, isOwn: false } : { model: used[0], isOwn: true }

/** Each is a read of its own, so that it counts as this many operations. */
export const USED_MODEL_SIZE = 100

export const CONVERT_TO = ['double', 'string', 'int', 'bool', 'exists'] as const
export type ConvertTo = (typeof CONVERT_TO)[number]

/** Maximum nesting of operations. */
export const MAX_EXPRESSION_DEPTH = 32

/** Maximum number of operations, operands and parts of field paths. Literals of `$in` lists are counted separately. */
export const MAX_EXPRESSION_SIZE = 1000

/** Maximum parts of one field path. */
export const MAX_PATH_PARTS = 32

/** Maximum number of literals in all `$in` lists together. */
export const MAX_LIST_LITERALS = 10_000
