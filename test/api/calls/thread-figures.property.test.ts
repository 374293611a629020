import assert from 'node:assert/strict'
import fc from 'fast-check'
import { COUNTS } from '../../counts.js'
import { tokens } from '../prices/given.js'
import { sharedService, someProject } from '../shared-service.js'

interface SomeCall {
  /** How many calls earlier the parent is; a root if there are fewer. */
  readonly above: number
  readonly trace: number
  /** Of a turn, else null. */
  readonly thread: string | null
  readonly fails: boolean
}

const someCall: fc.Arbitrary<SomeCall> = fc.record({
  above: fc.integer({ min: 1, max: 6 }),
  trace: fc.constantFrom(0, 1),
  thread: fc.option(fc.constantFrom('a', 'b'), { freq: 2 }),
  fails: fc.boolean(),
})

/** Of each call, the place of its parent in the same trace. */
const parentsOf = (calls: readonly SomeCall[]): readonly (number | undefined)[] =>
  calls.map(({ above, trace }, n) => {
    const earlier = [...calls.keys()].filter((other) => other < n && calls[other]!.trace === trace)
    return earlier.at(-above)
  })

describe('the figures of threads', () => {
  it('are those of the calls at or below a turn, each once', async () => {
    const service = await sharedService()
    await fc.assert(
      fc.asyncProperty(fc.array(someCall, { minLength: 1, maxLength: 20 }), async (calls) => {
        const parents = parentsOf(calls)
        const client = service.in(someProject())
        await client.calls
          .complete(
            calls.map(({ trace, thread, fails }, n) => ({
              id: `call-${n}`,
              trace_id: `trace-${trace}`,
              parent_id: parents[n] === undefined ? null : `call-${parents[n]}`,
              ...(thread === null ? {} : { thread_id: thread, turn_id: `call-${n}` }),
              ...(fails ? { exception: 'failed' } : {}),
              summary: { usage: { gpt: tokens(1 << n) } },
            })),
          )
          .json()
        const isIn = (thread: string, n: number | undefined): boolean =>
          n !== undefined && (calls[n]!.thread === thread || isIn(thread, parents[n]))
        const body = { limit: 10, include_usage: true, include_details: true }
        for (const { thread_id, total_tokens, error_count } of await client.threads(body).lines()) {
          const included = [...calls.keys()].filter((n) => isIn(thread_id as string, n))
          const sum = included.reduce((total, n) => total + (1 << n), 0)
          assert.deepEqual([total_tokens, error_count], [sum, included.filter((n) => calls[n]!.fails).length])
        }
      }),
      { numRuns: COUNTS.threads },
    )
  })
})
