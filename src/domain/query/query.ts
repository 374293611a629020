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
