import { Codec } from '../../kernel/codec/codec.js'
import { closed } from '../../kernel/codec/struct.js'
import { decodeOperation } from './decode.js'
import type { Operation, Query } from './expression.js'
import { outermost } from './place.js'
import { OPERATION_REF } from './schema.js'

export type { Query } from './expression.js'

const operation: Codec<Operation> = new Codec<Operation>(
  'QueryOperation',
  (u): u is Operation => decodeOperation(u, outermost([]))._tag === 'Right',
  (u, context) => decodeOperation(u, outermost(context)),
  { $ref: OPERATION_REF },
)

/** A query: `{"$expr": operation}` and no other key. */
export const query: Codec<Query> = closed('Query', { required: { $expr: operation } })

const MAX_NAME = 256

/** A query names a field that does not exist. */
export class UnknownField extends Error {
  override readonly name = 'UnknownField'
  constructor(readonly field: string) {
    super(`Field ${shortened(field)} is not allowed`)
  }
}

const shortened = (field: string): string =>
  field.length <= MAX_NAME ? field : `${field.slice(0, MAX_NAME).toWellFormed()}…`
