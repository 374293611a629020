import { ReadBudget } from '../../application/read-budget.js'
import type { RunHistory, RunPlace } from '../../application/runs/history.js'
import { consoleOf } from '../../application/runs/console.js'
import type { RunReads, Runs } from '../../application/runs/runs.js'
import type { Services } from '../../application/services.js'
import { invalid } from '../../application/failure.js'
import { runDetails } from '../../domain/runs/events.js'
import { rowOf } from '../../domain/runs/history.js'
import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { int64, jsonObject, oneOf, string } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { id } from '../../kernel/ids.js'
import { inChunks } from '../../kernel/in-chunks.js'
import type { Json } from '../../kernel/json/json.js'
import { parseJson } from '../../kernel/json/parse.js'
import { runIds } from '../../projections/runs/queries.js'
import { inPath } from '../server/authorization.js'
import { integerInQuery } from '../server/integer-in-query.js'
import { pageFields, pageOf, pageQuery } from '../server/page.js'
import type { AnyRoute } from '../server/route.js'
import { isAsOf } from '../server/read-conditions.js'
import { alsoAsOf, readProject, readProjectLog } from '../server/route-kinds.js'
import { noSuchRun, runInPath, runsAt, type ReadableRuns } from './runs.js'

const listedRun = open('ListedRun', {
  required: {
    id,
    name: string,
    user: string,
    state: string,
    started_at: instant,
    ended_at: nullable(instant),
    details: runDetails,
    history_lines: int64,
  },
})

const runsQuery = open('RunsQuery', {
  optional: {
    ...pageFields,
    /** JSON in the form of MongoDB, such as `{"config.lr": {"$gt": 0.1}}`. */
    filters: withDefault(string, '{}'),
    order: withDefault(string, '-created_at'),
  },
})

type ListServices = Pick<Services, 'access' | 'reading' | 'compilePattern' | 'eventStore'>

const problem = (field: string, msg: string) => invalid([{ loc: ['query', field], type: 'value_error', msg }])

const listRuns = (services: ListServices, present: ReadableRuns): AnyRoute =>
  readProject(services, {
    method: 'get',
    path: '/api/runs/:entity/:project',
    summary:
      'Lists the runs of a project, the newest first. `filters` are JSON in the form of MongoDB and `order` is such as ' +
      '-created_at or summary_metrics.loss, as for the package `wandb`. Former summaries are not kept, so with Tallytree-As-Of neither ' +
      'can have summary_metrics.',
    query: runsQuery,
    response: pageOf(listedRun),
    project: inPath,
    handle: (request) => {
      const { project, reader, query } = request
      const { filters, order, limit, after } = query
      const filter = filterIn(filters)
      const offset = after === undefined ? 0 : Number(after)
      if (!Number.isSafeInteger(offset) || offset < 0)
        throw problem('after', 'Input should be the `next` of another page')
      return async (position) => {
        const asOf = isAsOf(request.headers) ? position : undefined
        const page = { project, filter, order, limit: limit + 1, offset, asOf }
        const found = await runIds(reader, services.compilePattern)(page)
        const { runs, history } = runsAt(present, request, position)
        const data = await inChunks(found.slice(0, limit), RUNS_AT_ONCE, (run) =>
          shownRun(runs, history, { project, run }),
        )
        const next = found.length > limit ? String(offset + limit) : null
        return { body: { data: data.filter((one) => one !== undefined), next } }
      }
    },
  })

const filterIn = (text: string): Json => {
  try {
    return parseJson(text)
  } catch {
    throw problem('filters', 'Input should be JSON')
  }
}

/** Runs as of a position are folded from their events. */
const RUNS_AT_ONCE = 16

const shownRun = async (runs: RunReads, history: RunHistory, place: RunPlace) => {
  const inherited = await history.inherited(place)
  return runs.read(place.project, place.run, ({ state, endedAt }) => ({
    id: place.run,
    name: state.started!.name,
    user: state.started!.user,
    state: state.ended ?? 'running',
    started_at: state.started!.started_at,
    ended_at: endedAt,
    details: state.details,
    history_lines: state.lines + inherited,
  }))
}

const step = integerInQuery(0, 999_999_999)

const historyQuery = open('RunHistoryQuery', {
  optional: {
    keys: withDefault(string, ''),
    min_step: withDefault(step, undefined),
    max_step: withDefault(step, undefined),
    samples: withDefault(integerInQuery(1, 10_000), 1000),
    /** `system` reads the system metrics, without keys and steps. */
    stream: withDefault(oneOf('metrics', 'system'), 'metrics'),
  },
})

const runHistory = open('RunHistory', { required: { rows: arrayOf(jsonObject) } })

const readHistory = (services: ListServices, present: ReadableRuns): AnyRoute =>
  readProjectLog(services, {
    method: 'get',
    path: '/api/runs/:entity/:project/:run/history',
    summary:
      'Samples the metric history of a run: at most `samples`, evenly spread. With `keys`, separated by commas, only ' +
      'rows that have all of them, with the least and the greatest values. Steps are from `min_step` to before `max_step`. `NaN` and infinities are texts.',
    query: historyQuery,
    ...alsoAsOf,
    response: runHistory,
    project: inPath,
    handle: (request) => {
      const { keys, min_step, max_step, samples } = request.query
      const place = { project: request.project, run: runInPath(request) }
      const range = { minStep: min_step ?? null, maxStep: max_step ?? null }
      const names = keys.split(',').filter((name) => name !== '')
      return async (position) => {
        const { runs, history } = runsAt(present, request, position)
        if ((await runs.read(place.project, place.run, () => true)) === undefined) throw noSuchRun()
        const budget = new ReadBudget()
        if (names.length > 0 && request.query.stream === 'metrics') {
          const [rows = []] = await history.sampleOf(place, [{ keys: names, range, most: samples }], budget)
          return { body: { rows } }
        }
        const lines =
          request.query.stream === 'system'
            ? await history.system(place, samples, budget)
            : await history.sample(place, range, samples, budget)
        return { body: { rows: lines.map((line) => rowOf(line) ?? {}) } }
      }
    },
  })

const consoleLine = open('ConsoleLine', {
  says: 'A line that the program of a run printed. `label` names the program if several log to the run.',
  required: { number: int64, timestamp: nullable(string), level: string, label: string, line: string },
})

const readConsole = (services: ListServices, present: ReadableRuns): AnyRoute =>
  readProjectLog(services, {
    method: 'get',
    path: '/api/runs/:entity/:project/:run/console',
    summary: 'The lines that the program of a run printed, in order.',
    query: pageQuery,
    ...alsoAsOf,
    response: pageOf(consoleLine),
    project: inPath,
    handle: (request) => {
      const { limit, after } = request.query
      const place = { project: request.project, run: runInPath(request) }
      const from = after === undefined ? 0 : Number(after)
      if (!Number.isSafeInteger(from) || from < 0)
        throw problem('after', 'Input should be the `next` of another page')
      return async (position) => {
        const { runs } = runsAt(present, request, position)
        if ((await runs.read(place.project, place.run, () => true)) === undefined) throw noSuchRun()
        const lines = await consoleOf(runs, place)
        const next = lines.length > from + limit ? String(from + limit) : null
        return { body: { data: lines.slice(from, from + limit), next } }
      }
    },
  })

export const runReadRoutes = (
  services: ListServices,
  runs: Runs,
  history: RunHistory,
): readonly AnyRoute[] => [
  listRuns(services, { runs, history }),
  readHistory(services, { runs, history }),
  readConsole(services, { runs, history }),
]
