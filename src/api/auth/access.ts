import type { AccessCommand } from '../../domain/access/commands.js'
import { accessDecider } from '../../domain/access/decider.js'
import type { Directory } from '../../domain/access/directory.js'
import { ACCESS_STREAM } from '../../domain/access/events.js'
import { principalOf } from '../../domain/access/look-ups.js'
import type { Cause } from '../../domain/event.js'
import { execute, type Executed } from '../../runtime/execute.js'
import type { Log } from '../../domain/ports/log.js'
import type { Ports } from '../../domain/ports/ports.js'
import { KeyedMutex } from '../../runtime/keyed-mutex.js'
import type { Principal } from '../principal.js'
import { keyIn } from './credentials.js'
import { followDirectory } from './live-directory.js'
import { canAccessTeam } from './rights.js'

/** Who may do what, as one process knows it. */
export interface Access {
  /** The directory as this process knows it. It changes as events come in, so do not keep it across an `await`. */
  readonly directory: () => Directory
  /** Whom an `Authorization` header stands for; undefined for a missing, malformed, unknown or revoked key. */
  readonly authenticate: (authorization: string | undefined) => Principal | undefined
  /** Whether the principal may use an entity's projects: its own teams', and any for the administrator. */
  readonly canAccessTeam: (principal: Principal, entity: string) => boolean
  /** Makes a team that the administrator names for the first time; for others, and for a known team, nothing. */
  readonly ensureTeam: (principal: Principal, entity: string, cause: Cause) => Promise<void>
  /** Runs a command; when it resolves, this process already knows what was written. */
  readonly run: (command: AccessCommand, cause: Cause) => Promise<Executed<Directory>>
  /** Reads what other processes wrote since the last time. */
  readonly refresh: () => Promise<void>
  /** Stops following; what is known stays. */
  readonly close: () => void
}

export type AccessPorts = Pick<Ports, 'eventStore' | 'ids' | 'sha256'> & { readonly log: Pick<Log, 'warn'> }

const REFRESH_MS = 500

/**
 * Loads the directory and follows it: what another process writes is known here within a second (every 500 ms and
 * the time of one read). Rejects when the store cannot be read.
 */
export const openAccess = async (ports: AccessPorts, { refreshMs = REFRESH_MS } = {}): Promise<Access> => {
  const live = followDirectory(ports)
  const teamCreations = new KeyedMutex()
  await live.refresh()
  const stop = every(refreshMs, () => refreshOrWarn(ports, live.refresh))

  const write = async (command: AccessCommand, cause: Cause) => {
    const executed = await execute(ports)(accessDecider, ACCESS_STREAM, [command], cause)
    await refreshOrWarn(ports, live.refresh)
    return executed
  }
  const knows = (team: string) => live.now().teams.has(team)

  return {
    directory: live.now,
    authenticate: (authorization) => {
      const key = keyIn(authorization)
      return key === undefined ? undefined : principalOf(live.now(), ports.sha256(key))
    },
    canAccessTeam,
    ensureTeam: async (principal, team, cause) => {
      if (!principal.administrator || knows(team)) return
      await teamCreations.runExclusive(team, async () => {
        if (!knows(team)) await write({ type: 'CreateTeam', by: principal.userId, team }, cause)
      })
    },
    run: write,
    refresh: live.refresh,
    close: stop,
  }
}

/** What was written stays written when the look at it fails: the next one comes soon. */
const refreshOrWarn = async (
  { log }: Pick<AccessPorts, 'log'>,
  refresh: () => Promise<void>,
): Promise<void> => {
  try {
    await refresh()
  } catch (error) {
    log.warn('access.refresh_failed', { name: error instanceof Error ? error.name : typeof error })
  }
}

/** Repeats a task until stopped, never two at once, and without keeping the process alive. */
const every = (ms: number, task: () => Promise<void>): (() => void) => {
  let busy = false
  const timer = setInterval(() => {
    if (busy) return
    busy = true
    void task().finally(() => (busy = false))
  }, ms)
  timer.unref()
  return () => clearInterval(timer)
}
