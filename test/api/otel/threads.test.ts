import assert from 'node:assert/strict'
import { sharedService, someProject } from '../shared-service.js'

const trace = (n: number): string => n.toString(16).padStart(32, 'a')
const spanId = (n: number): string => n.toString(16).padStart(16, 'b')

const span = (
  traceNumber: number,
  number: number,
  {
    parent,
    session,
    tokens,
    from = number,
  }: Record<'parent' | 'tokens' | 'from', number | undefined> & { session?: string },
) => ({
  traceId: trace(traceNumber),
  spanId: spanId(number),
  ...(parent === undefined ? {} : { parentSpanId: spanId(parent) }),
  name: `span ${number}`,
  startTimeUnixNano: String(1_767_225_600_000_000_000n + BigInt(from) * 1_000_000_000n),
  endTimeUnixNano: String(1_767_225_660_000_000_000n),
  attributes: [
    ...(session === undefined ? [] : [{ key: 'session.id', value: { stringValue: session } }]),
    ...(tokens === undefined
      ? []
      : [
          { key: 'gen_ai.request.model', value: { stringValue: 'm' } },
          { key: 'gen_ai.usage.input_tokens', value: { intValue: tokens } },
          {
            key: 'gen_ai.input.messages',
            value: {
              stringValue: JSON.stringify([
                { role: 'user', parts: [{ type: 'text', content: `question ${number}` }] },
              ]),
            },
          },
        ]),
  ],
})

const given = { parent: undefined, tokens: undefined, from: undefined }

describe('threads of spans', () => {
  const threadsOf = async (spans: readonly object[]) => {
    const project = someProject()
    const client = (await sharedService()).in(project)
    const sent = await client.post(`/v2/${project}/otel/v1/traces`, {
      resourceSpans: [{ scopeSpans: [{ spans }] }],
    })
    assert.equal(sent.text, '{}')
    const lines = await client.threads({ include_usage: true, include_details: true, limit: 10 }).lines()
    return lines.map(({ thread_id, turn_count, prompt_tokens, first_message }) => ({
      thread_id,
      turn_count,
      prompt_tokens,
      first_message,
    }))
  }

  it('have a turn for each trace when every span names the session', async () => {
    const session = 'everywhere'
    const inTrace = (n: number) => [
      span(n, 10 * n, { ...given, session }),
      span(n, 10 * n + 1, { ...given, parent: 10 * n, session, tokens: 5 }),
      span(n, 10 * n + 2, { ...given, parent: 10 * n, session, tokens: 7 }),
    ]
    assert.deepEqual(
      (await threadsOf([...inTrace(1), ...inTrace(2)])).map(({ thread_id, turn_count, prompt_tokens }) => [
        thread_id,
        turn_count,
        prompt_tokens,
      ]),
      [[session, 2, 24]],
    )
  })

  it('have the tokens of all descendants when only the root names the session', async () => {
    const spans = [
      span(3, 30, { ...given, session: 'root' }),
      span(3, 31, { ...given, parent: 30 }),
      span(3, 32, { ...given, parent: 31, tokens: 9 }),
    ]
    const [thread] = await threadsOf(spans)
    assert.deepEqual([thread?.thread_id, thread?.turn_count, thread?.prompt_tokens], ['root', 1, 9])
  })

  it('are those of a child when only it names the session', async () => {
    const spans = [span(4, 40, given), span(4, 41, { ...given, parent: 40, session: 'child', tokens: 4 })]
    assert.deepEqual(await threadsOf(spans), [
      { thread_id: 'child', turn_count: 1, prompt_tokens: 4, first_message: 'question 41' },
    ])
  })
})
