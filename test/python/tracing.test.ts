import assert from 'node:assert/strict'
import type { JsonObject } from '../../src/kernel/json/json.js'
import { assertNoneRefused, opOf, type Call } from '../e2e/sdk-service.js'
import { inOrder, treesOf, type CallTree } from './call-tree.js'
import { startPythonSdk, type PythonSdk } from './python-sdk.js'

const square = (number: number): CallTree => ({ op: 'square', inputs: { number }, output: number ** 2 })
const divide = (dividend: number, divisor: number): CallTree => ({
  op: 'divide',
  inputs: { dividend, divisor },
  ...(divisor === 0 ? { failed: 'ZeroDivisionError: division by zero' } : { output: dividend / divisor }),
})
const answer = (question: string): CallTree => ({
  op: 'answer',
  inputs: { question },
  output: question.toUpperCase(),
})

/** What `tracing.py` does, but for `square(11)`, which it deletes. */
const TREES: readonly CallTree[] = [
  {
    op: 'compute',
    inputs: { number: 7 },
    output: { squared: 49, problem: 'division by zero' },
    below: [square(7), divide(49, 0)],
  },
  {
    op: 'fail',
    inputs: { reason: 'Nothing works: ☂' },
    failed: 'ValueError: Nothing works: ☂',
    below: [divide(1, 2)],
  },
  {
    op: 'in_threads',
    inputs: { numbers: [2, 3, 4] },
    output: [4, 9, 16],
    below: [square(2), square(3), square(4)],
  },
  divide(6, 3),
  divide(8, 4),
  { op: 'count_to', inputs: { last: 3 }, below: [square(1), square(2), square(3)] },
  {
    op: 'ask',
    inputs: { questions: ['why?', 'how?'] },
    output: ['WHY?', 'HOW?'],
    below: [answer('why?'), answer('how?')],
  },
]

const variants = [
  {
    title: 'with a team in its project name',
    named: 'team/my R&D проект',
    project: 'team/my R&D проект',
    path: '/v2/team/my%20R&D%20%D0%BF%D1%80%D0%BE%D0%B5%D0%BA%D1%82/calls/complete',
    environment: () => ({}),
  },
  {
    title: 'without a team in its project name, with the prefix /traces, starts and ends in batches',
    named: 'alone',
    project: 'default/alone',
    path: '/traces/call/upsert_batch',
    environment: (address: string) => ({
      WF_TRACE_SERVER_URL: `${address}/traces`,
      WEAVE_USE_CALLS_COMPLETE: 'false',
    }),
  },
]

for (const { title, named, project, path, environment } of variants)
  describe(`a program traced by the Python package ${title}`, () => {
    let sdk: PythonSdk
    let printed: JsonObject
    let calls: readonly (Call & { readonly thread_id: string | null })[]
    before(async () => {
      sdk = await startPythonSdk()
      printed = await sdk.printed('tracing.py', [named], environment(sdk.proxy.address))
      calls = (await sdk.callsOf(project)) as typeof calls
    })
    after(() => sdk.stop())

    const callOf = (op: string) => calls.find((call) => opOf(call) === op)!

    it('is recorded call by call, under its parents', () => {
      assert.deepEqual(treesOf(calls), inOrder(TREES))
      assert.equal(new Set(calls.map(({ trace_id }) => trace_id)).size, TREES.length)
    })

    it('has statuses, times and attributes', () => {
      const statuses = Object.fromEntries(
        calls.map((call) => [opOf(call), (call.summary['weave'] as JsonObject)['status']]),
      )
      assert.deepEqual(
        [statuses['compute'], statuses['fail'], statuses['ask']],
        ['descendant_error', 'error', 'success'],
      )
      for (const { ended_at } of calls) assert.notEqual(ended_at, null)
      const { weave, ...own } = callOf('compute').attributes
      assert.deepEqual(own, { environment: 'test' })
      assert.equal((weave as JsonObject)['source'], 'python-sdk')
      assert.deepEqual(
        [callOf('in_threads').thread_id, callOf('compute').thread_id],
        ['conversation-1', null],
      )
    })

    it('has the code of its ops', async () => {
      const refs = [callOf('divide').op_name]
      const { vals } = await sdk.answered<{ vals: [{ files: Record<string, string> }] }>('/refs/read_batch', {
        refs,
      })
      const digest = vals[0].files['obj.py']
      const code = await sdk.service.post('/files/content', { project_id: project, digest })
      assert.match(
        code.text,
        /def divide\(dividend: int, divisor: int\) -> float:\n {4}return dividend \/ divisor/,
      )
    })

    it('reads its calls, filtered, sorted, selected and renamed', () => {
      assert.deepEqual(printed, {
        project,
        calls: 18,
        roots: ['ask', 'compute', 'count_to', 'divide', 'divide', 'fail', 'in_threads'],
        first: ['compute', 'square'],
        squares: [7, 4, 3, 3, 2, 2, 1],
        failed: ['fail'],
        children: ['divide', 'square'],
        output: [{ squared: 49, problem: 'division by zero' }],
        renamed: 'computed',
      })
      assert.equal(callOf('compute').display_name, 'computed')
    })

    it('had no request refused', () => {
      assertNoneRefused(sdk.proxy)
      assert.ok(sdk.proxy.exchanges.some((exchange) => exchange.path === path))
    })
  })
