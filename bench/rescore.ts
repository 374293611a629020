import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { scoringTools } from '../src/composition/scoring-tools.js'
import { compileBuiltIn } from '../src/domain/evaluations/scorers/compile.js'
import { decodeScorer } from '../src/domain/evaluations/scorers/scorer.js'
import { finishedStatus, logRun, rescore, scorerObject } from '../test/api/evaluations/logged-run.js'
import { clientOf, type Answered } from '../test/support/client.js'
import { startService } from './support/child.js'
import { ratio } from './support/report.js'

/**
 * How many rows a second does a rescore with a built-in scorer take, every score recorded, beside a bare loop that scores
 * the same rows in memory?
 */

const KEY = 'administrator-key-of-the-bench'
const PROJECT = 'bench/rescore'
const ROWS = Number(process.env['ROWS'] ?? '10000')

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
const exact = await client.in(PROJECT).objects.publish('exact', scorerObject('ExactMatchScorer'))

const atRest = service.memory().now
service.forgetPeak()
const began = performance.now()
const { call_id } = (await rescore(client, PROJECT, source.id, [exact])).json<{ call_id: string }>()
// A status counts rows in the read models: polled as often as in the tests, it would be measured too.
const status = await finishedStatus(client, PROJECT, call_id, undefined, 500)
const seconds = (performance.now() - began) / 1000
if (status.code !== 'complete') throw new Error(JSON.stringify(status))

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
  `${ROWS} rows; a bare loop scores ${bare.toFixed(0)} rows/s, ratio ${(rate / bare).toExponential(1)}; ` +
    `memory ${atRest.toFixed(0)} MiB at rest, ${service.memory().peak.toFixed(0)} MiB at its peak`,
)
await service.stop()
await rm(directory, { recursive: true, force: true })
