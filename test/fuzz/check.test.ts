import assert from 'node:assert/strict'
import type { Json } from '../../src/domain/json/json.js'
import type { Operation } from '../support/described/description.js'
import type { Ask, Kind } from './ask.js'
import { faultOf } from './check.js'

const operation: Operation = {
  operationId: 'one',
  parameters: [],
  responses: {},
  method: 'POST',
  template: '/one',
  body: undefined,
  isOpen: false,
}

const check = faultOf(() => undefined, '"well known word"')

const given = (kind: Kind, said: Json, status: number, text = '{}', headers = {}) => {
  const ask: Ask = { kind, operation, method: 'POST', path: '/one', headers: {}, body: undefined, said }
  return check(ask, { status, headers: { 'x-request-id': 'r', ...headers }, text })
}

const detail = (loc: readonly string[], msg: string): string =>
  JSON.stringify({ detail: [{ loc: ['body', ...loc], msg, type: 'value_error' }] })

describe('what the fuzz calls a fault', () => {
  it('is an answer of 500 and above', () => assert.notEqual(given('valid', {}, 503), undefined))

  it('is an answer without the name of its request', () =>
    assert.notEqual(given('valid', {}, 200, '{}', { 'x-request-id': undefined }), undefined))

  it('is anything but a 401 without a valid key', () => {
    assert.notEqual(given('key', {}, 422, detail([], '')), undefined)
    assert.equal(given('key', {}, 401), undefined)
  })

  it('is an answer to somebody from outside the project', () => {
    for (const said of [{ project_id: 'a/b' }, { batch: [{ req: { start: { project_id: 'a/b' } } }] }])
      assert.notEqual(given('outsider', said, 200), undefined)
    assert.equal(given('outsider', { project_id: 'a/b' }, 404), undefined)
    assert.equal(given('outsider', { name: 'x' }, 200), undefined)
  })

  it('is a refusal that quotes a value, but not one that names a key', () => {
    const said = { project_id: 'a value of ours', 'a key of ours': 'well known word' }
    assert.notEqual(given('spoilt', said, 422, detail([], 'is "a value of ours"')), undefined)
    assert.notEqual(given('spoilt', said, 422, detail(['a value of ours'], '')), undefined)
    assert.equal(given('spoilt', said, 422, detail(['a key of ours'], 'not a well known word')), undefined)
  })
})
