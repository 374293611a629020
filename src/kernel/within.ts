/** The longest delay `setTimeout` accepts. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1

/** Resolves like the promise, or to undefined after the time limit. With `ref`, the limit keeps the process alive. */
export const within = async <A>(
  ms: number,
  promise: Promise<A>,
  { ref = false }: { readonly ref?: boolean } = {},
): Promise<A | undefined> => {
  let timer: NodeJS.Timeout
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), Math.min(ms, MAX_TIMEOUT_MS))
    if (!ref) timer.unref()
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
