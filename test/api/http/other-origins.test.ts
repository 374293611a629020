import assert from 'node:assert/strict'
import { ADMINISTRATOR_KEY, startTestService, type TestService } from '../../support/service.js'
import { endpointsOf } from './endpoints.js'

const basic = `Basic ${Buffer.from(`api:${ADMINISTRATOR_KEY}`).toString('base64')}`

/** What browsers say of a page of another origin: of another site, of another port or subdomain, without Fetch Metadata. */
const ELSEWHERE = [
  { 'sec-fetch-site': 'cross-site', origin: 'http://evil.example' },
  { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:1' },
  { 'sec-fetch-site': 'same-site' },
  { origin: 'http://evil.example' },
  { origin: 'null' },
]

describe('a page of another origin', () => {
  let service: TestService
  let cookie: string
  before(async () => {
    service = await startTestService({ TALLYTREE_CORS_ORIGINS: 'https://app.example' })
    const signedIn = await service.send(
      'POST',
      '/api/sessions',
      { api_key: ADMINISTRATOR_KEY },
      { key: null },
    )
    cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!
  })
  after(() => service.stop())

  /** Sends what needs no preflight: a body without a content type, as of a `Blob`. */
  const send = (method: string, path: string, headers: Record<string, string>, body = '{}') =>
    fetch(`${service.address}${path}`, { method, headers, body: new Blob([body]) })

  it('changes nothing at any endpoint, with what the browser adds to its requests', async () => {
    const before = await service.send('GET', '/api/events?limit=1000')
    const reached: string[] = []
    const writing = (await endpointsOf(service, 'default/project')).filter(({ method }) => method !== 'GET')
    const ambient: readonly Record<string, string>[] = [{}, { cookie }, { authorization: basic }]
    for (const [index, { method, path, isOpen }] of writing.entries())
      for (const added of ambient) {
        const headers = { ...ELSEWHERE[index % ELSEWHERE.length]!, ...added }
        const { status } = await send(method, path, headers)
        const isRefused = status === 403 || (status === 401 && added === ambient[0] && !isOpen)
        if (!isRefused) reached.push(`${method} ${path} ${JSON.stringify(headers)}: ${status}`)
      }
    assert.deepEqual(reached, [])
    assert.equal((await service.send('GET', '/api/events?limit=1000')).text, before.text)
  })

  it('signs no browser in', async () => {
    const body = JSON.stringify({ api_key: ADMINISTRATOR_KEY })
    for (const headers of ELSEWHERE) {
      const refused = await send('POST', '/api/sessions', headers, body)
      assert.deepEqual([refused.status, refused.headers.get('set-cookie')], [403, null])
      assert.match(await refused.text(), /A page of another origin made this request/)
    }
    const own = { 'sec-fetch-site': 'same-origin', origin: service.address }
    for (const headers of [{}, own, { origin: service.address }])
      assert.equal((await send('POST', '/api/sessions', headers, body)).status, 200)
  })

  it('works with a key of its own, or where the operator allows its origin', async () => {
    const body = JSON.stringify({ name: 'team' })
    const bearer = { authorization: `Bearer ${ADMINISTRATOR_KEY}`, ...ELSEWHERE[0] }
    const allowed = { authorization: basic, origin: 'https://app.example', 'sec-fetch-site': 'cross-site' }
    assert.equal((await send('POST', '/api/teams', bearer, body)).status, 200)
    for (const headers of [allowed, { authorization: basic }])
      assert.equal((await send('POST', '/api/teams', headers, body)).status, 409)
  })
})
