import type { Log } from '../../kernel/ports/log.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { SecretUnreadable, type SecretStore, type SecretVersion } from '../../kernel/ports/secret-store.js'
import { latestOf, type SecretProblem } from './secret-uses.js'

/** Secrets of the log whose latest value the store has lost or cannot decrypt. */
export interface UnreadableSecrets {
  /** Tries every secret of the log. */
  readonly find: () => Promise<void>
  /** What was found, without secrets that have a value again or were deleted. */
  readonly any: () => Promise<boolean>
  /** The same for a team: each name with its problem. */
  readonly ofTeam: (team: string) => Promise<ReadonlyMap<string, SecretProblem>>
}

const VERSIONS = new Set(['SecretStored', 'SecretRotated', 'SecretDestroyed'])

export const unreadableSecrets = (
  ports: Pick<Ports, 'eventStore'> & {
    readonly secrets: Pick<SecretStore, 'get'>
    readonly log: Pick<Log, 'warn'>
  },
): UnreadableSecrets => {
  let found: readonly SecretVersion[] = []

  const problemOf = async (secret: SecretVersion): Promise<SecretProblem | undefined> => {
    try {
      return (await ports.secrets.get(secret)) === undefined ? 'The value is missing' : undefined
    } catch (error) {
      if (error instanceof SecretUnreadable) return 'The value cannot be decrypted'
      throw error
    }
  }

  const problemNow = async (secret: SecretVersion) => {
    const latest = await latestOf(ports, secret.team, secret.name)
    return latest && problemOf({ ...secret, version: latest.version })
  }

  return {
    find: async () => {
      const seen = new Set<string>()
      const unreadable: (SecretVersion & { readonly problem: string })[] = []
      for await (const { type, stream, data } of ports.eventStore.readBackwards(VERSIONS)) {
        if (seen.has(stream)) continue
        seen.add(stream)
        if (type === 'SecretDestroyed') continue
        const { team, name, version } = data as unknown as SecretVersion
        const problem = await problemOf({ team, name, version })
        if (problem !== undefined) unreadable.push({ team, name, version, problem })
      }
      found = unreadable
      for (const { team, name, version, problem } of unreadable)
        ports.log.warn('secrets.unreadable', { team, name, version, problem })
    },
    any: async () => {
      while (found[0] !== undefined && (await problemNow(found[0])) === undefined) found = found.slice(1)
      return found.length > 0
    },
    ofTeam: async (team) => {
      const problems = new Map<string, SecretProblem>()
      for (const secret of found) {
        const problem = secret.team === team ? await problemNow(secret) : undefined
        if (problem !== undefined) problems.set(secret.name, problem)
      }
      return problems
    },
  }
}
