import assert from 'node:assert/strict'
import { join } from 'node:path'
import { openSqliteEventStore } from '../../src/adapters/event-store/sqlite/sqlite-event-store.js'
import type { JsonObject } from '../../src/kernel/json/json.js'
import { startRecordingProxy, type RecordingProxy } from '../support/recording-proxy.js'
import { startRunningService, type RunningService } from '../support/running-service.js'
import { RESEARCH, type Figures, type ResearchCall } from './research.js'
import { runProgram, type Program, type Ran } from './run-program.js'
import { assertNoneRefused } from './sdk-service.js'
import { usageOf } from './usage.js'

interface Call {
  readonly id: string
  readonly op_name: string
  readonly trace_id: string
  readonly parent_id: string | null
  readonly inputs: JsonObject
  readonly output: unknown
  readonly exception: string | null
  readonly ended_at: string | null
  readonly attributes: JsonObject
  readonly summary: {
    readonly usage?: unknown
    readonly weave: { readonly status: string; readonly trace_name?: string }
  }
}

type ByModel = Readonly<Record<string, Figures>>

const succeeded = ({ code, stderr }: Ran): void => assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })

/** `answer`, `research 2`: how `RESEARCH` names a call. */
const nameOf = ({ op_name, inputs }: Call): string => {
  const op = /\/op\/([^/:]+):/.exec(op_name)?.[1] ?? op_name
  return typeof inputs['topic'] === 'number' ? `${op} ${inputs['topic']}` : op
}

const OP_REF = /^weave:\/\/\/([^/]+\/[^/]+)\/op\/([^/:]+):[A-Za-z0-9]{43}$/

/** What the SDK writes at the root: the sum over its children, total_tokens only of those that name it. */
const SUMMED = {
  planner: { requests: 2, prompt_tokens: 110, completion_tokens: 21, total_tokens: 120 },
  embedder: { requests: 3, prompt_tokens: 48 },
  reader: { requests: 3, input_tokens: 240, output_tokens: 54, cache_read_input_tokens: 48 },
  writer: { requests: 2, prompt_tokens: 80, completion_tokens: 55, total_tokens: 90 },
}

describe('programs that tell what they do', () => {
  let service: RunningService
  let proxy: RecordingProxy
  before(async () => {
    service = await startRunningService()
    proxy = await startRecordingProxy(service.address)
  })
  after(async () => {
    await proxy.stop()
    await service.remove()
  })

  const runWithSdk = (
    program: Program,
    project: string,
    { prefix = '', key = service.key } = {},
  ): Promise<Ran> =>
    runProgram(program, [project], {
      WF_TRACE_SERVER_URL: `${key === service.key ? proxy.address : service.address}${prefix}`,
      WANDB_API_KEY: key,
      WEAVE_PRINT_CALL_LINK: 'false',
    })

  const runWithRest = (program: Program, project: string): Promise<Ran> =>
    runProgram(program, [project], { TALLYTREE_URL: service.address, TALLYTREE_API_KEY: service.key })

  const callsOf = async (project_id: string) =>
    (await service.in(project_id).calls.stream().lines()) as readonly Call[]

  const usageOfTraces = async (project_id: string, trace_ids: readonly string[]) => {
    const answer = await service.in(project_id).usage.ofTraces({ filter: { trace_ids } })
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.headers.get('tallytree-truncated'), null)
    return answer.json<{ call_usage: Record<string, unknown>; unfinished_call_ids: string[] }>()
  }

  const variants = [
    {
      told: 'by the SDK',
      project: 'team/by sdk & проект',
      run: () => runWithSdk('research', 'team/by sdk & проект'),
      requestsReported: true,
      statusOfAnswer: 'success',
      source: 'js-sdk',
    },
    {
      told: 'by the SDK through the prefix /traces',
      project: 'team/by-prefix',
      run: () => runWithSdk('research', 'team/by-prefix', { prefix: '/traces' }),
      requestsReported: true,
      statusOfAnswer: 'success',
      source: 'js-sdk',
    },
    {
      told: 'by plain requests',
      project: 'team/by-rest',
      run: () => runWithRest('researchOverRest', 'team/by-rest'),
      requestsReported: false,
      statusOfAnswer: 'descendant_error',
      source: undefined,
    },
  ]

  for (const { told, project, run, requestsReported, statusOfAnswer, source } of variants)
    describe(`a program told ${told}`, () => {
      let calls: ReadonlyMap<string, Call>
      before(async () => {
        succeeded(await run())
        calls = new Map((await callsOf(project)).map((call) => [nameOf(call), call]))
      })

      const each = (check: (call: Call, truth: ResearchCall, name: string) => void): void => {
        for (const [name, truth] of RESEARCH) check(calls.get(name)!, truth, name)
      }

      it('is one trace, every call of it under its parent', () => {
        assert.deepEqual([...calls.keys()].sort(), [...RESEARCH.keys()].sort())
        assert.equal(new Set([...calls.values()].map(({ trace_id }) => trace_id)).size, 1)
        each(({ parent_id }, { parent }, name) =>
          assert.equal(parent_id, parent === null ? null : calls.get(parent)!.id, name),
        )
      })

      it('has usage that includes every descendant once', async () => {
        const { trace_id } = calls.get('answer')!
        const counted = (inclusive: ByModel): ByModel =>
          requestsReported
            ? inclusive
            : Object.fromEntries(
                Object.entries(inclusive).map(([model, [, ...used]]) => [model, [0, ...used]]),
              )

        assert.deepEqual(await usageOfTraces(project, [trace_id]), {
          call_usage: Object.fromEntries(
            [...RESEARCH].map(([name, { inclusive }]) => [calls.get(name)!.id, usageOf(counted(inclusive))]),
          ),
          unfinished_call_ids: [],
        })
      })

      it('is read with inputs, outputs, exceptions and statuses', () => {
        each((call, { inputs, output, exception }, name) => {
          const status = exception !== null ? 'error' : name === 'answer' ? statusOfAnswer : 'success'
          assert.deepEqual(
            { name, inputs: call.inputs, output: call.output, exception: call.exception },
            { name, inputs, output, exception },
          )
          assert.equal(call.summary.weave.status, status, name)
          assert.notEqual(call.ended_at, null)
        })
      })

      it('is read under the names of its ops', () => {
        each(({ op_name, summary }, { op }) => {
          assert.equal(summary.weave.trace_name, op)
          const [, refProject, refOp] = OP_REF.exec(op_name) ?? []
          assert.deepEqual([refProject, refOp], source === undefined ? [undefined, undefined] : [project, op])
        })
      })

      it('is read call by call as in the stream', async () => {
        for (const call of calls.values()) {
          const read = await service.post('/call/read', { project_id: project, id: call.id })
          assert.deepEqual(read.json(), { call })
        }
      })

      it('is read with the usage of its root as it was written, summed by the SDK or not at all', () => {
        assert.deepEqual(calls.get('answer')!.summary.usage, source === undefined ? undefined : SUMMED)
      })

      it('is marked with its source', () => {
        each(({ attributes }) =>
          assert.deepEqual(
            attributes,
            source === undefined ? {} : { weave: { client_version: '0.11.1', source } },
          ),
        )
      })
    })

  describe('the SDK of npm', () => {
    it('has calls that outlive their parents counted once', async () => {
      const project = 'team/outliving'
      succeeded(await runWithSdk('outliving', project))
      const calls = await callsOf(project)
      const chat: ByModel = { chatty: [1, 7, 2] }
      const memory: ByModel = { embedder: [1, 5, 0] }
      const inclusive: Record<string, ByModel> = {
        answer: { ...chat, ...memory },
        tell: chat,
        open: chat,
        'openai.chat.completions.create': chat,
        remember: memory,
      }

      const endOf = (name: string) => calls.find((call) => nameOf(call) === name)!.ended_at!
      assert.ok(endOf('remember') > endOf('answer'), 'the program has a call that outlives its parent')
      const { call_usage } = await usageOfTraces(project, [calls[0]!.trace_id])
      assert.deepEqual(
        call_usage,
        Object.fromEntries(calls.map((call) => [call.id, usageOf(inclusive[nameOf(call)]!)])),
      )
      assert.equal(calls.length, 5)
    })

    it('reads, names and deletes calls', async () => {
      const project = 'team/reading'
      const ran = await runWithSdk('reading', project)
      succeeded(ran)
      const { calls, ...seen } = JSON.parse(ran.stdout.split('\n').at(-2)!)

      assert.deepEqual(
        calls.map((call: Call) => [nameOf(call), call.inputs, call.output]),
        [
          ['parent', { arg0: 'once' }, 'once?'],
          ['child', { arg0: 'once' }, 'once?'],
          ['parent', { arg0: 'well' }, 'well?'],
          ['child', { arg0: 'well' }, 'well?'],
          ['child', { arg0: 'alone' }, 'alone?'],
        ],
      )
      assert.deepEqual(seen, {
        said: 'well?',
        names: ['says once', null, 'says well', null, null],
        attributes: [null, null, null, null, 'blue'],
        limited: 2,
        byOp: 3,
        one: 'once?',
        parentOfOne: true,
        unknown: null,
        count: { count: 5, has_more: false, total_storage_size_bytes: null },
        renamed: 'renamed',
        namedLast: 'named last',
        deleted: { num_deleted: 2 },
        afterDelete: `Call not found: ${seen.deletedChild}`,
        left: { count: 3, has_more: false, total_storage_size_bytes: null },
        deletedChild: seen.deletedChild,
      })
    })

    it('learns from the answer that its key is wrong', async () => {
      const ran = await runWithSdk('wrongKey', 'team/wrong-key', { key: 'not-a-key-of-this-service' })
      succeeded(ran)
      const reason =
        'A valid API key is required: send it as the password of Basic authentication (any user name), as ' +
        '"Authorization: Bearer <key>", or in x-api-key. An administrator issues keys with POST /api/teams/{team}/members.'
      assert.deepEqual(JSON.parse(ran.stdout.split('\n').at(-2)!), [
        { status: 401, reason },
        { status: 401, reason },
      ])
    })

    it('ends a traced program with a wrong key and says 401 Unauthorized', async () => {
      const ran = await runWithSdk('research', 'team/wrong-key', { key: 'not-a-key-of-this-service' })
      assert.equal(ran.code, 1)
      assert.match(ran.stderr, /status: 401,\s+statusText: 'Unauthorized'/)
      assert.deepEqual(await callsOf('team/wrong-key'), [])
    })

    it('had no request with a good key refused', () => assertNoneRefused(proxy))

    it('had nothing refused and nothing contradicted, and each call is in the log once', async () => {
      assert.equal(await service.stop(), 0)
      const log = openSqliteEventStore(join(service.dataDirectory, 'events.db'))
      const seen = new Map<string, number>()
      for await (const { type, stream } of log.readAll())
        for (const one of [type, `${type} ${stream}`]) seen.set(one, (seen.get(one) ?? 0) + 1)
      await log.close()

      for (const type of ['ElementRefused', 'ConflictingCallStartReported', 'ConflictingCallEndReported'])
        assert.equal(seen.get(type), undefined, type)
      const written = variants.length * RESEARCH.size + 5 + 5
      assert.equal(seen.get('CallStarted'), written)
      assert.equal(seen.get('CallEnded'), written)
      for (const [type, times] of seen) if (/^Call(Started|Ended) /.test(type)) assert.equal(times, 1, type)
    })
  })
})
