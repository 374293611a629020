import type { AccessCommand } from '../../domain/access/commands.js'
import { accessDecider } from '../../domain/access/decider.js'
import { emptyDirectory, evolve, type Directory } from '../../domain/access/directory.js'
import { ACCESS_STREAM, accessEvents, type AccessEvent } from '../../domain/access/events.js'
import { latestExpiry, principalOf } from '../../domain/access/look-ups.js'
import type { Cause } from '../../kernel/event.js'
import type { ExecuteResult } from '../../kernel/execute.js'
import { executeOnFold, foldCache } from '../../kernel/fold-cache.js'
import { followLog } from '../../kernel/follow-log.js'
import type { RecordedEvent } from '../../kernel/ports/event-store.js'
import type { Log } from '../../kernel/ports/log.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { KeyedMutex } from '../../kernel/keyed-mutex.js'
import type { Principal } from '../principal.js'
import { instantOf } from '../../kernel/codec/instant.js'
import { recordOfUse } from './sessions.js'
import { canAccessProject, canAccessTeam } from './rights.js'

/** Authentication and the directory of teams, users and keys, cached in this process. */
export interface Access {
  /** It changes as events arrive, so do not keep it across an `await`. */
  readonly directory: () => Directory
  /** The principal of an API key; undefined for an unknown or revoked one. Records its use. */
  readonly authenticate: (key: string) => Principal | undefined
  /** The principal of a session's token; undefined for an unknown, expired or ended one. Renews the session. */
  readonly authenticateSession: (token: string) => Principal | undefined
  readonly canAccessTeam: (principal: Principal, entity: string) => boolean
  /** Whether the team is the principal's and the project was not deleted. */
  readonly canAccessProject: (principal: Principal, projectId: string) => boolean
  /** Creates a team when the administrator first uses its name; does nothing for others or for a known team. */
  readonly ensureTeam: (principal: Principal, entity: string, cause: Cause) => Promise<void>
  /** Runs a command. Once it resolves, this process sees the written events; `state` is the directory. */
  readonly run: (command: AccessCommand, cause: Cause) => Promise<ExecuteResult<Directory, AccessEvent>>
  /** Reads the events since the last refresh. */
  readonly refresh: () => Promise<void>
  /** Stops following the log; the directory remains readable. */
  readonly close: () => void
}

export type AccessPorts = Pick<Ports, 'eventStore' | 'ids' | 'sha256' | 'clock'> & {
  readonly log: Pick<Log, 'warn'>
}

/**
 * Loads the directory and follows the writes of other processes in the log. Rejects when the event store cannot be read.
 */
export const openAccess = async (ports: AccessPorts): Promise<Access> => {
  const live = followDirectory(ports)
  const teamCreations = new KeyedMutex()
  const closing = new AbortController()
  const after = await ports.eventStore.head()
  await live.refresh()
  const warn = warnOnce(ports)
  followLog({
    eventStore: ports.eventStore,
    after,
    types: new Set(Object.keys(accessEvents)),
    onEvent: live.refresh,
    onCaughtUp: warn.rearm,
    onError: warn.warn,
    signal: closing.signal,
  })

  const write = async (command: AccessCommand, cause: Cause) => {
    const executed = await executeOnFold(ports)(
      live.fold,
      accessDecider,
      ACCESS_STREAM,
      command,
      cause,
      () => undefined,
    )
    // The events are written, and the subscription refreshes again.
    await live.refresh().catch(warn.warn)
    return { ...executed, state: live.now() }
  }
  const now = () => instantOf(ports.clock.now())
  const recording = new Set<string>()
  /** Records the use of a key or session in the background. */
  const recordUse = (principal: Principal | undefined): Principal | undefined => {
    const key = principal && live.now().keys.get(principal.keyId)
    const command = key && recordOfUse(key, ports.clock.now(), latestExpiry(live.now(), key.key_id))
    if (command === undefined || recording.has(command.key_id)) return principal
    const { key_id, user } = command
    recording.add(key_id)
    write(command, { correlationId: key_id, causationId: key_id, actor: user })
      .catch(() => undefined)
      .finally(() => recording.delete(key_id))
    return principal
  }
  const knows = (team: string) => live.now().teams.has(team)

  return {
    directory: live.now,
    authenticate: (key) => recordUse(principalOf(live.now(), ports.sha256(key), 'key', now())),
    authenticateSession: (token) => recordUse(principalOf(live.now(), ports.sha256(token), 'session', now())),
    canAccessTeam,
    canAccessProject: (principal, projectId) => canAccessProject(live.now(), principal, projectId),
    ensureTeam: async (principal, team, cause) => {
      if (!principal.administrator || knows(team)) return
      await teamCreations.runExclusive(team, async () => {
        if (!knows(team)) await write({ type: 'CreateTeam', by: principal.userId, team }, cause)
      })
    },
    run: write,
    refresh: live.refresh,
    close: () => closing.abort(),
  }
}

/** One line for an outage, however often it is noticed. */
const warnOnce = ({ log }: Pick<AccessPorts, 'log'>) => {
  let isArmed = true
  return {
    rearm: () => void (isArmed = true),
    warn: (error: unknown): void => {
      if (isArmed)
        log.warn('access.refresh_failed', { name: error instanceof Error ? error.name : typeof error })
      isArmed = false
    },
  }
}

/** A directory without one of these might grant rights that were taken away, so the service does not start. */
const TAKE_RIGHTS: ReadonlySet<string> = new Set([
  'MemberAdded',
  'MemberRemoved',
  'ApiKeyRevoked',
  'ProjectDeleted',
])

/** The fold of the directory, which is kept up to date and on which commands are decided. */
const followDirectory = (ports: Pick<Ports, 'eventStore'>) => {
  const evolveRecorded = (directory: Directory, { type, data }: RecordedEvent) =>
    evolve(directory, { type, data } as AccessEvent)
  const fold = foldCache<Directory>(
    ports,
    {
      initialState: emptyDirectory,
      evolve: evolveRecorded,
      weightOf: () => 1,
      mayLack: ({ type }) => type !== '' && !TAKE_RIGHTS.has(type),
    },
    1,
  )
  let directory = emptyDirectory()
  return {
    fold,
    now: () => directory,
    /** Reads what was written since the last time. */
    refresh: () => fold(ACCESS_STREAM, ({ state }) => void (directory = state)),
  }
}
