import { nothing, refused, type Decider, type Decision, type Refusal } from '../../../kernel/decider.js'
import { jsonEqual } from '../../../kernel/json/equal.js'
import type { ChangeUpstream, CreateUpstream, UpstreamCommand } from './commands.js'
import { evolve, noUpstreams, type Upstream, type Upstreams } from './directory.js'
import type { UpstreamEvent } from './events.js'
import { nameConflict } from './checks.js'

type Decided = Decision<UpstreamEvent>

const decide = (upstreams: Upstreams, command: UpstreamCommand): Decided => {
  switch (command.type) {
    case 'CreateUpstream':
      return create(upstreams, command)
    case 'ChangeUpstream':
      return change(upstreams, command)
    case 'DeleteUpstream': {
      const { id, team } = command
      const known = upstreams.get(id)
      if (known === undefined || known.team !== team) return { events: [], refused: noSuchUpstream }
      if (known.isConfigured === true) return refused('conflict', CONFIGURED)
      return { events: [{ type: 'UpstreamDeleted', data: { id, team } }] }
    }
    default:
      return command satisfies never
  }
}

const create = (upstreams: Upstreams, { id, team, content }: CreateUpstream): Decided => {
  const known = upstreams.get(id)
  if (known?.team === team && jsonEqual(known.content, content)) return nothing
  if (known !== undefined)
    return refused('conflict', 'The Idempotency-Key was already used for another upstream. Use a new key.')
  const conflict = nameConflict(upstreams, { id, team, content })
  if (conflict !== undefined) return refused('conflict', conflict)
  return { events: [{ type: 'UpstreamCreated', data: { id, team, ...content } }] }
}

const change = (upstreams: Upstreams, { id, team, change: fields }: ChangeUpstream): Decided => {
  const known = upstreams.get(id)
  if (known === undefined || known.team !== team) return { events: [], refused: noSuchUpstream }
  if (known.isConfigured === true) return refused('conflict', CONFIGURED)
  const content = { ...known.content, ...fields }
  if (jsonEqual(known.content, content)) return nothing
  const conflict = nameConflict(upstreams, { id, team, content })
  if (conflict !== undefined) return refused('conflict', conflict)
  return { events: [{ type: 'UpstreamChanged', data: { id, team, ...content } }] }
}

const CONFIGURED = "The upstream is defined in the operator's file. Change it there."

export const noSuchUpstream: Refusal = {
  kind: 'not-found',
  reason: 'Upstream not found, or the API key has no access to its team.',
}

/** Names in the operator's file take precedence. */
export const upstreamDecider = (
  configured: Upstreams = noUpstreams,
): Decider<Map<string, Upstream>, UpstreamCommand, UpstreamEvent> => ({
  initialState: () => new Map(configured),
  evolve,
  decide,
})
