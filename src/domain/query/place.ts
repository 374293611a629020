import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { gather, refuse } from '../../kernel/codec/codec.js'
import { MAX_EXPRESSION_SIZE, MAX_LIST_LITERALS } from './expression.js'

/** Position of the decoder in an expression, with the remaining budget. */
export interface Place {
  readonly context: t.Context
  /** Nesting depth. */
  readonly depth: number
  /** Consumes budget for nodes; false if it is exhausted. */
  readonly takeNodes: (count: number) => boolean
  readonly takeListLiterals: (count: number) => boolean
}

export type DecodeAt<A> = (u: unknown, place: Place) => t.Validation<A>

export const outermost = (context: t.Context): Place => ({
  context,
  depth: 0,
  takeNodes: counter(MAX_EXPRESSION_SIZE),
  takeListLiterals: counter(MAX_LIST_LITERALS),
})

const counter = (most: number) => {
  let left = most
  return (count: number): boolean => {
    left -= count
    return left >= 0
  }
}

export const within = (place: Place, key: string, actual: unknown): Place => ({
  ...place,
  context: t.appendContext(place.context, key, t.unknown, actual),
})

export const tooLarge = (u: unknown, { context }: Place): t.Validation<never> =>
  refuse(
    u,
    context,
    'too_long',
    `Expression should have at most ${MAX_EXPRESSION_SIZE} operations, operands and parts of field names, and at most ${MAX_LIST_LITERALS} literals in lists`,
  )

/** Decodes a list item by item. */
export const listOf =
  <A>(item: DecodeAt<A>): DecodeAt<readonly A[]> =>
  (u, place) => {
    if (!Array.isArray(u)) return refuse(u, place.context, 'list_type', 'Input should be a valid list')
    const items: A[] = []
    const errors: t.ValidationError[] = []
    for (const [index, one] of u.entries()) {
      const decoded = item(one, within(place, String(index), one))
      if (E.isRight(decoded)) items.push(decoded.right)
      else if (!gather(errors, decoded.left)) break
    }
    return errors.length === 0 ? t.success(items) : t.failures(errors)
  }

/** Decodes a list with one decoder per item, of exactly that length. */
export const tupleOf =
  <A extends readonly unknown[]>(...items: { readonly [K in keyof A]: DecodeAt<A[K]> }): DecodeAt<A> =>
  (u, place) => {
    if (!Array.isArray(u)) return refuse(u, place.context, 'tuple_type', 'Input should be a valid list')
    if (u.length < items.length)
      return refuse(u, place.context, 'too_short', `List should have ${items.length} items`)
    if (u.length > items.length)
      return refuse(u, place.context, 'too_long', `List should have ${items.length} items`)
    let at = 0
    const next: DecodeAt<unknown> = (item, itsPlace) => items[at++]!(item, itsPlace)
    return listOf(next)(u, place) as t.Validation<unknown> as t.Validation<A>
  }
