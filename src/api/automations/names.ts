import type { Cause } from '../../domain/event.js'
import { execute } from '../../runtime/execute.js'
import { ownerOf, namesDecider } from '../../domain/names/decider.js'
import { namesStream, type NamedKind } from '../../domain/names/events.js'
import type { Ports } from '../../domain/ports/ports.js'
import { Failure } from '../failure.js'
import { automationById, rosterOf, webhookById } from './kept.js'

type Streams = Pick<Ports, 'eventStore' | 'ids'>

export interface Named {
  readonly team: string
  readonly kind: NamedKind
  readonly name: string
  readonly id: string
}

/**
 * Takes a name for a thing that is about to be made or renamed. Where it stands for one that was never made, or goes by
 * another name now, it is taken from that one.
 *
 * @throws Failure, a conflict with the id of the thing that has the name
 */
export const takeName = async (ports: Streams, named: Named, cause: Cause): Promise<void> => {
  const { kind, name, id } = named
  const run = (to: string, from: string | null) =>
    execute(ports)(
      namesDecider,
      namesStream(named.team),
      [{ type: 'TakeName', ...named, id: to, from }],
      cause,
    )
  const { state, refusals } = await run(id, null)
  const holder = ownerOf(state, kind, name)
  if (refusals.size === 0 || holder === undefined) return
  if ((await nameNow(ports, kind, holder, cause)) === name) throw taken(kind, holder)

  const second = await run(id, holder)
  if (second.refusals.size > 0) throw taken(kind, ownerOf(second.state, kind, name) ?? holder)
  // Whoever had taken it may have made the thing meanwhile, in another process.
  if ((await nameNow(ports, kind, holder, cause)) !== name) return
  await run(holder, id)
  throw taken(kind, holder)
}

/** Refuses what was made under a name that another process took away meanwhile; `unmake` undoes it first. */
export const keepName = async (
  ports: Streams,
  { team, kind, name, id }: Named,
  cause: Cause,
  unmake: () => Promise<unknown>,
): Promise<void> => {
  const holder = ownerOf(await rosterOf(ports, team, cause), kind, name)
  if (holder === id) return
  await unmake()
  throw taken(kind, holder ?? id)
}

export const releaseName = async (ports: Streams, named: Named, cause: Cause): Promise<void> => {
  await execute(ports)(namesDecider, namesStream(named.team), [{ type: 'ReleaseName', ...named }], cause)
}

/** What a thing is called; undefined for one that is not there. */
const nameNow = async (
  ports: Streams,
  kind: NamedKind,
  id: string,
  cause: Cause,
): Promise<string | undefined> => {
  const thing = await (kind === 'webhook' ? webhookById : automationById)(ports, id, cause)
  return thing === null || thing.deleted ? undefined : thing.content.name
}

const taken = (kind: NamedKind, id: string): Failure =>
  new Failure('conflict', `The team already has ${NAMED[kind]} with this name.`, { body: { id } })

const NAMED = { webhook: 'a webhook', automation: 'an automation' }
