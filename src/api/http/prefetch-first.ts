/**
 * The same items, the first of them already made: what goes wrong before it can still be answered with a status of its
 * own, while an answer that has begun can only be cut off. Whoever leaves before the first item ends the source too.
 */
export const prefetchFirst = async <A>(items: AsyncIterable<A>): Promise<AsyncIterable<A>> => {
  const rest = items[Symbol.asyncIterator]()
  let first: IteratorResult<A> | undefined = await rest.next()
  const following: AsyncIterator<A> = {
    next: async () => {
      const made = first
      first = undefined
      return made ?? rest.next()
    },
    return: async () => {
      first = undefined
      await rest.return?.()
      return { done: true, value: undefined }
    },
  }
  return { [Symbol.asyncIterator]: () => following }
}
