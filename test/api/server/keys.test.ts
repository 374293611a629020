import assert from 'node:assert/strict'
import { ADMINISTRATOR_KEY, startTestService, type TestService } from '../../support/service.js'

const KEY = ADMINISTRATOR_KEY
const basic = (key: string) => `Basic ${Buffer.from(`api:${key}`).toString('base64')}`

const HEADERS = ['api-key', 'x-api-key', 'x-goog-api-key', 'wandb-api-key'] as const

describe('the key of a request', () => {
  const PAGE = 'https://app.example'
  let service: TestService
  before(async () => (service = await startTestService({ TALLYTREE_CORS_ORIGINS: PAGE })))
  after(() => service.stop())

  const ask = (headers: Record<string, string>, path = '/v1/models') =>
    service.send('GET', path, undefined, { key: null, headers })

  for (const name of HEADERS)
    it(`is read from ${name}`, async () => {
      for (const path of ['/v1/models', '/api/users/me'])
        assert.equal((await ask({ [name]: KEY }, path)).status, 200)
      for (const wrong of ['wrong', '', KEY.slice(1), `${KEY}, ${KEY}`])
        assert.equal((await ask({ [name]: wrong })).status, 401)
    })

  it('may be in several headers', async () => {
    for (const authorization of [`Bearer ${KEY}`, basic(KEY)])
      assert.equal((await ask({ authorization, 'x-api-key': KEY, 'x-goog-api-key': KEY })).status, 200)
  })

  it('is not taken from headers that disagree', async () => {
    for (const headers of [
      { authorization: `Bearer ${KEY}`, 'x-api-key': 'other' },
      { authorization: 'Bearer other', 'x-api-key': KEY },
      { authorization: basic('other'), 'api-key': KEY },
      { authorization: 'Digest x', 'x-api-key': KEY },
      { 'x-api-key': KEY, 'x-goog-api-key': 'other' },
      { 'x-api-key': 'x'.repeat(5000), 'x-goog-api-key': KEY },
    ]) {
      const answer = await ask(headers)
      assert.equal(answer.status, 401)
      assert.match(answer.text, /different API keys/)
    }
  })

  it('is taken from the other header if one is empty', async () => {
    assert.equal((await ask({ authorization: `Bearer ${KEY}`, 'x-api-key': '' })).status, 200)
    assert.equal((await ask({ 'x-goog-api-key': '', 'x-api-key': KEY })).status, 200)
  })

  it('may be sent by pages of other origins in each of its headers', async () => {
    const preflight = await fetch(`${service.address}/v1/messages`, {
      method: 'OPTIONS',
      headers: { origin: PAGE, 'access-control-request-method': 'POST' },
    })
    const allowed = preflight.headers.get('access-control-allow-headers')!.split(', ')
    for (const name of [...HEADERS, 'Authorization', 'anthropic-version', 'anthropic-beta'])
      assert.ok(allowed.includes(name), name)
    for (const name of HEADERS) {
      const headers = { origin: 'https://other.example', [name]: KEY }
      assert.equal((await service.send('POST', '/api/teams', {}, { key: null, headers })).status, 422)
    }
    const exposed = (await ask({ origin: PAGE, 'x-api-key': KEY })).headers.get(
      'access-control-expose-headers',
    )
    assert.match(exposed!, /request-id, .*anthropic-ratelimit-requests-remaining/)
  })
})
