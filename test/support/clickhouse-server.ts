import { spawn, spawnSync } from 'node:child_process'
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
  /** Runs a statement over HTTP; the answer as text. */
  readonly ask: (sql: string) => Promise<string>
  readonly stop: () => Promise<void>
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

/** Users besides `default`, as ClickHouse's configuration of users has them. */
export interface ServerConfiguration {
  readonly port?: number
  readonly users?: string
  readonly profiles?: string
}

export const startClickHouseServer = async (given: ServerConfiguration = {}): Promise<ClickHouseServer> => {
  const directory = goneWithThisProcess(mkdtempSync(join(tmpdir(), 'tallytree-clickhouse-')))
  const port = given.port ?? (await freePort())
  const [program, ...before] = callerIn(directory)
  const child = spawn(
    program,
    [
      ...before,
      libchdbPath(),
      'clickhouse',
      `--config-file=${configurationIn(directory, given)}`,
      '--listen_host=127.0.0.1',
      `--http_port=${port}`,
      `--path=${directory}/data`,
      `--query=${LISTEN}`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  endWithThisProcess(child)
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const url = `http://127.0.0.1:${port}`
  const deadline = performance.now() + STARTED_WITHIN_MS
  while (!(await isListening(url))) {
    if (child.exitCode !== null || performance.now() > deadline)
      throw new Error(`ClickHouse does not listen: ${errors}`)
    await sleep(100)
  }
  return {
    url,
    ask: async (sql) => {
      const answer = await fetch(url, { method: 'POST', body: sql })
      const text = await answer.text()
      if (!answer.ok) throw new Error(text)
      return text
    },
    stop: async () => {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** System tables need grants, as in the configuration that servers are installed with. */
const configurationIn = (directory: string, { users = '', profiles = '' }: ServerConfiguration): string => {
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
