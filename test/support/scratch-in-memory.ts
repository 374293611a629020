import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
const NEEDED_BYTES = 4e9

const freeBytes = (): number => {
  const { bavail, bsize } = statfsSync(MEMORY)
  return bavail * bsize
}

const remove = (directory: string): void => {
  try {
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
  } catch {
    // An engine may still write there while its process ends.
  }
}

/** A run that is killed cannot remove its directory; the next one does. */
const removeLeftovers = (): void => {
  for (const name of readdirSync(MEMORY)) {
    const pid = /^tallytree-(\d+)$/.exec(name)?.[1]
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) remove(join(MEMORY, name))
  }
}

// Temporary files are in memory where there is enough: on a disk, fsync is most of what a small insert costs, and no test
// cuts the power. Workers and child processes inherit the directory.
if (process.env['MOCHA_WORKER_ID'] === undefined && existsSync(MEMORY)) {
  removeLeftovers()
  if (freeBytes() > NEEDED_BYTES) {
    const directory = join(MEMORY, `tallytree-${process.pid}`)
    mkdirSync(directory)
    // What tsx has compiled stays for the next run.
    const compiled = `tsx-${process.geteuid!()}`
    mkdirSync(join(tmpdir(), compiled), { recursive: true })
    symlinkSync(join(tmpdir(), compiled), join(directory, compiled))
    process.env['TMPDIR'] = directory
    process.once('exit', () => remove(directory))
  }
}
