import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { bundled } from '../../../support/compiled.js'
import { endWithThisProcess } from '../../../support/end-with-this-process.js'

export interface ChildProgram {
  readonly pid: number | undefined
  /** The first line it prints. */
  readonly firstLine: Promise<string>
  /** Ends it as a crash would and answers all whole lines it had printed. */
  readonly kill: () => Promise<readonly string[]>
}

/** Runs a TypeScript program of this folder in a process of its own. */
export const startChild = async (name: string, ...args: readonly string[]): Promise<ChildProgram> => {
  const program = await bundled(`test/unit/adapters/event-store/${name}`)
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  endWithThisProcess(child)
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (printed += chunk))
  const closed = once(child, 'close')
  const firstLine = once(createInterface(child.stdout), 'line').then(([line]) => String(line))

  return {
    pid: child.pid,
    firstLine,
    kill: async () => {
      child.kill('SIGKILL')
      await closed
      return printed.split('\n').slice(0, -1)
    },
  }
}
