import type * as t from 'io-ts'
import type { Codec } from '../../kernel/codec/codec.js'
import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import { string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { Failure } from '../../application/failure.js'
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

interface Paging<A> {
  readonly limit: number
  readonly keyOf: (item: A) => string
  /** The key of the item before the page. Left out for items that begin with the page. */
  readonly after?: string | undefined
  readonly noItem?: () => Failure
}

/** The first items, or those after the one that `after` names. `next` is the `after` of the next page. */
export const takePage = <A>(
  items: Iterable<A>,
  {
    limit,
    keyOf,
    after,
    noItem = () => new Failure('not-found', `The list has no item ${after}.`),
  }: Paging<A>,
): { readonly data: readonly A[]; readonly next: string | null } => {
  const data: A[] = []
  let isInPage = after === undefined
  for (const item of items)
    if (!isInPage) isInPage = keyOf(item) === after
    else if (data.length === limit) return { data, next: keyOf(data[limit - 1]!) }
    else data.push(item)
  if (!isInPage) throw noItem()
  return { data, next: null }
}
