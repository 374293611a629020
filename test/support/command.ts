import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { compiled, ROOT } from './compiled.js'

export interface Commanded {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Starts `tallytree` with arguments, in a process of its own. */
export const begin = async (
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<{ readonly child: ChildProcess; readonly ended: Promise<Commanded> }> => {
  const child = spawn(process.execPath, [await compiled('cli'), ...args], {
    cwd: ROOT,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  return {
    child,
    ended: once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr })),
  }
}

export const tallytree = async (
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Commanded> => (await begin(args, environment)).ended
