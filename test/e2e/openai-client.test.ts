import assert from 'node:assert/strict'
import OpenAI, { APIUserAbortError } from 'openai'
import * as does from '../support/upstreams/behaviours.js'
import { startGateway, type Gateway } from '../support/upstreams/gateway.js'
import { PROJECT } from '../support/upstreams/npm-clients.js'
import { ADMINISTRATOR_KEY, startTestService, type TestService } from '../support/service.js'
import { until } from '../support/until.js'

describe('the openai client', () => {
  let service: TestService
  let gateway: Gateway
  let client: OpenAI
  let request: { model: string; messages: { role: 'user'; content: string }[] }

  before(async () => {
    service = await startTestService()
    gateway = await startGateway(service)
    request = { model: gateway.model, messages: [{ role: 'user', content: 'Say hello' }] }
    client = new OpenAI({
      apiKey: ADMINISTRATOR_KEY,
      baseURL: `${service.address}/v1`,
      project: PROJECT,
      maxRetries: 0,
    })
  })
  beforeEach(() => gateway.upstream.behave(does.saying(['Hello', ', ', 'world'])))
  after(async () => {
    await service.stop()
    await gateway.upstream.close()
  })

  it('lists the models and finds one by its id with a slash', async () => {
    const models = await client.models.list()
    assert.deepEqual(
      models.data.map(({ id }) => id),
      [gateway.model, 'tiny/byte', 'tiny/byte-2k', 'tiny/byte-large'].sort(),
    )
    assert.equal((await client.models.retrieve(gateway.model)).id, gateway.model)
  })

  it('gets a whole answer whose usage stands in the project that it named', async () => {
    const { data: answer, request_id } = await client.chat.completions.create(request).withResponse()
    assert.equal(answer.choices[0]?.message.content, 'Hello, world')
    assert.equal(answer.model, gateway.model)
    assert.match(request_id ?? '', /^[0-9a-f-]{36}$/)
    const read = await service.in(PROJECT).calls.query()
    const { calls } = read.json<{ calls: { summary: { usage: object } }[] }>()
    assert.deepEqual(calls[0]?.summary.usage, {
      [gateway.model]: {
        requests: 1,
        prompt_tokens: 11,
        completion_tokens: 3,
        total_tokens: 14,
        cache_read_input_tokens: 0,
        cache_creation_input_tokens: 0,
      },
    })
  })

  it('gets a stream, and no usage that it did not ask for', async () => {
    let said = ''
    for await (const chunk of await client.chat.completions.create({ ...request, stream: true })) {
      assert.ok(!('usage' in chunk))
      said += chunk.choices[0]?.delta.content ?? ''
    }
    assert.equal(said, 'Hello, world')
  })

  it('sends one request, and one call is recorded, where the key of the upstream is wrong', async () => {
    const project = 'acme/wrong-key'
    gateway.upstream.behave(does.failingWith(401, 'Incorrect API key'))
    const arrived = gateway.upstream.arrivals.length
    const retrying = client.withOptions({ maxRetries: 2, project })
    await assert.rejects(retrying.chat.completions.create(request), /status 401: Incorrect API key/)
    assert.equal(gateway.upstream.arrivals.length, arrived + 1)
    const read = await service.in(project).calls.query()
    assert.equal(read.json<{ calls: object[] }>().calls.length, 1)
  })

  const classes = [
    [400, OpenAI.BadRequestError, 400],
    [413, OpenAI.APIError, 413],
    [422, OpenAI.UnprocessableEntityError, 422],
    [429, OpenAI.RateLimitError, 429],
    [500, OpenAI.InternalServerError, 502],
    [401, OpenAI.InternalServerError, 502],
  ] as const
  for (const [status, ErrorClass, told] of classes)
    it(`throws its own error where the upstream answers ${status}`, async () => {
      gateway.upstream.behave(does.failingWith(status, 'Upstream says no'))
      await assert.rejects(client.chat.completions.create(request), (error) => {
        assert.ok(error instanceof ErrorClass)
        assert.equal(error.status, told)
        if (status === told) assert.match(error.message, /Upstream says no/)
        assert.ok(!error.message.includes('no body'))
        return true
      })
    })

  it('throws its own errors for an unknown model, a wrong key and a wrong request', async () => {
    const { completions } = client.chat
    await assert.rejects(completions.create({ ...request, model: 'acme/none' }), OpenAI.NotFoundError)
    await assert.rejects(completions.create({ ...request, n: 0 }), OpenAI.UnprocessableEntityError)
    const stranger = client.withOptions({ apiKey: 'wrong' })
    await assert.rejects(stranger.chat.completions.create(request), OpenAI.AuthenticationError)
  })

  it('tries again after as long as it is told, and each try is a call', async () => {
    const before = gateway.upstream.arrivals.length
    gateway.upstream.behave(
      does.inTurn(
        does.failingWith(429, 'slow down', { 'retry-after': '1' }),
        does.resetting,
        does.saying(['at', ' last']),
      ),
    )
    const patient = client.withOptions({ maxRetries: 2 })
    const answer = await patient.chat.completions.create(request)
    assert.equal(answer.choices[0]?.message.content, 'at last')
    assert.equal(gateway.upstream.arrivals.length, before + 3)
  })

  it('does not try again what cannot succeed', async () => {
    const before = gateway.upstream.arrivals.length
    gateway.upstream.behave(does.failingWith(400, 'no'))
    await assert.rejects(client.withOptions({ maxRetries: 2 }).chat.completions.create(request))
    assert.equal(gateway.upstream.arrivals.length, before + 1)
  })

  it('closes the request to the upstream when it leaves before the answer', async () => {
    gateway.upstream.behave(does.hanging)
    const leaving = new AbortController()
    const before = gateway.upstream.arrivals.length
    const asked = client.chat.completions.create(request, { signal: leaving.signal })
    const refused = assert.rejects(asked, APIUserAbortError)
    await until(() => gateway.upstream.arrivals.length > before)
    leaving.abort()
    await refused
    assert.equal(await gateway.upstream.arrivals.at(-1)?.left, true)
  })
})
