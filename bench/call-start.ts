import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { startChild, startService } from './support/child.js'
import { median, ratio } from './support/report.js'

/**
 * How many `/call/start` a second at 64 connections, each fsynced before its answer, the projector running, against a
 * bare Koa JSON echo of the same body? The two in turn, several times.
 */

const KEY = 'administrator-key-of-the-bench'
const SECONDS = Number(process.env['SECONDS'] ?? 8)
const ROUNDS = Number(process.env['ROUNDS'] ?? 5)

const body = JSON.stringify({
  start: {
    project_id: 'bench/starts',
    op_name: 'weave:///bench/starts/op/answer:abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG',
    trace_id: '0193a000-0000-7000-8000-000000000000',
    started_at: '2026-01-01T00:00:00.123Z',
    attributes: { weave: { client_version: '0.11.1', source: 'js-sdk' } },
    inputs: { question: 'What is the answer to life, the universe and everything?', temperature: 0.2 },
  },
})

const requestsPerSecond = async (url: string): Promise<number> => {
  const result = await autocannon({
    url,
    method: 'POST',
    connections: 64,
    duration: SECONDS,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}` },
    body,
  })
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} refused, ${result.errors} errors`)
  return result.requests.average
}

const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-'))
const echo = await startChild('bench/support/echo-server.ts', {})
const service = await startService({
  TALLYTREE_PORT: '0',
  TALLYTREE_DATA_DIR: directory,
  TALLYTREE_BOOTSTRAP_API_KEY: KEY,
})
const ratios: number[] = []
for (let round = 0; round <= ROUNDS; round += 1) {
  const bare = await requestsPerSecond(echo.address)
  const ours = await requestsPerSecond(`${service.address}/call/start`)
  console.log(
    `${round === 0 ? 'warm-up' : `round ${round}`}: ${ours.toFixed(0)}/s; bare echo ${bare.toFixed(0)}/s; ratio ${(ours / bare).toFixed(3)}`,
  )
  if (round > 0) ratios.push(ours / bare)
}
ratio('/call/start ÷ bare Koa echo', median(ratios), '>= 0.5', median(ratios) >= 0.5, `median of ${ROUNDS}`)
await Promise.all([echo.stop(), service.stop()])
await rm(directory, { recursive: true, force: true })
