import type { Clock } from '../../kernel/ports/clock.js'
import { load } from '../../kernel/execute.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { HeldSecret, SecretName, SecretStore } from '../../kernel/ports/secret-store.js'
import { secretDecider, type SecretState, secretStream } from '../../domain/secrets/secret.js'

type ReconcilePorts = Pick<Ports, 'eventStore'> & { readonly secrets: SecretStore }

/**
 * Reconciles the store with the log: deletes values that were destroyed or whose event was never written. Keeps values
 * whose event may still be appended, unless they were stored before `abandonedBefore`, and values that were once
 * confirmed but are missing from this log, which may be the wrong one.
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

/** Reconciles every secret. Returns the number of values that are unknown to this log, which are kept. */
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

export async function* namesOf(secrets: Pick<SecretStore, 'names'>, team: string, from?: string) {
  let after = from
  for (;;) {
    const page = await secrets.names(team, { after, limit: NAMES_AT_ONCE })
    yield* page
    if (page.length < NAMES_AT_ONCE) return
    after = page.at(-1)!.name
  }
}
