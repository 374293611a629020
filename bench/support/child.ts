import { execFileSync, spawn } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { flagsBeforeTypeScript } from './service-flags.js'

export interface Child {
  readonly address: string
  /** Resident memory now and at its peak, in MiB. */
  readonly memory: () => { readonly now: number; readonly peak: number }
  /** CPU time of all its threads so far, in milliseconds. */
  readonly cpuMs: () => number
  /** Each thread by its id: how often it gave up the CPU to wait. */
  readonly wakeUps: () => ReadonlyMap<string, { readonly name: string; readonly count: number }>
  /** Bytes that it caused to be written to disk. */
  readonly bytesWritten: () => number
  /** Starts the peak anew. */
  readonly forgetPeak: () => void
  readonly stop: () => Promise<void>
  readonly kill: () => Promise<void>
}

/** Runs a TypeScript program in a process of its own; it says its address on a line of its output. */
export const startChild = (program: string, environment: Record<string, string>): Promise<Child> =>
  started([process.execPath, ...flagsBeforeTypeScript, program], environment)

/** Compiles the service and runs it, as `npm start` does. */
export const startService = (environment: Record<string, string>): Promise<Child> => {
  execFileSync(process.execPath, ['compile.mjs'])
  return started(['bin/start', 'main'], environment)
}

/** Runs a program of Node; it says its address on a line of its output. */
export const startProgram = (
  program: readonly string[],
  environment: Record<string, string>,
): Promise<Child> => started([process.execPath, ...program], environment)

const started = async (
  [program = '', ...flags]: readonly string[],
  environment: Record<string, string>,
): Promise<Child> => {
  const child = spawn(program, flags, {
    env: { ...process.env, UV_THREADPOOL_SIZE: '12', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const address = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      const found = /http:\/\/[\w.:[\]-]+/.exec(line)
      if (found !== null) resolve(found[0])
    })
    void exited.then(() => reject(new Error(`${flags.at(-1)} ended before it was ready`)))
  })
  const status = (name: string) => numberIn(readFileSync(`/proc/${child.pid}/status`, 'utf8'), name) / 1024
  return {
    address,
    memory: () => ({ now: status('VmRSS'), peak: status('VmHWM') }),
    cpuMs: () => cpuMsOf(child.pid!),
    wakeUps: () => wakeUpsOf(child.pid!),
    bytesWritten: () => numberIn(readFileSync(`/proc/${child.pid}/io`, 'utf8'), 'write_bytes'),
    forgetPeak: () => resetPeak(child.pid!),
    stop: async () => {
      child.kill('SIGTERM')
      await exited
    },
    kill: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** The number on the line `name: number` of a file of /proc. */
const numberIn = (text: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0)

const wakeUpsOf = (pid: number) =>
  new Map(
    readdirSync(`/proc/${pid}/task`).map((id) => {
      const text = readFileSync(`/proc/${pid}/task/${id}/status`, 'utf8')
      const name = /^Name:\s+(.*)$/m.exec(text)?.[1] ?? id
      return [id, { name, count: numberIn(text, 'voluntary_ctxt_switches') }]
    }),
  )

const TICKS_PER_SECOND = 100

/** Linux: user and system time are the 14th and 15th field; the second is the name in parentheses. */
const cpuMsOf = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND
}

/** Linux: writing 5 resets the peak of the resident set. */
const resetPeak = (pid: number): void => {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5')
  } catch {
    // Not permitted here: the peak is then that of the whole run.
  }
}
