import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Session } from 'node:inspector/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { accepted } from '../../test/api/calls/given.js'
import { trainingClientOf } from '../../test/api/training/given.js'
import { workerOf } from '../../test/api/training/worker.js'
import { givenAutomation, startSending, type Sending } from '../../test/api/webhooks/deliveries/given.js'
import { answers } from '../../test/support/receivers/behaviours.js'
import { startGateway } from '../../test/support/upstreams/gateway.js'
import { until } from '../../test/support/until.js'

/** What a walk is measured of. */
type Walk = 'callStart' | 'webhookMessage' | 'completion' | 'heartbeat'

/** The start of each function that ran in a file, in characters. */
type FunctionsRun = ReadonlyMap<string, ReadonlySet<number>>

const SRC = pathToFileURL('src/').href

/** The projector writes and the dispatcher records within this time after a response. */
const SETTLED_MS = 3000

/** The first passes after a start are over. */
const STARTED_MS = 3000

/**
 * The files of `src` that run for each request and for what follows from it, in a service that did the same before. A file
 * counts if at least one of its functions ran that does not run while the service is idle.
 */
export const measureWalks = async (): Promise<Readonly<Record<Walk, readonly string[]>>> => {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

  /** The functions that ran since the last call. */
  const functionsRun = async (): Promise<FunctionsRun> => {
    const { result } = await session.post('Profiler.takePreciseCoverage')
    const run = new Map<string, Set<number>>()
    for (const { url, functions } of result) {
      if (!url.startsWith(SRC)) continue
      const places = functions.map(({ ranges }) => ranges[0]!).filter(({ count }) => count > 0)
      run.set(url.slice(SRC.length), new Set(places.map(({ startOffset }) => startOffset)))
    }
    return run
  }
  const walk = async (act: () => Promise<unknown>): Promise<FunctionsRun> => {
    await act()
    await sleep(SETTLED_MS)
    await functionsRun()
    await act()
    await sleep(SETTLED_MS)
    return functionsRun()
  }

  const sending = await startSending()
  const acts = await actsOf(sending)
  try {
    await sleep(STARTED_MS)
    const idle = await walk(() => sleep(SETTLED_MS))
    const filesOf = async (act: () => Promise<unknown>) =>
      [...(await walk(act))]
        .filter(([file, places]) => [...places].some((place) => idle.get(file)?.has(place) !== true))
        .map(([file]) => file)
    return {
      callStart: await filesOf(acts.startCall),
      webhookMessage: await filesOf(acts.sendMessage),
      completion: await filesOf(acts.complete),
      heartbeat: await filesOf(acts.heartbeat),
    }
  } finally {
    session.disconnect()
    await sending.stop()
    await acts.stop()
  }
}

const actsOf = async (sending: Sending) => {
  const { service } = sending
  const { team, received } = await givenAutomation(sending, answers(200))
  const versions = `/api/artifacts/${team}/project/model/versions`
  accepted(await service.post(versions, { type: 'model' }))
  const gateway = await startGateway(service)
  const base = `base-${randomUUID()}`
  const worker = workerOf(service, base)
  await worker.claim()
  const training = trainingClientOf(service, 'team/training')
  await training.createRl((await training.createModel('agent', base))['id'] as string, [])
  const job = worker.of((await worker.claim())!)
  return {
    startCall: () => service.in('team/calls').calls.start().json(),
    /** An alias of an artifact that an automation sends. */
    sendMessage: async () => {
      const count = received.length
      accepted(await service.post(`${versions}/v0/aliases`, { alias: randomUUID() }))
      await until(() => received.length > count)
    },
    complete: async () => assert.equal((await gateway.complete()).status, 200),
    heartbeat: () => job.heartbeat(),
    stop: () => gateway.upstream.close(),
  }
}
