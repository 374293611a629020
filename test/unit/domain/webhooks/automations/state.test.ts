import assert from 'node:assert/strict'
import { versionAfter, type AutomationVersion } from '../../../../../src/domain/webhooks/automations/state.js'
import type { RecordedEvent } from '../../../../../src/kernel/ports/event-store.js'
import { contentOf, recorded } from './matching/given.js'

const content = contentOf({ type: 'CALL_FAILED' })
const own = { id: 'a', team: 'team' }
const history = (...facts: readonly (readonly [type: string, data?: object])[]) =>
  facts.map(([type, data = {}], place) =>
    recorded(
      'automation-a',
      type,
      { ...own, ...data },
      { position: BigInt(place + 1) * 10n, revision: BigInt(place) },
    ),
  )

const versionsOf = (events: readonly RecordedEvent[]): readonly AutomationVersion[] => {
  const versions: AutomationVersion[] = []
  for (const event of events) {
    const next = versionAfter(versions.at(-1), event)
    if (next !== undefined && next !== versions.at(-1)) versions.push(next)
  }
  return versions
}

describe('the version of an automation', () => {
  it('says what is in force, since when, and since when its conditions stand', () => {
    const changed = { ...content, name: 'b' }
    const versions = versionsOf(
      history(
        ['AutomationCreated', { ...content, enabled: true }],
        ['AutomationDisabled'],
        ['AutomationChanged', { ...changed, resets: false }],
        ['AutomationEnabled'],
        ['AutomationChanged', { ...changed, resets: true }],
        ['Unheard'],
        ['AutomationDeleted'],
      ),
    )
    assert.deepEqual(
      versions.map(({ content, enabled, deleted, since, revision, conditionsSince }) => [
        content.name,
        enabled,
        deleted,
        since,
        revision,
        conditionsSince,
      ]),
      [
        ['a', true, false, 10n, 0n, 10n],
        ['a', false, false, 20n, 0n, 10n],
        ['b', false, false, 30n, 2n, 10n],
        ['b', true, false, 40n, 2n, 10n],
        ['b', true, false, 50n, 4n, 50n],
        ['b', true, true, 70n, 4n, 50n],
      ],
    )
  })

  it('is not changed by what is no automation', () => {
    const [created, odd] = history(
      ['AutomationCreated', { ...content, enabled: true }],
      ['AutomationChanged', { name: 7 }],
    )
    const version = versionAfter(undefined, created!)
    assert.ok(version)
    assert.equal(versionAfter(version, odd!), version)
    assert.equal(versionAfter(undefined, odd!), undefined)
    assert.deepEqual(versionsOf(history(['AutomationEnabled'], ['AutomationDeleted'])), [])
  })
})
