/**
 * Fetches the first item before the response starts, so that an error until then still gets its own status; later
 * errors can only abort the response. Closing the result early closes the source.
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
