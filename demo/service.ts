import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface Service {
  readonly address: string
  readonly stop: () => Promise<void>
}

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const READY_WITHIN_MS = 25_000

/** Starts the service on a free port, its data in a directory; whatever the environment configures does not count. */
export const startService = async (dataDirectory: string, key: string): Promise<Service> => {
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/main.ts'], {
    cwd: ROOT,
    env: {
      ...withoutConfiguration(process.env),
      UV_THREADPOOL_SIZE: '12',
      TALLYTREE_PORT: '0',
      TALLYTREE_DATA_DIR: dataDirectory,
      TALLYTREE_BOOTSTRAP_API_KEY: key,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  const ended = once(child, 'exit')
  let said = ''
  const ready = new Promise<string>((resolve, reject) => {
    const tooLate = setTimeout(
      () => reject(new Error(`the service was not ready in time:\n${said}`)),
      READY_WITHIN_MS,
    )
    const listen = (text: string) => {
      said += text
      const address = /^Tallytree is ready at (\S+)\n/m.exec(said)?.[1]
      if (address === undefined) return
      clearTimeout(tooLate)
      resolve(address)
    }
    child.stdout.setEncoding('utf8').on('data', listen)
    child.stderr.setEncoding('utf8').on('data', listen)
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`the service ended before it was ready:\n${said}`)))
  })
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
    process.off('exit', kill)
  }
  return { address: await ready, stop }
}

/** Nothing that would point the demo's service, or the agent's SDK, anywhere else. */
export const withoutConfiguration = (variables: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(variables).filter(([name]) => !/^(TALLYTREE|CLICKHOUSE|WANDB|WEAVE|WF)_/.test(name)),
  )
