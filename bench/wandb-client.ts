import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startService } from './support/child.js'
import { logBytesIn } from './support/log-bytes.js'

/**
 * The package wandb itself, after `test/python/install`: how long does a run of ROWS=100000 rows take, how many bytes of
 * the log does a row take, how long do 3,000 files and one file of GIB=3 take in an artifact beside a bare copy, and how much
 * memory does the service take for each?
 */

const KEY = 'administratorkeyofthebenchwithfortyletters'
const ROWS = Number(process.env['ROWS'] ?? 100_000)
const GIB = Number(process.env['GIB'] ?? 3)
const PYTHON = fileURLToPath(new URL('../test/python/.venv-wandb-0.31.0/bin/python', import.meta.url))
const programNamed = (name: string) => fileURLToPath(new URL(`../test/python/${name}`, import.meta.url))

/** Runs a program against a fresh service. */
const measured = async (program: string, args: readonly string[]) => {
  const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-wandb-'))
  const service = await startService({
    TALLYTREE_PORT: '0',
    TALLYTREE_DATA_DIR: directory,
    TALLYTREE_BOOTSTRAP_API_KEY: KEY,
  })
  try {
    const { now } = service.memory()
    service.forgetPeak()
    const { stdout } = await promisify(execFile)(PYTHON, [programNamed(program), 'bench', ...args], {
      env: {
        ...process.env,
        WANDB_BASE_URL: service.address,
        WANDB_API_KEY: KEY,
        WANDB_ERROR_REPORTING: 'false',
        HOME: directory,
        TMPDIR: directory,
      },
    })
    const figures = JSON.parse(stdout.trim().split('\n').at(-1)!) as Readonly<Record<string, number>>
    const memory = `${mib(now)} at rest, ${mib(service.memory().peak)} at most`
    return { ...figures, memory, logBytes: await logBytesIn(directory) }
  } finally {
    await service.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

const mib = (size: number): string => `${size.toFixed(0)} MiB`

const rows = await measured('logging_rows.py', [String(ROWS)])
console.log(`${ROWS} rows`, rows, `${(rows.logBytes / ROWS).toFixed(0)} bytes a row (goal 100)`)
console.log('3,000 files of 1,000 bytes', await measured('logging_files.py', ['3000', '1000']))
console.log(`one file of ${GIB} GiB`, await measured('logging_files.py', ['1', String(GIB * 2 ** 30)]))
