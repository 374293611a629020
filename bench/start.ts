import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startService } from './support/child.js'
import { median, ratio } from './support/report.js'

/** How long from start to ready, on a new data directory and on an old one, and how much memory at rest? */

const measure = async (directory: string) => {
  const begin = performance.now()
  const service = await startService({ TALLYTREE_PORT: '0', TALLYTREE_DATA_DIR: directory })
  const seconds = (performance.now() - begin) / 1000
  await new Promise((resolve) => setTimeout(resolve, 1000))
  const { now } = service.memory()
  await service.stop()
  return { seconds, now }
}

const first: number[] = []
const again: number[] = []
let resident = 0
for (let i = 0; i < 5; i += 1) {
  const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-'))
  first.push((await measure(directory)).seconds)
  const { seconds, now } = await measure(directory)
  again.push(seconds)
  resident = now
  await rm(directory, { recursive: true, force: true })
}
ratio('start to ready, first, s', median(first), '<= 2', median(first) <= 2, 'median of 5')
ratio(
  'start to ready, again, s',
  median(again),
  '<= 2',
  median(again) <= 2,
  `resident ${resident.toFixed(0)} MiB at rest`,
)
