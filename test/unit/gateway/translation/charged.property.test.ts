import assert from 'node:assert/strict'
import fc from 'fast-check'
import { ENDPOINTS } from '../../../../src/gateway/endpoints/all.js'
import { meteredWhole } from '../../../../src/gateway/answer/whole-answer.js'
import { messages } from '../../../../src/gateway/translation/messages.js'
import { responses } from '../../../../src/gateway/translation/responses.js'
import type { JsonObject } from '../../../../src/kernel/json/json.js'
import { wholeOf } from '../../../support/upstreams/behaviours.js'
import { expectedOf } from '../../../support/upstreams/metered.js'
import { arbitraryTokens, USAGE_FORMS } from '../../../support/upstreams/random-usages.js'

const arbitraryUsage = fc
  .record({
    tokens: arbitraryTokens,
    form: fc.constantFrom(...USAGE_FORMS),
    hour: fc.nat(10_000),
    cost: fc.nat(1000),
    service_tier: fc.constantFrom('flex', 'priority', 'default'),
  })
  .map(({ tokens, form, hour, cost, service_tier }): JsonObject => ({
    ...form({ ...tokens, written: tokens.written + hour }),
    cache_creation: { ephemeral_5m_input_tokens: tokens.written, ephemeral_1h_input_tokens: hour },
    ...(cost === 0 ? {} : { cost: cost / 1000 }),
    service_tier,
  }))

describe('a translated answer', () => {
  for (const [api, translation] of Object.entries({ messages, responses }))
    it(`of ${api} is metered as the chat completion of the upstream`, () => {
      const given = { model: 'm' }
      const expected = expectedOf(2, 1e9)
      fc.assert(
        fc.property(arbitraryUsage, (usage) => {
          const completion = wholeOf('m', 'Hi', usage)
          const whole = translation.answer({ given, id: '1', createdAt: 1 }).whole(completion)
          const answer = ENDPOINTS[api as 'messages' | 'responses'].answer({
            ...{ given, publicModel: 'm', expected, room: null, hidesRunningUsage: false },
          })
          assert.deepEqual(answer.whole(whole, '')?.metered, meteredWhole(completion, expected))
        }),
      )
    })
})
