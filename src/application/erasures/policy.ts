import { instantOf } from '../../kernel/codec/instant.js'
import type { Query } from '../../domain/query/query.js'
import type { Cause } from '../../kernel/event.js'
import { selectedCalls } from '../../projections/erasures/selected-calls.js'
import { latestErasures } from './erasures.js'
import { writeErasure, type ErasingPorts } from './job.js'
import { selectionAt } from './selection.js'

type PolicyPorts = Pick<ErasingPorts, 'eventStore' | 'ids' | 'clock' | 'reader' | 'waitUntilProjected'>

interface RetentionChosen {
  readonly project_id: string
  readonly content_days: number
}

const DAY_MS = 86_400_000

/** The days after which the content of each project with a policy is erased. */
const policies = async ({
  eventStore,
}: Pick<PolicyPorts, 'eventStore'>): Promise<ReadonlyMap<string, number>> => {
  const chosen = new Map<string, number>()
  for await (const { data } of eventStore.readBackwards(new Set(['RetentionChosen']))) {
    const { project_id, content_days } = data as unknown as RetentionChosen
    if (!chosen.has(project_id)) chosen.set(project_id, content_days)
  }
  return new Map([...chosen].filter(([, days]) => days > 0))
}

/** Requests an erasure for each project that has content older than its policy, and none under way. */
export const requestByPolicy = async (ports: PolicyPorts): Promise<void> => {
  const { eventStore, ids, clock, reader, waitUntilProjected } = ports
  for (const [project_id, days] of await policies(ports)) {
    const [last] = await latestErasures(ports, project_id, 1)
    if (last !== undefined && last.state !== 'finished') continue
    const now = clock.now()
    const query = contentBefore(new Date(now.getTime() - days * DAY_MS))
    const position = await eventStore.head()
    await waitUntilProjected(position)
    const selection = selectionAt(project_id, { filter: null, query, with_descendants: false }, position)
    if ((await selectedCalls(reader, selection, false).next()).done === true) continue
    const correlationId = ids.next()
    const cause: Cause = { correlationId, causationId: correlationId, actor: 'policy' }
    await writeErasure(ports, {
      type: 'RequestErasure',
      request: {
        ...{ project_id, id: ids.next(), requested_at: instantOf(now), requested_by: 'policy' },
        ...{ reason: `content is kept for ${days} days`, filter: null, with_descendants: false },
        ...{ query, erased: false },
      },
    })(cause)
  }
}

/** Calls that started before and have content. */
const contentBefore = (time: Date): Query => ({
  $expr: {
    $and: [
      { $lt: [{ $getField: 'started_at' }, { $literal: time.toISOString() }] },
      { $not: [{ $convert: { input: { $getField: 'attributes.tallytree.erased' }, to: 'exists' } }] },
    ],
  },
})
