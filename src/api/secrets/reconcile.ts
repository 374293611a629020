import type { Clock } from '../../domain/ports/clock.js'
import { load } from '../../runtime/execute.js'
import type { Ports } from '../../domain/ports/ports.js'
import type { HeldSecret, SecretName, SecretStore } from '../../domain/ports/secret-store.js'
import { secretDecider, type SecretState } from '../../domain/secret/decider.js'
import { secretStream } from '../../domain/secret/events.js'

type ReconcilePorts = Pick<Ports, 'eventStore'> & { readonly secrets: SecretStore }

/**
 * Makes the stored values of a secret match the log: removes values that were destroyed and values whose event was never
 * written. Keeps a value whose event may still be appended, unless it was stored before `abandonedBefore`, and a confirmed
 * value that this log does not know, because this may be the wrong log.
 */
export const reconcileSecret = async (
  { secrets }: Pick<ReconcilePorts, 'secrets'>,
  secret: SecretName,
  state: SecretState,
  abandonedBefore?: Date,
): Promise<{ readonly unknown: number }> => {
  const held = await secrets.versions(secret)
  const isLive = ({ version }: HeldSecret) => state.live.has(version)
  const isLeft = (one: HeldSecret) => {
    if (one.version <= state.destroyedUpTo) return true
    if (isLive(one) || one.confirmed) return false
    return one.version < state.version || (abandonedBefore !== undefined && one.storedAt < abandonedBefore)
  }
  const left = held.filter(isLeft)
  if (left.length > 0) await secrets.destroy(left)
  for (const one of held) if (isLive(one) && !one.confirmed) await secrets.confirm(one)
  return { unknown: held.filter((one) => one.confirmed && !isLive(one) && !isLeft(one)).length }
}

const NAMES_AT_ONCE = 100

/** Reconciles every secret. Returns the number of confirmed values that this log does not know; they are kept. */
export const reconcileSecrets = async (
  ports: ReconcilePorts & { readonly clock: Clock },
  { abandonedAfterMs }: { readonly abandonedAfterMs: number },
): Promise<{ readonly unknown: number }> => {
  const abandonedBefore = new Date(ports.clock.now().getTime() - abandonedAfterMs)
  let unknown = 0
  for (const team of await ports.secrets.teams())
    for await (const { name } of namesOf(ports.secrets, team)) {
      const { state } = await load(ports, secretDecider, secretStream(team, name))
      unknown += (await reconcileSecret(ports, { team, name }, state, abandonedBefore)).unknown
    }
  return { unknown }
}

/** The names of a team's secrets that have values, page by page. */
export async function* namesOf(secrets: Pick<SecretStore, 'names'>, team: string, from?: string) {
  let after = from
  for (;;) {
    const page = await secrets.names(team, { after, limit: NAMES_AT_ONCE })
    yield* page
    if (page.length < NAMES_AT_ONCE) return
    after = page.at(-1)!.name
  }
}
