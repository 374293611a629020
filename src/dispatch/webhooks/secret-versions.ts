import type { DispatcherState } from '../../domain/ports/dispatcher-state.js'
import type { RecordedEvent } from '../../domain/ports/event-store.js'
import { MOST_VERSIONS } from '../../domain/webhook/signing.js'

export interface LiveVersion {
  readonly version: number
  /** When the log learnt of it, in milliseconds since 1970. */
  readonly since: number
}

/** Which versions of a team's secrets there are, as the log says; values lie elsewhere. */
export interface SecretVersions {
  readonly apply: (event: RecordedEvent) => void
  /** The newest ones, of these the oldest first. */
  readonly of: (team: string, name: string) => readonly LiveVersion[]
}

const KIND = 'secret'

export const openSecretVersions = (
  state: Pick<DispatcherState, 'get' | 'put' | 'remove'>,
): SecretVersions => {
  const of = (key: string) => (state.get(KIND, key) as readonly LiveVersion[] | undefined) ?? []
  return {
    apply: ({ type, data, stream, recordedAt }) => {
      const key = stream.slice('secret-'.length)
      const { version } = data
      if (type === 'SecretDestroyed') state.remove(KIND, key)
      else if ((type === 'SecretStored' || type === 'SecretRotated') && typeof version === 'number')
        state.put(KIND, key, [...of(key), { version, since: recordedAt.getTime() }].slice(-MOST_VERSIONS))
    },
    of: (team, name) => of(`${team}/${name}`),
  }
}
