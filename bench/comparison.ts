import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startService } from './support/child.js'
import { median, ratio } from './support/report.js'
import { scrollThrough } from './support/scrolling.js'

/**
 * How long does a comparison of RUNS=8 evaluation runs of ROWS=10000 rows take, when first asked for and on later pages, and
 * how smoothly does its page scroll through all rows in SCROLL_MS=5000? DIRECTORY is kept, and filled only once.
 */

const KEY = 'administrator-key-of-the-bench'
const PROJECT = 'bench/comparison'
const RUNS = Number(process.env['RUNS'] ?? 8)
const ROWS = Number(process.env['ROWS'] ?? 10_000)
const BATCH = 1000
const TARGET_MS = 1000
const SETTLE_MS = Number(process.env['SETTLE_MS'] ?? 60_000)

const SCROLL_MS = Number(process.env['SCROLL_MS'] ?? 5000)
/** A frame longer than this is seen as a jerk. */
const LONG_FRAME_MS = 50

const given = process.env['DIRECTORY']
const isFilled = given !== undefined && existsSync(join(given, 'events.db'))
const directory = given ?? (await mkdtemp(join(tmpdir(), 'tallytree-bench-')))
const service = await startService({
  TALLYTREE_PORT: '0',
  TALLYTREE_DATA_DIR: directory,
  TALLYTREE_BOOTSTRAP_API_KEY: KEY,
})

const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
  for (;;) {
    const began = performance.now()
    const response = await fetch(`${service.address}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}`, ...headers },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    if (response.status === 503) continue
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
    const position = response.headers.get('tallytree-position') ?? ''
    return { text, position, ms: performance.now() - began }
  }
}

const START = Date.parse('2026-01-01T00:00:00Z')
const at = (ms: number) => new Date(START + ms).toISOString()
const op = (name: string) => `weave:///${PROJECT}/op/${name}:1`

/** Calls as the Python SDK logs them: a row, a model call and two scorers. */
const callsOfRun = (run: number): readonly object[] => {
  const trace_id = `run-${run}`
  const callAt =
    (row: number) =>
    (id: string, parent_id: string | null, name: string, inputs: object, output: unknown, more = {}) => ({
      ...{ project_id: PROJECT, id, trace_id, parent_id, op_name: op(name), attributes: {}, inputs, output },
      ...{
        started_at: at(run * 1e7 + row * 7),
        ended_at: at(run * 1e7 + row * 7 + 900),
        summary: {},
        ...more,
      },
    })
  const self = `weave:///${PROJECT}/object/evaluation:1`
  const model = `weave:///${PROJECT}/object/model-${run}:1`
  const root = callAt(0)(trace_id, null, 'Evaluation.evaluate', { self, model }, {})
  const usage = { 'gpt-4o': { requests: 1, prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 } }
  return [
    root,
    ...Array.from({ length: ROWS }, (_, row) => {
      const call = callAt(row)
      const id = `${trace_id}-${row}`
      const example = `weave:///${PROJECT}/object/dataset:1/attr/rows/id/digest-${row}`
      const output = `The answer to question ${row} is ${(row * 7) % (run + 11)}.`
      const scores = {
        exact: (row + run) % 3 > 0,
        judge: { points: (row * (run + 3)) % 10, reason: 'short' },
      }
      const scored = { self: `weave:///${PROJECT}/object/exact:1`, output, example }
      return [
        call(
          id,
          trace_id,
          'Evaluation.predict_and_score',
          { self, model, example },
          { output, scores, model_latency: 0.5 },
        ),
        call(`${id}-p`, id, 'Model.predict', { self: model, question: `question ${row}` }, output, {
          summary: { usage },
        }),
        call(`${id}-e`, id, 'exact.score', scored, scores.exact),
        call(
          `${id}-j`,
          id,
          'judge.score',
          { ...scored, self: `weave:///${PROJECT}/object/judge:1` },
          scores.judge,
        ),
      ]
    }).flat(),
  ]
}

const fill = async () => {
  const began = performance.now()
  for (let run = 0; run < RUNS; run += 1) {
    const calls = callsOfRun(run)
    for (let from = 0; from < calls.length; from += BATCH)
      await post(`/v2/${PROJECT}/calls/complete`, { batch: calls.slice(from, from + BATCH) })
  }
  console.log(`${RUNS} runs of ${ROWS} rows recorded in ${((performance.now() - began) / 1000).toFixed(0)} s`)
  await post('/calls/query_stats', { project_id: PROJECT })
  // The rows of a run are stored some seconds after it has ended.
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
}

if (!isFilled) await fill()

const evaluation_run_ids = Array.from({ length: RUNS }, (_, run) => `run-${run}`)
const compare = (offset: number, headers = {}) =>
  post('/evaluations/compare', { project_id: PROJECT, evaluation_run_ids, limit: 200, offset }, headers)

service.forgetPeak()
const first = await compare(0)
const again = await compare(0)
const next = await compare(ROWS / 2, { 'tallytree-as-of': again.position })
ratio(
  'ms until a comparison is answered',
  first.ms,
  `<= ${TARGET_MS}`,
  first.ms <= TARGET_MS,
  `again ${again.ms.toFixed(0)} ms, a later page ${next.ms.toFixed(0)} ms, ${(first.text.length / 1024).toFixed(0)} KiB, ` +
    `memory ${service.memory().peak.toFixed(0)} MiB at its peak`,
)
const { frames, rows } = await scrollThrough({
  ...{ address: service.address, key: KEY, durationMs: SCROLL_MS, selector: '.compared > .scroll' },
  path: `/${PROJECT}/evaluations/compare?only=all&runs=${evaluation_run_ids.join(',')}`,
})
const long = frames.filter((ms) => ms > LONG_FRAME_MS)
ratio(
  `frames over ${LONG_FRAME_MS} ms while the rows are scrolled`,
  long.length,
  '0',
  long.length === 0,
  `of ${frames.length} frames, the longest ${Math.max(...frames).toFixed(0)} ms, median ${median(frames).toFixed(0)} ms, ${rows} rows mounted`,
)
await service.stop()
if (given === undefined) await rm(directory, { recursive: true, force: true })
