import { createContext, Script } from 'node:vm'

const LIMIT_MS = 250

const sandbox: { run: (() => void) | undefined } = { run: undefined }
const context = createContext(sandbox)
const script = new Script('run()')

/**
 * Interrupts synchronous work after a limit. V8 checks its watchdog on loops and calls, also outside of the
 * context that started it. A call costs about 0.1 ms.
 */
export const withinTime = <A>(
  run: () => A,
  limitMs = LIMIT_MS,
): { readonly value: A } | { readonly error: string } => {
  let value: A | undefined
  try {
    sandbox.run = () => {
      value = run()
    }
    script.runInContext(context, { timeout: limitMs })
    return { value: value as A }
  } catch (error) {
    return { error: sentenceOf(error, limitMs) }
  } finally {
    sandbox.run = undefined
  }
}

const sentenceOf = (error: unknown, limitMs: number): string => {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown }
  if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return `took longer than ${limitMs} ms`
  return typeof message === 'string' ? message : 'failed'
}
