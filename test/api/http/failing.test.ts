import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { createApp } from '../../../src/api/server/app.js'
import { Failure, invalidField, type FailureKind } from '../../../src/application/failure.js'
import { MemoryAccount } from '../../../src/kernel/memory-account.js'
import { prefetchFirst } from '../../../src/kernel/prefetch-first.js'
import type { AnyRoute, RouteResponse } from '../../../src/api/server/route.js'
import { openRoute } from '../../../src/api/server/route-kinds.js'
import {
  ClickHouseUnavailable,
  ReadTooExpensive,
  TooManyReads,
} from '../../../src/kernel/ports/clickhouse.js'
import {
  AppendOutcomeUnknown,
  EventTooLarge,
  StoreUnavailable,
} from '../../../src/kernel/ports/event-store-errors.js'
import type { JsonObject } from '../../../src/kernel/json/json.js'

const CANARY = 'CANARY-5ec4e7'

/** An application whose only endpoint does as it is told. */
const serving = async (
  handle: () => Promise<RouteResponse>,
  path = '/it',
  errorFormat?: AnyRoute['errorFormat'],
) => {
  const logged: JsonObject[] = []
  const note = (event: string, fields?: JsonObject) => void logged.push({ event, ...fields })
  const only = openRoute<undefined, undefined, unknown>({
    method: 'get',
    path,
    ...(errorFormat === undefined ? {} : { errorFormat }),
    summary: '',
    response: { schema: {} },
    handle,
  })
  const reader = {
    knownParts: { refusedUntil: 0, ranges: new Map(), counts: new Map() },
    query: () => Promise.resolve([]),
    stream: () => Readable.from([]),
  }
  const log = { info: note, warn: note, error: note }
  const app = createApp(
    { authenticate: () => undefined, authenticateSession: () => undefined },
    reader,
    new MemoryAccount(Infinity),
    [only],
    log,
  )
  const respond = app.callback()
  const server = createServer((request, response) => void respond(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const get = (at = path, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(`http://127.0.0.1:${port}${at}`, { method, headers })
  return { logged, get, close: () => server.close() }
}

describe('what goes wrong behind an endpoint', () => {
  const failures: readonly (readonly [Error, number, string | null])[] = [
    [new StoreUnavailable(CANARY), 503, '1'],
    [new AppendOutcomeUnknown(CANARY), 503, '1'],
    [new EventTooLarge(CANARY), 413, null],
    [new ClickHouseUnavailable('busy', CANARY), 503, '1'],
    [new TooManyReads(CANARY), 503, '1'],
    [new ReadTooExpensive('memory'), 502, null],
    [new Failure('conflict', 'Something else is there.'), 409, null],
    [new TypeError(CANARY), 500, null],
    [Object.assign(new Error(CANARY), { status: 418, expose: true }), 500, null],
  ]
  for (const [error, status, retryAfter] of failures)
    it(`is a ${status} with a reason that quotes nothing: ${error.name}`, async () => {
      const service = await serving(() => Promise.reject(error))
      const answer = await service.get()
      const text = await answer.text()
      service.close()
      assert.deepEqual([answer.status, answer.headers.get('retry-after')], [status, retryAfter])
      assert.deepEqual(Object.keys(JSON.parse(text) as object), ['reason'])
      assert.ok(!text.includes(CANARY) && !JSON.stringify(service.logged).includes(CANARY))
      assert.equal(service.logged.length, status === 500 ? 1 : 0)
    })

  it('is logged without its message, also where that looks like a place in the code', async () => {
    const service = await serving(() =>
      Promise.reject(new Error(`one\n    at ${CANARY} (file:///x.ts:1:1)\n`)),
    )
    await service.get()
    service.close()
    const [{ at }] = service.logged as [{ at: readonly string[] }]
    assert.ok(at.length > 0 && !JSON.stringify(service.logged).includes(CANARY))
  })

  it('is a 500 that is logged also when what is thrown is no error', async () => {
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- libraries may throw values that are no Error
    const service = await serving(() => Promise.reject(CANARY))
    const answer = await service.get()
    service.close()
    assert.equal(answer.status, 500)
    assert.deepEqual(
      service.logged.map(({ event, name }) => [event, name]),
      [['request.failed', 'string']],
    )
    assert.ok(!JSON.stringify(service.logged).includes(CANARY))
  })
})

describe('a failure in the format of Anthropic', () => {
  const answered = async (error: Error) => {
    const service = await serving(() => Promise.reject(error), '/v1/messages', 'anthropic')
    const answer = await service.get('/traces/v1/messages', { 'x-request-id': 'req_1' })
    const body = (await answer.json()) as JsonObject
    service.close()
    return { status: answer.status, headers: answer.headers, body }
  }

  const kinds: readonly (readonly [FailureKind, number, string, retryAfter: string | null])[] = [
    ['bad-request', 400, 'invalid_request_error', null],
    ['unauthenticated', 401, 'authentication_error', null],
    ['budget-spent', 402, 'billing_error', null],
    ['forbidden', 403, 'permission_error', null],
    ['not-found', 404, 'not_found_error', null],
    ['conflict', 409, 'invalid_request_error', null],
    ['too-large', 413, 'invalid_request_error', null],
    ['unsupported-type', 415, 'invalid_request_error', null],
    ['rate-limited', 429, 'rate_limit_error', '1'],
    ['upstream-failed', 502, 'api_error', null],
    ['overloaded', 503, 'overloaded_error', '1'],
    ['upstream-too-slow', 504, 'timeout_error', null],
    ['upstream-overloaded', 529, 'overloaded_error', '1'],
  ]
  for (const [kind, status, type, retryAfter] of kinds)
    it(`has status ${status} and type ${type} for ${kind}`, async () => {
      const { headers, ...answer } = await answered(new Failure(kind, 'Why.', { body: { limit: 1 } }))
      const body = { type: 'error', error: { type, message: 'Why.' }, request_id: 'req_1', limit: 1 }
      assert.deepEqual(answer, { status, body })
      assert.deepEqual([headers.get('request-id'), headers.get('x-request-id')], ['req_1', 'req_1'])
      assert.equal(headers.get('retry-after'), retryAfter)
      const isRetryable = status === 429 || status > 500
      assert.equal(headers.get('x-should-retry'), String(isRetryable))
      assert.equal(headers.get('openai-processing-ms'), null)
    })

  it('has status 400 and names the field for what is not valid', async () => {
    const { status, body } = await answered(invalidField(['max_tokens'], 'missing', 'Field required'))
    assert.deepEqual(
      [status, body['error']],
      [400, { type: 'invalid_request_error', message: 'max_tokens: Field required' }],
    )
  })

  it('keeps the type of an upstream if it is one of Anthropic’s', async () => {
    const typeOf = async (type: string) =>
      ((await answered(new Failure('bad-request', 'no', { type }))).body['error'] as JsonObject)['type']
    assert.equal(await typeOf('billing_error'), 'billing_error')
    assert.equal(await typeOf('BadRequestError'), 'invalid_request_error')
  })

  it('is a 500 of type api_error for an unexpected error, and quotes nothing', async () => {
    const { status, body } = await answered(new TypeError(CANARY))
    assert.deepEqual([status, body['error']], [500, { type: 'api_error', message: 'Internal server error' }])
  })
})

describe('a service without pages', () => {
  it('answers 404 to HEAD /', async () => {
    const service = await serving(() => Promise.resolve({ body: {} }))
    const { status } = await service.get('/', {}, 'HEAD')
    service.close()
    assert.equal(status, 404)
  })
})

describe('the log of a failing request', () => {
  it('has the template of its route, never a link, a query or a header', async () => {
    const failing: readonly (() => Promise<RouteResponse>)[] = [
      () => Promise.reject(new Error(CANARY)),
      () => Promise.resolve({ body: Readable.from(brokenOff()), type: 'text/plain' }),
    ]
    for (const handle of failing) {
      const service = await serving(handle, '/api/content/:link')
      const headers = {
        authorization: `Bearer ${CANARY}`,
        referer: `http://${CANARY}`,
        cookie: `a=${CANARY}`,
      }
      for (const prefix of ['', '/traces']) {
        const answer = await service.get(`${prefix}/api/content/${CANARY}~${CANARY}?a=${CANARY}`, headers)
        await answer.text().catch(() => '')
      }
      service.close()
      assert.deepEqual(
        service.logged.map(({ route }) => route),
        ['/api/content/:link', '/api/content/:link'],
      )
      assert.ok(!JSON.stringify(service.logged).includes(CANARY))
    }
  })

  async function* brokenOff(): AsyncGenerator<string> {
    yield 'line\n'
    await Promise.resolve()
    throw new Error(CANARY)
  }
})

describe('a stream that fails', () => {
  async function* failing(after: number): AsyncGenerator<string> {
    for (let i = 0; i < after; i += 1) yield `line ${i}\n`
    await Promise.resolve()
    throw new ReadTooExpensive('time')
  }

  it('before its first piece is answered with the status of what went wrong', async () => {
    const service = await serving(async () => ({
      body: Readable.from(await prefetchFirst(failing(0))),
      type: 'text/plain',
    }))
    const answer = await service.get()
    service.close()
    // 503 on a busy machine: test/unit/api/server/timed-out.test.ts.
    assert.match(String(answer.status), /^50[34]$/)
    assert.match(await answer.text(), /timed out/)
  })

  it('later cuts the connection, so that nobody takes what came for the whole, and is logged', async () => {
    const service = await serving(async () => ({
      body: Readable.from(await prefetchFirst(failing(3))),
      type: 'text/plain',
    }))
    const answer = await service.get()
    assert.equal(answer.status, 200)
    await assert.rejects(answer.text())
    service.close()
    assert.deepEqual(
      service.logged.map(({ event, name, route }) => [event, name, route]),
      [['response.aborted', 'ReadTooExpensive', '/it']],
    )
  })

  it('that is not read to its end is stopped, and not logged', async () => {
    const watched = { stopped: false }
    async function* endless(): AsyncGenerator<string> {
      try {
        while (process.uptime() > 0) {
          yield 'x'.repeat(100_000)
          await new Promise((resolve) => setImmediate(resolve))
        }
      } finally {
        watched.stopped = true
      }
    }
    const service = await serving(async () => ({
      body: Readable.from(await prefetchFirst(endless())),
      type: 'text/plain',
    }))
    const answer = await service.get()
    await answer.body?.cancel()
    while (!watched.stopped) await new Promise((resolve) => setTimeout(resolve, 5))
    service.close()
    assert.deepEqual(service.logged, [])
  })

  it('of nothing is empty', async () => {
    const items: string[] = []
    for await (const item of await prefetchFirst(Readable.from([]))) items.push(String(item))
    assert.deepEqual(items, [])
  })
})
