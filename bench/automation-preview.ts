import { openInMemoryBlobStore } from '../src/adapters/blobs/in-memory-blob-store.js'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { openSqliteEventStore } from '../src/adapters/event-store/sqlite/sqlite-event-store.js'
import { compileRe2 } from '../src/adapters/patterns/re2.js'
import { sha256, systemIds } from '../src/adapters/system/system.js'
import { findNewestMatch } from '../src/application/webhooks/newest-match.js'
import { automationContent } from '../src/domain/webhooks/automations/events.js'
import type { DomainEvent } from '../src/kernel/decider.js'
import { newEvent } from '../src/kernel/event.js'
import { ratio } from './support/report.js'

/** How long does the preview of an automation search a log of calls, one event in a hundred an alias? */

const EVENTS = Number(process.env['EVENTS'] ?? 1_000_000)
const CALLS = 99
const AT_ONCE = 20
const GOAL_MS = 300

const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-'))
const eventStore = openSqliteEventStore(join(directory, 'events.db'))
const cause = { correlationId: 'bench', causationId: 'bench', actor: 'ada' }
const append = (stream: string, events: readonly DomainEvent[]) =>
  eventStore.append(
    stream,
    'none',
    events.map((event) => newEvent(systemIds.next(), event, cause)),
  )
const call = (id: string, place: number): DomainEvent => ({
  type: place % 2 === 0 ? 'CallStarted' : 'CallEnded',
  data: { project_id: 'acme/p', id, usage: {}, payload: 'x'.repeat(600) },
})
const alias = (collection: string): DomainEvent => ({
  type: 'AliasAdded',
  data: { team: 'acme', project_id: 'acme/p', registry: null, collection, version: 0, alias: 'staging' },
})
for (let written = 0; written < EVENTS; written += AT_ONCE * (CALLS + 1))
  await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, n) => {
      const id = `${written}-${n}`
      await append(
        `call-acme/p/${id}`,
        Array.from({ length: CALLS }, (_, place) => call(id, place)),
      )
      await append(`artifact-acme/p/${id}`, [alias(id)])
    }),
  )

const searchMs = async (event: object): Promise<number> => {
  const scope = { type: 'project', entity: 'acme', project: 'p' }
  const decoded = automationContent.decode({ name: 'a', webhook: 'w', payload: '{}', scope, event })
  if (E.isLeft(decoded)) throw new Error('the automation is not valid')
  const version = { id: 'a', team: 'acme', content: decoded.right, enabled: true, deleted: false }
  const always = { since: 0n, revision: 0n, conditionsSince: 0n }
  const began = performance.now()
  const week = new Date(Date.now() - 7 * 24 * 3600 * 1000)
  await findNewestMatch(
    { eventStore, blobs: openInMemoryBlobStore(), sha256, compilePattern: compileRe2 },
    { ...version, ...always },
    week,
  )
  return performance.now() - began
}
for (const [what, event] of [
  ['every alias matches', { type: 'ADD_ARTIFACT_ALIAS', alias_pattern: 'staging' }],
  ['no alias matches', { type: 'ADD_ARTIFACT_ALIAS', alias_pattern: 'production' }],
  ['no call failed', { type: 'CALL_FAILED' }],
  ['no such event', { type: 'RUN_STATE', states: ['FINISHED'] }],
] as const) {
  const times: number[] = []
  for (let round = 0; round < 5; round += 1) times.push(await searchMs(event))
  const worst = Math.max(...times)
  ratio(
    `preview of an automation, ${what}, in ms`,
    worst,
    `< ${GOAL_MS}`,
    worst < GOAL_MS,
    `worst of 5, ${EVENTS} events`,
  )
}
await eventStore.close()
await rm(directory, { recursive: true, force: true })
