import assert from 'node:assert/strict'
import type { JsonObject } from '../../src/kernel/json/json.js'
import type { Call } from '../e2e/sdk-service.js'
import { saying } from '../support/upstreams/behaviours.js'
import { startUpstream, type ScriptedUpstream } from '../support/upstreams/upstream.js'
import { startPythonSdk, type PythonSdk } from './python-sdk.js'

/** What the upstream reports for each completion. */
const USAGE = { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 }

const PROJECTS: Readonly<Record<string, string>> = {
  openinference: 'team/openinference',
  traceloop: 'team/traceloop',
  'pydantic-ai': 'team/pydantic-ai',
  // The package names no project.
  langfuse: 'default/default',
}

describe('Python programs with instrumentations of OpenTelemetry', () => {
  let upstream: ScriptedUpstream
  let sdk: PythonSdk
  before(async () => {
    upstream = await startUpstream(saying(['Hello', ', ', 'world'], USAGE))
    sdk = await startPythonSdk({}, '.venv-otel')
  })
  after(async () => {
    await sdk.stop()
    await upstream.close()
  })

  const usageOf = async (project: string, calls: readonly Call[]): Promise<readonly JsonObject[]> => {
    const roots = calls.filter(({ parent_id }) => parent_id === null).map(({ id }) => id)
    const { call_usage } = await sdk.answered<{ call_usage: Record<string, JsonObject> }>('/calls/usage', {
      project_id: project,
      call_ids: roots,
    })
    return Object.values(call_usage).flatMap((byModel) => Object.values(byModel) as JsonObject[])
  }

  for (const [instrumentation, project] of Object.entries(PROJECTS))
    it(`are traced by ${instrumentation}, with two completions and their usage once`, async () => {
      const { address } = sdk.proxy
      await sdk.ran('exporting_spans.py', [instrumentation, upstream.baseUrl], {
        OTEL_EXPORTER_OTLP_ENDPOINT: `${address}/otel`,
        OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer%20${sdk.service.key},project_id=${project}`,
        LANGFUSE_HOST: address,
        LANGFUSE_PUBLIC_KEY: 'any',
        LANGFUSE_SECRET_KEY: sdk.service.key,
      })

      const calls = await sdk.callsOf(project)
      const models = calls.filter(({ attributes }) => attributes['kind'] === 'model')
      assert.equal(models.length, 2, JSON.stringify(calls.map(({ op_name }) => op_name)))
      for (const { inputs, output } of models) {
        assert.match(JSON.stringify(inputs), /Say hello/)
        assert.match(JSON.stringify(output), /Hello, world/)
      }
      const usage = await usageOf(project, calls)
      const sumOf = (figure: string) => usage.reduce((sum, used) => sum + Number(used[figure]), 0)
      assert.deepEqual(
        ['requests', 'prompt_tokens', 'completion_tokens'].map(sumOf),
        [2, 22, 6],
        JSON.stringify(usage),
      )
    })

  it('have the thread, the user and the tags of the session', async () => {
    const calls = await sdk.callsOf('team/openinference')
    const asked = calls.find(({ attributes }) => attributes['kind'] === 'model')!
    assert.equal((asked as unknown as { thread_id: string }).thread_id, 'session-1')
    assert.equal(asked.attributes['user'], 'user-1')
    assert.deepEqual(asked.attributes['tags'], ['a', 'b'])
  })
})

describe('conversations of the Python package weave', () => {
  let sdk: PythonSdk
  before(async () => (sdk = await startPythonSdk()))
  after(() => sdk.stop())

  it('are below the op that has them, whose usage includes theirs', async () => {
    const project = 'team/conversing'
    const op = await sdk.ran('conversing.py', [project])

    const calls = await sdk.callsOf(project)
    const asked = calls.find(({ id }) => id === op)!
    const below = calls.filter(({ id }) => id !== op)
    assert.ok(below.length >= 2, JSON.stringify(calls.map(({ op_name }) => op_name)))
    assert.ok(below.every(({ trace_id }) => trace_id === asked.trace_id))
    assert.ok(below.some(({ parent_id }) => parent_id === op))
    const { call_usage } = await sdk.answered<{ call_usage: Record<string, Record<string, JsonObject>> }>(
      '/calls/usage',
      { project_id: project, call_ids: [op] },
    )
    const { requests, prompt_tokens, completion_tokens } = call_usage[op]!['chat-1']!
    assert.deepEqual([requests, prompt_tokens, completion_tokens], [1, 11, 3])
  })
})
