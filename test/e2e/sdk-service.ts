import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Json, JsonObject } from '../../src/kernel/json/json.js'
import { startRecordingProxy, statusesOf, type RecordingProxy } from '../support/recording-proxy.js'
import type { Answered } from '../support/client.js'
import { startRunningService, type RunningService } from '../support/running-service.js'
import { runProgram, type Program, type Ran } from './run-program.js'

/** A call as the service answers it. */
export interface Call {
  readonly id: string
  readonly op_name: string
  readonly display_name: string | null
  readonly trace_id: string
  readonly parent_id: string | null
  readonly attributes: JsonObject
  readonly inputs: JsonObject
  readonly output: Json
  readonly exception: string | null
  readonly ended_at: string | null
  readonly summary: JsonObject
}

/** The running program, and what programs of the SDK sent it. */
export interface SdkService {
  readonly service: RunningService
  readonly proxy: RecordingProxy
  readonly run: (program: Program, project: string, more?: readonly string[]) => Promise<Ran>
  /** As `run`, without the proxy between. */
  readonly runDirectly: SdkService['run']
  /** Runs a program that must end well; what it printed last, as JSON. */
  readonly told: <T>(program: Program, project: string, more?: readonly string[]) => Promise<T>
  /** What a request that must be answered with 200 is answered with. */
  readonly answered: <T = JsonObject>(path: string, body: unknown) => Promise<T>
  readonly callsOf: (project: string) => Promise<readonly Call[]>
  readonly stop: () => Promise<void>
}

export const startSdkService = async (
  environment: Readonly<Record<string, string>> = {},
): Promise<SdkService> => {
  const service = await startRunningService(environment)
  const proxy = await startRecordingProxy(service.address)

  const runAt =
    (address: string): SdkService['run'] =>
    (program, project, more = []) =>
      runProgram(program, [project, ...more], {
        WF_TRACE_SERVER_URL: address,
        WANDB_API_KEY: service.key,
        WEAVE_PRINT_CALL_LINK: 'false',
      })
  const run = runAt(proxy.address)

  const answered = async (path: string, body: unknown, attempt = 1): Promise<Answered> => {
    const answer = await service.post(path, body)
    if (answer.status === 503 && attempt < 5) {
      await sleep(1000)
      return answered(path, body, attempt + 1)
    }
    assert.equal(answer.status, 200, `${path}: ${answer.text.slice(0, 500)}`)
    return answer
  }

  return {
    service,
    proxy,
    run,
    runDirectly: runAt(service.address),
    told: async <T>(program: Program, project: string, more?: readonly string[]) => {
      const { code, stdout, stderr } = await run(program, project, more)
      assert.equal(code, 0, `${stdout.slice(-2000)}\n${stderr.slice(-2000)}`)
      return JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as T
    },
    answered: async <T>(path: string, body: unknown) => (await answered(path, body)).json<T>(),
    callsOf: async (project_id) =>
      (await answered('/calls/stream_query', { project_id })).text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Call),
    stop: async () => {
      await proxy.stop()
      await service.remove()
    },
  }
}

/** `capital_of` of `weave:///team/project/op/capital_of:<digest>`. */
export const opOf = ({ op_name }: Call): string =>
  /\/op\/([^/:]+):[A-Za-z0-9]{43}$/.exec(op_name)?.[1] ?? op_name

/** No request was refused for good: what a program of the SDK sent would be lost, and the program with it. */
export const assertNoneRefused = ({ exchanges }: RecordingProxy): void => {
  assert.ok(exchanges.length > 0)
  assert.deepEqual(statusesOf(exchanges.filter(({ status }) => status !== 200 && status !== 503)), {})
}
