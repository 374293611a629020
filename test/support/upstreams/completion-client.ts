import assert from 'node:assert/strict'
import * as does from './behaviours.js'
import type { Gateway } from './gateway.js'
import type { Behaviour } from './upstream.js'

/** A library that programs use to ask for completions, in terms of what every one of them can do. */
export interface CompletionClient {
  readonly ask: () => Promise<{ readonly text: string; readonly tokens: number }>
  /** Gives each piece of text as it arrives, and answers the tokens in the end. */
  readonly stream: (onText: (text: string) => void, signal?: AbortSignal) => Promise<number>
  /** The arguments with which the model calls the tool `weather`: of a whole answer and of a streamed one. */
  readonly callTool: () => Promise<readonly unknown[]>
  /** An answer by the schema PLACE. */
  readonly askForPlace: () => Promise<unknown>
  readonly statusOf: (error: Error) => number | undefined
}

export const PLACE = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const } },
  required: ['city'],
  additionalProperties: false,
}

const ANSWER = ['Hello', ', ', 'world']

/** What every client gets from the gateway. To be called within a `describe`. */
export const completionClientTests = (given: () => { client: CompletionClient; gateway: Gateway }): void => {
  const behave = (behaviour: Behaviour) => given().gateway.upstream.behave(behaviour)
  const lastArrival = () => given().gateway.upstream.arrivals.at(-1)

  it('gets a whole answer and its usage', async () => {
    behave(does.saying(ANSWER))
    assert.deepEqual(await given().client.ask(), { text: ANSWER.join(''), tokens: 14 })
  })

  it('gets a streamed answer piece by piece, and its usage', async () => {
    behave(does.saying(ANSWER))
    const pieces: string[] = []
    assert.equal(await given().client.stream((text) => void pieces.push(text)), 14)
    assert.equal(pieces.join(''), ANSWER.join(''))
    assert.ok(pieces.length > 1)
  })

  it('gets tool calls, whole and streamed', async () => {
    behave(does.calling('weather', { city: 'Köln' }))
    assert.deepEqual(await given().client.callTool(), [{ city: 'Köln' }, { city: 'Köln' }])
  })

  it('gets an answer by a JSON schema', async () => {
    behave(does.saying(['{"city":', '"Köln"}']))
    assert.deepEqual(await given().client.askForPlace(), { city: 'Köln' })
    const { type } = lastArrival()?.body['response_format'] as { type: string }
    assert.equal(type, 'json_schema')
  })

  for (const [status, expected] of [
    [400, 400],
    [429, 429],
    [500, 502],
  ] as const)
    it(`throws an error with status ${expected} when the upstream answers ${status}`, async () => {
      behave(does.failingWith(status, 'Upstream says no'))
      const { client } = given()
      await assert.rejects(client.ask(), (error: Error) => {
        assert.equal(client.statusOf(error), expected)
        assert.match(error.message, status === expected ? /Upstream says no/ : /upstream/)
        return true
      })
    })

  it('throws when a stream breaks off, after the text before', async () => {
    behave(does.beginningWith(['Hel', 'lo'], does.behind.cut))
    let said = ''
    await assert.rejects(
      given().client.stream((text) => (said += text)),
      /upstream/,
    )
    assert.equal(said, 'Hello')
  })

  it('closes the request to the upstream when it leaves a stream', async () => {
    behave(does.beginningWith(['Hel', 'lo'], does.behind.silence))
    const leaving = new AbortController()
    const leaveAt = (text: string) => {
      if (text === 'lo') leaving.abort()
    }
    await given()
      .client.stream(leaveAt, leaving.signal)
      .catch(() => undefined)
    assert.ok(leaving.signal.aborted)
    assert.equal(await lastArrival()?.left, true)
  })
}
