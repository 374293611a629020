import { join } from 'node:path'
import Koa from 'koa'
import { openEmbeddedClickHouse } from '../../src/adapters/clickhouse/embedded.js'
import { listen } from '../../src/composition/http-server.js'
import { PROJECT } from './traces.js'

/** The baseline: load all rows as JSON, roll up in a Map, stringify. */

interface Row {
  readonly call_id: string
  readonly parent_id: string
  readonly ended: number
  readonly models: readonly string[]
  readonly figures: readonly number[]
}

const emptyUsage = () => ({
  requests: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  prompt_tokens_total_cost: null,
  completion_tokens_total_cost: null,
  cache_read_input_tokens_total_cost: null,
  cache_creation_input_tokens_total_cost: null,
})

type Usage = Record<string, ReturnType<typeof emptyUsage>>

const add = (into: Usage, from: Usage): void => {
  for (const [model, usage] of Object.entries(from)) {
    const sum = (into[model] ??= emptyUsage())
    sum.requests += usage.requests
    sum.prompt_tokens += usage.prompt_tokens
    sum.completion_tokens += usage.completion_tokens
    sum.total_tokens += usage.total_tokens
    sum.cache_read_input_tokens += usage.cache_read_input_tokens
    sum.cache_creation_input_tokens += usage.cache_creation_input_tokens
  }
}

const ownUsage = ({ models, figures }: Row): Usage => {
  const own: Usage = {}
  models.forEach((model, i) => {
    const [requests, prompt, input, completion, output, total, read, creation] = figures.slice(i * 8)
    own[model] = {
      ...emptyUsage(),
      requests: requests!,
      prompt_tokens: prompt! + input!,
      completion_tokens: completion! + output!,
      total_tokens: total! === 0 ? prompt! + input! + completion! + output! : total!,
      cache_read_input_tokens: read!,
      cache_creation_input_tokens: creation!,
    }
  })
  return own
}

const rollUp = (rows: readonly Row[]) => {
  const calls = new Map(rows.map((row) => [row.call_id, { row, usage: ownUsage(row), children: 0 }]))
  for (const { row } of calls.values()) {
    const parent = calls.get(row.parent_id)
    if (parent !== undefined) parent.children += 1
  }
  const ready = [...calls.values()].filter(({ children }) => children === 0)
  for (let next = ready.pop(); next !== undefined; next = ready.pop()) {
    const parent = calls.get(next.row.parent_id)
    if (parent === undefined) continue
    add(parent.usage, next.usage)
    if ((parent.children -= 1) === 0) ready.push(parent)
  }
  return {
    call_usage: Object.fromEntries([...calls].map(([id, { usage }]) => [id, usage])),
    unfinished_call_ids: rows.filter(({ ended }) => ended === 0).map(({ call_id }) => call_id),
  }
}

const { reader } = await openEmbeddedClickHouse(join(process.env['DATA_DIR']!, 'clickhouse'))
const app = new Koa()
app.use(async (ctx) => {
  const rows = await reader.query<Row>(
    `SELECT call_id, parent_id, ended_position AS ended, models, figures FROM usage_facts
    WHERE project_id = {project:String} AND trace_id = {trace:String}`,
    { project: PROJECT, trace: ctx.query['trace'] as string },
  )
  ctx.type = 'application/json'
  ctx.body = JSON.stringify(rollUp(rows))
})
const { address } = await listen(app.callback(), { host: '127.0.0.1', port: 0 })
console.log(address)
process.once('SIGTERM', () => process.exit(0))
