import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startService } from './support/child.js'
import { LiveLoad, newTrace, PROJECT } from './support/live-load.js'
import { median } from './support/report.js'

/**
 * How long do the questions of a project take right after CALLS calls (in traces of 50, one month) were loaded, once
 * all is settled, and while 300 and 1,000 calls/s arrive? Medians of RUNS, in milliseconds, over HTTP to the last byte.
 * DIRECTORY names a data directory that a run filled, to ask again without the load.
 */

const KEY = 'administrator-key-of-the-bench'
const CALLS = Number(process.env['CALLS'] ?? 200_000)
const RUNS = Number(process.env['RUNS'] ?? 15)
const RATES = (process.env['RATES'] ?? '300,1000').split(',').filter(Boolean).map(Number)
const SETTLE_MS = Number(process.env['SETTLE_MS'] ?? 90_000)
const HUGE = 'trace-of-many'
const HUGE_CALLS = 100_000
const MONTH_MS = 30 * 86_400_000

const end = Date.now()
const given = process.env['DIRECTORY']
const directory = given ?? (await mkdtemp(join(tmpdir(), 'tallytree-bench-')))
const service = await startService({
  TALLYTREE_PORT: '0',
  TALLYTREE_DATA_DIR: directory,
  TALLYTREE_BOOTSTRAP_API_KEY: KEY,
})
const load = new LiveLoad(service.address, KEY)

const range = {
  start: new Date(end - MONTH_MS).toISOString(),
  end: new Date(end + MONTH_MS / 10).toISOString(),
}
const newest = { limit: 50, sort_by: [{ field: 'started_at', direction: 'desc' }] }
const roots = { trace_roots_only: true }
const failed = { $expr: { $eq: [{ $getField: 'summary.weave.status' }, { $literal: 'error' }] } }

/** Question, path, body, goal in milliseconds. */
const QUESTIONS: readonly (readonly [string, string, object, number])[] = [
  ['newest 50 roots', '/calls/query', { ...newest, filter: roots }, 60],
  [
    'the same with usage and cost',
    '/calls/query',
    { ...newest, filter: roots, include_usage: true, include_costs: true },
    100,
  ],
  ['newest 50 failed roots', '/calls/query', { ...newest, filter: roots, query: failed }, 60],
  [
    'statistics: a month by day',
    '/calls/stats',
    {
      ...range,
      granularity: 'day',
      usage_metrics: [{ metric: 'total_tokens' }, { metric: 'total_cost' }],
      call_metrics: [{ metric: 'call_count' }, { metric: 'latency_ms', percentiles: [95] }],
    },
    150,
  ],
  [
    'usage: a month by model and op with cost',
    '/usage/query',
    { ...range, group_by: ['model', 'op'], include_costs: true },
    250,
  ],
  ['usage of 4,000 roots', '/trace/usage', { filter: roots, limit: 4000 }, 200],
  ['usage of the root of 100,000 calls', '/trace/usage', { filter: { call_ids: [`${HUGE}-0`] } }, 30],
]

const ask = async (path: string, body: object): Promise<number> => {
  const begin = performance.now()
  const { status, text } = await load.post(path, { project_id: PROJECT, ...body })
  if (status === 503) return sleep(200).then(() => ask(path, body))
  if (status !== 200) throw new Error(`${path}: ${status} ${text.slice(0, 300)}`)
  return performance.now() - begin
}

const measure = async (): Promise<readonly number[]> => {
  const medians: number[] = []
  for (const [, path, body] of QUESTIONS) {
    const times: number[] = []
    for (let run = 0; run < RUNS; run += 1) times.push(await ask(path, body))
    medians.push(median(times))
  }
  return medians
}

const columns: [string, readonly number[]][] = []
const note = async (name: string): Promise<void> => {
  const begin = performance.now()
  columns.push([name, await measure()])
  console.error(`${name}: asked in ${((performance.now() - begin) / 1000).toFixed(0)} s`)
}

if (given === undefined) {
  const begin = performance.now()
  for (let n = 0; n < CALLS / 50; n += 20)
    await load.write(
      Array.from({ length: 20 }, (_, i) =>
        newTrace(`trace-${n + i}`, 50, end - MONTH_MS + (MONTH_MS * (n + i)) / (CALLS / 50)),
      ).flat(),
    )
  for (let from = 0; from < HUGE_CALLS; from += 1000)
    await load.write(newTrace(HUGE, 1000, end - MONTH_MS / 2 + from, from))
  console.error(`loaded in ${((performance.now() - begin) / 1000).toFixed(0)} s`)
  await note('after the load')
  await sleep(SETTLE_MS)
}
await note('settled')
for (const rate of RATES) {
  const stop = load.keepWriting(rate)
  await sleep(10_000)
  await note(`${rate} calls/s`)
  console.error(`written at ${(await stop()).toFixed(0)} calls/s`)
}

console.log(['question', ...columns.map(([name]) => name), 'goal'].join(' | '))
for (const [n, [name, , , goal]] of QUESTIONS.entries())
  console.log([name, ...columns.map(([, medians]) => medians[n]!.toFixed(0)), goal].join(' | '))
const { now, peak } = service.memory()
console.log(`memory ${now.toFixed(0)} MiB, at its peak ${peak.toFixed(0)} MiB`)
await service.stop()
if (given === undefined && process.env['KEEP'] === undefined)
  await rm(directory, { recursive: true, force: true })
else console.error(`kept in ${directory}`)
