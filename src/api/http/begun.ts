/**
 * The same items, the first of them already made: what goes wrong before it can still be answered with a status of its
 * own, while an answer that has begun can only be cut off.
 */
export const begun = async <A>(items: AsyncIterable<A>): Promise<AsyncIterable<A>> => {
  const rest = items[Symbol.asyncIterator]()
  const first = await rest.next()
  return following(first, rest)
}

async function* following<A>(first: IteratorResult<A>, rest: AsyncIterator<A>): AsyncGenerator<A> {
  try {
    for (let next = first; next.done !== true; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}
