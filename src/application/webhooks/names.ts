import type { Cause } from '../../kernel/event.js'
import type { Decider, DomainEvent } from '../../kernel/decider.js'
import { execute } from '../../kernel/execute.js'
import { ownerOf, namesDecider, namesStream, type NamedKind } from '../../domain/webhooks/names/names.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { Failure } from '../failure.js'
import { automationById, rosterOf, webhookById } from './current-state.js'

type Streams = Pick<Ports, 'eventStore' | 'ids'>

export interface NameReservation {
  readonly team: string
  readonly kind: NamedKind
  readonly name: string
  readonly id: string
}

/**
 * Reserves a name for a new or renamed webhook or automation. A reservation whose holder was never created or has
 * another name now is stale and is taken over.
 *
 * @throws Failure, a conflict with the id of the holder
 */
export const takeName = async (ports: Streams, named: NameReservation, cause: Cause): Promise<void> => {
  const { kind, name, id } = named
  const run = (to: string, from: string | null) =>
    execute(ports)(
      namesDecider,
      namesStream(named.team),
      [{ type: 'TakeName', ...named, id: to, from }],
      cause,
    )
  const { state, refusals } = await run(id, null)
  if (refusals.size === 0) return
  const holder = ownerOf(state, kind, name)
  if (holder === undefined) return takeName(ports, named, cause)
  if ((await nameNow(ports, kind, holder)) === name) throw nameTaken(kind, holder)

  const second = await run(id, holder)
  if (second.refusals.size > 0) throw nameTaken(kind, ownerOf(second.state, kind, name) ?? holder)
  // The previous holder may have been created meanwhile by another process.
  if ((await nameNow(ports, kind, holder)) !== name) return
  await run(holder, id)
  throw nameTaken(kind, holder)
}

/** Refuses a creation whose name another process has taken over meanwhile, after `unmake` has undone it. */
export const confirmName = async (
  ports: Streams,
  { team, kind, name, id }: NameReservation,
  cause: Cause,
  unmake: () => Promise<unknown>,
): Promise<void> => {
  const holder = ownerOf(await rosterOf(ports, team), kind, name)
  if (holder === id) return
  await unmake()
  throw nameTaken(kind, holder ?? id)
}

export const releaseName = async (ports: Streams, named: NameReservation, cause: Cause): Promise<void> => {
  await execute(ports)(namesDecider, namesStream(named.team), [{ type: 'ReleaseName', ...named }], cause)
}

/** The current name of a webhook or automation; undefined if it does not exist. */
const nameNow = async (ports: Streams, kind: NamedKind, id: string): Promise<string | undefined> => {
  const thing = await (kind === 'webhook' ? webhookById : automationById)(ports, id)
  return thing === null || thing.deleted ? undefined : thing.content.name
}

const nameTaken = (kind: NamedKind, id: string): Failure =>
  new Failure('conflict', `The team already has ${NAMED[kind]} with this name.`, { body: { id } })

const NAMED = { webhook: 'a webhook', automation: 'an automation' }

interface OfTeam {
  readonly id: string
  readonly team: string
}

interface Edited<Content> extends OfTeam {
  readonly edition: number
  readonly content: Content
}

/** How webhooks or automations are written. */
interface NamedSpec<Content, State, Command, Event extends DomainEvent> {
  readonly kind: NamedKind
  readonly decider: Decider<State, Command, Event>
  readonly stream: (id: string) => string
  readonly create: (resource: OfTeam & { readonly content: Content; readonly enabled: boolean }) => Command
  readonly change: (changed: Edited<Content> & { readonly enabled: boolean | null }) => Command
  readonly remove: (resource: OfTeam) => Command
}

/** Creates, changes, renames and deletes resources whose name is unique in their team. Callers run one at a time. */
export const namedResources = <
  Content extends { readonly name: string },
  State,
  Command,
  Event extends DomainEvent,
>(
  spec: NamedSpec<Content, State, Command, Event>,
) => {
  const { kind, decider, stream } = spec
  const run = (ports: Streams, id: string, command: Command, cause: Cause) =>
    execute(ports)(decider, stream(id), [command], cause)
  return {
    create: async (
      ports: Streams,
      resource: Parameters<typeof spec.create>[0],
      isRepeat: boolean,
      cause: Cause,
    ) => {
      const { id, team, content } = resource
      const named = { team, kind, name: content.name, id }
      if (!isRepeat) await takeName(ports, named, cause)
      const created = await run(ports, id, spec.create(resource), cause)
      if (!isRepeat && created.refusals.size === 0)
        await confirmName(ports, named, cause, () => run(ports, id, spec.remove({ id, team }), cause))
      return created
    },
    change: async (
      ports: Streams,
      { id, team, edition, content: before }: Edited<Content>,
      content: Content,
      enabled: boolean | null,
      cause: Cause,
    ) => {
      const named = { team, kind, id }
      const isRenamed = content.name !== before.name
      if (isRenamed) await takeName(ports, { ...named, name: content.name }, cause)
      const changed = await run(ports, id, spec.change({ id, team, edition, content, enabled }), cause)
      const unused = changed.refusals.size > 0 ? content : before
      if (isRenamed) await releaseName(ports, { ...named, name: unused.name }, cause)
      return changed
    },
    remove: async (
      ports: Streams,
      { id, team, content: { name } }: OfTeam & { readonly content: Content },
      cause: Cause,
    ) => {
      const removed = await run(ports, id, spec.remove({ id, team }), cause)
      await releaseName(ports, { team, kind, name, id }, cause)
      return removed
    },
  }
}
