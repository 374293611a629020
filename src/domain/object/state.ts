import { versionName } from './version-name.js'

export interface ObjectState {
  /** By version number. */
  readonly versions: Version[]
  /** Version number by alias. */
  readonly aliases: Map<string, number>
}

export interface Version {
  readonly digest: string
  readonly deleted: boolean
  readonly tags: ReadonlySet<string>
}

/** The version number that a text refers to, unless it is missing or deleted. */
export const versionNamed = ({ versions, aliases }: ObjectState, text: string): number | undefined => {
  const index = indexOf(text, versions, aliases)
  return index === undefined || versions[index]?.deleted !== false ? undefined : index
}

const indexOf = (
  text: string,
  versions: ObjectState['versions'],
  aliases: ObjectState['aliases'],
): number | undefined => {
  const name = versionName(text)
  switch (name.by) {
    case 'latest':
      return versions.findLastIndex(({ deleted }) => !deleted)
    case 'index':
      return name.index
    case 'digest':
      return versions.findIndex(({ digest }) => digest === name.digest)
    case 'alias':
      return aliases.get(name.alias)
  }
}

export const aliasesOf = ({ aliases }: ObjectState, index: number): readonly string[] =>
  [...aliases].flatMap(([alias, target]) => (target === index ? [alias] : []))
