import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { endWithThisProcess } from './end-with-this-process.js'

export interface ExampleWorker {
  readonly kill: (signal: NodeJS.Signals) => void
  /** What it wrote so far. */
  readonly output: () => string
  readonly exitCode: Promise<number | null>
}

interface WorkerStart {
  readonly python?: string
  readonly address: string
  readonly key: string
  readonly baseModel: string
  readonly args: readonly string[]
}

/** Starts a worker of the examples, with heartbeats that a test need not wait for. */
export const startExampleWorker = (
  file: 'command_worker.py' | 'trl_worker.py',
  { python = 'python3', address, key, baseModel, args }: WorkerStart,
): ExampleWorker => {
  const program = fileURLToPath(new URL(`../../examples/workers/${file}`, import.meta.url))
  const options = ['--url', address, '--base-model', baseModel, '--heartbeat', '0.5']
  const child = spawn(python, [program, ...options, ...args], {
    env: { ...process.env, TALLYTREE_API_KEY: key, PYTHONDONTWRITEBYTECODE: '1', NO_PROXY: '127.0.0.1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  endWithThisProcess(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  return {
    kill: (signal) => child.kill(signal),
    output: () => output,
    exitCode: once(child, 'close').then(([code]) => code as number | null),
  }
}
