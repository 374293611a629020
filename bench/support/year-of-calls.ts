import { openInMemoryBlobStore } from '../../src/adapters/blobs/in-memory-blob-store.js'
import { openSqliteEventStore } from '../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import { systemIds, sha256 } from '../../src/adapters/system/system.js'
import { endCall, startCall } from '../../src/application/calls/record.js'
import { writeCalls } from '../../src/application/calls/write-calls.js'
import { instantOf, type Instant } from '../../src/kernel/codec/instant.js'

export const PROJECT = 'bench/questions'
export const LONG_TRACE = { id: 'trace-of-a-thousand', calls: 1000 }
export const HUGE_TRACE = { id: 'trace-of-many', calls: 100_000 }

const CAUSE = { correlationId: 'bench', causationId: 'bench' }
const USERS = 300
const CALLS_AT_ONCE = 500
const DAY_MS = 86_400_000
const MODELS = [
  'gpt-4o',
  'gpt-4o-mini',
  'claude-sonnet',
  'claude-haiku',
  'gemini-pro',
  'llama',
  'mistral',
  'own-model',
]
const WORDS =
  'invoice refund order delivery account password contract summary weather translate report budget'.split(' ')

/** Pseudorandom whole numbers below a bound, the same in every run. */
const randomOf = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

interface GeneratedCall {
  readonly id: string
  readonly trace: string
  readonly parent: string | null
  readonly user: string
  readonly startedAt: number
  readonly number: number
}

/** Traces of 3 to 99 calls, in the order of their start times, over the year up to `end`. */
function* callsOf(calls: number, end: number): Generator<GeneratedCall> {
  const random = randomOf(42)
  const extra = calls >= 1_000_000 ? [LONG_TRACE, HUGE_TRACE] : [LONG_TRACE]
  let number = 0
  let trace = 0
  while (number < calls) {
    const special = number > calls / 2 ? extra.shift() : undefined
    const size = Math.min(special?.calls ?? 3 + random(97), calls - number)
    const name = special?.id ?? `trace-${trace}`
    const from = end - 365 * DAY_MS + (number / calls) * 365 * DAY_MS
    const step = Math.min(700, DAY_MS / 2 / size)
    for (let i = 0; i < size; i += 1, number += 1)
      yield {
        id: `${name}-call-${i}`,
        trace: name,
        parent: i === 0 ? null : `${name}-call-${random(Math.min(i, 1 + (i >> 1)))}`,
        user: `user-${trace % USERS}`,
        startedAt: from + i * step,
        number,
      }
    trace += 1
  }
}

/** Writes the log of a year of calls up to `end`, in milliseconds since 1970. */
export const writeYearOfCalls = async (path: string, calls: number, end: number): Promise<void> => {
  const eventStore = openSqliteEventStore(path)
  const ports = { eventStore, blobs: openInMemoryBlobStore(), ids: systemIds, sha256 }
  let batch: GeneratedCall[] = []
  const write = async () => {
    const byUser = new Map<string, GeneratedCall[]>()
    for (const call of batch) byUser.set(call.user, [...(byUser.get(call.user) ?? []), call])
    // Together, so that they share one fsync.
    await Promise.all(
      [...byUser].map(async ([user, calls]) => {
        await writeCalls(ports)(calls.map(startOf), { ...CAUSE, actor: user })
        await writeCalls(ports)(calls.map(endOf), { ...CAUSE, actor: user })
      }),
    )
    batch = []
  }
  let reported = performance.now()
  for (const call of callsOf(calls, end)) {
    batch.push(call)
    if (batch.length < CALLS_AT_ONCE) continue
    await write()
    if (performance.now() - reported < 10_000) continue
    reported = performance.now()
    console.error(`wrote ${call.number} of ${calls} calls`)
  }
  await write()
  await eventStore.close()
}

const at = (ms: number): Instant => instantOf(new Date(ms))

const textOf = (random: (below: number) => number, words: number): string =>
  Array.from({ length: words }, () => WORDS[random(WORDS.length)]).join(' ')

const isModelCall = ({ number }: GeneratedCall): boolean => number % 2 === 1

const startOf = (call: GeneratedCall) => {
  const random = randomOf(call.number)
  const isRoot = call.parent === null
  return startCall(call.id, {
    project_id: PROJECT,
    op_name: `weave:///${PROJECT}/op/${isRoot ? `agent-${random(20)}` : isModelCall(call) ? 'chat' : `tool-${random(30)}`}:v1`,
    trace_id: call.trace,
    parent_id: call.parent,
    thread_id: `thread-${Math.floor(call.number / 500)}`,
    turn_id: isRoot ? call.id : null,
    started_at: at(call.startedAt),
    attributes: { environment: random(10) === 0 ? 'staging' : 'production', release: `v${random(12)}` },
    inputs: { user: `customer-${random(2000)}`, prompt: textOf(random, 24) },
  })
}

const endOf = (call: GeneratedCall) => {
  const random = randomOf(call.number + 7)
  const usage = isModelCall(call)
    ? {
        [MODELS[random(MODELS.length)]!]: {
          requests: 1,
          prompt_tokens: random(3000),
          completion_tokens: random(800),
        },
      }
    : {}
  return endCall({
    project_id: PROJECT,
    id: call.id,
    ended_at: at(call.startedAt + 100 + random(5000)),
    output: { answer: textOf(random, 24) },
    summary: { usage },
    exception: random(50) === 0 ? 'TimeoutError: the tool did not respond' : null,
    wb_run_step_end: null,
  })
}
