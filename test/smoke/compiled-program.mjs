/**
 * Starts the compiled program as an operator would, records one call, reads its usage, stops it.
 * Plain Node and no packages, so that it sees what `dist` needs and nothing else.
 *
 *   npm run build && node test/smoke/compiled-program.mjs
 *
 * Prints a line for each step and last `N passed, N failed`; exits 1 if any step failed.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const START_MS = 300_000
const ANSWER_MS = 120_000
const STOP_SECONDS = 120
const MOST_TRIES = 30

const program = process.argv[2] ?? fileURLToPath(new URL('../../dist/src/main.js', import.meta.url))
const key = `smoke-${randomBytes(32).toString('hex')}`
const project = 'default/smoke'
const callId = randomUUID()

const freePort = async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

const port = await freePort()
const origin = `http://127.0.0.1:${port}`
const dataDir = await mkdtemp(join(tmpdir(), 'tallytree-smoke-'))

const started = performance.now()
const child = spawn(process.execPath, [program], {
  env: {
    ...process.env,
    UV_THREADPOOL_SIZE: '12',
    TALLYTREE_HOST: '127.0.0.1',
    TALLYTREE_PORT: String(port),
    TALLYTREE_DATA_DIR: dataDir,
    TALLYTREE_BOOTSTRAP_API_KEY: key,
    TALLYTREE_STOP_SECONDS: String(STOP_SECONDS),
  },
  stdio: ['ignore', 'pipe', 'pipe'],
})
let output = ''
for (const stream of [child.stdout, child.stderr])
  stream.setEncoding('utf8').on('data', (text) => {
    output = (output + text).slice(-20_000)
  })

const exited = new Promise((resolve) => {
  child.once('error', (error) => resolve({ error }))
  child.once('exit', (code, signal) => resolve({ code, signal }))
})
let ending
void exited.then((how) => (ending = how))

const describeEnd = ({ code, signal, error }) =>
  error
    ? `could not start: ${error.message}`
    : signal
      ? `was killed by ${signal}`
      : `exited with code ${code}`

const withinLimit = (limitMs) => AbortSignal.timeout(limitMs)

const healthy = async () => {
  let last = 'no answer yet'
  while (performance.now() - started < START_MS) {
    if (ending) throw new Error(`the program ${describeEnd(ending)} before it was healthy`)
    try {
      const response = await fetch(`${origin}/health`, { signal: withinLimit(5_000) })
      last = `${response.status} ${await response.text()}`
      if (response.status === 200) return
    } catch (error) {
      last = String(error.cause ?? error)
    }
    await sleep(100)
  }
  throw new Error(`not healthy within ${START_MS / 1000} s; the last answer of /health: ${last}`)
}

const post = async (path, body, tries = 1) => {
  const response = await fetch(`${origin}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`api:${key}`).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
    signal: withinLimit(ANSWER_MS),
  })
  const text = await response.text()
  // What was written last may not be readable yet: the service has waited, and says so.
  if (response.status === 503 && tries < MOST_TRIES) return post(path, body, tries + 1)
  assert.equal(response.status, 200, `${path} answered ${response.status}: ${text.slice(0, 2000)}`)
  return JSON.parse(text)
}

const startCall = async () => {
  const answer = await post('/call/start', {
    start: {
      project_id: project,
      id: callId,
      op_name: 'smoke',
      started_at: new Date().toISOString(),
      attributes: {},
      inputs: {},
    },
  })
  assert.equal(answer.id, callId, `/call/start answered another id: ${JSON.stringify(answer)}`)
}

const readUsage = async () => {
  const answer = await post('/trace/usage', { project_id: project, filter: { call_ids: [callId] } })
  assert.ok(
    Object.hasOwn(answer.call_usage ?? {}, callId),
    `call_usage is without ${callId}: ${JSON.stringify(answer)}`,
  )
}

const stop = async () => {
  if (ending) throw new Error(`the program ${describeEnd(ending)} before it was told to stop`)
  child.kill('SIGTERM')
  const limit = sleep((STOP_SECONDS + 5) * 1000, undefined, { ref: false })
  const how = await Promise.race([exited, limit])
  if (how === undefined) throw new Error(`still running ${STOP_SECONDS + 5} s after SIGTERM`)
  assert.equal(how.code, 0, `after SIGTERM the program ${describeEnd(how)}`)
}

const steps = [
  ['becomes healthy', healthy],
  ['records the start of a call', startCall],
  ['answers its usage', readUsage],
  ['stops on SIGTERM with exit code 0', stop],
]

let passed = 0
let failure
for (const [name, step] of steps) {
  const from = performance.now()
  try {
    await step()
    passed += 1
    console.log(`ok      the compiled program ${name} (${Math.round(performance.now() - from)} ms)`)
  } catch (error) {
    failure = error
    console.log(`not ok  the compiled program ${name}\n        ${error.message}`)
    break
  }
}

if (ending === undefined) {
  child.kill('SIGKILL')
  await exited
}
await rm(dataDir, { recursive: true, force: true })
if (failure) console.log(`--- its last output ---\n${output.replaceAll(key, '<key>')}\n---`)
console.log(`${passed} passed, ${failure ? 1 : 0} failed`)
process.exitCode = failure ? 1 : 0
