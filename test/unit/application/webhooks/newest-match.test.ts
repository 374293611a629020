import { openInMemoryBlobStore } from '../../../../src/adapters/blobs/in-memory-blob-store.js'
import assert from 'node:assert/strict'
import { openInMemoryEventStore } from '../../../../src/adapters/event-store/in-memory.js'
import { compileRe2 } from '../../../../src/adapters/patterns/re2.js'
import { sha256, systemIds } from '../../../../src/adapters/system/system.js'
import { findNewestMatch } from '../../../../src/application/webhooks/newest-match.js'
import { newEvent } from '../../../../src/kernel/event.js'
import { aliasAdded } from '../../../support/dispatching.js'
import { contentOf, versionOf } from '../../domain/webhooks/automations/matching/given.js'

const DAY = 24 * 3600 * 1000
const START = Date.parse('2026-01-01T00:00:00Z')
const cause = { correlationId: 'test', causationId: 'test', actor: 'ada' }

describe('the search for the newest match', () => {
  /** One alias a day, of one stream, from the start on. */
  const searched = async (aliases: readonly string[], pattern: string, maxMs?: number) => {
    let now = START
    const eventStore = openInMemoryEventStore(() => now)
    for (const [day, alias] of aliases.entries()) {
      now = START + day * DAY
      const event = newEvent(
        systemIds.next(),
        aliasAdded(alias, { team: 'team', project_id: 'team/p' }),
        cause,
      )
      await eventStore.append('artifact-team/p/model', day === 0 ? 'none' : BigInt(day - 1), [event])
    }
    const version = versionOf(contentOf({ type: 'ADD_ARTIFACT_ALIAS', alias_pattern: pattern }))
    const ports = { eventStore, blobs: openInMemoryBlobStore(), sha256, compilePattern: compileRe2 }
    const found = await findNewestMatch(ports, version, new Date(now - 7 * DAY), maxMs)
    if (found.isComplete && found.newest === undefined) assert.equal(found.searchedFrom?.getTime(), START)
    return { alias: found.newest?.event.data['alias'], matches: found.matches, isComplete: found.isComplete }
  }
  const days = (count: number, alias: (day: number) => string) =>
    Array.from({ length: count }, (_, day) => alias(day))

  it('counts a week, and finds an older event if none of the week matches', async () => {
    assert.deepEqual(
      await searched(
        days(30, (day) => `v-${day}`),
        '.',
      ),
      { alias: 'v-29', matches: 8, isComplete: true },
    )
    assert.deepEqual(
      await searched(
        days(600, (day) => (day === 3 ? 'prod' : 'x')),
        'prod',
      ),
      { alias: 'prod', matches: 0, isComplete: true },
    )
  })

  it('is not complete if it ends early, even after the events of the week', async () => {
    const aliases = days(600, (day) => (day === 3 ? 'prod' : 'x'))
    assert.deepEqual(await searched(aliases, 'prod', -1), { alias: undefined, matches: 0, isComplete: false })
    await searched(aliases, 'never')
  })
})
