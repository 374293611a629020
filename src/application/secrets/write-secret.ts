import type { Cause } from '../../kernel/event.js'
import { execute, load } from '../../kernel/execute.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { StoreUnavailable } from '../../kernel/ports/event-store-errors.js'
import type { SecretName } from '../../kernel/ports/secret-store.js'
import { secretDecider, type SecretState, secretStream, type SecretUse } from '../../domain/secrets/secret.js'
import { Failure } from '../failure.js'
import type { Services } from '../services.js'
import { reconcileSecret } from './reconcile.js'

export const changeSecretUses = (
  services: Pick<Services, 'eventStore' | 'ids'>,
  secret: SecretName,
  usedFor: readonly SecretUse[],
  cause: Cause,
) => {
  const command = { type: 'ChangeSecretUses', ...secret, usedFor } as const
  return execute(services)(secretDecider, secretStream(secret.team, secret.name), [command], cause)
}

export const destroySecret = async (
  services: Pick<Services, 'eventStore' | 'ids' | 'secrets'>,
  secret: SecretName,
  cause: Cause,
) => {
  const command = { type: 'DestroySecret', ...secret } as const
  const stream = secretStream(secret.team, secret.name)
  const executed = await execute(services)(secretDecider, stream, [command], cause)
  // Only after the event is appended. A retry does it again, in case the first was interrupted in between.
  if (executed.refusals.size === 0) await reconcileSecret(services, secret, executed.state)
  return executed
}

interface NewSecretValue {
  readonly value: string
  readonly usedFor: readonly SecretUse[] | null
  readonly request: string | null
}

interface StoredSecret {
  readonly version: number
  readonly position: Position | undefined
}

const MOST_TRIES = 5

/**
 * Makes the value durable before appending its event. Another process may use the same version number first: in the
 * store, which accepts each number once, or in the log, which then refuses our event.
 */
export const storeNextVersion = async (
  services: Pick<Services, 'eventStore' | 'ids' | 'secrets'>,
  secret: SecretName,
  { value, request, usedFor }: NewSecretValue,
  cause: Cause,
): Promise<StoredSecret> => {
  const stream = secretStream(secret.team, secret.name)
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const { state } = await load(services, secretDecider, stream)
    const earlier = request === null ? undefined : state.requests.get(request)
    if (earlier !== undefined) return recognised(services, { ...secret, version: earlier }, state, value)
    const version = await takenVersion(services, secret, state.version + 1, value)
    const command = { type: 'StoreSecret', ...secret, version, request, usedFor } as const
    const executed = await execute(services)(secretDecider, stream, [command], cause)
    if (executed.events.length > 0) {
      await reconcileSecret(services, secret, executed.state)
      return { version, position: executed.position }
    }
    await services.secrets.destroy([{ ...secret, version }])
  }
  throw new StoreUnavailable(`too many concurrent writes to stream ${stream}`)
}

const takenVersion = async (
  { secrets }: Pick<Services, 'secrets'>,
  secret: SecretName,
  from: number,
  value: string,
): Promise<number> => {
  let version = from
  while (!(await secrets.put({ ...secret, version }, value))) version += 1
  return version
}

const recognised = async (
  { secrets }: Pick<Services, 'secrets'>,
  secret: SecretName & { readonly version: number },
  { live }: SecretState,
  value: string,
): Promise<StoredSecret> => {
  const known = live.has(secret.version) ? await secrets.get(secret) : undefined
  if (known !== undefined && known !== value)
    throw new Failure('conflict', 'The Idempotency-Key was already used for another value. Use a new key.')
  return { version: secret.version, position: undefined }
}
