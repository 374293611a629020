import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startS3Server } from '../test/support/s3-server.js'
import { startService } from './support/child.js'
import { ratio } from './support/report.js'

/**
 * A file of TEST_BYTES=5000000000 in an artifact of the package wandb, up and down, with SeaweedFS as the bucket (`TEST_WEED`):
 * through the service and by direct transfer. How long does it take, and how much more memory does the service need?
 * Takes five times as much space in TMPDIR.
 */

const BYTES = process.env['TEST_BYTES'] ?? '5000000000'
const WAYS = (process.env['WAYS'] ?? 'through,direct').split(',')
const KEY = 'administratorkeyofthebenchwithfortyletters'
const MOST_MIB = 200
const inTests = (name: string) => fileURLToPath(new URL(`../test/python/${name}`, import.meta.url))

for (const way of WAYS) {
  const store = await startS3Server()
  const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-large-'))
  const service = await startService({
    TALLYTREE_PORT: '0',
    TALLYTREE_DATA_DIR: directory,
    TALLYTREE_BOOTSTRAP_API_KEY: KEY,
    TALLYTREE_MASTER_KEYS: `one:${randomBytes(32).toString('base64')}`,
    TALLYTREE_OBJECTS_URL: `${store.bucketUrl()}${way === 'direct' ? `&public_endpoint=${store.publicEndpoint}` : ''}`,
  })
  try {
    const { now } = service.memory()
    service.forgetPeak()
    const before = service.cpuMs()
    const { stdout } = await promisify(execFile)(
      inTests('.venv-wandb-0.31.0/bin/python'),
      [inTests('logging_files.py'), 'bench', '1', BYTES],
      {
        env: {
          ...process.env,
          WANDB_BASE_URL: service.address,
          WANDB_API_KEY: KEY,
          WANDB_ERROR_REPORTING: 'false',
          HOME: directory,
          TMPDIR: directory,
        },
      },
    )
    const cpu = `${((service.cpuMs() - before) / 1000).toFixed(1)} s of CPU`
    const more = service.memory().peak - now
    const details = `MiB above ${now.toFixed(0)}; ${cpu}; ${stdout.trim().split('\n').at(-1)}`
    ratio(`memory for ${BYTES} bytes, ${way}`, more, `<= ${MOST_MIB}`, more <= MOST_MIB, details)
  } finally {
    await service.stop()
    await store.stop()
    await rm(directory, { recursive: true, force: true })
  }
}
