import type { HeldSecret, SecretStore, SecretVersion } from '../../kernel/ports/secret-store.js'

/** For tests. */
export const openInMemorySecretStore = (): SecretStore => {
  const held = new Map<string, { secret: HeldSecret; value: string }>()
  const keyOf = ({ team, name, version }: SecretVersion) => `${team}|${name}|${version}`
  const all = () => [...held.values()].map(({ secret }) => secret)
  const versions = (team: string, name: string) =>
    all()
      .filter((secret) => secret.team === team && secret.name === name)
      .sort((a, b) => a.version - b.version)
  const sorted = (words: readonly string[]) => [...new Set(words)].sort()

  return {
    put: async ({ team, name, version }, value) => {
      const secret = { team, name, version, storedAt: new Date(), confirmed: false }
      if (held.has(keyOf(secret))) return false
      held.set(keyOf(secret), { secret, value })
      return true
    },
    get: async (secret) => held.get(keyOf(secret))?.value,
    confirm: async (secret) => {
      const known = held.get(keyOf(secret))
      if (known !== undefined)
        held.set(keyOf(secret), { ...known, secret: { ...known.secret, confirmed: true } })
    },
    destroy: async (secrets) => {
      for (const secret of secrets) held.delete(keyOf(secret))
    },
    teams: async () => sorted(all().map(({ team }) => team)),
    names: async (team, { after = '', limit }) =>
      sorted(
        all()
          .filter((secret) => secret.team === team && secret.name > after)
          .map(({ name }) => name),
      )
        .slice(0, limit)
        .map((name) => ({ name, since: versions(team, name)[0]!.storedAt })),
    versions: async ({ team, name }) => versions(team, name),
    close: async () => undefined,
  }
}
