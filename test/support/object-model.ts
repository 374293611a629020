import fc from 'fast-check'

/** What is done to the objects of a project, in the words of a client; versions are named as clients name them. */
export type Deed =
  | { readonly kind: 'publish'; readonly object: string; readonly content: number }
  | { readonly kind: 'delete'; readonly object: string; readonly versions: readonly Name[] | null }
  | {
      readonly kind: 'tag' | 'untag'
      readonly object: string
      readonly version: Name
      readonly labels: Labels
    }
  | { readonly kind: 'alias'; readonly object: string; readonly version: Name; readonly labels: Labels }
  | { readonly kind: 'unalias'; readonly object: string; readonly labels: Labels }

type Labels = readonly string[]

/** A number stands for the digest of that content. */
export type Name = string | number

export interface ModelVersion {
  readonly content: number
  alive: boolean
  tags: Set<string>
}

interface ModelObject {
  readonly versions: ModelVersion[]
  readonly aliases: Map<string, ModelVersion>
}

/** The objects by name: as plain as can be, to compare with. */
export type Model = Map<string, ModelObject>

const OBJECTS = ['thing', "it's \\ '; --", '漢字😀']
const CONTENTS = 4
const LABELS = ['red', 'Red', 'two words', 'été']

const object = fc.constantFrom(...OBJECTS)
const labels = fc.subarray(LABELS)
const name: fc.Arbitrary<Name> = fc.oneof(
  { weight: 3, arbitrary: fc.nat(CONTENTS) },
  { weight: 2, arbitrary: fc.constantFrom('latest', 'v0', 'v1', 'v02', 'v9') },
  { weight: 2, arbitrary: fc.constantFrom(...LABELS, "no'ne") },
)

export const arbitraryDeeds: fc.Arbitrary<readonly Deed[]> = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({ kind: fc.constant('publish' as const), object, content: fc.nat(CONTENTS - 1) }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('delete' as const),
        object,
        versions: fc.option(fc.array(name, { minLength: 1, maxLength: 2 }), { freq: 4 }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constantFrom('tag' as const, 'untag' as const),
        object,
        version: name,
        labels,
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant('alias' as const), object, version: name, labels }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('unalias' as const), object, labels }) },
  ),
  { minLength: 5, maxLength: 30 },
)

/** Does a deed; false where something that it names is not there, and then nothing is done. */
export const doDeed = (model: Model, deed: Deed): boolean => {
  const found = model.get(deed.object) ?? { versions: [], aliases: new Map<string, ModelVersion>() }
  model.set(deed.object, found)
  if (deed.kind === 'publish') {
    const known = found.versions.find(({ content }) => content === deed.content)
    if (known === undefined) found.versions.push({ content: deed.content, alive: true, tags: new Set() })
    else known.alive = true
    return true
  }
  if (deed.kind === 'unalias') {
    for (const alias of deed.labels) found.aliases.delete(alias)
    return true
  }
  if (deed.kind === 'delete') return deleteFrom(found, deed.versions)
  const version = aliveNamed(found, deed.version)
  if (version === undefined) return false
  for (const label of deed.labels)
    if (deed.kind === 'tag') version.tags.add(label)
    else if (deed.kind === 'untag') version.tags.delete(label)
    else found.aliases.set(label, version)
  return true
}

const deleteFrom = (object: ModelObject, names: readonly Name[] | null): boolean => {
  const alive = object.versions.filter((version) => version.alive)
  const doomed = names === null ? alive : names.map((one) => aliveNamed(object, one))
  if (doomed.length === 0 || doomed.includes(undefined)) return false
  for (const version of doomed) {
    version!.alive = false
    version!.tags = new Set()
    for (const [alias, target] of object.aliases) if (target === version) object.aliases.delete(alias)
  }
  return true
}

const aliveNamed = (object: ModelObject, version: Name): ModelVersion | undefined => {
  const found = versionNamed(object, version)
  return found?.alive === true ? found : undefined
}

/** The version that a name means, deleted or not. */
export const versionNamed = ({ versions, aliases }: ModelObject, version: Name): ModelVersion | undefined => {
  if (typeof version === 'number') return versions.find(({ content }) => content === version)
  const index = /^v(\d+)$/.exec(version)?.[1]
  if (index !== undefined) return versions[Number(index)]
  return version === 'latest' ? latestOf(versions) : aliases.get(version)
}

const latestOf = (versions: readonly ModelVersion[]): ModelVersion | undefined =>
  versions.findLast(({ alive }) => alive) ?? versions.at(-1)

/** What a version looks like to a client, by the names of the model. */
export const shown = (object: ModelObject, version: ModelVersion) => {
  const isLatest = version.alive && latestOf(object.versions) === version
  const aliases = [...object.aliases].flatMap(([alias, target]) => (target === version ? [alias] : []))
  return {
    version_index: object.versions.indexOf(version),
    content: version.content,
    is_latest: isLatest ? 1 : 0,
    tags: [...version.tags].sort(),
    aliases: [...aliases, ...(isLatest ? ['latest'] : [])].sort(),
  }
}

/** Every name that is worth asking for. */
export const NAMES: readonly Name[] = [0, 1, 2, 3, 4, 'latest', 'v0', 'v1', 'v2', 'v7', ...LABELS, "no'ne"]
