import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startService } from './support/child.js'
import { logBytesIn } from './support/log-bytes.js'

/**
 * A run of ROWS=1000000 rows of five metrics: how long do requests of 40,000 rows take, how many bytes does a row take on
 * disk, and how long does a page of 1,000 steps take to read, page after page and anywhere? The requests are those of the
 * package wandb.
 */

const KEY = 'administrator-key-of-the-bench'
const ROWS = Number(process.env['ROWS'] ?? 1_000_000)
const ROWS_OF_REQUEST = 40_000
const PAGE = 1000
const PAGES_ANYWHERE = 200

const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-history-'))
const service = await startService({
  TALLYTREE_PORT: '0',
  TALLYTREE_DATA_DIR: directory,
  TALLYTREE_BOOTSTRAP_API_KEY: KEY,
})

const post = async (path: string, body: object): Promise<unknown> => {
  const response = await fetch(service.address + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return response.json()
}

const row = (step: number): string =>
  JSON.stringify({
    loss: 1 / (step + 1),
    accuracy: Math.sin(step) ** 2,
    lr: 0.001 * 0.999 ** (step % 1000),
    norm: Math.cos(step) * 10,
    epoch: Math.floor(step / 1000),
    _step: step,
    _runtime: step / 100,
    _timestamp: 1_790_000_000 + step / 100,
  })

const PAGE_QUERY = `query ($from: Int64, $to: Int64) { project(name: "p", entityName: "bench") { run(name: "r") {
  history(minStep: $from, maxStep: $to, samples: ${PAGE}) } } }`

const pageMs = async (from: number): Promise<number> => {
  const began = performance.now()
  const answer = (await post('/graphql', { query: PAGE_QUERY, variables: { from, to: from + PAGE } })) as {
    data: { project: { run: { history: readonly string[] } } }
  }
  const { length } = answer.data.project.run.history
  if (length !== Math.min(PAGE, ROWS - from)) throw new Error(`a page has ${length} rows`)
  return performance.now() - began
}

const shown = (name: string, times: readonly number[]): void => {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))]!.toFixed(1)
  console.log(`${name.padEnd(34)} median ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms (goal 50)`)
}

try {
  await post('/api/teams', { name: 'bench' })
  await post('/graphql', {
    query: 'mutation ($input: UpsertBucketInput!) { upsertBucket(input: $input) { inserted } }',
    variables: { input: { entityName: 'bench', modelName: 'p', name: 'r', host: 'h' } },
  })
  const requests: number[] = []
  let text = 0
  for (let offset = 0; offset < ROWS; offset += ROWS_OF_REQUEST) {
    const content = Array.from({ length: Math.min(ROWS_OF_REQUEST, ROWS - offset) }, (_, at) =>
      row(offset + at),
    )
    text += content.reduce((sum, line) => sum + line.length, 0)
    const began = performance.now()
    await post('/files/bench/p/r/file_stream', { files: { 'wandb-history.jsonl': { offset, content } } })
    requests.push(performance.now() - began)
  }
  const seconds = requests.reduce((sum, ms) => sum + ms, 0) / 1000
  console.log(`${ROWS} rows in ${seconds.toFixed(1)} s, ${Math.round(ROWS / seconds)} rows a second`)
  const stored = (await logBytesIn(directory)) / ROWS
  console.log(`${(text / ROWS).toFixed(0)} bytes of text a row, ${stored.toFixed(0)} stored (goal 100)`)
  const pages = Math.ceil(ROWS / PAGE)
  const scan: number[] = []
  for (let page = 0; page < pages; page += 1) scan.push(await pageMs(page * PAGE))
  shown('page after page', scan)
  const anywhere: number[] = []
  for (let n = 0; n < PAGES_ANYWHERE; n += 1) anywhere.push(await pageMs(((n * 7919) % pages) * PAGE))
  shown('pages anywhere', anywhere)
} finally {
  await service.stop()
  await rm(directory, { recursive: true, force: true })
}
