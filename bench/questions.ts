import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startService, type Child } from './support/child.js'
import { REFERENCE_MS, timeOfReference } from './support/reference-statement.js'
import { HUGE_TRACE, LONG_TRACE, PROJECT, writeYearOfCalls } from './support/year-of-calls.js'

/**
 * How long do the questions of analytics take, at several sizes of a project (CALLS=100000,1000000)? Each is asked 20
 * times over HTTP, with other values each time, and read to the last byte, after all have been asked three times. A bare
 * statement of the engine tells how fast the machine is.
 */

const KEY = 'administrator-key-of-the-bench'
const SIZES = (process.env['CALLS'] ?? '100000').split(',').map(Number)
const RUNS = Number(process.env['RUNS'] ?? 20)
const END = Date.now()
const DAY_MS = 86_400_000

const before = (days: number): string => new Date(END - days * DAY_MS).toISOString()

if (process.argv[2] === 'fill') {
  await writeYearOfCalls(
    join(process.argv[3]!, 'events.db'),
    Number(process.argv[4]),
    Number(process.argv[5]),
  )
  process.exit(0)
}

type Ask = (path: string, body: object) => Promise<string>

interface Question {
  readonly name: string
  readonly goalMs: number
  readonly ask: (ask: Ask, run: number) => Promise<unknown>
}

const literal = ($literal: unknown) => ({ $literal })
const field = ($getField: string) => ({ $getField })
const since = (days: number) => ({ $gte: [field('started_at'), literal(before(days))] })
const equals = (name: string, value: unknown) => ({ $eq: [field(name), literal(value)] })
const where = (...all: object[]) => ({ query: { $expr: { $and: all } } })
const newest = { limit: 50, sort_by: [{ field: 'started_at', direction: 'desc' }] }
const roots = { filter: { trace_roots_only: true } }

const calls = (body: object) => (ask: Ask) => ask('/calls/query', { ...newest, ...body })

const QUESTIONS: readonly Question[] = [
  { name: 'newest 50 calls', goalMs: 50, ask: calls({}) },
  { name: 'newest 50 roots', goalMs: 50, ask: calls(roots) },
  {
    name: 'newest 50 roots with inclusive usage and cost',
    goalMs: 50,
    ask: calls({ ...roots, include_usage: true, include_costs: true }),
  },
  { name: 'page 100 of the roots', goalMs: 50, ask: calls({ ...roots, offset: 4950 }) },
  {
    name: 'newest 50 of an op',
    goalMs: 100,
    ask: (ask, run) => calls({ filter: { op_names: [`weave:///${PROJECT}/op/agent-${run % 20}:*`] } })(ask),
  },
  {
    name: 'newest 50 with an error',
    goalMs: 100,
    ask: calls(where(equals('summary.weave.status', 'error'))),
  },
  {
    name: 'newest 50 of a user',
    goalMs: 100,
    ask: (ask, run) => calls({ filter: { wb_user_ids: [`user-${run}`] } })(ask),
  },
  {
    name: 'newest 50 by attribute',
    goalMs: 100,
    ask: calls(where(equals('attributes.environment', 'staging'))),
  },
  {
    name: 'newest 50 by inputs.user',
    goalMs: 100,
    ask: (ask, run) => calls(where(equals('inputs.user', `customer-${run}`)))(ask),
  },
  { name: 'newest 50 of the last 24 h', goalMs: 100, ask: calls(where(since(1))) },
  {
    name: 'longest 50 of the last 24 h',
    goalMs: 100,
    ask: calls({ ...where(since(1)), sort_by: [{ field: 'summary.weave.latency_ms', direction: 'desc' }] }),
  },
  {
    name: 'costliest 50 roots of the last 24 h',
    goalMs: 100,
    ask: calls({ ...roots, ...where(since(1)), sort_by: [{ field: 'usage.total_cost', direction: 'desc' }] }),
  },
  {
    name: 'most tokens: 50 roots of the project',
    goalMs: 1000,
    ask: calls({ ...roots, sort_by: [{ field: 'usage.total_tokens', direction: 'desc' }] }),
  },
  {
    name: 'newest 50 of the running calls, none running',
    goalMs: 100,
    ask: calls(where(equals('summary.weave.status', 'running'))),
  },
  {
    name: 'newest 50 by a value of inputs that no call has',
    goalMs: 1000,
    ask: (ask, run) => calls(where(equals('inputs.user', `unknown-${run}`)))(ask),
  },
  {
    name: 'newest 50 by feedback, without any',
    goalMs: 100,
    ask: calls(where(equals('feedback.[wandb.reaction.1].payload.emoji', 'x'))),
  },
  {
    name: 'text in inputs, last 7 days',
    goalMs: 1000,
    ask: calls(
      where(since(7), { $contains: { input: field('inputs.prompt'), substr: literal('refund refund') } }),
    ),
  },
  {
    name: 'a trace of 1,000 calls',
    goalMs: 50,
    ask: calls({ limit: 1000, filter: { trace_ids: [LONG_TRACE.id] } }),
  },
  { name: 'one call', goalMs: 50, ask: (ask, run) => ask('/call/read', { id: `trace-${run * 7}-call-1` }) },
  {
    name: 'children',
    goalMs: 50,
    ask: (ask, run) => calls({ filter: { parent_ids: [`trace-${run * 7}-call-0`] } })(ask),
  },
  {
    name: 'statistics: a month by day and model',
    goalMs: 150,
    ask: (ask, run) =>
      ask('/calls/stats', {
        start: before(31 + run),
        end: before(1 + run),
        granularity: 'day',
        usage_metrics: [{ metric: 'total_tokens' }, { metric: 'total_cost' }],
        call_metrics: [{ metric: 'call_count' }, { metric: 'latency_ms', percentiles: [95] }],
      }),
  },
  {
    name: 'statistics: a day by minute',
    goalMs: 150,
    ask: (ask, run) =>
      ask('/calls/stats', {
        start: before(1 + run),
        end: before(run),
        granularity: 'minute',
        call_metrics: [{ metric: 'call_count' }, { metric: 'error_count' }],
      }),
  },
  {
    name: 'usage: a month by model and op with cost',
    goalMs: 300,
    ask: (ask, run) =>
      ask('/usage/query', {
        start: before(31 + run),
        end: before(1 + run),
        group_by: ['model', 'op'],
        include_costs: true,
      }),
  },
  {
    name: 'usage: a year by month and user, top 20',
    goalMs: 300,
    ask: (ask) =>
      ask('/usage/query', {
        start: before(365),
        end: before(0),
        group_by: ['month', 'user'],
        sort_by: [{ field: 'total_tokens' }],
        limit: 20,
      }),
  },
  { name: 'count of the project', goalMs: 50, ask: (ask) => ask('/calls/query_stats', {}) },
  { name: 'count of the roots', goalMs: 50, ask: (ask) => ask('/calls/query_stats', roots) },
  {
    name: 'inclusive usage of 10,000 roots',
    goalMs: 500,
    ask: (ask) => ask('/trace/usage', { ...roots, limit: 10_000 }),
  },
  {
    name: 'whole trace of 100,000 calls',
    goalMs: 1000,
    ask: (ask) => ask('/trace/usage', { filter: { trace_ids: [HUGE_TRACE.id] }, limit: 100_000 }),
  },
]

const askOf =
  (service: Child): Ask =>
  async (path, body) => {
    const response = await fetch(`${service.address}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ project_id: PROJECT, ...body }),
    })
    const text = await response.text()
    if (response.status === 503) {
      await new Promise((resolve) => setTimeout(resolve, 500))
      return askOf(service)(path, body)
    }
    if (!response.ok)
      throw new Error(`${path} ${JSON.stringify(body)}: ${response.status} ${text.slice(0, 500)}`)
    return text
  }

interface Timing {
  readonly p50: number
  readonly p95: number
}

const measure = async (ask: Ask, question: Question): Promise<Timing> => {
  const times: number[] = []
  for (let run = 0; run < RUNS; run += 1) {
    const begin = performance.now()
    await question.ask(ask, run)
    times.push(performance.now() - begin)
  }
  times.sort((a, b) => a - b)
  return { p50: times[Math.floor(RUNS / 2)]!, p95: times[Math.ceil(RUNS * 0.95) - 1]! }
}

const timings = new Map<string, Timing[]>()
for (const size of SIZES) {
  const directory = process.env['DIRECTORY'] ?? (await mkdtemp(join(tmpdir(), 'tallytree-bench-')))
  if (process.env['DIRECTORY'] === undefined)
    execFileSync(
      process.execPath,
      ['--import', 'tsx', import.meta.filename, 'fill', directory, String(size), String(END)],
      { stdio: 'inherit' },
    )
  const begin = performance.now()
  const service = await startService({
    TALLYTREE_PORT: '0',
    TALLYTREE_DATA_DIR: directory,
    TALLYTREE_BOOTSTRAP_API_KEY: KEY,
  })
  const ask = askOf(service)
  await ask('/calls/query_stats', {})
  console.log(`${size} calls: readable after ${((performance.now() - begin) / 1000).toFixed(1)} s`)
  const atRest = service.memory().now
  service.forgetPeak()
  for (const question of QUESTIONS) for (let run = 0; run < 3; run += 1) await question.ask(ask, run)
  for (const question of QUESTIONS) {
    const timing = await measure(ask, question)
    timings.set(question.name, [...(timings.get(question.name) ?? []), timing])
    console.log(
      `${timing.p50 <= question.goalMs ? 'met   ' : 'MISSED'}  ${question.name}: p50 ${timing.p50.toFixed(0)} ms, p95 ${timing.p95.toFixed(0)} ms (goal ${question.goalMs} ms)`,
    )
  }
  console.log(`memory: ${atRest.toFixed(0)} MiB at rest, ${service.memory().peak.toFixed(0)} MiB at its peak`)
  await service.stop()
  const reference = await timeOfReference(directory, PROJECT, before(365), RUNS)
  console.log(
    `reference: a bare statement by day and op took ${reference.toFixed(0)} ms (${REFERENCE_MS} ms at 10,000,000 calls where the goals were set)`,
  )
  if (process.env['DIRECTORY'] === undefined) await rm(directory, { recursive: true, force: true })
}
if (SIZES.length > 1)
  for (const [name, each] of timings)
    console.log(
      `${name}: ${(each.at(-1)!.p50 / each[0]!.p50).toFixed(2)} times as long at ${SIZES.at(-1)} calls`,
    )
