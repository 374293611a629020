import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface Commanded {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Starts `tallytree` with arguments, in a process of its own. */
export const begin = (
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): { readonly child: ChildProcess; readonly ended: Promise<Commanded> } => {
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/cli.ts', ...args], {
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

export const tallytree = (args: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
  begin(args, environment).ended
