import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface, type Interface } from 'node:readline'
import { bundled } from '../compiled.js'
import { endWithThisProcess } from '../end-with-this-process.js'
import type { Misbehaviour } from './misbehaviour.js'

/** The protocol double in a process of its own. */
export interface ChildDouble {
  /** Kept over restarts. */
  readonly url: string
  readonly misbehave: (how: Partial<Misbehaviour> & { readonly dropSubscriptions?: true }) => Promise<void>
  /** SIGSTOP: connections stay, nothing moves. */
  readonly freeze: () => void
  readonly thaw: () => void
  /** SIGKILL. */
  readonly kill: () => Promise<void>
  /** Starts again, on the same port and with the log that was kept. */
  readonly restart: () => Promise<void>
}

/** Without a path it forgets its log when it ends. */
export const startChildDouble = async (path?: string, host = '127.0.0.1'): Promise<ChildDouble> => {
  let running = await launch(host, 0, path)
  const { url } = running
  const port = Number(/:(\d+)/.exec(url)?.[1])
  const kill = async () => {
    if (running.child.exitCode !== null || running.child.signalCode !== null) return
    running.child.kill('SIGKILL')
    await once(running.child, 'exit')
  }

  return {
    url,
    misbehave: async (how) => {
      running.child.stdin?.write(`${JSON.stringify(how)}\n`)
      await once(running.lines, 'line')
    },
    freeze: () => void running.child.kill('SIGSTOP'),
    thaw: () => void running.child.kill('SIGCONT'),
    kill,
    restart: async () => {
      await kill()
      running = await launch(host, port, path)
    },
  }
}

interface Running {
  readonly child: ChildProcess
  readonly lines: Interface
  readonly url: string
}

/** For millions of events. */
const HEAP = '--max-old-space-size=12288'
const PROGRAM = 'test/support/eventstoredb-protocol-double/program.ts'

const launch = async (host: string, port: number, path: string | undefined): Promise<Running> => {
  const args = [HEAP, await bundled(PROGRAM), host, String(port), ...(path === undefined ? [] : [path])]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  endWithThisProcess(child)
  const lines = createInterface(child.stdout)
  const [url] = (await once(lines, 'line')) as [string]
  return { child, lines, url }
}
