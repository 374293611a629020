import assert from 'node:assert/strict'
import { unpricedMembersOf } from '../../../../src/domain/calls/usage/unpriced-members.js'
import { summaryUsage, UsageReports, type ReportedTokens } from '../../../../src/gateway/answer/usage.js'
import type { JsonObject } from '../../../../src/kernel/json/json.js'
import { expectedOf } from '../../../support/upstreams/metered.js'

const meteredOf = (answer: JsonObject, reported: ReportedTokens) => {
  const reports = new UsageReports(expectedOf(8, 1000), reported)
  reports.take(answer, [])
  const { metering, usage } = reports.metered(40)
  assert.ok(usage)
  const { prompt_tokens, completion_tokens, total_tokens, web_search_requests } = usage
  assert.equal(total_tokens, prompt_tokens + completion_tokens)
  return [metering, prompt_tokens, completion_tokens, web_search_requests]
}

describe('what no figure of a report has', () => {
  it('is in the summary of the call, where its price says that it was not charged', () => {
    const reports = new UsageReports(expectedOf(8))
    const usage = {
      ...{ input_tokens: 10, output_tokens: 5, inference_geo: 'us', service_tier: 'standard', speed: 'fast' },
      server_tool_use: { web_search_requests: 2, code_execution_requests: 1, web_fetch_requests: 3 },
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    }
    reports.take({ type: 'message', usage }, [])
    const { usage: entries } = summaryUsage('m', reports.metered(40).usage) as { usage: { m: JsonObject } }
    const { service_tier, inference_geo, server_tool_use } = entries.m
    assert.deepEqual([service_tier, inference_geo], ['fast', 'us'])
    assert.deepEqual(server_tool_use, { web_search_requests: 2, code_execution_requests: 1 })
    assert.deepEqual(unpricedMembersOf(entries.m).toSorted(), [
      'inference_geo',
      'server_tool_use.code_execution_requests',
      'server_tool_use.web_search_requests',
      'service_tier',
    ])
  })
})

describe('the usage of an answer without a completion', () => {
  const cases: readonly (readonly [string, ReportedTokens, JsonObject, readonly unknown[]])[] = [
    ['of embeddings', 'prompt', { usage: { prompt_tokens: 4, total_tokens: 4 } }, ['reported', 4, 0, 0]],
    ['of a total alone', 'prompt', { usage: { total_tokens: 4 } }, ['reported', 4, 0, 0]],
    ['without a report', 'prompt', { data: [] }, ['estimated', 8, 0, 0]],
    ['of a report of 0', 'prompt', { usage: { prompt_tokens: 0, total_tokens: 0 } }, ['estimated', 8, 0, 0]],
    ['of absurd figures', 'prompt', { usage: { prompt_tokens: 1e15 } }, ['estimated', 8, 0, 0]],
    ['of moderations', 'optional', { results: [] }, ['reported', 0, 0, 0]],
    ['of search units', 'optional', { meta: { billed_units: { search_units: 2 } } }, ['reported', 0, 0, 2]],
    ['of tokens that were searched', 'optional', { usage: { total_tokens: 56 } }, ['reported', 56, 0, 0]],
    ['of billed tokens', 'prompt', { meta: { billed_units: { input_tokens: 5 } } }, ['reported', 5, 0, 0]],
  ]
  for (const [title, reported, answer, figures] of cases)
    it(`is ${figures.join(' ')} ${title}`, () => {
      assert.deepEqual(meteredOf(answer, reported), figures)
    })
})
