import assert from 'node:assert/strict'
import OpenAI from 'openai'
import { saying } from '../support/upstreams/behaviours.js'
import { startUpstream, type ScriptedUpstream } from '../support/upstreams/upstream.js'
import { ADMINISTRATOR_KEY, startTestService, type TestService } from '../support/service.js'

describe('the openai client', () => {
  let service: TestService
  let upstream: ScriptedUpstream
  let client: OpenAI

  before(async () => {
    service = await startTestService()
    upstream = await startUpstream(saying(['Hello', ', ', 'world']))
    const made = await service.post('/api/inference/upstreams', {
      name: 'scripted',
      base_url: upstream.baseUrl,
      models: [{ id: 'acme/chat', upstream_id: 'chat-1' }],
    })
    assert.equal(made.status, 200, made.text)
    client = new OpenAI({
      apiKey: ADMINISTRATOR_KEY,
      baseURL: `${service.address}/v1`,
      project: 'acme/assistant',
      maxRetries: 0,
    })
  })
  after(async () => {
    await service.stop()
    await upstream.close()
  })

  it('lists the models and finds one by its id with a slash', async () => {
    const models = await client.models.list()
    assert.deepEqual(
      models.data.map(({ id }) => id),
      ['acme/chat'],
    )
    assert.equal((await client.models.retrieve('acme/chat')).id, 'acme/chat')
  })

  it('gets a whole answer whose usage stands in the project that it named', async () => {
    const answer = await client.chat.completions.create({
      model: 'acme/chat',
      messages: [{ role: 'user', content: 'Say hello' }],
    })
    assert.equal(answer.choices[0]?.message.content, 'Hello, world')
    assert.equal(answer.model, 'acme/chat')
    const read = await service.post('/calls/query', { project_id: 'acme/assistant' })
    const { calls } = read.json<{ calls: { summary: { usage: object } }[] }>()
    assert.deepEqual(calls[0]?.summary.usage, {
      'acme/chat': {
        requests: 1,
        prompt_tokens: 11,
        completion_tokens: 3,
        total_tokens: 14,
        cache_read_input_tokens: 0,
      },
    })
  })

  it('gets a stream, and no usage that it did not ask for', async () => {
    const stream = await client.chat.completions.create({
      model: 'acme/chat',
      messages: [{ role: 'user', content: 'Say hello' }],
      stream: true,
    })
    let said = ''
    for await (const chunk of stream) {
      assert.ok(!('usage' in chunk))
      said += chunk.choices[0]?.delta.content ?? ''
    }
    assert.equal(said, 'Hello, world')
  })
})
