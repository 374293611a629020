import assert from 'node:assert/strict'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSqliteEventStore } from '../../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { COUNTS } from '../../counts.js'
import { opOf, startSdkService, type Call, type SdkService } from '../../e2e/sdk-service.js'
import { usageOf } from '../../e2e/usage.js'

const ROUNDS = COUNTS.sdkRestarts
const PROJECT = 'team/outliving-restarts'

interface Done {
  readonly outer: number
  /** Digests of the versions of one object, in the order in which they were published. */
  readonly versions: readonly string[]
  readonly datasets: readonly string[]
  readonly scored: readonly number[]
}

describe('a program of the SDK while the service is killed and restarted', function () {
  this.timeout(1_200_000 + ROUNDS * 60_000)
  let sdk: SdkService
  let done: Done
  let calls: readonly Call[]
  before(async () => (sdk = await startSdkService()))
  after(() => sdk.stop())

  it(`ends well after ${ROUNDS} restarts at random moments`, async () => {
    const stopFile = join(tmpdir(), `tallytree-stop-${process.pid}`)
    const ended = new AbortController()
    const running = sdk.runDirectly('outlivingRestarts', PROJECT, [stopFile]).finally(() => ended.abort())
    try {
      for (let round = 0; round < ROUNDS && !ended.signal.aborted; round += 1) {
        await moreCalls(ended.signal)
        await sleep(Math.random() * 2000)
        await sdk.service.kill(round % 3 === 2 ? 'SIGTERM' : 'SIGKILL')
        await sdk.service.restart()
      }
      await writeFile(stopFile, '')
      const { code, stdout, stderr } = await running
      assert.equal(code, 0, `${stdout.slice(-2000)}\n${stderr.slice(-2000)}`)
      assert.match(stdout, /Retrying fetch/, 'the program saw nothing of the restarts')
      assert.equal(stderr, '')
      done = JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as Done
      calls = await sdk.callsOf(PROJECT)
    } finally {
      await rm(stopFile, { force: true })
    }
  })

  /** Waits until the program got through again: a service that is hardly ever there makes the SDK give up. */
  const moreCalls = async (ended: AbortSignal): Promise<void> => {
    const before = await count()
    while (!ended.aborted && (await count()) <= before) await sleep(100)
  }

  const count = async () =>
    (await sdk.answered<{ count: number }>('/calls/query_stats', { project_id: PROJECT })).count

  const named = (op: string) => calls.filter((call) => opOf(call) === op)

  it('has each of its calls once, ended, with its output', () => {
    const evaluations = done.datasets.length
    const count = {
      outer: done.outer,
      inner: done.outer * 2,
      model: evaluations * 3,
      right: evaluations * 3,
      'Evaluation.predictAndScore': evaluations * 3,
      'Evaluation.evaluate': evaluations,
    }
    for (const [op, times] of Object.entries(count)) assert.equal(named(op).length, times, op)
    assert.equal(
      calls.length,
      Object.values(count).reduce((sum, times) => sum + times),
    )
    assert.deepEqual(
      calls.filter(({ ended_at }) => ended_at === null),
      [],
    )
    const outputs = named('outer').map(({ inputs, output }) => [inputs['n'], output])
    assert.deepEqual(
      outputs.sort(([a], [b]) => Number(a) - Number(b)),
      Array.from({ length: done.outer }, (_, n) => [n, 4 * n + 2]),
    )
  })

  it('has its usage counted once', async () => {
    const { call_usage } = await sdk.answered<{ call_usage: JsonObject }>('/trace/usage', {
      project_id: PROJECT,
      limit: 100_000,
    })
    // each inner call and each call of the model reports its output as its prompt
    for (const { id, inputs } of named('outer'))
      assert.deepEqual(call_usage[id], usageOf({ model: [2, 4 * Number(inputs['n']) + 2, 2] }))
    for (const { id } of named('Evaluation.evaluate')) {
      const prompts = named('model')
        .filter(({ trace_id }) => trace_id === calls.find((call) => call.id === id)!.trace_id)
        .map(({ output }) => Number(output))
      assert.deepEqual(call_usage[id], usageOf({ model: [3, prompts.reduce((sum, one) => sum + one), 3] }))
    }
  })

  it('has each version of its objects once, in order', async () => {
    const { objs } = await sdk.answered<{ objs: readonly JsonObject[] }>('/objs/query', {
      project_id: PROJECT,
      filter: { object_ids: ['step'] },
    })
    const versions = [...objs].sort((a, b) => Number(a['version_index']) - Number(b['version_index']))
    assert.deepEqual(
      versions.map(({ digest, version_index }) => [digest, version_index]),
      done.versions.map((digest, index) => [digest, index]),
    )
  })

  it('has its datasets with all their rows', async () => {
    const refs = done.datasets.flatMap((dataset) =>
      [0, 1, 2].map((index) => `${dataset}/attr/rows/index/${index}`),
    )
    assert.deepEqual(
      (await sdk.answered<{ vals: readonly unknown[] }>('/refs/read_batch', { refs })).vals,
      done.datasets.flatMap((_, i) => [0, 1, 2].map((index) => ({ n: i * 15 + index }))),
    )
  })

  it('has each score once', async () => {
    const { result } = await sdk.answered<{ result: readonly { payload: { output: number } }[] }>(
      '/feedback/query',
      { project_id: PROJECT },
    )
    assert.deepEqual(
      result.map(({ payload }) => payload.output).sort((a, b) => a - b),
      done.scored,
    )
  })

  it('has everything in the log once, and nothing contradicted', async () => {
    assert.equal(await sdk.service.stop(), 0)
    const log = openSqliteEventStore(join(sdk.service.dataDirectory, 'events.db'))
    const seen = new Map<string, number>()
    for await (const { type, stream } of log.readAll())
      for (const one of [type, `${type} ${stream}`]) seen.set(one, (seen.get(one) ?? 0) + 1)
    await log.close()
    for (const type of ['ElementRefused', 'ConflictingCallStartReported', 'ConflictingCallEndReported'])
      assert.equal(seen.get(type), undefined, type)
    assert.deepEqual([seen.get('CallStarted'), seen.get('CallEnded')], [calls.length, calls.length])
    for (const [type, times] of seen) if (/^Call(Started|Ended) /.test(type)) assert.equal(times, 1, type)
  })
})
