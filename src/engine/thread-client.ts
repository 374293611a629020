import { Worker } from 'node:worker_threads'
import { EngineCrashed, EngineStopped } from './errors.js'
import type { FromThread, ToThread } from './protocol.js'

type Load = Extract<FromThread, { readonly type: 'load' }>
type FromJob = Exclude<FromThread, Load>

/** What a job does with messages about it. */
export interface JobHandlers<From = FromJob> {
  readonly onMessage: (message: From) => void
  /** The thread ended, or was stopped. */
  readonly onLost: (error: Error) => void
}

export interface ThreadClient<To = ToThread, From = FromJob> {
  /** Starts a job, and the thread at its first job or after a crash. Returns what sends further messages. */
  readonly start: (message: (id: number) => To, handlers: JobHandlers<From>) => StartedJob<To>
  readonly stop: () => Promise<void>
}

export interface StartedJob<To = ToThread> {
  readonly id: number
  readonly send: (message: To) => void
  /** Ignores further messages about the job. */
  readonly close: () => void
}

interface RunningThread<From> {
  readonly worker: Worker
  readonly jobs: Map<number, JobHandlers<From>>
}

/** A worker thread that is started on first use, and again after it has crashed. */
export const threadClient = <To = ToThread, From extends { readonly id: number } = FromJob>(
  entry: URL,
  name: string,
  onLoad: (key: string, answer: (message: To) => void) => void = () => {},
): ThreadClient<To, From> => {
  let nextId = 1
  let current: RunningThread<From> | undefined
  let isStopped = false

  const lose = (thread: RunningThread<From>, error: Error): void => {
    if (current === thread) current = undefined
    const handlers = [...thread.jobs.values()]
    thread.jobs.clear()
    for (const { onLost } of handlers) onLost(error)
  }

  const startThread = (): RunningThread<From> => {
    const thread: RunningThread<From> = { worker: createWorker(entry, name), jobs: new Map() }
    const { worker, jobs } = thread
    const crashed = (reason: string, cause?: unknown): void =>
      lose(thread, new EngineCrashed(`The thread "${name}" ended: ${reason}.`, { cause }))
    worker.on('error', (error) => crashed(error.message, error))
    worker.on('exit', (code) => crashed(`exit code ${code}`))
    worker.on('message', (message: From | Load) => {
      if ('key' in message) onLoad(message.key, (answer) => worker.postMessage(answer))
      else jobs.get(message.id)?.onMessage(message)
    })
    // Only running jobs keep the process alive.
    worker.unref()
    return thread
  }

  return {
    start: (message, handlers) => {
      if (isStopped) throw new EngineStopped(`The thread "${name}" is stopped.`)
      current ??= startThread()
      const { worker, jobs } = current
      const id = nextId++
      const send = (content: To): void => worker.postMessage(content)
      send(message(id))
      jobs.set(id, handlers)
      worker.ref()
      return {
        id,
        send,
        close: () => {
          jobs.delete(id)
          if (jobs.size === 0) worker.unref()
        },
      }
    },
    stop: async () => {
      isStopped = true
      const thread = current
      if (thread === undefined) return
      lose(thread, new EngineStopped(`The thread "${name}" stopped during the job.`))
      await thread.worker.terminate()
    },
  }
}

/** A thread that runs a TypeScript source has to register tsx, which only the main thread does by itself. */
const createWorker = (entry: URL, name: string): Worker => {
  if (!entry.pathname.endsWith('.ts')) return new Worker(entry, { name })
  const source = JSON.stringify(entry.href)
  const program = `import('tsx/esm/api').then(({ register }) => { register(); return import(${source}) })`
  return new Worker(program, { eval: true, name })
}
