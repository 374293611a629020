import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { libchdbPath } from 'chdb/libchdb'
import { endWithThisProcess } from './end-with-this-process.js'
import { goneWithThisProcess } from './scratch.js'

/** A real ClickHouse over HTTP: the engine of the package `chdb`, listening in a child process. */
export interface ClickHouseServer {
  /** Without a database. */
  readonly url: string
  /** Has all of its files. */
  readonly directory: string
  /** Runs a statement over HTTP; the answer as text. */
  readonly ask: (sql: string) => Promise<string>
  /** SIGSTOP: connections stay, nothing moves. */
  readonly freeze: () => void
  readonly thaw: () => void
  /** SIGKILL. */
  readonly stop: () => Promise<void>
  /** Starts again, on the same port and with the data that is on disk. */
  readonly restart: () => Promise<void>
}

const STARTED_WITHIN_MS = 60_000

/** The second statement keeps the process alive: it would end with its last one. */
const LISTEN =
  'SYSTEM START LISTEN HTTP; ' +
  'SELECT sleepEachRow(1) FROM numbers(86400) SETTINGS max_block_size = 1, max_execution_time = 0 FORMAT Null'

/** The library has no program of its own, and its HTTP interface fails in a process that Node.js runs. */
const IN_PYTHON = `
import ctypes, sys
arguments = [argument.encode() for argument in sys.argv[2:]]
query = ctypes.CDLL(sys.argv[1]).chdb_query_cmdline
query.restype = ctypes.c_void_p
query(len(arguments), (ctypes.c_char_p * len(arguments))(*arguments))
`

const IN_C = `
#include <dlfcn.h>
int main(int argc, char **argv) {
  void *library = dlopen(argv[1], RTLD_NOW);
  if (!library) return 1;
  void *(*query)(int, char **) = (void *(*)(int, char **))dlsym(library, "chdb_query_cmdline");
  query(argc - 2, argv + 2);
  return 0;
}
`

const isInstalled = (program: string): boolean => spawnSync(program, ['--version']).status === 0

const language = ['python3', 'cc'].find(isInstalled)

/** `describe`, where a program that calls the library can be run; elsewhere the title says why it is left out. */
export const describeWithClickHouseServer =
  language === undefined
    ? (title: string, _tests: () => void) =>
        describe.skip(`${title} (skipped: neither python3 nor cc is installed)`, () => undefined)
    : (title: string, tests: () => void) => describe(title, tests)

/** Users besides `default`, their profiles and limits of the server, as ClickHouse's configuration has them. */
export interface ServerConfiguration {
  readonly host?: string
  readonly port?: number
  readonly users?: string
  readonly profiles?: string
  readonly settings?: string
}

export const startClickHouseServer = async (given: ServerConfiguration = {}): Promise<ClickHouseServer> => {
  const directory = goneWithThisProcess(mkdtempSync(join(tmpdir(), 'tallytree-clickhouse-')))
  const { host = '127.0.0.1', port = await freePort() } = given
  const [program, ...before] = callerIn(directory)
  const args = [
    ...before,
    libchdbPath(),
    'clickhouse',
    `--config-file=${configurationIn(directory, given)}`,
    `--listen_host=${host}`,
    `--http_port=${port}`,
    `--path=${directory}/data`,
    `--query=${LISTEN}`,
  ]
  const url = `http://${host}:${port}`
  let child = await launch(program, args, url)
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  return {
    url,
    directory,
    ask: async (sql) => {
      const answer = await fetch(url, { method: 'POST', body: sql })
      const text = await answer.text()
      if (!answer.ok) throw new Error(text)
      return text
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    stop,
    restart: async () => {
      await stop()
      child = await launch(program, args, url)
    },
  }
}

const launch = async (program: string, args: readonly string[], url: string): Promise<ChildProcess> => {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  endWithThisProcess(child)
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const deadline = performance.now() + STARTED_WITHIN_MS
  while (!(await isListening(url))) {
    if (child.exitCode !== null || performance.now() > deadline)
      throw new Error(`ClickHouse does not listen: ${errors}`)
    await sleep(100)
  }
  return child
}

/** Whether the tests use a server in place of the embedded engine, where they can. */
export const isOnServer = process.env['TEST_CLICKHOUSE'] === 'server'

interface SharedServer extends ClickHouseServer {
  /** For a user with the documented grants on all databases of tests, and limited memory. */
  readonly userUrl: string
}

const LIMITED =
  '<limited><max_memory_usage>2000000000</max_memory_usage>' +
  '<constraints><max_memory_usage><max>2000000000</max></max_memory_usage></constraints></limited>'

const GRANTS = [
  'SELECT, INSERT, ALTER, CREATE, DROP, TRUNCATE, CHECK ON `t_`*.*',
  'SYSTEM CLEANUP ON `t_`*.*',
  'TABLE ENGINE ON *',
  'SELECT ON system.*',
].map((grant) => `<query>GRANT ${grant}</query>`)

let shared: Promise<SharedServer> | undefined

/** One server for all tests of this process, each with a database of its own. */
export const sharedServer = (): Promise<SharedServer> =>
  (shared ??= startClickHouseServer({
    settings: '<max_server_memory_usage>4000000000</max_server_memory_usage>',
    profiles: LIMITED,
    users: `<tests><password>hidden</password><profile>limited</profile><grants>${GRANTS.join('')}</grants></tests>`,
  }).then((server) => ({ ...server, userUrl: server.url.replace('//', '//tests:hidden@') })))

/** System tables need grants, as in the configuration that servers are installed with. */
const configurationIn = (
  directory: string,
  { users = '', profiles = '', settings = '' }: ServerConfiguration,
): string => {
  const file = join(directory, 'config.xml')
  writeFileSync(
    file,
    `<clickhouse>
      <users_config>${directory}/users.xml</users_config>
      <access_control_improvements>
        <select_from_system_db_requires_grant>true</select_from_system_db_requires_grant>
        <table_engines_require_grant>true</table_engines_require_grant>
        <settings_constraints_replace_previous>true</settings_constraints_replace_previous>
      </access_control_improvements>
      ${settings}
    </clickhouse>`,
  )
  const everyone = '<networks><ip>::/0</ip></networks><quota>default</quota>'
  writeFileSync(
    join(directory, 'users.xml'),
    `<clickhouse>
      <profiles><default/>${profiles}</profiles>
      <users>
        <default><password/>${everyone}<profile>default</profile><access_management>1</access_management></default>
        ${users.replaceAll('<password>', `${everyone}<password>`)}
      </users>
      <quotas><default/></quotas>
    </clickhouse>`,
  )
  return file
}

const callerIn = (directory: string): readonly [program: string, ...before: string[]] => {
  if (language === 'python3') return ['python3', '-c', IN_PYTHON]
  const source = join(directory, 'listen.c')
  const program = join(directory, 'listen')
  writeFileSync(source, IN_C)
  const compiled = spawnSync('cc', [source, '-o', program, '-ldl'], { encoding: 'utf8' })
  if (compiled.status !== 0) throw new Error(`cc: ${compiled.stderr}`)
  return [program]
}

const isListening = (url: string): Promise<boolean> =>
  fetch(`${url}/ping`).then(
    ({ ok }) => ok,
    () => false,
  )

export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
