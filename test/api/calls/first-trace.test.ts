import assert from 'node:assert/strict'
import { startTestService, type TestService } from '../../support/service.js'

describe('the first trace', () => {
  let service: TestService
  before(async () => (service = await startTestService()))
  after(() => service.stop())

  it('needs no set-up, and its usage can be read at once', async () => {
    const start = {
      project_id: 'newcomers/first',
      id: 'call-1',
      op_name: 'answer',
      started_at: '2026-01-01T00:00:00.123456Z',
      attributes: {},
      inputs: { question: 'why?' },
    }
    const end = {
      project_id: 'newcomers/first',
      id: 'call-1',
      ended_at: '2026-01-01T00:00:01Z',
      output: 'because',
      summary: { usage: { 'gpt-4': { requests: 1, prompt_tokens: 3, completion_tokens: 4 } } },
    }
    assert.deepEqual((await service.post('/call/start', { start })).json(), {
      id: 'call-1',
      trace_id: 'call-1',
    })
    assert.deepEqual((await service.post('/traces/call/end', { end })).json(), {})

    const usage = await service.in('newcomers/first').usage.ofTraces()

    assert.deepEqual(usage.json(), {
      call_usage: {
        'call-1': {
          'gpt-4': {
            requests: 1,
            prompt_tokens: 3,
            completion_tokens: 4,
            total_tokens: 7,
            cache_read_input_tokens: 0,
            cache_creation_input_tokens: 0,
            prompt_tokens_total_cost: null,
            completion_tokens_total_cost: null,
            cache_read_input_tokens_total_cost: null,
            cache_creation_input_tokens_total_cost: null,
          },
        },
      },
      unfinished_call_ids: [],
    })
  })
})
