import assert from 'node:assert/strict'
import * as E from 'fp-ts/lib/Either.js'
import { exactTiers, offeredTiers } from '../../../../src/domain/prices/offered-tiers.js'
import { tierOf } from '../../../../src/domain/prices/tiers.js'
import { decode } from '../../../../src/kernel/codec/codec.js'

const BASE = {
  prompt_token_cost: 0.000003,
  completion_token_cost: 0.000015,
  cache_read_input_token_cost: 0.0000003,
  cache_creation_input_token_cost: 0.00000375,
  cache_creation_1h_input_token_cost: 0.000006,
}
const LONG = { above_prompt_tokens: 200_000, prompt_token_cost: 0.000006, completion_token_cost: 0.0000225 }
const BATCH = { service_tier: 'batch', factor: 0.5 }

const exact = (...tiers: readonly object[]) => {
  const decoded = decode(offeredTiers)(tiers)
  assert.ok(E.isRight(decoded), JSON.stringify(decoded))
  return exactTiers(BASE, decoded.right)
}
const costs = (
  tiers: ReturnType<typeof exact>,
  above: number,
  tier: 'batch' | 'flex' | 'priority' | null,
) => {
  const found = tierOf(tiers, { above, tier })
  return found && [found.prompt_token_cost, found.completion_token_cost, found.cache_read_input_token_cost]
}

describe('the tiers of a price', () => {
  it('charge a long prompt, a tier of service, and both', () => {
    const tiers = exact(BATCH, LONG)
    assert.equal(costs(tiers, 0, null), undefined)
    assert.equal(costs(tiers, 128_000, null), undefined)
    assert.deepEqual(costs(tiers, 200_000, null), ['0.000006', '0.0000225', '0.000006'])
    assert.deepEqual(costs(tiers, 512_000, null), ['0.000006', '0.0000225', '0.000006'])
    assert.deepEqual(costs(tiers, 128_000, 'batch'), ['0.0000015', '0.0000075', '0.00000015'])
    assert.deepEqual(costs(tiers, 256_000, 'batch'), ['0.000003', '0.00001125', '0.000003'])
  })

  it('charge a tier of service that the price does not know as a standard request of its size', () => {
    const tiers = exact(BATCH, LONG)
    assert.equal(costs(tiers, 0, 'flex'), undefined)
    assert.deepEqual(costs(tiers, 200_000, 'flex'), costs(tiers, 200_000, null))
  })

  it('are a factor of what applies at their size unless they have costs of their own', () => {
    const own = { ...BATCH, factor: null, prompt_token_cost: 0.000001, completion_token_cost: 0.000002 }
    assert.deepEqual(costs(exact(LONG, own), 200_000, 'batch'), ['0.000001', '0.000002', '0.000001'])
    const long = { above_prompt_tokens: 200_000, factor: 2 }
    const tiers = exact(long, BATCH, { service_tier: 'priority', above_prompt_tokens: 200_000, factor: 3 })
    assert.deepEqual(costs(tiers, 200_000, null), ['0.000006', '0.00003', '0.0000006'])
    assert.deepEqual(costs(tiers, 200_000, 'batch'), ['0.000003', '0.000015', '0.0000003'])
    assert.deepEqual(costs(tiers, 200_000, 'priority'), ['0.000018', '0.00009', '0.0000018'])
    assert.equal(costs(tiers, 128_000, 'priority'), undefined)
  })

  it('scale the costs of audio, and keep the cost of a search', () => {
    const base = { ...BASE, prompt_audio_token_cost: 0.00001, web_search_cost: 0.01 }
    const decoded = decode(offeredTiers)([BATCH, { ...LONG, completion_audio_token_cost: '0.00005' }])
    assert.ok(E.isRight(decoded))
    const tiers = exactTiers(base, decoded.right)
    const extras = (above: number, tier: 'batch' | null) => {
      const found = tierOf(tiers, { above, tier })!
      return [found.prompt_audio_token_cost, found.completion_audio_token_cost, found.web_search_cost]
    }
    assert.deepEqual(extras(0, 'batch'), ['0.000005', undefined, '0.01'])
    assert.deepEqual(extras(200_000, null), [undefined, '0.00005', '0.01'])
    assert.deepEqual(extras(200_000, 'batch'), [undefined, '0.000025', '0.01'])
  })

  it('are the same when they are offered as they are answered', () => {
    const tiers = exact(BATCH, LONG)
    assert.deepEqual(exact(...tiers), tiers)
  })

  for (const [what, tiers] of [
    ['neither a size nor a tier of service', [{ factor: 2 }]],
    ['neither a factor nor costs', [{ service_tier: 'batch' }]],
    ['half of its costs', [{ service_tier: 'batch', prompt_token_cost: 1 }]],
    ['a factor and costs', [{ ...BATCH, cache_read_input_token_cost: 1 }]],
    ['a size that usage is not told apart by', [{ above_prompt_tokens: 100_000, factor: 2 }]],
    ['an unknown tier of service', [{ service_tier: 'express', factor: 2 }]],
    ['the same place as another', [BATCH, { ...BATCH, factor: 0.4 }]],
    ['an unknown member', [{ ...BATCH, discount: 1 }]],
  ] as const)
    it(`are refused with ${what}`, () => assert.ok(E.isLeft(decode(offeredTiers)(tiers))))
})
