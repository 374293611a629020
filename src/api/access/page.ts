import type * as t from 'io-ts'
import type { Codec } from '../../domain/codec/codec.js'
import { arrayOf, nullable, withDefault } from '../../domain/codec/containers.js'
import { string } from '../../domain/codec/leaves.js'
import { open } from '../../domain/codec/struct.js'
import { integerInQuery } from '../integer-in-query.js'

const USUAL_LIMIT = 100
const LARGEST_LIMIT = 1000

/** The query of a list. */
export const pageFields = {
  limit: withDefault(integerInQuery(1, LARGEST_LIMIT), USUAL_LIMIT),
  after: withDefault(string, undefined),
}
export const pageQuery = open('Page', { optional: pageFields })
export type PageQuery = t.TypeOf<typeof pageQuery>

/** A list as it is answered: `next` is the `after` of the page behind this one, null on the last. */
export const pageOf = <A>(item: Codec<A>) =>
  open(`${item.name}List`, { required: { data: arrayOf(item), next: nullable(string) } })

/** The page that `limit` and `after` ask for, of items in the order of their names. */
export const takePage = <A>(
  { limit, after }: PageQuery,
  itemsAfter: (after: string | undefined) => Iterable<A>,
  nameOf: (item: A) => string,
): { readonly data: readonly A[]; readonly next: string | null } => {
  const data: A[] = []
  for (const item of itemsAfter(after)) {
    if (data.length === limit) return { data, next: nameOf(data[limit - 1]!) }
    data.push(item)
  }
  return { data, next: null }
}
