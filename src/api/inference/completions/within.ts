/** What it resolves to, or undefined after so many milliseconds. */
export const within = <A>(ms: number, promise: Promise<A>): Promise<A | undefined> => {
  let timer: NodeJS.Timeout
  const tooLong = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms).unref()
  })
  return Promise.race([promise, tooLong]).finally(() => clearTimeout(timer))
}
