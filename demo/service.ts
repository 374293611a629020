import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'

export interface Service {
  readonly address: string
  readonly stop: () => Promise<void>
}

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const READY_WITHIN_MS = 300_000

/** Starts the service on a free port, its data in a directory; whatever the environment configures does not count. */
export const startService = async (
  dataDirectory: string,
  key: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Service> => {
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/main.ts'], {
    cwd: ROOT,
    env: {
      ...withoutConfiguration(process.env),
      UV_THREADPOOL_SIZE: '12',
      TALLYTREE_PORT: '0',
      TALLYTREE_DATA_DIR: dataDirectory,
      TALLYTREE_BOOTSTRAP_API_KEY: key,
      ...more,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  const ended = once(child, 'exit')
  try {
    const address = await addressOf(child)
    const stop = async () => {
      child.kill('SIGTERM')
      await ended
      process.off('exit', kill)
    }
    return { address, stop }
  } catch (error) {
    kill()
    throw error
  }
}

/** What its ready line says; rejects when it ends or takes too long before, with all that it said. */
const addressOf = (child: ChildProcessByStdio<null, Readable, Readable>): Promise<string> =>
  new Promise((resolve, reject) => {
    let said = ''
    const fail = (what: string) => () =>
      reject(new Error(`the service ${what} before it was ready:\n${said}`))
    const tooLate = setTimeout(fail('took too long'), READY_WITHIN_MS).unref()
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text
        const address = /^Tallytree is ready at (\S+)\n/m.exec(said)?.[1]
        if (address === undefined) return
        clearTimeout(tooLate)
        resolve(address)
      })
    child.once('error', reject)
    child.once('close', fail('ended'))
  })

/** Nothing that would point the demo's service, or the agent's SDK, anywhere else. */
export const withoutConfiguration = (variables: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(variables).filter(([name]) => !/^(TALLYTREE|CLICKHOUSE|WANDB|WEAVE|WF)_/.test(name)),
  )
