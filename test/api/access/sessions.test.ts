import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { Answered } from '../../support/client.js'
import { accepted, reasonOf, textIn } from '../calls/given.js'
import { ADMINISTRATOR_KEY, startTestService, type TestService } from '../../support/service.js'
import { sharedService } from '../shared-service.js'
import { sendText } from '../http/raw.js'
import { givenTeam } from '../webhooks/given.js'

const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' }

describe('a session', () => {
  let service: TestService
  before(async () => void (service = await sharedService()))

  const signIn = async (api_key: string, headers = {}): Promise<Answered> =>
    service.send('POST', '/api/sessions', { api_key }, { key: null, headers })
  const cookieOf = (answer: Answered): string => answer.headers.get('set-cookie')!.split(';')[0]!
  const given = async () => {
    const team = await givenTeam(service)
    const answer = await signIn(team.keys.member)
    const cookie = cookieOf(answer)
    const send = (
      method: string,
      path: string,
      body?: unknown,
      headers: Record<string, string> = SAME_ORIGIN,
    ) => service.send(method, path, body, { key: null, headers: { cookie, ...headers } })
    return { ...team, answer, cookie, send }
  }

  it('is a cookie that pages send instead of the key', async () => {
    const { answer, send, team } = await given()
    assert.equal(answer.status, 200)
    const cookie = answer.headers.get('set-cookie')!
    assert.match(cookie, /^tallytree_[0-9a-f]{8}=\S+; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/)
    assert.equal(answer.headers.get('cache-control'), 'private, no-store')
    const me = accepted(await send('GET', '/api/users/me'))
    assert.equal(me['user'], `member-of-${team}`)
    const shown = accepted(await send('GET', '/api/sessions'))
    assert.deepEqual(shown['teams'], [{ team, roles: ['member'] }])
    const session = shown['session'] as JsonObject
    const hours = (Date.parse(textIn(session, 'expires_at')) - Date.now()) / 3_600_000
    assert.ok(hours > 11.9 && hours <= 12, String(hours))
  })

  it('is Secure behind a proxy with TLS', async () => {
    const { keys } = await givenTeam(service)
    const answer = await signIn(keys.member, { 'x-forwarded-proto': 'https' })
    assert.match(answer.headers.get('set-cookie')!, /; Secure$/)
  })

  it('is not an API key, and not listed as one', async () => {
    const { cookie, send } = await given()
    const token = cookie.slice(cookie.indexOf('=') + 1)
    assert.equal((await service.send('GET', '/api/users/me', undefined, { key: token })).status, 401)
    assert.equal((accepted(await send('GET', '/api/users/me/api-keys'))['data'] as unknown[]).length, 1)
    assert.equal((await signIn(token)).status, 401)
  })

  it('changes nothing for a request that another site made', async () => {
    const { send } = await given()
    const create = (headers: Record<string, string>) =>
      send('POST', '/api/users/me/api-keys', { name: 'x' }, headers)
    const host = new URL(service.address).host
    for (const headers of [
      {},
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `http://${host}`, 'sec-fetch-site': 'cross-site' },
    ])
      assert.match(reasonOf(await create(headers), 403), /must come from a page of this service/)
    assert.equal((await create(SAME_ORIGIN)).status, 200)
    assert.equal((await create({ origin: `http://${host}` })).status, 200)
    assert.equal(
      (await send('GET', '/api/users/me', undefined, { 'sec-fetch-site': 'cross-site' })).status,
      200,
    )
  })

  it('is ignored if the request has an API key', async () => {
    const { cookie, other, stranger } = await given()
    const me = await service.send('GET', '/api/users/me', undefined, { key: stranger, headers: { cookie } })
    assert.equal(accepted(me)['user'], `team_administrator-of-${other}`)
    const wrong = await service.send('GET', '/api/users/me', undefined, { key: 'wrong', headers: { cookie } })
    assert.equal(wrong.status, 401)
  })

  it('ends when the user signs out, alone or with all others', async () => {
    const { send, keys } = await given()
    const second = cookieOf(await signIn(keys.member))
    const asSecond = (method: string, path: string) =>
      service.send(method, path, undefined, { key: null, headers: { cookie: second, ...SAME_ORIGIN } })
    const signedOut = await send('DELETE', '/api/sessions')
    assert.match(signedOut.headers.get('set-cookie')!, /=; Path=\/; Max-Age=0;/)
    assert.equal((await send('GET', '/api/users/me')).status, 401)
    assert.equal((await asSecond('GET', '/api/users/me')).status, 200)
    const third = cookieOf(await signIn(keys.member))
    accepted(await asSecond('DELETE', '/api/sessions?all=true'))
    for (const cookie of [second, third])
      assert.equal(
        (await service.send('GET', '/api/users/me', undefined, { key: null, headers: { cookie } })).status,
        401,
      )
  })

  it('can be ended by its id, by its user alone', async () => {
    const [mine, theirs] = [await given(), await given()]
    const { session } = accepted(await mine.send('GET', '/api/sessions')) as unknown as {
      session: { id: string }
    }
    assert.equal((await theirs.send('DELETE', `/api/sessions/${session.id}`)).status, 404)
    accepted(await mine.send('DELETE', `/api/sessions/${session.id}`))
    assert.equal((await mine.send('GET', '/api/users/me')).status, 401)
  })

  it('ends with the membership, as a key does', async () => {
    const { send, team, keys } = await given()
    const path = `/api/teams/${team}/members`
    assert.equal((await send('GET', path)).status, 200)
    accepted(
      await service.send('DELETE', `${path}/member-of-${team}`, undefined, { key: keys.team_administrator }),
    )
    assert.equal((await send('GET', path)).status, 404)
  })

  it('is refused for what is no key', async () => {
    for (const body of [{ api_key: 'wrong' }, { api_key: '' }]) {
      const refused = await service.send('POST', '/api/sessions', body, { key: null })
      assert.equal(reasonOf(refused, 401), 'This is not a valid API key.')
      assert.equal(refused.headers.get('set-cookie'), null)
    }
    for (const body of [{}, { api_key: 5 }, [], null])
      assert.equal((await service.send('POST', '/api/sessions', body, { key: null })).status, 422)
  })

  it('takes only valid keys for a minute after many wrong ones from an address', async () => {
    const own = await startTestService()
    const attempt = (api_key: string) => own.send('POST', '/api/sessions', { api_key }, { key: null })
    for (let time = 0; time < 20; time += 1) assert.equal((await attempt('wrong')).status, 401)
    const refused = await attempt('wrong')
    assert.equal(refused.status, 429)
    assert.equal(refused.headers.get('retry-after'), '60')
    assert.equal((await attempt(ADMINISTRATOR_KEY)).status, 200)
    await own.stop()
  })

  it('has a cookie for https alone where people reach the service by https', async () => {
    const own = await startTestService({ TALLYTREE_PUBLIC_URL: 'https://traces.example' })
    const signedIn = await own.send('POST', '/api/sessions', { api_key: ADMINISTRATOR_KEY }, { key: null })
    assert.match(signedIn.headers.get('set-cookie') ?? '', /; Secure/)
    await own.stop()
  })

  it('works only at own hosts where the public one is known, unlike keys', async () => {
    const own = await startTestService({ TALLYTREE_PUBLIC_URL: 'https://traces.example' })
    const signedIn = await own.send('POST', '/api/sessions', { api_key: ADMINISTRATOR_KEY }, { key: null })
    const [, token] = cookieOf(signedIn).split('=')
    const ask = (host: string, line: string, header: string, body = '') => {
      const lines = [`${line} HTTP/1.1`, `Host: ${host}`, 'Connection: close', header]
      return sendText(own, `${lines.join('\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n${body}`, false)
    }
    const answersAt = (host: string) => {
      const name = createHash('sha256').update(host.toLowerCase()).digest('hex').slice(0, 8)
      const signIn = JSON.stringify({ api_key: ADMINISTRATOR_KEY })
      return Promise.all([
        ask(host, 'POST /api/sessions', 'Content-Type: application/json', signIn),
        ask(host, 'GET /api/users/me', `Cookie: tallytree_${name}=${token}`),
        ask(host, 'GET /', 'Accept: text/html'),
        ask(host, 'GET /api/users/me', `Authorization: Bearer ${ADMINISTRATOR_KEY}`),
      ])
    }
    const statusesAt = async (host: string) =>
      (await answersAt(host)).map((answer) => Number(answer.split(' ')[1]))
    for (const host of [
      'traces.example',
      'Traces.Example.:8443',
      'localhost:4600',
      'app.localhost',
      '127.0.0.1',
      '[::1]:4600',
      '10.1.2.3',
    ])
      assert.deepEqual(await statusesAt(host), [200, 200, 200, 200], host)
    for (const host of ['evil.example', 'traces.example.evil.example', 'xlocalhost', '1.evil.example', '%'])
      assert.deepEqual(await statusesAt(host), [403, 403, 403, 200], host)
    for (const answer of (await answersAt('evil.example')).slice(0, 3))
      assert.match(answer, /TALLYTREE_PUBLIC_URL/)
    await own.stop()
  })

  it('is not found in a cookie of another name or a malformed one', async () => {
    const { cookie } = await given()
    const [name, token] = cookie.split('=')
    for (const wrong of [
      `${name}x=${token}`,
      `${name}=`,
      name!,
      `x${cookie}`,
      '=;;=',
      `${name}=${'a'.repeat(5000)}`,
    ]) {
      const answer = await service.send('GET', '/api/users/me', undefined, {
        key: null,
        headers: { cookie: wrong },
      })
      assert.equal(answer.status, 401, wrong)
    }
    const second = `other=1; ${cookie}; more=2`
    assert.equal(
      (await service.send('GET', '/api/users/me', undefined, { key: null, headers: { cookie: second } }))
        .status,
      200,
    )
  })
})
