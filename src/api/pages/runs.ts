import type * as t from 'io-ts'
import { invalid } from '../../application/failure.js'
import { ReadBudget } from '../../application/read-budget.js'
import type { RunPlace } from '../../application/runs/history.js'
import type { RunReads } from '../../application/runs/runs.js'
import type { SampledRow } from '../../application/runs/sampled-history.js'
import { storedText } from '../../application/runs/run-texts.js'
import type { Services } from '../../application/services.js'
import { leavesOf } from '../../domain/runs/leaves.js'
import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { int64, integerBetween, json, number, string } from '../../kernel/codec/leaves.js'
import { closed, open } from '../../kernel/codec/struct.js'
import { id, projectId } from '../../kernel/ids.js'
import { inChunks } from '../../kernel/in-chunks.js'
import type { Json } from '../../kernel/json/json.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { runIds } from '../../projections/runs/queries.js'
import { noSuchRun, objectIn, runsAt, type ReadableRuns } from '../runs/runs.js'
import { inBody } from '../server/authorization.js'
import type { AnyRoute } from '../server/route.js'
import { isAsOf } from '../server/read-conditions.js'
import { alsoAsOf, readProject, readProjectLog } from '../server/route-kinds.js'
import { compressedJson } from './compressed.js'

type RunPages = Pick<Services, 'access' | 'reading' | 'compilePattern' | keyof Ports>

const RUNS_AT_ONCE = 16
const MAX_COLUMNS = 50
/** Of one answer. */
const MAX_NAMES = 2000

const pageRun = open('PageRun', {
  says: '`values` are those of the columns that were asked for, null where the run has none.',
  required: {
    id,
    name: string,
    user: string,
    state: string,
    started_at: instant,
    ended_at: nullable(instant),
    group: nullable(string),
    job_type: nullable(string),
    tags: arrayOf(string),
    history_lines: int64,
    values: arrayOf(json),
  },
})

const runsRequest = closed('PageRunsRequest', {
  required: { project_id: projectId },
  optional: {
    columns: withDefault(arrayOf(string), []),
    order: withDefault(string, '-created_at'),
    limit: withDefault(integerBetween(1, 200), 50),
    offset: withDefault(integerBetween(0, 1_000_000), 0),
  },
})

/** Of `config.` and `summary.` with the path of a value. */
const columnsOf = (config: ReadonlyMap<string, Json>, summary: ReadonlyMap<string, Json>) => {
  const columns = new Map<string, Json>()
  for (const [path, value] of config) columns.set(`config.${path}`, value)
  for (const [path, value] of summary) columns.set(`summary.${path}`, value)
  return columns
}

const runsPageRoute = (services: RunPages, present: ReadableRuns): AnyRoute =>
  readProject(services, {
    method: 'post',
    path: '/api/pages/runs',
    summary:
      'The runs of a project, the newest first, with values of their configuration and summary. `columns` are such as config.lr and ' +
      'summary.loss, at most 50; `names` lists the columns of the runs on this page. `next` is the offset of the next page.',
    body: runsRequest,
    response: open('PageRuns', {
      required: { data: arrayOf(pageRun), names: arrayOf(string), next: nullable(int64) },
    }),
    project: inBody,
    handle: (request) => {
      const { project, reader, body, headers } = request
      const { columns, order, limit, offset } = body
      if (columns.length > MAX_COLUMNS) throw tooMany('columns', MAX_COLUMNS)
      return async (position) => {
        const asOf = isAsOf(headers) ? position : undefined
        const page = { project, filter: {}, order, limit: limit + 1, offset, asOf }
        const found = await runIds(reader, services.compilePattern)(page)
        const { runs, history } = runsAt(present, request, position)
        const names = new Set<string>()
        const rows = await inChunks(found.slice(0, limit), RUNS_AT_ONCE, async (run) => {
          const inherited = await history.inherited({ project, run })
          const kept = await runs.read(project, run, ({ state, endedAt }) => ({ ...state, endedAt }))
          if (kept?.started == null) return undefined
          const { started, ended, endedAt, details, lines } = kept
          const leaves = async (text: typeof kept.config) =>
            leavesOf(objectIn(await storedText(services.blobs, text)))
          const values = columnsOf(await leaves(kept.config), await leaves(kept.summary))
          for (const name of values.keys()) if (names.size < MAX_NAMES) names.add(name)
          return {
            id: run,
            name: started.name,
            user: started.user,
            state: ended ?? 'running',
            started_at: started.started_at,
            ended_at: endedAt,
            group: details.group ?? null,
            job_type: details.job_type ?? null,
            tags: details.tags,
            history_lines: lines + inherited,
            values: columns.map((name) => values.get(name) ?? null),
          }
        })
        const next = found.length > limit ? offset + limit : null
        const data = rows.filter((row) => row !== undefined)
        return compressedJson(headers, { data, names: [...names].sort(), next })
      }
    },
  })

const MAX_RUNS = 10
const MAX_KEYS = 50

const ofRuns = { project_id: projectId, runs: arrayOf(id) }

const metricNames = open('MetricNames', {
  says: 'A metric, in how many of the runs, and the type of most of its values: `number`, `string`, `map`, …',
  required: { name: string, type: string, runs: int64 },
})

const metricNamesRoute = (services: RunPages, present: ReadableRuns): AnyRoute =>
  readProjectLog(services, {
    method: 'post',
    path: '/api/pages/metric-names',
    summary: 'The names of the metrics that some runs logged, at most 10 runs.',
    body: closed('MetricNamesRequest', { required: ofRuns }),
    ...alsoAsOf,
    response: open('MetricNamesResponse', { required: { names: arrayOf(metricNames) } }),
    project: inBody,
    errors: ['not-found'],
    handle: (request) => {
      const { project, body } = request
      if (body.runs.length > MAX_RUNS) throw tooMany('runs', MAX_RUNS)
      return async (position) => {
        const { runs, history } = runsAt(present, request, position)
        const found = new Map<string, { type: string; runs: number }>()
        for (const run of body.runs) {
          await requireRun(runs, { project, run })
          for (const [name, { types }] of (await history.keys({ project, run })).keys) {
            const [type = 'nil'] = Object.entries(types).sort(([, one], [, other]) => other - one)[0] ?? []
            found.set(name, { type, runs: (found.get(name)?.runs ?? 0) + 1 })
          }
        }
        const names = [...found].map(([name, of]) => ({ name, ...of })).slice(0, MAX_NAMES)
        return { body: { names: names.sort((one, other) => (one.name < other.name ? -1 : 1)) } }
      }
    },
  })

const metricsRequest = closed('PageMetricsRequest', {
  required: { ...ofRuns, keys: arrayOf(string) },
  optional: {
    min_step: withDefault(nullable(integerBetween(0, 999_999_999)), null),
    max_step: withDefault(nullable(integerBetween(0, 999_999_999)), null),
    points: withDefault(integerBetween(2, 2000), 500),
  },
})

const metricValues = open('MetricValues', {
  says: 'One metric of a run in columns. A value that is no finite number is null.',
  required: {
    key: string,
    steps: arrayOf(number),
    times: arrayOf(nullable(number)),
    values: arrayOf(nullable(number)),
  },
})

const runMetrics = open('RunMetrics', { required: { id, metrics: arrayOf(metricValues) } })

const metricsRoute = (services: RunPages, present: ReadableRuns): AnyRoute =>
  readProjectLog(services, {
    method: 'post',
    path: '/api/pages/metrics',
    summary:
      'Metrics of at most 10 runs, each as at most `points` rows that are spread over the steps, with the least and the greatest value ' +
      'of each stretch. Steps are from `min_step` to before `max_step`. `times` are seconds since 1970.',
    body: metricsRequest,
    ...alsoAsOf,
    response: open('PageMetrics', { required: { runs: arrayOf(runMetrics) } }),
    project: inBody,
    errors: ['not-found'],
    handle: (request) => {
      const { project, body, headers } = request
      if (body.runs.length > MAX_RUNS) throw tooMany('runs', MAX_RUNS)
      if (body.keys.length > MAX_KEYS) throw tooMany('keys', MAX_KEYS)
      const range = { minStep: body.min_step, maxStep: body.max_step }
      const specs = body.keys.map((key) => ({ keys: [key], range, most: body.points }))
      return async (position) => {
        const { runs, history } = runsAt(present, request, position)
        const budget = new ReadBudget()
        const answered: t.TypeOf<typeof runMetrics>[] = []
        for (const run of body.runs) {
          await requireRun(runs, { project, run })
          const samples = await history.sampleOf({ project, run }, specs, budget)
          answered.push({ id: run, metrics: body.keys.map((key, at) => inColumns(key, samples[at] ?? [])) })
        }
        return compressedJson(headers, { runs: answered })
      }
    },
  })

const requireRun = async (runs: RunReads, { project, run }: RunPlace): Promise<void> => {
  if ((await runs.read(project, run, () => true)) === undefined) throw noSuchRun()
}

/** Rows of which each has the metric. */
const inColumns = (key: string, rows: readonly SampledRow[]) => ({
  key,
  steps: rows.map((row) => numberIn(row['_step']) ?? 0),
  times: rows.map((row) => numberIn(row['_timestamp'])),
  values: rows.map((row) => numberIn(row[key])),
})

/** `NaN` and infinities are texts. */
const numberIn = (value: Json | undefined): number | null => (typeof value === 'number' ? value : null)

const tooMany = (field: string, most: number) =>
  invalid([{ loc: ['body', field], type: 'too_long', msg: `List should have at most ${most} items` }])

export const runPageRoutes = (services: RunPages, present: ReadableRuns): readonly AnyRoute[] => [
  runsPageRoute(services, present),
  metricNamesRoute(services, present),
  metricsRoute(services, present),
]
