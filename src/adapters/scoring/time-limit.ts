import { readFileSync } from 'node:fs'
import { createContext, Script } from 'node:vm'

const LIMIT_MS = 250
/** The watchdog starts before the work does, and kernels count CPU time in steps. */
const NEARLY = 0.8

type Timed<A> = { readonly value: A } | { readonly error: string } | 'interrupted'

const sandbox: { run: (() => void) | undefined } = { run: undefined }
const context = createContext(sandbox)
const script = new Script('run()')

/**
 * CPU time of this thread in milliseconds. Node 20 does not measure it, so that the kernel is asked, and elsewhere the whole
 * process counts.
 */
export const threadCpuMs = (): number => {
  const { threadCpuUsage } = process as { threadCpuUsage?: typeof process.cpuUsage }
  if (threadCpuUsage === undefined && process.platform === 'linux') {
    const nanoseconds = Number(readIfPresent('/proc/thread-self/schedstat').split(' ')[0])
    if (nanoseconds > 0) return nanoseconds / 1e6
  }
  const { user, system } = (threadCpuUsage ?? process.cpuUsage)()
  return (user + system) / 1000
}

const readIfPresent = (path: string): string => {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

/**
 * Interrupts synchronous work after a wall time. V8 checks its watchdog on loops and calls, also outside of the
 * context that started it. A call costs about 0.1 ms.
 */
const interruptAfter = <A>(wallMs: number, run: () => A): Timed<A> => {
  let value: A | undefined
  try {
    sandbox.run = () => {
      value = run()
    }
    script.runInContext(context, { timeout: wallMs })
    return { value: value as A }
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message?: unknown }
    if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return 'interrupted'
    return { error: typeof message === 'string' ? message : 'failed' }
  } finally {
    sandbox.run = undefined
  }
}

/**
 * Limits the CPU time of synchronous work. The watchdog counts wall time, which runs on while the thread waits for a CPU:
 * work that was interrupted earlier starts again with twice the wall time.
 */
export const withinTime = <A>(
  run: () => A,
  limitMs = LIMIT_MS,
  cpuMs = threadCpuMs,
): Exclude<Timed<A>, 'interrupted'> => {
  for (let wallMs = limitMs; ; wallMs *= 2) {
    const began = cpuMs()
    const result = interruptAfter(wallMs, run)
    if (result !== 'interrupted') return result
    if (cpuMs() - began >= limitMs * NEARLY) return { error: `took longer than ${limitMs} ms of CPU time` }
  }
}
