import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { usageJson } from '../../../../src/application/calls/usage-json.js'

describe('the answer of usage', () => {
  const answerOf = async (unfinishedCount: number) => {
    const answer = { calls: [], unfinishedIds: new Set(['é', 'b', 'a']), unfinishedCount, unpricedModels: [] }
    return JSON.parse(await text(Readable.from(usageJson(answer)))) as unknown
  }

  it('names unfinished calls in the order of their bytes', async () => {
    assert.deepEqual(await answerOf(3), { call_usage: {}, unfinished_call_ids: ['a', 'b', 'é'] })
  })

  it('counts them where it does not name all', async () => {
    assert.deepEqual(await answerOf(4), {
      call_usage: {},
      unfinished_call_ids: ['a', 'b', 'é'],
      unfinished_count: 4,
    })
  })
})
