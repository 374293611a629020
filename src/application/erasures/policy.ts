import { instantOf } from '../../kernel/codec/instant.js'
import { exceptionsOf, figuresDaysOf, type RetentionChosen } from '../../domain/projects/project.js'
import type { Query } from '../../domain/query/query.js'
import type { Cause } from '../../kernel/event.js'
import { selectedCalls } from '../../projections/erasures/selected-calls.js'
import { latestErasures } from './erasures.js'
import { writeErasure, type ErasingPorts } from './job.js'
import { selectionAt, type ErasureSelection } from './selection.js'

type PolicyPorts = Pick<ErasingPorts, 'eventStore' | 'ids' | 'clock' | 'reader' | 'waitUntilProjected'>

type Policy = Omit<RetentionChosen, 'project_id'>

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
  return chosen
}

interface Due {
  readonly figures: boolean
  readonly reason: string
  readonly selection: ErasureSelection
}

/** What a policy erases at a time: calls with their figures, then the content of younger ones. */
const dueAt = (now: Date, policy: Policy): readonly Due[] => {
  const { content_days } = policy
  const [except, figuresDays] = [exceptionsOf(policy), figuresDaysOf(policy)]
  const before = (days: number) => new Date(now.getTime() - days * DAY_MS)
  const all = { filter: null, with_descendants: false }
  const ofFigures = {
    ...{ figures: true, reason: `calls are kept for ${figuresDays} days` },
    selection: { ...all, query: startedBetween(null, before(figuresDays)), except },
  }
  const from = figuresDays > 0 ? before(figuresDays) : null
  const query = startedBetween(from, before(content_days))
  const ofContent = {
    ...{ figures: false, reason: `content is kept for ${content_days} days` },
    selection: { ...all, query, except: ['erased' as const, ...except] },
  }
  return [...(figuresDays > 0 ? [ofFigures] : []), ...(content_days > 0 ? [ofContent] : [])]
}

/** Requests erasures for each project that has calls older than its policy, and none under way. */
export const requestByPolicy = async (ports: PolicyPorts): Promise<void> => {
  const { eventStore, ids, clock, reader, waitUntilProjected } = ports
  for (const [project_id, policy] of await policies(ports)) {
    const now = clock.now()
    const due = dueAt(now, policy)
    if (due.length === 0) continue
    const [last] = await latestErasures(ports, project_id, 1)
    if (last !== undefined && last.state !== 'finished') continue
    const position = await eventStore.head()
    await waitUntilProjected(position)
    for (const { figures, reason, selection } of due) {
      const selected = selectedCalls(reader, selectionAt(project_id, selection, position), {
        ...selection,
        figures,
      })
      if ((await selected.next()).done === true) continue
      const correlationId = ids.next()
      const cause: Cause = { correlationId, causationId: correlationId, actor: 'policy' }
      await writeErasure(ports, {
        type: 'RequestErasure',
        request: {
          ...{ project_id, id: ids.next(), requested_at: instantOf(now), requested_by: 'policy' },
          ...{ ...selection, reason, whole_project: false, erased: false, figures },
        },
      })(cause)
    }
  }
}

const startedBetween = (from: Date | null, to: Date): Query => {
  const started = { $getField: 'started_at' }
  const isBefore = { $lt: [started, { $literal: to.toISOString() }] } as const
  if (from === null) return { $expr: isBefore }
  return { $expr: { $and: [isBefore, { $gte: [started, { $literal: from.toISOString() }] }] } }
}
