import { mkdtemp, rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { scoringTools } from '../src/composition/scoring-tools.js'
import { compileBuiltIn } from '../src/domain/evaluations/scorers/compile.js'
import { decodeScorer } from '../src/domain/evaluations/scorers/scorer.js'
import type { JsonObject } from '../src/kernel/json/json.js'
import { finishedStatus, logRun, rescore, scorerObject } from '../test/api/evaluations/logged-run.js'
import { clientOf, type Answered } from '../test/support/client.js'
import { startService } from './support/child.js'
import { median, p99, ratio } from './support/report.js'

/**
 * How many rows a second does a rescore with a built-in scorer take, every score recorded, beside a bare loop that scores
 * the same rows in memory? How long do `/health` and a small write of another team take meanwhile, and during a rescore with
 * all built-in scorers and a comparison of its runs, against an idle service?
 */

const KEY = 'administrator-key-of-the-bench'
const PROJECT = 'bench/rescore'
const ROWS = Number(process.env['ROWS'] ?? '5000')

const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-'))
const service = await startService({
  TALLYTREE_PORT: '0',
  TALLYTREE_DATA_DIR: directory,
  TALLYTREE_BOOTSTRAP_API_KEY: KEY,
})

const post = async (path: string, body: unknown) => {
  const response = await fetch(`${service.address}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}` },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (response.status === 503) return post(path, body)
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: (() => JSON.parse(text)) as Answered['json'],
  }
}

const client = clientOf((_method, path, body) => post(path, body))

const rows = Array.from({ length: ROWS }, (_, row) => ({
  example: { row, expected: `answer ${row % 7}` },
  output: `answer ${row % 5}`,
}))
const source = await logRun(client, PROJECT, rows)

const SCORERS: readonly (readonly [name: string, className: string, settings?: JsonObject])[] = [
  ['exact', 'ExactMatchScorer'],
  ['contains', 'ContainsScorer'],
  ['regex', 'RegexScorer', { pattern: 'answer [0-4]' }],
  ['schema', 'JSONSchemaScorer', { schema: { type: 'string', maxLength: 8 } }],
  ['tolerance', 'NumericToleranceScorer', { absolute_tolerance: 1 }],
  ['edits', 'EditDistanceScorer'],
  ['rouge', 'RougeScorer'],
  ['rouge-case', 'RougeScorer', { ignore_case: false }],
  ['json', 'ValidJSONScorer'],
  ['found', 'StringMatchScorer'],
  ['levenshtein', 'LevenshteinScorer'],
]
const scorers: string[] = []
for (const [name, className, settings] of SCORERS)
  scorers.push(await client.in(PROJECT).objects.publish(name, scorerObject(className, settings)))
const exact = scorers[0]!

const PAUSE_MS = 20
const IDLE_MS = 5000

/** Sends small requests of another team until the work is done. */
const meanwhile = async <A>(name: string, work: Promise<A>): Promise<A> => {
  let isDone = false
  const ended = work.finally(() => (isDone = true))
  const timesOf = async (request: () => Promise<unknown>): Promise<readonly number[]> => {
    const times: number[] = []
    while (!isDone) {
      const began = performance.now()
      await request()
      times.push(performance.now() - began)
      await sleep(PAUSE_MS)
    }
    return times
  }
  const [health, writes] = await Promise.all([
    timesOf(async () => (await fetch(`${service.address}/health`)).text()),
    timesOf(() => client.in('other/project').calls.start()),
  ])
  for (const [what, times] of Object.entries({ '/health': health, 'small write': writes }))
    console.log(
      `${name.padEnd(24)} ${what.padEnd(12)} median ${median(times).toFixed(1)} ms, p99 ${p99(times).toFixed(1)} ms, ` +
        `longest ${Math.max(...times).toFixed(1)} ms, ${times.length} requests`,
    )
  return ended
}

const rescoredWith = async (refs: readonly string[]) => {
  const began = performance.now()
  const { call_id } = (await rescore(client, PROJECT, source.id, refs)).json<{ call_id: string }>()
  // A status counts rows in the read models: polled as often as in the tests, it would be measured too.
  const status = await finishedStatus(client, PROJECT, call_id, undefined, 500)
  if (status.code !== 'complete') throw new Error(JSON.stringify(status))
  return { id: call_id, seconds: (performance.now() - began) / 1000 }
}

await meanwhile('idle', sleep(IDLE_MS))
const atRest = service.memory().now
service.forgetPeak()
const { id, seconds } = await meanwhile('rescore, exact', rescoredWith([exact]))
const peak = service.memory().peak
const all = await meanwhile(`rescore, ${scorers.length} scorers`, rescoredWith(scorers))
const compared = { project_id: PROJECT, evaluation_run_ids: [id, all.id] }
await meanwhile('comparison', post('/evaluations/compare', compared))

const decoded = decodeScorer(exact, scorerObject('ExactMatchScorer'))
if (E.isLeft(decoded) || decoded.right.kind !== 'built-in') throw new Error('not a built-in scorer')
const compiled = compileBuiltIn(scoringTools)(decoded.right)
if (E.isLeft(compiled)) throw new Error(compiled.left)
const loopBegan = performance.now()
for (const row of rows) compiled.right(row)
const bare = ROWS / ((performance.now() - loopBegan) / 1000)

const rate = ROWS / seconds
ratio(
  'rows/s rescored',
  rate,
  '>= 500',
  rate >= 500,
  `${ROWS} rows; ${scorers.length} scorers ${(ROWS / all.seconds).toFixed(0)} rows/s; a bare loop scores ${bare.toFixed(0)} rows/s, ` +
    `ratio ${(rate / bare).toExponential(1)}; memory ${atRest.toFixed(0)} MiB at rest, ${peak.toFixed(0)} MiB at its peak`,
)
await service.stop()
await rm(directory, { recursive: true, force: true })
