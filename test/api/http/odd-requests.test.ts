import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { ADMINISTRATOR_KEY } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { aStart } from '../../support/call-requests.js'
import { accepted, reasonOf } from '../calls/given.js'
import { endpointsOf } from './endpoints.js'
import { JSON_TYPE, sendBytes, sendText } from './raw.js'

const NO_BODY = Buffer.alloc(0)

describe('a request to no endpoint', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const paths = [
    '/',
    '/nothing',
    '/call',
    '/call/start/more',
    '/calls',
    '/traces',
    '/traces/',
    '/traces/nothing',
    '/v2/a/call/start',
    '//call/start',
    '/call//start',
    '/traces//call/start',
    '/traces/traces/call/start',
    '/v2//p/call/start',
    '/%',
    '/%zz',
    '/call/%73tart%',
    '/%E0%A4%A',
    '/%00',
    '/call%2Fstart',
    '/..%2f..%2fetc/passwd',
    '/call/start;x=1',
    '/.',
    `/${'x'.repeat(10_000)}`,
    `/${'%41'.repeat(3000)}`,
    '/?/call/start',
    '/call/start%20',
  ]
  for (const path of paths)
    it(`is a 404 that says where the endpoints are: ${path.slice(0, 30)}`, async () => {
      for (const method of ['GET', 'POST']) {
        const { status, headers, text } = await sendBytes(service, path, NO_BODY, {}, method)
        assert.equal(status, 404)
        assert.match(headers['content-type'] ?? '', /^application\/json/)
        assert.match((JSON.parse(text) as { reason: string }).reason, /openapi\.json/)
        assert.match(String(headers['x-request-id']), /^[0-9a-f-]{36}$/)
      }
    })

  /** With other methods, the last part of these paths is an id. */
  const namesOne = (path: string) =>
    [
      /^\/annotation_queues\/(query|stats)$/,
      /^\/api\/teams\/[^/]+\/webhooks\/test$/,
      /^\/api\/automations\/preview$/,
      /^\/api\/inference\/upstreams\/test$/,
      /^\/api\/deliveries\/(counts|actions)$/,
    ].some((pattern) => pattern.test(path))

  it('is a 405 that names the methods, with any method that an endpoint does not have', async () => {
    const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'TRACE']
    const endpoints = await endpointsOf(service, 'default/project')
    const served = new Set(endpoints.map(({ method, path }) => `${method} ${path}`))
    for (const { path } of endpoints)
      for (const method of methods) {
        if (served.has(`${method} ${path}`) || namesOne(path)) continue
        for (const prefixed of [path, `/traces${path}`]) {
          const { status, headers, text } = await sendBytes(service, prefixed, NO_BODY, {}, method)
          assert.equal(status, 405, `${method} ${path}`)
          assert.match(text, /openapi\.json|Use (GET|POST) \//)
          const allowed = (headers.allow ?? '').split(', ')
          assert.deepEqual(
            allowed.filter((one) => one !== 'HEAD' && one !== 'OPTIONS'),
            methods.filter((one) => served.has(`${one} ${path}`)).sort(),
          )
          assert.equal(allowed.includes('HEAD'), allowed.includes('GET'))
        }
      }
  })

  it('is told the methods of a path where OPTIONS asks, and nothing of a path that is not there', async () => {
    for (const key of [ADMINISTRATOR_KEY, 'no-key']) {
      const headers = { authorization: `Bearer ${key}` }
      const there = await sendBytes(service, '/api/teams', NO_BODY, headers, 'OPTIONS')
      assert.deepEqual([there.status, there.headers.allow, there.text], [204, 'GET, HEAD, POST, OPTIONS', ''])
      assert.equal((await sendBytes(service, '/nothing', NO_BODY, headers, 'OPTIONS')).status, 404)
    }
  })

  it('has no body where HEAD asks', async () => {
    for (const [path, status] of [
      ['/health', 200],
      ['/openapi.json', 200],
      ['/nothing', 404],
      ['/call/start', 405],
      ['/api/teams', 200],
    ] as const) {
      const answer = await sendBytes(service, path, NO_BODY, {}, 'HEAD')
      assert.deepEqual([answer.status, answer.text], [status, ''])
    }
  })

  it('with an address longer than a server takes is refused by its status', async () => {
    assert.equal((await sendBytes(service, `/${'x'.repeat(20_000)}`, NO_BODY, {}, 'GET')).status, 431)
    const headers = { 'x-long': 'x'.repeat(20_000) }
    assert.equal((await sendBytes(service, '/health', NO_BODY, headers, 'GET')).status, 431)
  })
})

describe('a path', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  it('may have the prefix /traces, whichever it is', async () => {
    for (const { method, path } of await endpointsOf(service, 'default/project')) {
      // A rebuild takes long, and slows what comes after it.
      if (path === '/api/admin/rebuilds' && method === 'POST') continue
      const [plain, prefixed] = await Promise.all(
        [path, `/traces${path}`].map((one) => sendBytes(service, one, NO_BODY, JSON_TYPE, method)),
      )
      assert.notEqual(prefixed?.text.includes('Unknown endpoint'), true, path)
      assert.equal(prefixed?.status, plain?.status, path)
    }
  })

  it('may have a query that says nothing', async () => {
    for (const query of [
      '?',
      '?x=1',
      '?limit=%',
      '?__proto__=1&__proto__=2',
      '?a[b]=c',
      `?${'a=1&'.repeat(2000)}`,
    ])
      accepted(await service.post(`/call/start${query}`, { start: aStart(someProject()) }))
  })

  it('has parameters that are decoded, or refused', async () => {
    const project = someProject()
    const encoded = project.replace('team', '%74eam')
    accepted(await service.post(`/v2/${encoded}/call/start`, { start: aStart(project) }))
    for (const odd of ['a%2Fb/p', '%00/p', 'a%20b/p', '%E0%A4%A/p', `${'e'.repeat(200)}/p`, "a'b/p", 'é/p'])
      for (const path of ['call/start', 'call/end', 'calls/complete']) {
        const answer = await service.post(`/v2/${odd}/${path}`, { start: aStart(project), batch: [] })
        assert.equal(answer.status, 422, odd)
      }
  })

  it('of a page has a limit in digits', async () => {
    for (const limit of [
      '0',
      '-1',
      '1.5',
      '1e3',
      'ten',
      '1001',
      '99999999999999999999',
      '',
      '1&limit=2',
      '%00',
      '１',
    ])
      assert.equal((await service.send('GET', `/api/teams?limit=${limit}`)).status, 422, limit)
    for (const after of ['', 'x', '%00', '%', 'x'.repeat(5000), "'"])
      assert.equal((await service.send('GET', `/api/teams?limit=1&after=${after}`)).status, 200, after)
    assert.equal((await service.send('GET', '/api/teams?after=a&after=b')).status, 422)
  })
})

describe('a request that is not quite HTTP', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const AUTH = `Authorization: Bearer ${ADMINISTRATOR_KEY}\r\n`
  const broken: Readonly<Record<string, string>> = {
    'no host': 'GET /health HTTP/1.1\r\n\r\n',
    'an unknown version': 'GET /health HTTP/9.9\r\nHost: x\r\n\r\n',
    'NUL in its path': 'GET /hea\u0000lth HTTP/1.1\r\nHost: x\r\n\r\n',
    'no slash': 'GET health HTTP/1.1\r\nHost: x\r\n\r\n',
    'a length that is no number': `POST /call/start HTTP/1.1\r\nHost: x\r\n${AUTH}Content-Length: ten\r\n\r\n`,
    'a negative length': `POST /call/start HTTP/1.1\r\nHost: x\r\n${AUTH}Content-Length: -1\r\n\r\n`,
    'two lengths': `POST /call/start HTTP/1.1\r\nHost: x\r\n${AUTH}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}`,
    'a length and pieces': `POST /call/start HTTP/1.1\r\nHost: x\r\n${AUTH}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    'a broken piece': `POST /call/start HTTP/1.1\r\nHost: x\r\n${AUTH}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
    'a body shorter than it says': `POST /call/start HTTP/1.1\r\nHost: x\r\n${AUTH}Content-Length: 100\r\n\r\n{"start"`,
    'a compressed body shorter than it says': `POST /call/start HTTP/1.1\r\nHost: x\r\n${AUTH}Content-Encoding: gzip\r\nContent-Length: 100\r\n\r\n\x1f\x8b`,
    'a form shorter than it says': `POST /file/create HTTP/1.1\r\nHost: x\r\n${AUTH}Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 1000\r\n\r\n--x\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nabc`,
  }
  for (const [name, text] of Object.entries(broken))
    it(`is a 400: ${name}`, async () => assert.match(await sendText(service, text), /^HTTP\/1\.1 400 /))

  it('leaves the service as it was', async () => {
    await service.in(someProject()).calls.start().json()
    assert.deepEqual(
      service.logged.filter(({ event }) => event === 'request.failed' || event === 'response.aborted'),
      [],
    )
  })

  it('may name the whole address', async () => {
    const text = 'GET http://elsewhere.example/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
    assert.match(await sendText(service, text, false), /^HTTP\/1\.1 200 /)
  })

  it('goes to no other path by dots', async () => {
    const text = 'GET /x/../health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
    assert.match(await sendText(service, text, false), /^HTTP\/1\.1 404 /)
    assert.match(await sendText(service, text.replace('..', '%2e%2e'), false), /^HTTP\/1\.1 404 /)
  })

  it('may come piece by piece', async () => {
    const body = JSON.stringify({ start: aStart(someProject()) })
    const pieces = body.replace(/[^]/g, '1\r\n$&\r\n')
    const text = `POST /call/start HTTP/1.1\r\nHost: x\r\n${AUTH}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n${pieces}0\r\n\r\n`
    assert.match(await sendText(service, text, false), /^HTTP\/1\.1 200 /)
  })

  it('that expects to be asked for its body is asked', async () => {
    const body = Buffer.from(JSON.stringify({ start: aStart(someProject()) }))
    const headers = { ...JSON_TYPE, expect: '100-continue' }
    assert.equal((await sendBytes(service, '/call/start', body, headers)).status, 200)
  })
})

describe('a key', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  it('may be given in many wrong ways, each of which is a 401', async () => {
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
    const wrong = [
      '',
      'Bearer',
      'Bearer ',
      'Basic',
      'Basic ===',
      'Basic !!!!',
      `Token ${ADMINISTRATOR_KEY}`,
      ADMINISTRATOR_KEY,
      basic('api:'),
      basic(''),
      basic(`${ADMINISTRATOR_KEY}:`),
      basic(`api:${ADMINISTRATOR_KEY} `),
      basic('api:\u0000'),
      `Bearer ${ADMINISTRATOR_KEY} x`,
      `Bearer ${ADMINISTRATOR_KEY.toUpperCase()}`,
      `Bearer ${'x'.repeat(10_000)}`,
    ]
    for (const authorization of wrong) {
      const answer = await sendBytes(service, '/calls/query', Buffer.from('{}'), {
        ...JSON_TYPE,
        authorization,
      })
      assert.equal(answer.status, 401, authorization.slice(0, 40))
      assert.ok(!answer.text.includes(ADMINISTRATOR_KEY))
    }
    assert.match(reasonOf(await service.post('/calls/query', {}, { key: null }), 401), /API key/)
    assert.ok(!JSON.stringify(service.logged).includes(ADMINISTRATOR_KEY))
  })
})
