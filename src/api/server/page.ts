import type * as t from 'io-ts'
import type { Codec } from '../../kernel/codec/codec.js'
import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import { string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { integerInQuery } from './integer-in-query.js'

const USUAL_LIMIT = 100
const LARGEST_LIMIT = 1000

export const pageFields = {
  limit: withDefault(integerInQuery(1, LARGEST_LIMIT), USUAL_LIMIT),
  after: withDefault(string, undefined),
}
export const pageQuery = open('Page', { optional: pageFields })
export type PageQuery = t.TypeOf<typeof pageQuery>

/** A page of a list. `next` is the `after` of the next page, null on the last page. */
export const pageOf = <A, W>(item: Codec<A, W>) =>
  open(`${item.name}List`, { required: { data: arrayOf(item), next: nullable(string) } })

/** The page selected by `limit` and `after`, of items sorted by name. */
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
