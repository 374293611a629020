import assert from 'node:assert/strict'
import type { SendOptions } from '../../support/client.js'
import { MESSAGES } from '../../support/upstreams/gateway.js'
import { sharedService, someProject } from '../shared-service.js'

describe('failures in the format of Anthropic', () => {
  const failed = async (
    method: string,
    path: string,
    status: number,
    { body, ...more }: SendOptions & { readonly body?: unknown } = {},
  ) => {
    const service = await sharedService()
    const answer = await service.send(method, path, body, more)
    assert.equal(answer.status, status, answer.text)
    const { type, error, request_id } = answer.json<{
      type: string
      error: { type: string }
      request_id: string
    }>()
    assert.equal(type, 'error')
    assert.deepEqual(
      [answer.headers.get('request-id'), answer.headers.get('x-request-id')],
      [request_id, request_id],
    )
    assert.equal(answer.headers.get('x-should-retry'), 'false')
    return error.type
  }
  const headers = { 'anthropic-version': '2023-06-01' }

  it('have it at /v1/messages', async () => {
    const asked = { model: 'none', max_tokens: 9, messages: MESSAGES }
    const failures: readonly (readonly [number, string, SendOptions & { readonly body?: unknown }])[] = [
      [401, 'authentication_error', { body: asked, key: 'wrong' }],
      [401, 'authentication_error', { body: asked, headers: { 'x-api-key': 'other' } }],
      [404, 'not_found_error', { body: asked, headers: { 'openai-project': someProject() } }],
      [400, 'invalid_request_error', { body: '{' }],
      [400, 'invalid_request_error', { body: {} }],
      [400, 'invalid_request_error', { body: '[]' }],
      [413, 'invalid_request_error', { body: `{"x":"${'x'.repeat(33 * 1024 * 1024)}"}` }],
      [415, 'invalid_request_error', { body: asked, headers: { 'content-encoding': 'zstd' } }],
    ]
    for (const [status, type, options] of failures)
      assert.equal(await failed('POST', '/v1/messages', status, options), type)
    assert.equal(await failed('GET', '/v1/messages', 405), 'invalid_request_error')
  })

  it('have it below /v1/messages', async () => {
    for (const path of ['/v1/messages/nothing', '/traces/v1/messages/nothing'])
      assert.equal(await failed('POST', path, 404), 'not_found_error')
  })

  it('have it for models if the request names a version of Anthropic’s API', async () => {
    assert.equal(await failed('GET', '/v1/models', 401, { headers, key: 'wrong' }), 'authentication_error')
    assert.equal(await failed('GET', '/v1/models/none', 404, { headers }), 'not_found_error')
    assert.equal(await failed('POST', '/v1/models', 405, { headers }), 'invalid_request_error')
    for (const [path, options] of [
      ['/v1/models/none', {}],
      ['/v1/nothing', { headers }],
    ] as const) {
      const answer = await (await sharedService()).send('GET', path, undefined, options)
      assert.deepEqual([answer.status, Object.keys(answer.json())], [404, ['error', 'detail']])
    }
  })
})
