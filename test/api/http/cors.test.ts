import assert from 'node:assert/strict'
import { aStart } from '../../support/call-requests.js'
import { startTestService, type TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'

const PAGE = 'https://app.example'

const corsOf = (headers: Headers) => [...headers].filter(([name]) => name.startsWith('access-control-'))

const preflight = (service: TestService, origin: string, path = '/call/start') =>
  fetch(`${service.address}${path}`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,x-stainless-lang',
    },
  })

const start = (service: TestService, origin: string, key?: null) =>
  service.post(
    '/call/start',
    { start: aStart(someProject()) },
    { headers: { origin }, ...(key === undefined ? {} : { key }) },
  )

describe('web pages', () => {
  describe('of no origin that is named', () => {
    it('get no access, and nothing says that there is any', async () => {
      const service = await sharedService()
      const asked = await preflight(service, PAGE)
      assert.deepEqual([asked.status, corsOf(asked.headers)], [204, []])
      const { headers } = await start(service, PAGE)
      assert.deepEqual([corsOf(headers), headers.get('vary')], [[], null])
    })
  })

  describe('of named origins', () => {
    let service: TestService
    before(async () => {
      service = await startTestService({ TALLYTREE_CORS_ORIGINS: `${PAGE}, http://localhost:5173` })
    })
    after(() => service.stop())

    it('may ask before they send', async () => {
      for (const origin of [PAGE, 'http://localhost:5173'])
        for (const path of [
          '/call/start',
          '/traces/call/start',
          '/v1/chat/completions',
          '/v2/a/b/call/start',
        ]) {
          const { status, headers } = await preflight(service, origin, path)
          assert.equal(status, 204)
          assert.equal(headers.get('access-control-allow-origin'), origin)
          assert.equal(headers.get('access-control-max-age'), '600')
          assert.equal(headers.get('access-control-allow-methods'), 'GET, POST, PUT, PATCH, DELETE')
          const allowed = headers.get('access-control-allow-headers')!.toLowerCase().split(/, ?/)
          for (const name of [
            'authorization',
            'content-type',
            'x-stainless-lang',
            'tallytree-as-of',
            'vendor-project',
          ])
            assert.ok(allowed.includes(name), name)
          assert.equal(headers.get('vary'), 'Origin, Access-Control-Request-Headers')
        }
    })

    it('read responses, failures as well, with the headers of the service', async () => {
      for (const [answer, status] of [
        [await start(service, PAGE), 200],
        [await start(service, PAGE, null), 401],
        [await service.send('GET', '/nothing', undefined, { headers: { origin: PAGE } }), 404],
        [await service.send('GET', '/call/start', undefined, { headers: { origin: PAGE } }), 405],
      ] as const) {
        const { headers } = answer
        assert.equal(answer.status, status)
        assert.equal(headers.get('access-control-allow-origin'), PAGE)
        assert.match(headers.get('access-control-expose-headers')!, /Retry-After, Tallytree-Position/)
        assert.equal(headers.get('access-control-allow-credentials'), null)
        assert.equal(headers.get('vary'), 'Origin')
      }
    })

    it('are told apart from those of other origins', async () => {
      for (const origin of [
        'https://other.example',
        'null',
        `${PAGE}.evil.example`,
        'http://app.example',
        `${PAGE}:444`,
      ]) {
        const asked = await preflight(service, origin)
        assert.deepEqual([asked.status, corsOf(asked.headers)], [204, []], origin)
        const { headers, status } = await start(service, origin)
        assert.deepEqual([status, corsOf(headers), headers.get('vary')], [403, [], 'Origin'])
      }
    })

    it('leave plain OPTIONS as it is', async () => {
      const { status, headers } = await service.send('OPTIONS', '/api/teams', undefined, {
        headers: { origin: PAGE },
      })
      assert.deepEqual([status, headers.get('allow')], [204, 'GET, HEAD, POST, OPTIONS'])
    })
  })
})
