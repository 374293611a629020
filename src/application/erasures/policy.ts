import { instantOf } from '../../kernel/codec/instant.js'
import type { RetentionChosen } from '../../domain/projects/project.js'
import type { Query } from '../../domain/query/query.js'
import type { Cause } from '../../kernel/event.js'
import { selectedCalls } from '../../projections/erasures/selected-calls.js'
import { latestErasures } from './erasures.js'
import { writeErasure, type ErasingPorts } from './job.js'
import { selectionAt, type ErasureSelection } from './selection.js'

type PolicyPorts = Pick<ErasingPorts, 'eventStore' | 'ids' | 'clock' | 'reader' | 'waitUntilProjected'>

type Policy = Pick<RetentionChosen, 'content_days' | 'except'>

const DAY_MS = 86_400_000

/** What is erased of each project with a policy. A deleted project has none. */
const policies = async ({
  eventStore,
}: Pick<PolicyPorts, 'eventStore'>): Promise<ReadonlyMap<string, Policy>> => {
  const chosen = new Map<string, Policy>()
  for await (const { data } of eventStore.readBackwards(new Set(['RetentionChosen', 'ProjectDeleted']))) {
    const { project_id, content_days = 0, ...more } = data as unknown as Partial<RetentionChosen>
    if (project_id !== undefined && !chosen.has(project_id))
      chosen.set(project_id, { content_days, ...more } as Policy)
  }
  return new Map([...chosen].filter(([, { content_days }]) => content_days > 0))
}

/** Requests an erasure for each project that has content older than its policy, and none under way. */
export const requestByPolicy = async (ports: PolicyPorts): Promise<void> => {
  const { eventStore, ids, clock, reader, waitUntilProjected } = ports
  for (const [project_id, policy] of await policies(ports)) {
    const [last] = await latestErasures(ports, project_id, 1)
    if (last !== undefined && last.state !== 'finished') continue
    const now = clock.now()
    const days = policy.content_days
    const selected: ErasureSelection = {
      ...{ filter: null, query: startedBefore(new Date(now.getTime() - days * DAY_MS)) },
      ...{ with_descendants: false, except: ['erased', ...policy.except] },
    }
    const position = await eventStore.head()
    await waitUntilProjected(position)
    const selection = selectionAt(project_id, selected, position)
    if ((await selectedCalls(reader, selection, selected).next()).done === true) continue
    const correlationId = ids.next()
    const cause: Cause = { correlationId, causationId: correlationId, actor: 'policy' }
    await writeErasure(ports, {
      type: 'RequestErasure',
      request: {
        ...{ project_id, id: ids.next(), requested_at: instantOf(now), requested_by: 'policy' },
        ...{ reason: `content is kept for ${days} days`, whole_project: false, erased: false, ...selected },
      },
    })(cause)
  }
}

const startedBefore = (time: Date): Query => ({
  $expr: { $lt: [{ $getField: 'started_at' }, { $literal: time.toISOString() }] },
})
