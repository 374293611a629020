/**
 * Runs a task on each item, in order, with limited concurrency. Rejects with the first failure, of a task or of the
 * items, once no task runs.
 */
export const forEachAtMost = async <A>(
  most: number,
  items: AsyncIterable<A>,
  task: (item: A) => Promise<void>,
): Promise<void> => {
  let running = 0
  let wake: () => void = () => undefined
  let failure: { readonly error: unknown } | undefined
  const run = async (item: A) => {
    try {
      await task(item)
    } catch (error) {
      failure ??= { error }
    }
    running -= 1
    wake()
  }
  const fewerThan = async (limit: number) => {
    while (running >= limit) await new Promise<void>((resolve) => (wake = resolve))
  }
  try {
    for await (const item of items) {
      if (failure !== undefined) break
      running += 1
      void run(item)
      await fewerThan(most)
    }
  } finally {
    await fewerThan(1)
  }
  if (failure !== undefined) throw failure.error
}
