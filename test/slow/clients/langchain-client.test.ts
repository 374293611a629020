import assert from 'node:assert/strict'
import { ChatOpenAI } from '@langchain/openai'
import * as does from '../../support/upstreams/behaviours.js'
import { startGateway, type Gateway } from '../../support/upstreams/gateway.js'
import { ADMINISTRATOR_KEY, startTestService, type TestService } from '../../support/service.js'

const PLACE = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }

const WEATHER = {
  type: 'function',
  function: { name: 'weather', description: 'The weather of a city.', parameters: PLACE },
} as const

/** What a message says it used; its type says it never does. */
const tokensOf = (message: object): number =>
  (message as { usage_metadata?: { total_tokens: number } }).usage_metadata?.total_tokens ?? 0

describe('ChatOpenAI of LangChain', () => {
  let service: TestService
  let gateway: Gateway
  let chat: ChatOpenAI

  before(async () => {
    service = await startTestService()
    gateway = await startGateway(service)
    chat = new ChatOpenAI({
      model: gateway.model,
      apiKey: ADMINISTRATOR_KEY,
      maxRetries: 0,
      configuration: { baseURL: `${service.address}/v1`, project: 'acme/assistant' },
    })
  })
  beforeEach(() => gateway.upstream.behave(does.saying(['Hello', ', ', 'world'])))
  after(async () => {
    await service.stop()
    await gateway.upstream.close()
  })

  it('invokes', async () => {
    const answer = await chat.invoke('Say hello')
    assert.equal(answer.text, 'Hello, world')
    assert.equal(tokensOf(answer), 14)
  })

  it('streams, with the usage that it asks for', async () => {
    let said = ''
    let total = 0
    for await (const chunk of await chat.stream('Say hello')) {
      said += chunk.text
      total += tokensOf(chunk)
    }
    assert.deepEqual([said, total], ['Hello, world', 14])
  })

  it('has tools called, whole and streamed', async () => {
    gateway.upstream.behave(does.calling('weather', { city: 'Köln' }))
    const bound = chat.bindTools([WEATHER])
    const whole = await bound.invoke('How is the weather?')
    assert.deepEqual(
      [whole.tool_calls?.[0]?.name, whole.tool_calls?.[0]?.args],
      ['weather', { city: 'Köln' }],
    )
    let pieces = ''
    for await (const { tool_call_chunks = [] } of await bound.stream('How is the weather?'))
      for (const { args = '' } of tool_call_chunks) pieces += args
    assert.deepEqual(JSON.parse(pieces), { city: 'Köln' })
  })

  it('gets an answer by a JSON schema', async () => {
    gateway.upstream.behave(does.saying(['{"city":', '"Köln"}']))
    const structured = chat.withStructuredOutput(PLACE, { name: 'place', method: 'jsonSchema' })
    assert.deepEqual(await structured.invoke('Where?'), { city: 'Köln' })
  })

  for (const [status, told] of [
    [400, 400],
    [429, 429],
    [500, 502],
  ] as const)
    it(`reads the error where the upstream answers ${status}`, async () => {
      gateway.upstream.behave(does.failingWith(status, 'Upstream says no'))
      await assert.rejects(chat.invoke('Say hello'), (error: Error & { status?: number }) => {
        assert.equal(error.status, told)
        assert.match(error.message, status === told ? /Upstream says no/ : /upstream/)
        return true
      })
    })

  it('hears of a stream that breaks off', async () => {
    gateway.upstream.behave(does.beginningWith(['Hel', 'lo'], does.behind.cut))
    let said = ''
    await assert.rejects(async () => {
      for await (const { text } of await chat.stream('Say hello')) said += text
    }, /upstream/)
    assert.equal(said, 'Hello')
  })

  it('leaves, and the upstream is left too', async () => {
    gateway.upstream.behave(does.beginningWith(['Hel', 'lo'], does.behind.silence))
    const leaving = new AbortController()
    await assert.rejects(async () => {
      for await (const { text } of await chat.stream('Say hello', { signal: leaving.signal }))
        if (text === 'lo') leaving.abort()
    })
    assert.equal(await gateway.upstream.arrivals.at(-1)?.left, true)
  })
})
