import { createContext, Script } from 'node:vm'

const LIMIT_MS = 250

type Timed<A> = { readonly value: A } | { readonly error: string } | 'timeout'

const sandbox: { run: (() => void) | undefined } = { run: undefined }
const context = createContext(sandbox)
const script = new Script('run()')

/**
 * Interrupts synchronous work after a limit. V8 checks its watchdog on loops and calls, also outside of the
 * context that started it. A call costs about 0.1 ms.
 */
const withinOneTry = <A>(run: () => A, limitMs: number): Timed<A> => {
  let value: A | undefined
  try {
    sandbox.run = () => {
      value = run()
    }
    script.runInContext(context, { timeout: limitMs })
    return { value: value as A }
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message?: unknown }
    if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return 'timeout'
    return { error: typeof message === 'string' ? message : 'failed' }
  } finally {
    sandbox.run = undefined
  }
}

/** The clock runs on while the process waits for a CPU, so short work that took too long has a second try. */
export const withinTime = <A>(run: () => A, limitMs = LIMIT_MS, tries = 2): Exclude<Timed<A>, 'timeout'> => {
  const result = withinOneTry(run, limitMs)
  if (result !== 'timeout') return result
  return tries > 1 ? withinTime(run, limitMs, tries - 1) : { error: `took longer than ${limitMs} ms` }
}
