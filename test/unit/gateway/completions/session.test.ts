import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { sessionOf } from '../../../../src/gateway/completions/session.js'
import { id } from '../../../../src/kernel/ids.js'
import { isJsonObject, type JsonObject } from '../../../../src/kernel/json/json.js'
import { arbitraryJson } from '../../../support/arbitrary-json.js'

const sample = (name: string): JsonObject =>
  JSON.parse(readFileSync(`test/samples/gateway/${name}.request.json`, 'utf8')) as JsonObject

const CODEX = sample('08-responses-codex-turn-stream')
const CLAUDE = sample('14-messages-claude-code-turn-stream')
const LONG = 'word '.repeat(2000)

const keyOf = (given: JsonObject, promptTokens = 5000) => sessionOf({}, given, promptTokens).affinityKey
const user = (content: JsonObject[string]): JsonObject => ({ role: 'user', content })

describe('the session of a request', () => {
  it('is the thread of Codex by its headers', () => {
    const headers = { 'session-id': 's-1', 'thread-id': 't-1' }
    assert.deepEqual(sessionOf(headers, CODEX, 10), { threadId: 't-1', affinityKey: '01a2' })
    const { prompt_cache_key: _, ...withoutKey } = CODEX
    assert.deepEqual(sessionOf(headers, withoutKey, 10), { threadId: 't-1', affinityKey: 's-1' })
    assert.equal(sessionOf({ 'session-id': 's-1' }, { input: 'hi' }, 10).threadId, 's-1')
  })

  it('is the thread of Codex by its body when a proxy removed the headers', () => {
    assert.deepEqual(sessionOf({}, CODEX, 10), { threadId: '01a2', affinityKey: '01a2' })
    const client_metadata = { session_id: 's-2' }
    assert.deepEqual(sessionOf({}, { client_metadata }, 10), { threadId: 's-2', affinityKey: 's-2' })
  })

  it('is that of Claude Code, or of a client that sends the header of LiteLLM', () => {
    for (const name of ['x-claude-code-session-id', 'x-litellm-session-id'])
      assert.deepEqual(sessionOf({ [name]: 'c-1' }, CLAUDE, 10), { threadId: 'c-1', affinityKey: 'c-1' })
  })

  it('is no thread when there is only a prompt_cache_key', () => {
    assert.deepEqual(sessionOf({}, { prompt_cache_key: 'app' }, 10), { affinityKey: 'app' })
  })

  it('ignores ids that no call can have', () => {
    for (const invalid of ['', 'a\u0007b', 'x'.repeat(257), ['s'], { id: 's' }, 7, null]) {
      const headers = typeof invalid === 'string' ? { 'thread-id': invalid } : {}
      const given = { prompt_cache_key: invalid, client_metadata: { session_id: invalid } }
      assert.deepEqual(sessionOf(headers, given, 10), {})
    }
    assert.deepEqual(sessionOf({ 'thread-id': 'gr\u00c3\u00bcn' }, {}, 10).threadId, 'grün')
  })
})

describe('the affinity key of a request without a session', () => {
  it('is the same for all turns of a conversation, in each API', () => {
    const turns: readonly (readonly [JsonObject, JsonObject])[] = [
      [
        { model: 'm', messages: [{ role: 'system', content: LONG }, user('hi')] },
        { model: 'm', messages: [{ role: 'system', content: LONG }, user('hi'), user('more')] },
      ],
      [
        { model: 'm', instructions: LONG, input: 'hi' },
        { model: 'm', instructions: LONG, input: [user('hi'), user('more')] },
      ],
      [
        {
          model: 'm',
          system: [{ type: 'text', text: LONG }],
          messages: [user([{ type: 'text', text: 'hi', cache_control: { type: 'ephemeral' } }])],
        },
        { model: 'm', system: LONG, messages: [user('hi'), user([{ type: 'text', text: 'more' }])] },
      ],
    ]
    for (const [first, second] of turns) {
      assert.ok(id.is(keyOf(first)))
      assert.equal(keyOf(second), keyOf(first))
    }
  })

  it('differs by model, system prompt and first message', () => {
    const given = { model: 'm', system: LONG, messages: [user('hi')] }
    const others = [{ model: 'n' }, { system: `${LONG}.` }, { messages: [user('hello')] }]
    const keys = [given, ...others.map((other) => ({ ...given, ...other }))].map((one) => keyOf(one))
    assert.equal(new Set(keys).size, 4)
  })

  it('is absent when the prompt is too short for a cache, or has no message of a user', () => {
    const given = { model: 'm', messages: [user('hi')] }
    assert.equal(keyOf(given, 1023), undefined)
    assert.ok(keyOf(given, 1024))
    assert.equal(keyOf({ model: 'm', messages: [{ role: 'system', content: LONG }] }), undefined)
  })

  it('exists or not whatever the body holds, and is a valid id', () => {
    fc.assert(
      fc.property(arbitraryJson, arbitraryJson, (one, other) => {
        const given = {
          messages: [one, { role: 'user', content: other }],
          system: other,
          client_metadata: one,
        }
        const { affinityKey, threadId } = sessionOf({}, { ...given, ...(isJsonObject(one) ? one : {}) }, 5000)
        for (const key of [affinityKey, threadId]) assert.ok(key === undefined || id.is(key))
      }),
    )
  })
})
