import type { DispatcherState } from '../../domain/webhooks/deliveries/dispatcher-state.js'
import type { RecordedEvent } from '../../kernel/ports/event-store.js'
import { MOST_SIGNATURES } from '../../domain/webhooks/signing.js'

export interface LiveVersion {
  readonly version: number
  /** When it was stored, in milliseconds since 1970. */
  readonly since: number
}

/** The versions of a secret that were not destroyed: all from `first` to the last of `newest`. */
export interface LiveSecret {
  readonly first: number
  /** The newest ones, oldest first. */
  readonly newest: readonly LiveVersion[]
}

/** The versions of secrets according to the log; their values are in the secret store. */
export interface SecretVersions {
  readonly apply: (event: RecordedEvent) => void
  /** Undefined if the secret does not exist. */
  readonly of: (team: string, name: string) => LiveSecret | undefined
}

const KIND = 'secret'

export const openSecretVersions = (
  state: Pick<DispatcherState, 'get' | 'put' | 'remove'>,
): SecretVersions => {
  const of = (key: string) => state.get(KIND, key) as LiveSecret | undefined
  return {
    apply: ({ type, data, stream, recordedAt }) => {
      const key = stream.slice('secret-'.length)
      const { version } = data
      if (type === 'SecretDestroyed') state.remove(KIND, key)
      else if ((type === 'SecretStored' || type === 'SecretRotated') && typeof version === 'number') {
        const { first, newest } = of(key) ?? { first: version, newest: [] }
        const all = [...newest, { version, since: recordedAt.getTime() }]
        state.put(KIND, key, { first, newest: all.slice(-MOST_SIGNATURES) })
      }
    },
    of: (team, name) => of(`${team}/${name}`),
  }
}
