import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { assertNoneRefused, startSdkService, type SdkService } from '../../e2e/sdk-service.js'

const PROJECT = 'team/feedback'

interface Given extends JsonObject {
  readonly id: string
  readonly created_at: string
}

interface Told {
  readonly refs: readonly string[]
  readonly given: readonly Given[]
  readonly result: readonly Given[]
  readonly onFirst: { readonly result: readonly JsonObject[] }
  readonly replaced: Given
  readonly afterReplace: { readonly result: readonly Given[] }
  readonly purged: JsonObject
  readonly left: { readonly result: readonly Given[] }
}

/** With what the service adds to an emoji. */
const REACTION = {
  emoji: '\ud83d\udc4d',
  alias: ':thumbs_up:',
  detoned: '\ud83d\udc4d',
  detoned_alias: ':thumbs_up:',
}

describe('feedback given with the SDK of npm', () => {
  let sdk: SdkService
  let told: Told
  before(async () => {
    sdk = await startSdkService()
    told = await sdk.told('givingFeedback', PROJECT)
  })
  after(() => sdk.stop())

  it('is acknowledged with an id, a time and who gave it', () => {
    for (const given of told.given) {
      assert.deepEqual(Object.keys(given).sort(), ['created_at', 'id', 'payload', 'wb_user_id'])
      assert.equal(given['wb_user_id'], 'admin')
      assert.ok(Math.abs(Date.parse(given.created_at) - Date.now()) < 60_000)
    }
    assert.equal(new Set(told.given.map(({ id }) => id)).size, 3)
  })

  it('is read back as it was given', () => {
    assert.deepEqual(
      told.result.map(({ id, weave_ref, feedback_type, payload, creator }) => [
        id,
        weave_ref,
        feedback_type,
        payload,
        creator,
      ]),
      [
        [told.given[0]!.id, told.refs[0], 'wandb.reaction.1', REACTION, null],
        [told.given[1]!.id, told.refs[0], 'wandb.note.1', { note: 'well said' }, 'ada'],
        [told.given[2]!.id, told.refs[1], 'custom', { deep: { value: [1, null, 'ü'] } }, null],
      ],
    )
  })

  it('is read field by field and page by page', () => {
    const { result } = told.onFirst
    assert.equal(result.length, 1)
    assert.ok(told.given.slice(0, 2).some(({ id }) => id === result[0]!['id']))
    assert.deepEqual(Object.keys(result[0]!).sort(), ['id', 'payload.note'])
  })

  it('is replaced in its place', () => {
    const [note, ...more] = told.afterReplace.result
    assert.deepEqual(more, [])
    assert.deepEqual([note!['payload'], note!['weave_ref']], [{ note: 'said better' }, told.refs[0]])
    assert.equal(note!.id, told.replaced.id)
  })

  it('is gone when it was purged, and nothing else is', () => {
    assert.deepEqual(told.purged, {})
    assert.deepEqual(
      told.left.result.map(({ id }) => id).sort(),
      [told.replaced.id, told.given[2]!.id].sort(),
    )
  })

  it('had no request refused for good', () => assertNoneRefused(sdk.proxy))
})
