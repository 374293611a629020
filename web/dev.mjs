import { spawn } from 'node:child_process'
import { watch } from 'node:fs'

/** `npm run dev`: builds and starts the service, and again after each change of `src` or `web`. */
let running
let timer

const start = () => {
  const child = spawn('sh', ['-c', 'node compile.mjs && exec bin/start main'], {
    stdio: 'inherit',
    env: { ...process.env, TALLYTREE_DEV: '1' },
  })
  running = child
}

const restart = () => {
  const before = running
  if (before.exitCode !== null || before.signalCode !== null) return start()
  before.once('exit', start)
  before.kill('SIGTERM')
}

for (const folder of ['src', 'web'])
  watch(folder, { recursive: true }, () => {
    clearTimeout(timer)
    timer = setTimeout(restart, 200)
  })
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    running.once('exit', () => process.exit())
    running.kill('SIGTERM')
  })
start()
