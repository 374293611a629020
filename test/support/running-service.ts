import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { clientOf, senderTo, type Client } from './client.js'
import { isOnServer, sharedServer } from './clickhouse-server.js'
import { compiled, ROOT } from './compiled.js'
import { arbitraryDatabase } from './engine.js'
import { endWithThisProcess } from './end-with-this-process.js'

/** The real program in a process of its own, over a scratch directory that outlives its restarts. */
export interface RunningService extends Client {
  /** Kept over restarts. */
  readonly address: string
  /** The administrator's, from the ready line of the first start. */
  readonly key: string
  readonly dataDirectory: string
  /** Of the process that runs now, or ran last. */
  readonly pid: number
  /** What was written to stdout and stderr so far, over all starts; the key is left out. */
  readonly output: () => string
  /** Sends a signal and waits for the end of the process. */
  readonly kill: (signal: NodeJS.Signals) => Promise<Ended>
  /** SIGTERM; the exit code. */
  readonly stop: () => Promise<number | null>
  /** Starts again on the same data and port; a process that still runs is stopped first. */
  readonly restart: (environment?: Environment) => Promise<void>
  /** Ends the process, if it runs, and deletes the data. */
  readonly remove: () => Promise<void>
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

type Environment = Readonly<Record<string, string>>

/**
 * Starts the program on a free port and waits until it says that it is ready. A data directory that the environment names
 * is shared with others, and stays. `main` is the program of another build. `within` is a command that runs the command after
 * it, such as one that enters a namespace, and keeps its process id.
 */
export const startRunningService = async (
  environment: Environment = {},
  main?: string,
  within: readonly string[] = [],
): Promise<RunningService> => {
  const shared = environment['TALLYTREE_DATA_DIR']
  const dataDirectory = shared ?? (await mkdtemp(join(tmpdir(), 'tallytree-running-')))
  const fixed = {
    TALLYTREE_DATA_DIR: dataDirectory,
    UV_THREADPOOL_SIZE: '12',
    ...(await ownDatabase(environment)),
  }
  let output = ''
  const note = (text: string) => void (output += text)
  const removeData = async () => {
    if (shared === undefined) await rm(dataDirectory, { recursive: true, force: true })
  }
  const ready = await launch({ TALLYTREE_PORT: '0', ...environment, ...fixed }, note, main, within).catch(
    async (error: unknown) => {
      await removeData()
      throw error
    },
  )
  const { address } = ready
  const key = environment['TALLYTREE_BOOTSTRAP_API_KEY'] ?? ready.key
  if (key === undefined) throw new Error('the ready line names no API key')
  let { running } = ready

  const kill = async (signal: NodeJS.Signals): Promise<Ended> => {
    running.child.kill(signal)
    return running.ended
  }
  const stop = async () => (await kill('SIGTERM')).code

  return {
    address,
    key,
    dataDirectory,
    get pid() {
      return running.child.pid!
    },
    output: () => output.replaceAll(key, '<key>'),
    ...clientOf(senderTo(address, key)),
    kill,
    stop,
    restart: async (changed = {}) => {
      await stop()
      const port = { TALLYTREE_PORT: new URL(address).port }
      ;({ running } = await launch({ ...environment, ...port, ...fixed, ...changed }, note, main, within))
    },
    remove: async () => {
      await kill('SIGKILL')
      await removeData()
    },
  }
}

/** With `TEST_CLICKHOUSE=server` a database on the server that the tests share, unless the test has a server of its own. */
const ownDatabase = async (environment: Environment): Promise<Environment> =>
  isOnServer && environment['CLICKHOUSE_URL'] === undefined
    ? { CLICKHOUSE_URL: `${(await sharedServer()).userUrl}/${arbitraryDatabase()}` }
    : {}

interface Running {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
}

const READY = /^Tallytree is ready at ([^\s,]+)(?:, .*: (\S+))?$/m

const launch = async (
  environment: Environment,
  note: (text: string) => void,
  main: string | undefined,
  within: readonly string[],
): Promise<{ running: Running; address: string; key: string | undefined }> => {
  const [program, ...args] = [...within, process.execPath, main ?? (await compiled('main'))]
  const child = spawn(program, args, {
    cwd: ROOT,
    env: { ...inherited(), TALLYTREE_STOP_SECONDS: '120', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  endWithThisProcess(child)
  const ended = once(child, 'exit').then(([code, signal]): Ended => ({ code, signal }))
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    note(text)
    said += text
  })
  const ready = new Promise<RegExpExecArray>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      note(text)
      said += text
      const line = said.endsWith('\n') ? READY.exec(said) : null
      if (line !== null) resolve(line)
    })
  })
  const outcome = await Promise.race([ready, ended])
  if (!Array.isArray(outcome)) throw new Error(`the program ended before it was ready:\n${said}`)
  return { running: { child, ended }, address: outcome[1]!, key: outcome[2] }
}

/** This process's environment, but no configuration of the service: that is the test's to give. */
const inherited = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(TALLYTREE_.*|CLICKHOUSE_URL|EVENTSTORE_URL)$/.test(name),
    ),
  )
