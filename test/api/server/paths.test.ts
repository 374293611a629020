import assert from 'node:assert/strict'
import { MESSAGES, startGateway, type Gateway } from '../../support/upstreams/gateway.js'
import { sendText } from '../http/raw.js'
import { sharedService } from '../shared-service.js'

describe('paths of clients of models', () => {
  const html = { headers: { accept: 'text/html,*/*' } }
  let gateway: Gateway
  before(async () => (gateway = await startGateway(await sharedService(), { id: 'acme/v1/chat' })))
  after(() => gateway.upstream.close())

  it('are served whatever the base URL ends in', async () => {
    for (const path of [
      '/v1//chat/completions',
      '//v1/chat//completions/',
      '/v1/v1/chat/completions',
      '/chat/completions',
      '//chat/completions',
      '/traces/chat/completions',
      '/traces/v1/v1//chat/completions?beta=true',
    ]) {
      const answer = await gateway.service.post(path, { model: gateway.model, messages: MESSAGES })
      assert.equal(answer.status, 200, `${path}: ${answer.text}`)
    }
    for (const path of ['/models', '/models/', '/v1/v1/models', '//v1//models//'])
      assert.equal((await gateway.service.send('GET', path)).json()['object'], 'list', path)
    for (const path of [
      '/models/acme/v1/chat',
      '/v1/v1/models//acme%2Fv1%2Fchat',
      '//v1//models/acme/v1/chat',
    ])
      assert.equal((await gateway.service.send('GET', path)).json()['id'], gateway.model, path)
  })

  it('have the error format of the API that is meant', async () => {
    const errorAt = async (path: string) => {
      const answer = await gateway.service.send('PUT', path)
      assert.ok(answer.status === 404 || answer.status === 405, answer.text)
      return answer.json<{ type?: string; error?: object }>()
    }
    for (const path of ['/v1/messages/none', '/v1/v1/messages/none', '//v1//messages/none', '/messages/none'])
      assert.equal((await errorAt(path)).type, 'error', path)
    for (const path of ['/responses/none', '/v1/v1/responses', '//rerank', '/v2/rerank', '/v1/v2/rerank']) {
      const { type, error } = await errorAt(path)
      assert.deepEqual([type, Object.keys(error ?? {}).length], [undefined, 4], path)
    }
  })

  it('are those of pages for a browser, and others stay as they are', async () => {
    const page = await gateway.service.send('GET', '/models', undefined, html)
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
    for (const path of [
      '/v2/models',
      '/v2/rerank/more',
      '/completions/more',
      '/v1/v2/models',
      '/rerank/more',
    ])
      assert.equal((await gateway.service.post(path, {})).status, 404, path)
  })

  it('answer HEAD / below 500', async () => {
    for (const options of [{}, { key: null }, html]) {
      const { status } = await gateway.service.send('HEAD', '/', undefined, options)
      assert.ok(status === 200 || status === 404, String(status))
    }
  })

  it('refuse a WebSocket with 426, so that clients go on over HTTP', async () => {
    for (const path of ['/v1/responses', '/responses', '/v1/v1/responses']) {
      const text = await sendText(
        gateway.service,
        `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
          'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
        false,
      )
      assert.match(text, /^HTTP\/1\.1 426 Upgrade Required\r\n/)
      assert.match(
        text,
        /"error":\{"message":"WebSocket connections are not served\. Use POST \/v1\/responses/,
      )
    }
  })
})

describe('the list of models in the form of Anthropic', () => {
  const headers = { 'anthropic-version': '2023-06-01' }
  let gateway: Gateway
  before(async () => (gateway = await startGateway(await sharedService(), { id: 'acme/small' })))
  after(() => gateway.upstream.close())

  it('is for requests that name a version of its API', async () => {
    const ofModel = {
      type: 'model',
      id: 'acme/small',
      display_name: 'acme/small',
      created_at: '1970-01-01T00:00:00.000000Z',
    }
    const list = await gateway.service.send('GET', '/v1/models?limit=1&after_id=x', undefined, { headers })
    assert.equal(list.status, 200)
    assert.equal(list.headers.get('request-id'), list.headers.get('x-request-id'))
    const { data, ...page } = list.json<{ data: readonly { id: string }[] }>()
    assert.deepEqual(page, { has_more: false, first_id: data[0]!.id, last_id: data.at(-1)!.id })
    assert.deepEqual(
      data.find(({ id }) => id === 'acme/small'),
      ofModel,
    )
    for (const path of ['acme/small', 'acme%2Fsmall']) {
      const one = await gateway.service.send('GET', `/v1/models/${path}`, undefined, { headers })
      assert.deepEqual(one.json(), ofModel)
    }
  })

  it('is that of OpenAI for others', async () => {
    const list = await gateway.service.send('GET', '/v1/models')
    assert.equal(list.json()['object'], 'list')
    assert.equal(list.headers.get('request-id'), null)
    const one = await gateway.service.send('GET', '/v1/models/acme/small')
    assert.equal(one.json()['object'], 'model')
  })
})
