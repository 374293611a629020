import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChild, startService, type Child } from './support/child.js'
import { median, ratio } from './support/report.js'

/**
 * How many rows a second does `/table/create` take and `/table/query` give, for a table of 100,000 rows of some 200
 * bytes? Against a bare Koa that parses the same body and writes it synced to a file, and answers the same rows from
 * memory. All over HTTP, each in a process of its own.
 */

const KEY = 'administrator-key-of-the-bench'
const ROWS = Number(process.env['ROWS'] ?? 100_000)
const ROUNDS = Number(process.env['ROUNDS'] ?? 5)
const project_id = 'bench/tables'

const bodyOf = (round: number): string =>
  JSON.stringify({
    table: {
      project_id,
      rows: Array.from({ length: ROWS }, (_, id) => ({
        answer: `the answer of round ${round} to question ${(id * 7919) % ROWS}`,
        context: 'The quick brown fox jumps over the lazy dog, again and again. '.repeat(1),
        id,
        question: `What is the answer to question number ${id}?`,
      })),
    },
  })

const send = async (url: string, body?: string) => {
  const begin = performance.now()
  const response = await fetch(url, {
    ...(body === undefined ? {} : { method: 'POST', body }),
    headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}` },
  })
  const chunks: Uint8Array[] = []
  for await (const chunk of response.body!) chunks.push(chunk as Uint8Array)
  if (response.status !== 200) throw new Error(`${response.status} ${Buffer.concat(chunks).toString()}`)
  return { seconds: (performance.now() - begin) / 1000, text: Buffer.concat(chunks) }
}

const readableAt = async (body: string): Promise<unknown> =>
  send(`${service.address}/table/query_stats`, body).catch((error: unknown) => {
    if (String(error).includes('503')) return readableAt(body)
    throw error
  })

const rate = (seconds: readonly number[]): number => ROWS / median(seconds)

const extraOf = async (child: Child, task: () => Promise<unknown>): Promise<number> => {
  const before = child.memory().now
  child.forgetPeak()
  await task()
  return child.memory().peak - before
}

const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-'))
const naive = await startChild('bench/support/naive-table-server.ts', { DATA_DIR: directory })
const service = await startService({
  TALLYTREE_PORT: '0',
  TALLYTREE_DATA_DIR: directory,
  TALLYTREE_BOOTSTRAP_API_KEY: KEY,
})
const created: number[] = []
const readable: number[] = []
const queried: number[] = []
const extra: number[] = []
const naively = { created: [] as number[], queried: [] as number[], extra: [] as number[] }
for (let round = 0; round <= ROUNDS; round += 1) {
  const body = bodyOf(round)
  const bare = await send(naive.address, body)
  const create = await send(`${service.address}/table/create`, body)
  const { digest } = JSON.parse(create.text.toString()) as { digest: string }
  const begin = performance.now()
  await readableAt(JSON.stringify({ project_id, digest }))
  const untilReadable = (performance.now() - begin) / 1000
  let seconds = 0
  const peak = await extraOf(service, async () => {
    const { text, seconds: taken } = await send(
      `${service.address}/table/query`,
      JSON.stringify({ project_id, digest }),
    )
    const { rows } = JSON.parse(text.toString()) as { rows: readonly unknown[] }
    if (rows.length !== ROWS) throw new Error(`${rows.length} rows were answered`)
    seconds = taken
  })
  let bareSeconds = 0
  const barePeak = await extraOf(naive, async () => (bareSeconds = (await send(naive.address)).seconds))
  if (round === 0) continue
  created.push(create.seconds)
  readable.push(untilReadable)
  queried.push(seconds)
  extra.push(peak)
  naively.created.push(bare.seconds)
  naively.queried.push(bareSeconds)
  naively.extra.push(barePeak)
}
const writing = rate(created) / rate(naively.created)
ratio(
  '/table/create ÷ bare Koa with fsync',
  writing,
  '>= 0.25',
  writing >= 0.25,
  `${rate(created).toFixed(0)} rows/s; bare ${rate(naively.created).toFixed(0)}; readable ${median(readable).toFixed(2)} s later`,
)
const reading = rate(queried) / rate(naively.queried)
ratio(
  '/table/query of all ÷ bare Koa from memory',
  reading,
  '>= 0.25',
  reading >= 0.25,
  `${rate(queried).toFixed(0)} rows/s; bare ${rate(naively.queried).toFixed(0)}`,
)
ratio(
  '  extra peak memory, MiB',
  median(extra),
  '<= 200',
  median(extra) <= 200,
  `bare ${median(naively.extra).toFixed(0)} MiB`,
)
await Promise.all([naive.stop(), service.stop()])
await rm(directory, { recursive: true, force: true })
