/**
 * Runs a task on each item, at most so many at a time, in their order. The first failure, of a task or of the source of
 * the items, ends it once no task runs.
 */
export const forEachAtMost = async <A>(
  most: number,
  items: AsyncIterable<A>,
  task: (item: A) => Promise<void>,
): Promise<void> => {
  const running = new Set<Promise<void>>()
  let failure: { readonly error: unknown } | undefined
  try {
    for await (const item of items) {
      if (failure !== undefined) break
      const run = task(item)
        .catch((error: unknown) => void (failure ??= { error }))
        .finally(() => running.delete(run))
      running.add(run)
      if (running.size >= most) await Promise.race(running)
    }
  } catch (error) {
    failure ??= { error }
  }
  await Promise.all(running)
  if (failure !== undefined) throw failure.error
}
