import assert from 'node:assert/strict'
import { parsed } from '../../../../src/gateway/completions/read-answer.js'
import { MAX_DEPTH } from '../../../../src/kernel/json/measure.js'
import { MOST_MEMBERS } from '../../../../src/kernel/json/parse-in-steps.js'

const manyMembers = (count: number) => `{${Array.from({ length: count }, (_, at) => `"k${at}":0`).join(',')}}`
const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

describe('the JSON of an upstream', () => {
  it('keeps half of a pair of surrogates, which the next chunk of a stream may complete', async () => {
    for (const content of ['\\ud83d', `${'long'.repeat(50_000)}\\ud83d`])
      assert.deepEqual(await parsed(`{"content":"${content}"}`), {
        content: content.replace('\\ud83d', '\ud83d'),
      })
  })

  it('is refused when an object has too many members, or lists are nested too deeply', async () => {
    assert.notEqual(await parsed(manyMembers(MOST_MEMBERS)), undefined)
    assert.equal(await parsed(manyMembers(MOST_MEMBERS + 1)), undefined)
    assert.notEqual(await parsed(deep(MAX_DEPTH)), undefined)
    assert.equal(await parsed(deep(MAX_DEPTH + 1)), undefined)
  })
})
