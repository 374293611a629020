import { sortedAfter } from '../../../../src/kernel/sorted.js'
import type { ArtifactCommand, RegisteredCommand } from '../../../../src/domain/artifacts/commands.js'
import type { CollectionState } from '../../../../src/domain/artifacts/state.js'

/** What people see of a version. */
interface Version {
  readonly artifact_id: string
  /** The content of a project's version. */
  digest: string | null
  readonly tags: Set<string>
  gone: boolean
}

/** A collection as people think of it, in plain words: what deciders and folds are held against. */
export class Model {
  readonly versions: Version[] = []
  readonly aliases = new Map<string, number>()
  /** What was linked under which key. */
  readonly links = new Map<string, string>()

  /** Does what is asked; says why not. */
  run(command: ArtifactCommand | RegisteredCommand): 'not-found' | 'conflict' | undefined {
    switch (command.type) {
      case 'CreateVersion': {
        const { artifact_id, digest } = command
        const repeated = this.versions.find((one) => one.artifact_id === artifact_id)
        if (repeated !== undefined) return repeated.digest === digest ? undefined : 'conflict'
        const same = this.versions.findIndex((one) => one.digest === digest)
        const version =
          same >= 0 ? same : this.versions.push({ artifact_id, digest, tags: new Set(), gone: false }) - 1
        for (const alias of [...(same >= 0 ? [] : ['latest']), ...command.aliases])
          this.aliases.set(alias, version)
        return undefined
      }
      case 'RepeatVersion': {
        const version = this.versions.findIndex(({ digest }) => digest === command.digest)
        if (version < 0) return 'not-found'
        for (const alias of command.aliases) this.aliases.set(alias, version)
        for (const tag of command.tags) this.versions[version]!.tags.add(tag)
        return undefined
      }
      case 'LinkVersion': {
        const { artifact_id } = command.source
        const repeated = command.link_id === null ? undefined : this.links.get(command.link_id)
        if (repeated !== undefined) return repeated === artifact_id ? undefined : 'conflict'
        const known = this.versions.findIndex((one) => one.artifact_id === artifact_id && !one.gone)
        const tags = new Set(command.tags)
        const version =
          known >= 0 ? known : this.versions.push({ artifact_id, digest: null, tags, gone: false }) - 1
        if (known < 0 && command.link_id !== null) this.links.set(command.link_id, artifact_id)
        for (const alias of [...(known < 0 && command.movesLatest ? ['latest'] : []), ...command.aliases])
          this.aliases.set(alias, version)
        return undefined
      }
      case 'UnlinkVersion': {
        const version = this.numberOf(command.version)
        if (version === undefined) return 'not-found'
        const known = this.versions[version]!
        known.gone = true
        known.tags.clear()
        for (const [alias, points] of this.aliases) if (points === version) this.aliases.delete(alias)
        return undefined
      }
      case 'DescribeCollection':
        return this.versions.some(({ gone }) => !gone) ? undefined : 'not-found'
      case 'DescribeVersion':
        return this.numberOf(command.version) === undefined ? 'not-found' : undefined
      case 'DeleteVersion': {
        const version = this.numberOf(command.version)
        if (version === undefined) return 'not-found'
        const known = this.versions[version]!
        const isNamed = [...this.aliases.values()].includes(version)
        if (isNamed && !known.gone && !command.withAliases) return 'conflict'
        known.gone = true
        known.digest = null
        known.tags.clear()
        for (const [alias, points] of this.aliases) if (points === version) this.aliases.delete(alias)
        return undefined
      }
      case 'RemoveAlias':
        if (this.versions.length === 0) return 'not-found'
        this.aliases.delete(command.alias)
        return undefined
      default: {
        const version = this.numberOf(command.version)
        const known = version === undefined ? undefined : this.versions[version]
        if (version === undefined || known === undefined || known.gone) return 'not-found'
        if (command.type === 'SetAlias') this.aliases.set(command.alias, version)
        else if (command.type === 'AddTag') known.tags.add(command.tag)
        else known.tags.delete(command.tag)
        return undefined
      }
    }
  }

  private numberOf(named: string): number | undefined {
    const digits = /^v(0|[1-9]\d*)$/.exec(named)?.[1]
    const version = digits === undefined ? this.aliases.get(named) : Number(digits)
    return version !== undefined && version < this.versions.length ? version : undefined
  }

  seen() {
    return {
      versions: this.versions.map(({ artifact_id, tags, gone }) => ({ artifact_id, tags: [...tags], gone })),
      aliases: [...this.aliases].sort(([a], [b]) => (a < b ? -1 : 1)),
    }
  }
}

/** The same of a fold. */
export const seenIn = ({ next, versions, aliases }: CollectionState) => ({
  versions: Array.from({ length: next }, (_, version) => {
    const { artifactId: artifact_id, tags, gone } = versions.get(version)!
    return { artifact_id, tags: [...tags], gone }
  }),
  aliases: [...sortedAfter(aliases)].filter(([, version]) => version !== null),
})
