import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startChild, startService } from './support/child.js'
import { median, ratio } from './support/report.js'

/**
 * How many MB a second does `/file/create` take, each file durable and in the log before its answer, against a bare Koa
 * handler that writes the same form's file durably? The two in turn, several times.
 */

const KEY = 'administrator-key-of-the-bench'
const SECONDS = process.env['SECONDS'] ?? '4'
const ROUNDS = Number(process.env['ROUNDS'] ?? 5)
const MIB = 1_048_576
const GOAL = 0.7

interface Load {
  readonly megabytesPerSecond: number
  readonly files: number
}

const load = async (url: string, bytes: number, connections: number): Promise<Load> => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', 'bench/support/upload-load.ts'],
    {
      env: { ...process.env, URL: url, KEY, SECONDS, BYTES: String(bytes), CONNECTIONS: String(connections) },
    },
  )
  return JSON.parse(stdout) as Load
}

const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-'))
const bare = await startChild('bench/support/upload-server.ts', { DIRECTORY: directory })
const service = await startService({
  TALLYTREE_PORT: '0',
  TALLYTREE_DATA_DIR: join(directory, 'data'),
  TALLYTREE_BOOTSTRAP_API_KEY: KEY,
})
for (const [mebibytes, connections] of [
  [1, 4],
  [20, 4],
] as const) {
  const ratios: number[] = []
  for (let round = 0; round <= ROUNDS; round += 1) {
    const theirs = await load(bare.address, mebibytes * MIB, connections)
    const ours = await load(`${service.address}/file/create`, mebibytes * MIB, connections)
    const part = ours.megabytesPerSecond / theirs.megabytesPerSecond
    console.log(
      `${round === 0 ? 'warm-up' : `round ${round}`}: ${ours.megabytesPerSecond.toFixed(0)} MB/s in ${ours.files} files; bare Koa ${theirs.megabytesPerSecond.toFixed(0)} MB/s; ratio ${part.toFixed(3)}`,
    )
    if (round > 0) ratios.push(part)
  }
  ratio(
    `/file/create of ${mebibytes} MiB, ${connections} connections ÷ bare Koa`,
    median(ratios),
    `>= ${GOAL}`,
    median(ratios) >= GOAL,
    `median of ${ROUNDS}`,
  )
}
await Promise.all([bare.stop(), service.stop()])
await rm(directory, { recursive: true, force: true })
