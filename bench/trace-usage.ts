import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbeddedClickHouse } from '../src/adapters/clickhouse/embedded.js'
import { fillTrace } from '../test/support/whole-traces.js'
import { startService, type Child } from './support/child.js'
import { median, ratio } from './support/report.js'

/**
 * How long does usage of whole traces and of many roots take, over HTTP and read to the last byte? And how long does
 * another request wait while the usage of a hostile trace is computed?
 */

const KEY = 'administrator-key-of-the-bench'
const PROJECT = 'bench/traces'
const SIZES = (process.env['SIZES'] ?? '10000,100000,1000000').split(',').map(Number)
const ROOTS = 10_000
const GOALS_MS: Readonly<Record<number, number>> = { 10_000: 200, 100_000: 1000 }
const ROOTS_GOAL_MS = 2000
const DELAY_GOAL_MS = 250

const HOSTILE = {
  'each call of a chain of 10,000 has its own model': [
    'models',
    10_000,
    { parent: 'previous', models: 'each' },
  ],
  'each call of a cycle of 10,000 has its own model': ['cycle', 10_000, { parent: 'cycle', models: 'each' }],
  'a chain is 100,000 calls deep': ['deep', 100_000, { parent: 'previous', models: 'one' }],
  'a call has 300,000 children': ['wide', 300_000, { parent: 'first', models: 'one' }],
  '300,000 calls are running': ['running', 300_000, { parent: 'first', models: 'none' }],
} as const

const fill = async (directory: string): Promise<void> => {
  const clickHouse = await openEmbeddedClickHouse(join(directory, 'clickhouse'))
  const { writer } = clickHouse
  for (const size of SIZES)
    await fillTrace(writer, PROJECT, `trace-${size}`, size, { parent: 'tree of eight', models: 'one' })
  await fillTrace(writer, 'bench/roots', 'root', 50, {
    parent: 'tree of eight',
    models: 'one',
    traces: ROOTS,
  })
  for (const [trace, calls, shape] of Object.values(HOSTILE))
    await fillTrace(writer, 'bench/hostile', trace, calls, shape)
  for (const table of ['calls', 'usage_facts']) await writer.command(`OPTIMIZE TABLE ${table} FINAL`)
  await clickHouse.close()
}

const question = (body: object): RequestInit => ({
  method: 'POST',
  headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

const ask = async ({ address }: Child, body: object): Promise<number> => {
  const begin = performance.now()
  const response = await fetch(`${address}/trace/usage`, question(body))
  if (response.status !== 200 && response.status !== 413)
    throw new Error(`${response.status} ${await response.text()}`)
  await response.arrayBuffer()
  return performance.now() - begin
}

const several = async (name: string, goal: number | undefined, service: Child, body: object) => {
  const first = await ask(service, body)
  service.forgetPeak()
  const times: number[] = []
  for (let i = 0; i < 5; i += 1) times.push(await ask(service, body))
  const ms = Math.max(first, median(times))
  ratio(
    `${name}, ms`,
    ms,
    goal === undefined ? 'none' : `<= ${goal}`,
    goal === undefined || ms <= goal,
    `first ${first.toFixed(0)} ms, then ${median(times).toFixed(0)} ms; peak ${service.memory().peak.toFixed(0)} MiB`,
  )
}

/** The longest time that a request for another project takes while this one is answered. */
const longestDelay = async (service: Child, body: object): Promise<number> => {
  const state = { isAnswered: false }
  const answered = ask(service, body).finally(() => (state.isAnswered = true))
  let longest = 0
  while (!state.isAnswered) {
    const begin = performance.now()
    await (await fetch(`${service.address}/health`)).text()
    longest = Math.max(longest, performance.now() - begin)
  }
  await answered
  return longest
}

const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-'))
try {
  // The engine may be open in one process at a time: another process fills the tables that the service has created.
  if (process.argv[2] === 'fill') {
    await fill(process.argv[3]!)
    process.exit(0)
  }
  const environment = { TALLYTREE_PORT: '0', TALLYTREE_DATA_DIR: directory, TALLYTREE_BOOTSTRAP_API_KEY: KEY }
  await (await startService(environment)).stop()
  execFileSync(process.execPath, ['--import', 'tsx', import.meta.filename, 'fill', directory], {
    stdio: 'inherit',
  })
  const service = await startService(environment)
  const common = { project_id: PROJECT, limit: 1_000_000 }
  for (const size of SIZES) {
    const whole = { ...common, filter: { trace_ids: [`trace-${size}`] } }
    await several(`whole trace of ${size}`, GOALS_MS[size], service, whole)
    await several(`  with costs`, undefined, service, { ...whole, include_costs: true })
    const root = { ...common, filter: { call_ids: [`trace-${size}-00000000`] } }
    await several(`  its root alone`, undefined, service, root)
  }
  const roots = { project_id: 'bench/roots', limit: ROOTS, filter: { trace_roots_only: true } }
  await several(`${ROOTS} roots of 50 calls each`, ROOTS_GOAL_MS, service, roots)
  for (const [name, [trace]] of Object.entries(HOSTILE)) {
    const whole = { project_id: 'bench/hostile', limit: 1_000_000, filter: { trace_ids: [trace] } }
    const root = { ...whole, filter: { call_ids: [`${trace}-00000000`] } }
    const delay = Math.max(await longestDelay(service, whole), await longestDelay(service, root))
    ratio(`longest delay when ${name}, ms`, delay, `<= ${DELAY_GOAL_MS}`, delay <= DELAY_GOAL_MS, '')
  }
  await service.stop()
} finally {
  await rm(directory, { recursive: true, force: true })
}
