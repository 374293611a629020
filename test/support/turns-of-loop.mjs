// Preloaded into a service: writes how much CPU each long turn of the event loop took. Other load of the machine does not
// count. SIGUSR2 collects all garbage, so that the memory at rest can be read.
import { appendFileSync, openSync, readSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

const file = process.env.TURNS_FILE
const LEAST_MS = 20

if (isMainThread && file !== undefined) {
  const schedstat = openSync('/proc/thread-self/schedstat', 'r')
  const bytes = Buffer.alloc(64)
  /** The first number is the CPU time of the thread in nanoseconds. */
  const cpuMs = () =>
    Number(bytes.toString('latin1', 0, readSync(schedstat, bytes, 0, 64, 0)).split(' ')[0]) / 1e6
  let before = cpuMs()
  setInterval(() => {
    const now = cpuMs()
    if (now - before >= LEAST_MS) appendFileSync(file, `turn ${(now - before).toFixed(0)}\n`)
    before = now
  }, 1).unref()

  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  process.on('SIGUSR2', () => {
    collect()
    before = cpuMs()
    appendFileSync(file, 'collected\n')
  })
}
