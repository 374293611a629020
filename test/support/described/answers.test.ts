import assert from 'node:assert/strict'
import { judgeBy, type Answer } from './answers.js'
import { operationsOf, type Description } from './description.js'

const thing = {
  type: 'object',
  properties: { id: { type: 'string', maxLength: 5 }, at: { type: 'string', format: 'date-time' } },
  required: ['id'],
}
const ref = { $ref: '#/components/schemas/Thing' }
const headers = {
  'x-request-id': { required: true, schema: { type: 'string' } },
  'Tallytree-Position': { schema: { type: 'integer', minimum: 0 } },
}
const lines = { type: 'string', contentMediaType: 'application/jsonl', contentSchema: ref }

const description = {
  paths: {
    '/a/{b}': {
      post: {
        operationId: 'one',
        parameters: [],
        responses: {
          200: { headers, content: { 'application/json': { schema: ref } } },
          404: { headers, content: { 'application/jsonl': { schema: lines } } },
        },
      },
    },
  },
  components: { schemas: { Thing: thing } },
} as unknown as Description

const judge = judgeBy(description)
const [operation] = operationsOf(description)

const given = (text: string, more: object = {}, status = 200, type = 'application/json; charset=utf-8') => {
  const answer: Answer = { status, headers: { 'content-type': type, 'x-request-id': 'r', ...more }, text }
  return judge(operation!, answer)
}

describe('the judge of answers', () => {
  it('finds nothing wrong with what is as described', () => {
    assert.equal(
      given('{"id":"i","at":"2026-01-01T00:00:00.123456Z"}', { 'tallytree-position': '7' }),
      undefined,
    )
    assert.equal(given('{"id":"i"}\n{"id":"j"}\n', {}, 404, 'application/jsonl'), undefined)
  })

  const wrong: readonly (readonly [string, string | undefined])[] = [
    ['a status', given('{"id":"i"}', {}, 409)],
    ['a content type', given('{"id":"i"}', {}, 200, 'text/plain')],
    ['a key too many', given('{"id":"i","more":1}')],
    ['a key too few', given('{}')],
    ['a value of another type', given('{"id":1}')],
    ['a value too long', given('{"id":"longer"}')],
    ['a format', given('{"id":"i","at":"yesterday"}')],
    ['a missing header', given('{"id":"i"}', { 'x-request-id': undefined })],
    ['a header of another type', given('{"id":"i"}', { 'tallytree-position': 'x' })],
    ['a header that is not described', given('{"id":"i"}', { 'tallytree-more': '1' })],
    ['a line among lines', given('{"id":"i"}\n{"id":1}\n', {}, 404, 'application/jsonl')],
  ]
  for (const [what, problem] of wrong) it(`finds ${what}`, () => assert.notEqual(problem, undefined))
})
