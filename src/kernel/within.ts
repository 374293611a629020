/** The longest delay `setTimeout` accepts. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1

interface Limit {
  /** Whether the limit keeps the process alive. */
  readonly ref?: boolean
  /** Ends the wait early. */
  readonly signal?: AbortSignal | undefined
}

/** Resolves like the promise, or to undefined after the time limit or an abort. */
export const within = async <A>(
  ms: number,
  promise: Promise<A>,
  { ref = false, signal }: Limit = {},
): Promise<A | undefined> => {
  let timer: NodeJS.Timeout
  let end = () => {}
  const late = new Promise<undefined>((resolve) => {
    end = () => resolve(undefined)
    timer = setTimeout(end, Math.min(ms, MAX_TIMEOUT_MS))
    if (!ref) timer.unref()
    signal?.addEventListener('abort', end)
    if (signal?.aborted === true) end()
  })
  return Promise.race([promise, late]).finally(() => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
  })
}
