import type { Clock } from '../../domain/ports/clock.js'
import { load } from '../../runtime/execute.js'
import type { Ports } from '../../domain/ports/ports.js'
import type { HeldSecret, SecretName, SecretStore } from '../../domain/ports/secret-store.js'
import { secretDecider, type SecretState } from '../../domain/secret/decider.js'
import { secretStream } from '../../domain/secret/events.js'

type Tidying = Pick<Ports, 'eventStore'> & { readonly secrets: SecretStore }

/**
 * Makes the store hold what the log says of a secret: values that were destroyed go, and those whose event was never
 * written. One that may still be on its way into the log stays, unless it was stored before `abandonedBefore`; so does
 * one that was in a log before and is not in this one, which may be the wrong log.
 */
export const tidySecret = async (
  { secrets }: Pick<Tidying, 'secrets'>,
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

/** Tidies every secret; answers how many values this log knows nothing of, and leaves those. */
export const tidySecrets = async (
  ports: Tidying & { readonly clock: Clock },
  { abandonedAfterMs }: { readonly abandonedAfterMs: number },
): Promise<{ readonly unknown: number }> => {
  const abandonedBefore = new Date(ports.clock.now().getTime() - abandonedAfterMs)
  let unknown = 0
  for (const team of await ports.secrets.teams())
    for await (const { name } of namesOf(ports.secrets, team)) {
      const { state } = await load(ports, secretDecider, secretStream(team, name))
      unknown += (await tidySecret(ports, { team, name }, state, abandonedBefore)).unknown
    }
  return { unknown }
}

/** The names of a team that have values, page by page. */
export async function* namesOf(secrets: Pick<SecretStore, 'names'>, team: string, from?: string) {
  let after = from
  for (;;) {
    const page = await secrets.names(team, { after, limit: NAMES_AT_ONCE })
    yield* page
    if (page.length < NAMES_AT_ONCE) return
    after = page.at(-1)!.name
  }
}
